// The alarm for a few guesses on each of many accounts, and how such guesses are slowed.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { type SprayAlarm, sprayBrake } from '../../lib/account/spray.ts';
import { SimulatedClock } from '../../lib/clock.ts';

const test = suite('account/spray');

function watching() {
  const clock = new SimulatedClock();
  const alarms: SprayAlarm[] = [];
  const brake = sprayBrake(clock, (alarm) => alarms.push(alarm));
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
