// How tries are counted: locks to the millisecond, and what holds whatever happens in which order.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Attempts,
  fail,
  isClean,
  lockState,
  NO_ATTEMPTS,
  type Reservation,
  refusal,
  release,
  reserve,
  succeed,
} from '../../lib/account/attempts.ts';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';

const test = suite('account/attempts');

const MINUTE = 60_000;
const START = 1_700_000_000_000;

function granted(reservation: Reservation): Attempts {
  if (reservation.kind === 'refused') return assert.unreachable('refused') as never;
  return reservation.attempts;
}

/** So many wrong tries, one after another at one moment. */
function wrong(attempts: Attempts, now: number, times: number): Attempts {
  let next = attempts;
  for (let n = 0; n < times; n++) next = granted(reserve(next, now, null));
  return next;
}

test('the third failure in a row locks for 15 minutes, to the millisecond', () => {
  const two = wrong(NO_ATTEMPTS, START, 2);
  assert.equal(refusal(two, START), { reason: 'wrong', remaining: 1 });
  const three = wrong(two, START, 1);
  const until = START + 15 * MINUTE;
  assert.equal(refusal(three, START), { reason: 'locked', lockedUntil: until, minutes: 15 });
  assert.equal(refusal(three, until - 1), { reason: 'locked', lockedUntil: until, minutes: 1 });
  assert.is(reserve(three, until - 1, null).kind, 'refused');
  assert.is(reserve(three, until, null).kind, 'granted');
});

test('a refused try changes nothing, so it does not prolong a lock', () => {
  const locked = wrong(NO_ATTEMPTS, START, 3);
  assert.not('attempts' in reserve(locked, START + 1, 'key'));
});

