// Redis that answers questions and refuses writes: it counts as away until a write succeeds.

import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KEYS } from '../../package/keys.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { DIAL, type Served, withServer } from '../support/serve.ts';

const test = suite('refusing Redis');

/** One for all: a store that is kept knows its key. */
const { PIN_ENCRYPTION_KEY } = KEYS;
const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';

let redis: RedisServer;
let client: Redis;

test.before(async () => {
  redis = await startRedis({ args: ['--appendonly', 'yes'] });
  client = new Redis(redis.url);
});

test.after(async () => {
  client?.disconnect();
  await redis?.stop();
});

/** What makes a Redis refuse writes while it answers PING, and what ends it. */
const REFUSALS: Readonly<Record<string, readonly [on: string[], off: string[]]>> = {
  'OOM: no memory is left': [
    ['CONFIG', 'SET', 'maxmemory', '1'],
    ['CONFIG', 'SET', 'maxmemory', '0'],
  ],
  'NOREPLICAS: it may not write alone': [
    ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
    ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
  ],
  'READONLY: it is the replica of another': [
    ['REPLICAOF', '127.0.0.1', '1'],
    ['REPLICAOF', 'NO', 'ONE'],
  ],
};

async function readiness(server: Served): Promise<unknown[]> {
  const { status, json } = await server.ask('/readyz');
  return [status, (json() as { stores?: unknown }).stores];
}

for (const [what, [on, off]] of Object.entries(REFUSALS))
  test(`Redis, ${what}`, () =>
    withServer({ env: { REDIS_URL: redis.url, PIN_ENCRYPTION_KEY } }, async (server) => {
      assert.match(await server.ussd({ ...DIAL, sessionId: `${what} 1` }), /^CON /);
      await client.call(...(on as [string, ...string[]]));
      try {
        assert.is(await server.ussd({ ...DIAL, sessionId: `${what} 2` }), UNAVAILABLE);
        const away = [{ keeps: 'sessions', kind: 'redis', away: 'refuses-writes' }];
        // A connection that this ends counts as cut at first.
        const isAway = async () => JSON.stringify(await readiness(server)) === JSON.stringify([503, away]);
        await until('the server to say why it is not ready', isAway);
        assert.match((await server.ask('/metrics')).text, /^twinline_store_up\{store="sessions",kind="redis"\} 0$/m);
      } finally {
        await client.call(...(off as [string, ...string[]]));
      }
      await until('the server to be ready', async () => (await readiness(server))[0] === 200);
      assert.match(await server.ussd({ ...DIAL, sessionId: `${what} 3` }), /^CON /);
    }));

test.run();
