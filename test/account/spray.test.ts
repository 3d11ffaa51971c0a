// The alarm for a few guesses on each of many accounts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type SprayAlarm, sprayWatch } from '../../lib/account/attempts.ts';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { SimulatedClock } from '../../lib/clock.ts';

const test = suite('account/spray');

function watching() {
  const clock = new SimulatedClock();
  const alarms: SprayAlarm[] = [];
  const watch = sprayWatch(clock, (alarm) => alarms.push(alarm));
  const checks = (failed: boolean, times: number) => {
    for (let n = 0; n < times; n++) watch(failed);
  };
  return { clock, alarms, checks };
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

test.run();
