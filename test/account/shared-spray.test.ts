// What instances count of PIN checks together, on one session store: sums by the time of day, and who took part.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { SPRAY_BUCKET_MS, SPRAY_BUCKETS, sharedSpray, sprayBrake } from '../../lib/account/spray.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import { sharedNotes } from '../../lib/store/shared-note.ts';

const test = suite('shared counts of PIN checks');

const WINDOW_MS = SPRAY_BUCKETS * SPRAY_BUCKET_MS;

function place() {
  const clock = new SimulatedClock();
  const notes = sharedNotes({ store: memorySnapshots({ clock }), clock, keepMs: 10 * WINDOW_MS });
  /** An instance whose clock is so many buckets ahead. */
  const instance = (name: string, ahead = 0) =>
    sharedSpray(notes, { now: () => clock.now() + ahead * SPRAY_BUCKET_MS }, name);
  return { clock, instance };
}

const none = { checks: 0, failures: 0 };

test('instances add up what they counted, each at its time', async () => {
  const { clock, instance } = place();
  const [a, b] = [instance('a'), instance('b')];
  assert.equal(await a({ checks: 3, failures: 1 }), { buckets: [{ at: 0, checks: 3, failures: 1 }], instances: 1 });
  const both = [{ at: 0, checks: 8, failures: 5 }];
  assert.equal(await b({ checks: 5, failures: 4 }), { buckets: both, instances: 2 });
  assert.equal(await a(none), { buckets: both, instances: 2 });
  await clock.advance(SPRAY_BUCKET_MS);
  assert.equal(await b({ checks: 1, failures: 1 }), {
    buckets: [
      { at: -1, checks: 8, failures: 5 },
      { at: 0, checks: 1, failures: 1 },
    ],
    instances: 2,
  });
});

test('counts and instances are forgotten with their time, to the step', async () => {
  const { clock, instance } = place();
  await instance('a')({ checks: 2, failures: 2 });
  await clock.advance(WINDOW_MS - SPRAY_BUCKET_MS);
  const first = { at: 1 - SPRAY_BUCKETS, checks: 2, failures: 2 };
  assert.equal(await instance('b')(none), { buckets: [first, { at: 0, ...none }], instances: 2 });
  await clock.advance(SPRAY_BUCKET_MS);
  assert.equal(await instance('b')(none), {
    buckets: [
      { at: -1, ...none },
      { at: 0, ...none },
    ],
    instances: 1,
  });
});

test('what a clock ahead wrote counts as of now, and what a wrong one wrote does not', async () => {
  for (const [ahead, counts] of [
    [1, true],
    [SPRAY_BUCKETS, true],
    [SPRAY_BUCKETS + 1, false],
  ] as const) {
    const { instance } = place();
    await instance('a', ahead)({ checks: 2, failures: 2 });
    const theirs = counts ? [{ at: 0, checks: 2, failures: 2 }] : [];
    assert.equal(await instance('b')(none), {
      buckets: [...theirs, { at: 0, ...none }],
      instances: counts ? 2 : 1,
    });
  }
});

test('only so many instances are remembered, the latest ones', async () => {
  const { instance } = place();
  const { sprayInstances } = ACCOUNT_LIMITS;
  for (let n = 0; n < sprayInstances; n++) await instance(`i${n}`)(none);
  assert.is((await instance('last')(none)).instances, sprayInstances);
});

test('an instance tells one count at a time, and what comes meanwhile with the next', async () => {
  const told: object[] = [];
  let answer = () => {};
  const share = (counted: typeof none) => {
    told.push(counted);
    return new Promise<{ buckets: []; instances: number }>((resolve) => {
      answer = () => resolve({ buckets: [], instances: 1 });
    });
  };
  const brake = sprayBrake(new SimulatedClock(), { share });
  for (let n = 0; n < 3; n++) brake.end('free', 'wrong');
  assert.equal(told, [{ checks: 1, failures: 1 }]);
  answer();
  await new Promise(setImmediate);
  brake.end('free', 'wrong');
  assert.equal(told[1], { checks: 3, failures: 3 });
});

test.run();
