// Stores that answer questions and refuse writes: they count as away until a write succeeds, and are asked seldom.

import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { memoryDocuments, memorySnapshots } from '../../../lib/store/memory/index.ts';
import { watchWrites } from '../../../server/health/write-watch.ts';
import { KEYS } from '../../package/keys.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { DIAL, type Served, withServer } from '../support/serve.ts';

const test = suite('refusing stores');

/** One for all: a store that is kept knows its key. */
const { PIN_ENCRYPTION_KEY } = KEYS;
const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';
const KIND = { name: 'paper', indexes: {} };

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
        await eventually(async () => assert.equal(await readiness(server), [503, away]));
        assert.match((await server.ask('/metrics')).text, /^twinline_store_up\{store="sessions",kind="redis"\} 0$/m);
      } finally {
        await client.call(...(off as [string, ...string[]]));
      }
      await eventually(async () => assert.equal(await readiness(server), [200, undefined]));
      assert.match(await server.ussd({ ...DIAL, sessionId: `${what} 3` }), /^CON /);
    }));

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await check();
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
}

const full = () => new TwinlineError('ERR_STORE', 'No space left.');

/** Stores in memory that can be told to refuse writes, and count how often they are asked to. */
async function fragile() {
  const state = { isFull: false, writes: 0 };
  const tried = <A extends unknown[], R>(write: (...given: A) => Promise<R>) => {
    return async (...given: A): Promise<R> => {
      state.writes++;
      if (state.isFull) throw full();
      return write(...given);
    };
  };
  const [snapshots, documents] = [memorySnapshots(), memoryDocuments()];
  await documents.declare([KIND, { name: 'server', indexes: {} }]);
  const refusing = {
    snapshots: { ...snapshots, commit: tried(snapshots.commit) as never },
    documents: { ...documents, insert: tried(documents.insert) as never, replace: tried(documents.replace) as never },
  };
  const stores = watchWrites(refusing, systemClock);
  return { state, stores };
}

const takes = (asked: Promise<void>) =>
  asked.then(
    () => true,
    () => false,
  );

const SESSION = { record: '{}', turnKey: 't', reply: 'r', ended: false, expiresAt: 8e15, dueAt: null };

test('a store that was never refused anything is not written to, however often it is asked', async () => {
  const { state, stores } = await fragile();
  for (let at = 0; at < 100; at++) assert.is(await takes(stores.takesWrites.documents()), true);
  assert.is(state.writes, 0);
});

test('documents: a refused insert or replace counts, a refusal of what was to be written does not', async () => {
  const { state, stores } = await fragile();
  const { documents, takesWrites } = stores;
  await documents.insert(KIND, 'a', {});
  await documents.insert(KIND, 'a', {}).catch(() => {});
  assert.is((await documents.replace(KIND, 'a', 7, {})).kind, 'conflict');
  assert.is(await takes(takesWrites.documents()), true);
  state.isFull = true;
  await documents.replace(KIND, 'a', 1, {}).catch(() => {});
  assert.equal([await takes(takesWrites.documents()), await takes(takesWrites.sessions())], [false, true]);
});

test('many who ask cost one trial write a second; a write of a caller ends it at once; trials leave nothing', async () => {
  const { state, stores } = await fragile();
  const { snapshots, takesWrites } = stores;
  state.isFull = true;
  await snapshots.commit('k', 0, SESSION).catch(() => {});
  const before = state.writes;
  for (let at = 0; at < 50; at++) assert.is(await takes(takesWrites.sessions()), false);
  assert.is(state.writes - before, 1);
  state.isFull = false;
  assert.is(await takes(takesWrites.sessions()), false, 'the trial of this second is over');
  assert.is((await snapshots.commit('k', 0, SESSION)).kind, 'committed');
  assert.is(await takes(takesWrites.sessions()), true);
  state.isFull = true;
  await snapshots.commit('k', 1, SESSION).catch(() => {});
  state.isFull = false;
  await eventually(async () => assert.is(await takes(takesWrites.sessions()), true));
  assert.equal((await snapshots.list()).keys, ['k']);
});

test.run();
