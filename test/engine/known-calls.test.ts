// What a new call costs does not depend on how many are open: counted by looks at entries.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KnownCall, knownCalls } from '../../lib/engine/calls.ts';

const test = suite('known calls');

const LEASE_MS = 30_000;

/** Calls that count how often anything asks for the end of their lease. */
function countedCalls() {
  let looks = 0;
  const make = (at: number): KnownCall & { isRunning: boolean } => ({
    get until() {
      looks++;
      return at + LEASE_MS;
    },
    isRunning: true,
  });
  return { make, looks: () => looks };
}

test('with 100,000 open calls, of which none, all or the oldest end, each new one looks at two others at most', () => {
  const ways = {
    'all stay open': () => {},
    'answered and stored in order': (calls, at) => calls.delete(`k${at - 50_000}`),
    'answered and never stored': (calls, at) => {
      const call = calls.get(`k${at - 10}`) as { isRunning: boolean } | undefined;
      if (call) call.isRunning = false;
    },
  } satisfies { [what: string]: (calls: ReturnType<typeof knownCalls>, at: number) => void };
  for (const [what, after] of Object.entries(ways)) {
    const calls = knownCalls();
    const { make, looks } = countedCalls();
    const tenths = Array.from({ length: 10 }, (_, tenth) => {
      const before = looks();
      for (let at = tenth * 10_000; at < (tenth + 1) * 10_000; at++) {
        calls.dropStale(at);
        calls.set(`k${at}`, make(at));
        after(calls, at);
      }
      return (looks() - before) / 10_000;
    });
    assert.ok(Math.max(...tenths) <= 3, `${what}: ${tenths.join(', ')}`);
  }
});

test('what runs is never dropped; what was answered goes when its lease has ended', () => {
  const calls = knownCalls<{ until: number; isRunning: boolean }>();
  const slow = { until: 10, isRunning: true };
  calls.set('slow', slow);
  calls.set('done', { until: 10, isRunning: false });
  calls.dropStale(9);
  assert.ok(calls.get('done'));
  calls.dropStale(10);
  assert.equal([calls.get('done'), calls.get('slow')], [undefined, slow]);
  slow.isRunning = false;
  calls.settle('slow', slow, 11);
  calls.dropStale(11);
  assert.is(calls.get('slow'), undefined);
});

test('a key that is used again keeps its new call when the lease of the old one ends', () => {
  const calls = knownCalls();
  calls.set('a', { until: 10, isRunning: false });
  calls.delete('a');
  const again = { until: 20, isRunning: false };
  calls.set('a', again);
  // More than the line keeps without being cleared.
  for (let at = 0; at < 1_000; at++) {
    calls.set(`x${at}`, { until: 15, isRunning: false });
    calls.delete(`x${at}`);
  }
  calls.dropStale(15);
  assert.is(calls.get('a'), again);
  calls.dropStale(20);
  assert.is(calls.get('a'), undefined);
});

test.run();
