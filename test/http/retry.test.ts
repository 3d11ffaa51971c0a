// Delays between tries: doubling, bound and jitter, with a given clock and given chance; and the loop that waits for a store.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { keepMade, retryDelay, retryUntilAborted } from '../../lib/retry.ts';

const test = suite('retries');

test('a delay doubles with each try up to its bound, however many tries there were', () => {
  const delays = [1, 2, 3, 4, 5, 2_000].map((tries) => retryDelay(tries, { firstMs: 50, maxMs: 300 }));
  assert.equal(delays, [50, 100, 200, 300, 300, 300]);
  assert.is(retryDelay(6, { firstMs: 1_000 }), 32_000);
});

test('chance takes off a delay at most its share, and nothing without one', () => {
  const backoff = { firstMs: 1_000, maxMs: 4_000 };
  const cases = [
    [0, 0.5, 4_000],
    [0.2, 0, 4_000],
    [0.2, 0.5, 3_600],
    [0.5, 0.999, 2_002],
    [1, 0.25, 3_000],
    [1, 0.75, 1_000],
  ] as const;
  for (const [jitter, chance, delay] of cases)
    assert.is(Math.round(retryDelay(9, { ...backoff, jitter, random: () => chance })), delay, `${jitter} ${chance}`);
  const delays = Array.from({ length: 200 }, () => retryDelay(1, { firstMs: 1_000, jitter: 0.5 }));
  assert.ok(delays.every((ms) => ms > 500 && ms <= 1_000));
  assert.ok(new Set(delays).size > 1);
});

const away = () => new TwinlineError('ERR_STORE', 'The store is away.');

test('work is tried again after 50 ms, then after twice as long, until it succeeds', async () => {
  const clock = new SimulatedClock(0);
  const times: number[] = [];
  const work = async () => {
    times.push(clock.now());
    if (times.length < 8) throw away();
    return 'done';
  };
  const result = retryUntilAborted({ clock, signal: new AbortController().signal }, work);
  await clock.advance(0);
  await clock.advance(10_000);
  assert.is(await result, 'done');
  assert.equal(times, [0, 50, 150, 350, 750, 1_550, 2_550, 3_550]);
});

test('what cannot be tried again, and what fails after the abort, is thrown', async () => {
  const clock = new SimulatedClock(0);
  const stop = new AbortController();
  let tries = 0;
  const failing = (error: Error) => async () => {
    tries++;
    throw error;
  };
  const thrown = (work: Promise<unknown>) => work.catch((error: unknown) => error);
  const final = new TwinlineError('ERR_INPUT', 'It is wrong.');
  assert.is(await thrown(retryUntilAborted({ clock, signal: stop.signal }, failing(final))), final);
  const plain = new Error('a fault');
  assert.is(await thrown(retryUntilAborted({ clock, signal: stop.signal }, failing(plain))), plain);
  assert.is(tries, 2);
  const passing = away();
  const waiting = thrown(retryUntilAborted({ clock, signal: stop.signal }, failing(passing)));
  await clock.advance(0);
  await clock.advance(60);
  assert.is(tries, 4);
  stop.abort();
  assert.is(await waiting, passing);
  assert.is(tries, 5);
});

test('what was made is made once for all who ask, and again after it has failed', async () => {
  const kept = new Map<string, Promise<number>>();
  let made = 0;
  const make = async () => {
    if (++made === 1) throw new Error('EMFILE');
    return made;
  };
  const ask = () => keepMade(kept, 'page.css', make).catch((error: Error) => error.message);
  assert.equal(await Promise.all([ask(), ask()]), ['EMFILE', 'EMFILE']);
  assert.equal(await Promise.all([ask(), ask()]), [2, 2]);
  assert.equal([await ask(), made], [2, 2]);
});

test.run();
