// Many seeds side by side: promises of all of them run at once, which is cheaper and, since none knows another, the same.

import type { Stretch, Sum } from './pool.ts';
import { setupOf } from './setup.ts';
import { createSimulation, type Outcome, type Setup, type Simulation } from './simulation.ts';
import { addTo, newTally } from './tally.ts';

// More would not fit into the caches of a processor.
const AT_ONCE = 12;

/** Gives every outcome to `take`, in the order in which they end. */
export async function simulateAll(
  seeds: Iterable<number>,
  setup: Setup,
  take: (outcome: Outcome) => void,
): Promise<void> {
  const waiting = seeds[Symbol.iterator]();
  const running: Simulation[] = [];
  const fill = () => {
    while (running.length < AT_ONCE) {
      const next = waiting.next();
      if (next.done) return;
      running.push(createSimulation(next.value, setup));
    }
  };
  for (fill(); running.length; fill()) {
    for (let at = running.length - 1; at >= 0; at--) {
      const outcome = running[at]!.step();
      if (!outcome) continue;
      running.splice(at, 1);
      take(outcome);
    }
    await promisesRun();
  }
}

/** One seed. */
export async function simulate(seed: number, setup: Setup = {}): Promise<Outcome> {
  let found: Outcome | undefined;
  await simulateAll([seed], setup, (outcome) => {
    found = outcome;
  });
  return found!;
}

/** A stretch of seeds in this process. */
export async function sumUp({ from, count, store, changes }: Stretch): Promise<Sum> {
  const setup = setupOf(store);
  const tally = newTally();
  const failed: number[] = [];
  let hash = 0;
  await simulateAll(range(from, count), { ...setup, changes: { ...setup.changes, ...changes } }, (outcome) => {
    addTo(tally, outcome.tally);
    hash = (hash + Number.parseInt(outcome.hash.slice(0, 8), 16) + Number.parseInt(outcome.hash.slice(8), 16)) >>> 0;
    if (outcome.violations.length) failed.push(outcome.seed);
  });
  return { tally, failed, hash };
}

export function* range(from: number, count: number): Iterable<number> {
  for (let seed = from; seed < from + count; seed++) yield seed;
}

// A turn of the event loop: by then no promise has anything left to do.
const turnOfTheLoop = setImmediate;
const promisesRun = () => new Promise((resolve) => turnOfTheLoop(resolve));