test('after a lock there are three fresh tries, and every further lock is twice as long, up to a day', () => {
  let attempts = NO_ATTEMPTS;
  let now = START;
  const lengths: number[] = [];
  for (let lock = 0; lock < 9; lock++) {
    attempts = wrong(attempts, now, 2);
    assert.is(reserve(attempts, now, null).kind, 'granted');
    attempts = wrong(attempts, now, 1);
    lengths.push((attempts.lockedUntil - now) / MINUTE);
    // Far enough apart for the failures of one day to stay few.
    now += 2 * ACCOUNT_LIMITS.pinWindowMs;
  }
  assert.equal(lengths, [15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
});

test('a success ends the run: the next lock is the third failure away and 15 minutes long', () => {
  const attempts = succeed(wrong(NO_ATTEMPTS, START, 3), START);
  const again = wrong(attempts, START + 1, 2);
  assert.is(again.lockedUntil, 0);
  assert.is(wrong(again, START + 1, 1).lockedUntil, START + 1 + 15 * MINUTE);
});

test('ten failures within a day hold the account until it is unlocked, also with successes between', () => {
  let attempts = NO_ATTEMPTS;
  let now = START;
  for (let failure = 1; failure <= 9; failure++) {
    attempts = wrong(attempts, now, 1);
    attempts = succeed(granted(reserve(attempts, now + 1, null)), now + 1);
    now += MINUTE;
  }
  assert.not(attempts.held);
  assert.equal(refusal(attempts, now), { reason: 'wrong', remaining: 1 });
  attempts = wrong(attempts, now, 1);
  assert.ok(attempts.held);
  assert.equal(refusal(attempts, now), { reason: 'locked' });
  assert.is(reserve(attempts, now + 365 * ACCOUNT_LIMITS.pinWindowMs, null).kind, 'refused');
});

test('a failure is forgotten after exactly a day', () => {
  let attempts = NO_ATTEMPTS;
  for (let n = 0; n < 9; n++) attempts = succeed(wrong(attempts, START, 2), START);
  assert.is(attempts.failures.length, 9);
  assert.ok(wrong(attempts, START + ACCOUNT_LIMITS.pinWindowMs - 1, 1).held);
  assert.not(wrong(attempts, START + ACCOUNT_LIMITS.pinWindowMs, 1).held);
});

test('a try that was never checked is taken back whole', () => {
  for (const before of [NO_ATTEMPTS, wrong(NO_ATTEMPTS, START, 1), wrong(NO_ATTEMPTS, START, 2)]) {
    const counted = granted(reserve(before, START + 5, 'key'));
    assert.equal(release(counted, START + 5, 'key'), before);
  }
});

test('a repeat of the last try is not counted again: an open one may be checked, a failed one fails', () => {
  const open = granted(reserve(wrong(NO_ATTEMPTS, START, 2), START, 'key'));
  const again = granted(reserve(open, START + 9, 'key'));
  assert.is(again.consecutive, 3);
  assert.is(again.failures.length, 3);
  const failed = fail(again, 'key')!;
  assert.equal(reserve(failed, START, 'key'), { kind: 'refused', refusal: refusal(failed, START) });
  assert.is(fail(again, 'other'), undefined);
  assert.is(fail(wrong(NO_ATTEMPTS, START, 1), null), undefined);
});

test('repeats of an open try come to an end', () => {
  let attempts = NO_ATTEMPTS;
  let checks = 0;
  for (let n = 0; n < 1_000; n++) {
    const reservation = reserve(attempts, START, 'key');
    if (reservation.kind === 'refused') break;
    attempts = reservation.attempts;
    checks++;
  }
  assert.is(checks, ACCOUNT_LIMITS.pinFailuresToLock * (1 + ACCOUNT_LIMITS.pinRepeats));
});

test('a repeat of an open try is granted, under the time of the try that it repeats', () => {
  const again = reserve(granted(reserve(NO_ATTEMPTS, START, 'key')), START + 9, 'key');
  assert.equal([again.kind, again.kind === 'granted' && again.at], ['granted', START]);
});

test('a lock is over in its very millisecond, and then three tries are left', () => {
  const locked = wrong(NO_ATTEMPTS, START, 3);
  const until = START + 15 * MINUTE;
  assert.equal(refusal(locked, until), { reason: 'wrong', remaining: 3 });
  assert.is(lockState(locked, until - 1).state, 'locked');
  assert.is(lockState(locked, until).state, 'open');
});

test('ten failures hold, also when one more try of the same moment is right or is taken back', () => {
  let attempts = NO_ATTEMPTS;
  for (let n = 0; n < 10; n++) {
    attempts = { ...wrong(attempts, START + n, 1), consecutive: 0, lockedUntil: 0, held: false };
  }
  const more = granted(reserve(attempts, START + 20, 'key'));
  assert.is(more.failures.length, 11);
  for (const then of [succeed(more, START + 20), release(more, START + 20, 'key')]) {
    assert.is(then.failures.length, 10);
    assert.ok(then.held);
  }
  assert.not(release(granted(reserve(wrong(NO_ATTEMPTS, START, 1), START, null)), START, null).held);
});

test('a try that is taken back ends the lock that it began, and no lock that others began', () => {
  const two = wrong(NO_ATTEMPTS, START, 2);
  const locked = granted(reserve(two, START + 1, 'key'));
  const freed = release(locked, START + 1, 'key');
  assert.equal([freed.lockedUntil, freed.locks, freed.consecutive], [0, 0, 2]);
  const still = release({ ...locked, consecutive: 4 }, START + 1, 'key');
  assert.equal([still.lockedUntil, still.locks, still.consecutive], [locked.lockedUntil, 1, 3]);
});

test('a try that is taken back leaves the key of another one known', () => {
  const one = granted(reserve(NO_ATTEMPTS, START, 'one'));
  const two = granted(reserve(one, START + 1, 'two'));
  assert.is(release(two, START, 'one').last?.key, 'two');
  assert.is(release(two, START + 1, 'two').last, null);
});

test('a success whose try is forgotten already takes no other failure away', () => {
  const attempts = wrong(NO_ATTEMPTS, START, 2);
  assert.is(succeed(attempts, START + 99).failures.length, 2);
});

test('there is something to forget as soon as anything is counted', () => {
  assert.ok(isClean(NO_ATTEMPTS));
  const counted: Partial<Attempts>[] = [
    { held: true },
    { lockedUntil: 1 },
    { consecutive: 1 },
    { locks: 1 },
    { failures: [START] },
  ];
  for (const one of counted) assert.not(isClean({ ...NO_ATTEMPTS, ...one }), JSON.stringify(one));
});

type Step = { readonly wait: number; readonly does: 'try' | 'right' | 'wrong' | 'busy' };

const steps = fc.array(
  fc.record({
    wait: fc.constantFrom(0, 0, 0, 1, MINUTE, 15 * MINUTE, 4 * 60 * MINUTE),
    does: fc.constantFrom<Step['does']>('try', 'try', 'try', 'wrong', 'wrong', 'busy', 'right'),
  }),
  { minLength: 5, maxLength: 120 },
);

/** Far longer than a check of a PIN takes, and far shorter than any lock. */
const CHECK_MS = 60_000;

test('in any order of tries and outcomes, nobody gets more wrong answers than the limits say', () => {
  fc.assert(
    fc.property(steps, (steps: Step[]) => {
      let attempts = NO_ATTEMPTS;
      let now = START;
      let open: number[] = [];
      let wrongs: number[] = [];
      let inRow = 0;
      for (const { wait, does } of steps) {
        now += wait;
        // A check takes seconds. One that is not answered by then has died with its process, and its try counts as wrong.
        const oldest = now - CHECK_MS;
        open = open.filter((at) => at > oldest);
        if (does === 'try') {
          if (attempts.lockedUntil > 0 && now >= attempts.lockedUntil) inRow = 0;
          const reservation = reserve(attempts, now, null);
          if (reservation.kind === 'refused') continue;
          assert.not(attempts.held || attempts.lockedUntil > now, 'a lock was passed');
          attempts = reservation.attempts;
          open = [...open, reservation.at];
          continue;
        }
        const [at, ...rest] = open;
        if (at === undefined) continue;
        open = rest;
        if (does === 'right') {
          attempts = succeed(attempts, at);
          inRow = 0;
        } else if (does === 'busy') attempts = release(attempts, at, null);
        else {
          wrongs = [...wrongs.filter((when) => when > at - ACCOUNT_LIMITS.pinWindowMs), at];
          inRow++;
        }
        assert.ok(wrongs.length <= ACCOUNT_LIMITS.pinFailuresPerWindow, 'more wrong answers in a day than allowed');
        assert.ok(attempts.failures.length <= ACCOUNT_LIMITS.pinFailuresPerWindow);
        assert.ok(attempts.consecutive >= 0 && attempts.locks >= 0);
        // Tries that were open when a success ended the run may still fail; one run of them is all there can be.
        assert.ok(inRow <= 2 * ACCOUNT_LIMITS.pinFailuresToLock, 'more wrong answers in a row than allowed');
      }
    }),
    { numRuns: 400 },
  );
});

test('of any number of tries at one moment three are checked', () => {
  let attempts = NO_ATTEMPTS;
  let checks = 0;
  for (let n = 0; n < 200; n++) {
    const reservation = reserve(attempts, START, `key ${n}`);
    if (reservation.kind === 'refused') continue;
    attempts = reservation.attempts;
    checks++;
  }
  assert.is(checks, ACCOUNT_LIMITS.pinFailuresToLock);
});

test.run();
