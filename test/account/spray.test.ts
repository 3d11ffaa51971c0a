// The alarm for a few guesses on each of many accounts, and how such guesses are slowed.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { type CountedTogether, type SprayAlarm, sprayBrake } from '../../lib/account/spray.ts';
import { SimulatedClock } from '../../lib/clock.ts';

const test = suite('account/spray');

const settled = () => new Promise((resolve) => setImmediate(resolve));

function watching() {
  const clock = new SimulatedClock();
  const alarms: SprayAlarm[] = [];
  const brake = sprayBrake(clock, { onAlarm: (alarm) => alarms.push(alarm) });
  const checks = (failed: boolean, times: number) => {
    for (let n = 0; n < times; n++) brake.end('free', failed ? 'wrong' : 'right');
  };
  return { clock, alarms, brake, checks };
}

test('the alarm is raised by failure 51 and says how many failed, of how many', () => {
  const { alarms, checks } = watching();
  checks(false, 49);
  checks(true, 50);
  assert.equal(alarms, []);
  checks(true, 1);
  assert.equal(alarms, [{ kind: 'spray', failures: 51, ratio: 0.51 }]);
});

test('many failures among far more successes are everyday life', () => {
  const { alarms, checks } = watching();
  checks(false, 400);
  checks(true, 100);
  assert.equal(alarms, [], 'exactly a fifth is not more than a fifth');
  checks(true, 1);
  assert.is(alarms.length, 1);
});

test('failures older than five minutes do not count', async () => {
  const { clock, alarms, checks } = watching();
  checks(true, 50);
  await clock.advance(ACCOUNT_LIMITS.sprayWindowMs);
  checks(true, 50);
  assert.equal(alarms, []);
});

test('a long attack raises one alarm in five minutes', async () => {
  const { clock, alarms, checks } = watching();
  for (let second = 0; second < 600; second++) {
    checks(true, 5);
    await clock.advance(1_000);
  }
  assert.is(alarms.length, 2);
});

test('while many checks fail, so many may fail at once and then one a second; right ones cost nothing', async () => {
  const { clock, brake, checks } = watching();
  checks(true, 50);
  assert.is(brake.begin(), 'free');
  checks(true, 1);
  const { slowedChecks, slowedCheckMs } = ACCOUNT_LIMITS;
  for (let n = 0; n < 3 * slowedChecks; n++) {
    assert.is(brake.begin(), 'slowed');
    brake.end('slowed', n % 2 ? 'right' : 'unchecked');
  }
  checks(true, 100);
  for (let n = 0; n < slowedChecks; n++) {
    assert.is(brake.begin(), 'slowed');
    brake.end('slowed', 'wrong');
  }
  assert.is(brake.begin(), 'refused');
  await clock.advance(slowedCheckMs);
  assert.is(brake.begin(), 'slowed');
  assert.is(brake.begin(), 'refused');
  await clock.advance(ACCOUNT_LIMITS.sprayWindowMs);
  assert.is(brake.begin(), 'free', 'when they are over');
});

test('after five minutes to the millisecond the alarm is raised again', async () => {
  const { clock, alarms, checks } = watching();
  checks(true, 51);
  await clock.advance(ACCOUNT_LIMITS.sprayWindowMs - 1);
  checks(true, 51);
  assert.is(alarms.length, 1);
  await clock.advance(1);
  checks(true, 51);
  assert.is(alarms.length, 2);
});

test('what comes to no check is none', () => {
  const { alarms, brake, checks } = watching();
  for (let n = 0; n < 300; n++) brake.end('free', 'unchecked');
  checks(true, 51);
  assert.equal(alarms, [{ kind: 'spray', failures: 51, ratio: 1 }]);
});

test('a right check gives back what it took itself, and no more', () => {
  const { brake, checks } = watching();
  const spend = (times: number) => {
    for (let n = 0; n < times; n++) {
      assert.is(brake.begin(), 'slowed');
      brake.end('slowed', 'wrong');
    }
  };
  assert.is(brake.begin(), 'free');
  checks(true, 51);
  spend(ACCOUNT_LIMITS.slowedChecks - 1);
  assert.is(brake.begin(), 'slowed');
  brake.end('slowed', 'right');
  spend(1);
  assert.is(brake.begin(), 'refused');
  brake.end('free', 'right');
  assert.is(brake.begin(), 'refused', 'a check from before the attack took nothing');
});

test('what cannot be shared is counted here, and told once the store is back', async () => {
  const clock = new SimulatedClock();
  const told: object[] = [];
  let isAway = true;
  const share = async (counted: { checks: number; failures: number }): Promise<CountedTogether> => {
    if (isAway) throw new Error('away');
    told.push(counted);
    return { buckets: [{ at: 0, ...counted }], instances: 1 };
  };
  const brake = sprayBrake(clock, { share });
  const check = async (outcome: 'right' | 'wrong') => {
    brake.end('free', outcome);
    await settled();
  };
  for (let n = 0; n < 60; n++) await check('wrong');
  assert.is(brake.begin(), 'slowed');
  isAway = false;
  await check('right');
  assert.equal(told, [], 'a right check tells nobody, until it is time');
  await clock.advance(ACCOUNT_LIMITS.sprayShareMs);
  await check('right');
  assert.equal(told, [{ checks: 62, failures: 60 }]);
  await check('right');
  assert.is(told.length, 1);
});

test('what others counted is forgotten with its time', async () => {
  const clock = new SimulatedClock();
  const share = async () => ({ buckets: [{ at: -1, checks: 99, failures: 99 }], instances: 40 });
  const brake = sprayBrake(clock, { share });
  brake.end('free', 'wrong');
  await settled();
  assert.equal([brake.begin(), brake.begin()], ['slowed', 'refused'], 'of forty instances each lets one through');
  await clock.advance(ACCOUNT_LIMITS.slowedCheckMs * 39);
  assert.is(brake.begin(), 'refused');
  await clock.advance(ACCOUNT_LIMITS.slowedCheckMs);
  assert.is(brake.begin(), 'slowed');
  await clock.advance(ACCOUNT_LIMITS.sprayWindowMs - 40_000);
  assert.is(brake.begin(), 'free');
});

test('a clock that is set back or on neither ends the brake nor lengthens it', async () => {
  const { alarms, brake, checks, clock } = watching();
  checks(true, 51);
  for (const ms of [-7_200_000, 10 * 365 * 24 * 3_600_000]) {
    clock.jump(ms);
    assert.is(brake.begin(), 'slowed');
    checks(true, 51);
    assert.is(alarms.length, 1);
  }
  await clock.advance(ACCOUNT_LIMITS.sprayWindowMs);
  assert.is(brake.begin(), 'free');
  checks(true, 51);
  assert.is(alarms.length, 2);
});

test.run();
