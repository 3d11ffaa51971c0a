// What instances on one Redis count together: the sessions of a phone, and PIN checks that fail.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ACCOUNT_LIMITS } from '../../../lib/account/limits.ts';
import { type SprayAlarm, sharedSpray, sprayBrake } from '../../../lib/account/spray.ts';
import { SimulatedClock } from '../../../lib/clock.ts';
import { connectRedis, openRedisSnapshots } from '../../../lib/store/redis/index.ts';
import { sharedNotes } from '../../../lib/store/shared-note.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { DIAL, type Served, withServer } from '../support/serve.ts';

const test = suite('instances on one Redis');
const PIN_ENCRYPTION_KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';

let redis: RedisServer;
test.before(async () => {
  redis = await startRedis();
});
test.after(() => redis.stop());

const withTwo = (work: (one: Served, two: Served) => Promise<void>) => {
  const env = { REDIS_URL: redis.url, PIN_ENCRYPTION_KEY };
  return withServer({ env }, (one) => withServer({ env }, (two) => work(one, two)));
};

const listSessions = async ({ ask }: Served): Promise<readonly string[]> => {
  const { activeSessions } = (await ask('/api/ussd/sessions')).json() as { activeSessions: readonly string[] };
  return [...activeSessions].sort();
};

test('a phone that dials through two instances has three sessions in all, and its number is nowhere in the store', () =>
  withTwo(async (one, two) => {
    const dial = (server: Served, sessionId: string) => server.ussd({ ...DIAL, sessionId });
    for (const [at, server] of [one, two, one].entries()) assert.match(await dial(server, `s${at}`), /^CON /);
    assert.match(await two.ussd({ ...DIAL, sessionId: 'other', phoneNumber: '+260971239999' }), /^CON /);
    assert.equal(await listSessions(one), ['other', 's0', 's1', 's2']);
    await dial(two, 's3');
    const isFull = () => until('the oldest session is ended', async () => (await listSessions(one)).length === 4);
    await isFull();
    assert.equal(await listSessions(one), ['other', 's1', 's2', 's3']);
    assert.match(await one.ussd({ ...DIAL, sessionId: 's0', text: '1' }), /^END Your session has ended/);
    await dial(one, 's4');
    await isFull();
    assert.equal(await listSessions(two), ['other', 's2', 's3', 's4']);
    const connection = connectRedis({ url: redis.url });
    const keys = await connection.run('look', (client) => client.keys('*phone:*'));
    assert.is(keys.length, 2, 'of each phone');
    assert.not.match(keys.join(), new RegExp(DIAL.phoneNumber.slice(1)));
    await connection.close();
  }));

test('PIN checks that fail are counted together: each instance slows, and both of them let as many through as one would', async () => {
  const connection = connectRedis({ url: redis.url });
  const store = await openRedisSnapshots({ connection });
  const clock = new SimulatedClock();
  const alarms: SprayAlarm[] = [];
  let told = 0;
  const instance = (name: string) => {
    const share = sharedSpray(sharedNotes({ store, clock: { now: Date.now }, keepMs: 60_000 }), clock, name);
    return sprayBrake(clock, {
      onAlarm: (alarm) => void alarms.push(alarm),
      share: async (counted) => {
        const answer = await share(counted);
        told++;
        return answer;
      },
    });
  };
  const [one, two, three] = [instance('one'), instance('two'), instance('three')];
  const fail = async (brake: typeof one, times: number) => {
    for (let n = 0; n < times; n++) {
      const before = told;
      brake.end('free', 'wrong');
      await until('the failure is shared', () => told > before);
    }
  };
  await fail(one, 26);
  await fail(two, 25);
  assert.equal(alarms, [{ kind: 'spray', failures: 51, ratio: 1 }], 'neither of them has seen 51');
  assert.is(one.begin(), 'free', 'it has not asked since');
  await fail(one, 1);
  assert.equal([one.begin(), two.begin()], ['slowed', 'slowed']);
  assert.is(three.begin(), 'free', 'it learns with its first check');
  await fail(three, 1);
  assert.is(three.begin(), 'slowed');
  // One instance would let 20 fail; each has a part of them.
  await fail(one, 1);
  await fail(two, 1);
  const passed = [one, two, three].map((brake) => {
    let count = 0;
    for (; brake.begin() === 'slowed'; count++) brake.end('slowed', 'wrong');
    return count;
  });
  const all = passed.reduce((sum, count) => sum + count, 0);
  assert.ok(all <= ACCOUNT_LIMITS.slowedChecks && all >= ACCOUNT_LIMITS.slowedChecks - 3, `${passed}`);
  await store.close();
  await connection.close();
});

test.run();
