// Instances on one Redis have one key: another one does not start, a change of keys rolls over, and the log tells which.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../../lib/errors.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { connectRedis, type RedisConnection } from '../../../lib/store/redis/index.ts';
import { agreeOnKey, REDIS_MARK, redisMark } from '../../../server/stores/key-mark.ts';
import { startProcess } from '../../support/process.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { DIAL, type Served, withServer } from '../support/serve.ts';

const test = suite('shared key');

const OLD = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
const NEW = '0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe';
const [oldId] = parseKeyring(OLD).ids as [string];
const [newId] = parseKeyring(NEW).ids as [string];

let redis: RedisServer;
let connection: RedisConnection;

test.before(async () => {
  redis = await startRedis();
  connection = connectRedis({ url: redis.url });
});
test.before.each(async () => {
  await connection.run('empty it', (client) => (client as { flushall(): Promise<unknown> }).flushall());
});
test.after(async () => {
  await connection?.close();
  await redis?.stop();
});

const start = (keys: string, work: (server: Served) => Promise<void> = async () => {}) =>
  withServer({ env: { REDIS_URL: redis.url, PIN_ENCRYPTION_KEY: keys } }, work);

async function refusal(keys: string): Promise<string> {
  try {
    await start(keys);
  } catch (error) {
    assert.is((error as TwinlineError).code, 'ERR_CONFIG');
    return (error as Error).message;
  }
  throw new Error(`an instance with ${parseKeyring(keys).ids} has started`);
}

test('an instance with another key does not start, exit 78, and both keys are named by their fingerprints', () =>
  start(OLD, async () => {
    const words = new RegExp(`The stored sessions need the key "${oldId}", but only these are configured: ${newId}\\.`);
    assert.match(await refusal(NEW), words);
    const message = await startProcess({ REDIS_URL: redis.url, PIN_ENCRYPTION_KEY: NEW, DATA_DIR: ':memory:' }).then(
      () => 'it has started',
      (error: Error) => error.message,
    );
    assert.match(message, /ended with 78/);
    assert.match(message, words);
    assert.not.match(message, new RegExp(NEW));
  }));

test('of two first instances with different keys that start together, one starts', async () => {
  for (let round = 0; round < 5; round++) {
    await connection.run('forget the mark', (client) => client.del(REDIS_MARK));
    const keyrings = [OLD, NEW, OLD, NEW].map((key) => parseKeyring(key));
    const outcomes = await Promise.allSettled(keyrings.map((keyring) => agreeOnKey(redisMark(connection), keyring)));
    const started = outcomes.map(({ status }) => status === 'fulfilled');
    assert.equal(started[0], started[2]);
    assert.equal(started[1], started[3]);
    assert.is.not(started[0], started[1], 'exactly one of the two keys');
  }
});

test('a change of keys rolls over: both keys everywhere first, then the new one first, then the old one gone', async () => {
  const dial = (server: Served, text: string) => server.ussd({ ...DIAL, text });
  await start(OLD, async (one) => {
    assert.match(await dial(one, ''), /^CON Welcome/);
    await start(`${OLD},${NEW}`, async (two) => {
      assert.match(await dial(two, '1'), /^CON Know more/);
      await start(OLD);
    });
  });
  await start(`${OLD},${NEW}`, async (one) => {
    await start(`${NEW},${OLD}`, async (two) => {
      assert.match(await dial(two, '1*1'), /^CON /, 'what the old key sealed opens');
      assert.match(await dial(one, '1*1*0'), /^CON /, 'and what the new one sealed, where both are known');
      assert.match(await refusal(OLD), new RegExp(`need the key "${newId}"`));
    });
  });
  await start(NEW);
});

test('a session that another key sealed is told apart from a changed one, with the request that met it', () =>
  start(OLD, async (one) => {
    await one.ussd(DIAL);
    // An instance that was started before the mark was there.
    await connection.run('forget the mark', (client) => client.del(REDIS_MARK));
    await start(NEW, async (two) => {
      const { text } = await two.ask('/api/ussd', {
        method: 'POST',
        headers: { 'x-request-id': 'met-it' },
        body: JSON.stringify({ ...DIAL, text: '1' }),
      });
      assert.is(text, 'END Your session has ended. Please dial again.');
      const line = two.logged.find(({ level }) => level === 50)!;
      assert.equal([line.reason, line.requestId], ['other-key', 'met-it']);
      assert.match(String(line.msg), /PIN_ENCRYPTION_KEY.*same keys/);
    });
  }));

test.run();
