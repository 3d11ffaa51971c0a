// What is said of a violation: the seed, the fewest faults that still show it, the trace before it, and how to repeat it.

import type { Violation } from './checker.ts';
import { simulate } from './many.ts';
import { CALM, expand, type Options } from './options.ts';
import { setupOf } from './setup.ts';
import type { Outcome } from './simulation.ts';
import type { TraceLine } from './world.ts';

export interface Failure {
  readonly seed: number;
  /** The name of the store. */
  readonly store: string;
  /** Options that were not left to the seed. */
  readonly changes: Partial<Options>;
}

const LINES = 60;
const LINE_CHARS = 180;

/** Runs the seed again with fewer and fewer faults, and tells the smallest story that still breaks the first promise. */
export async function describeFailure(failure: Failure): Promise<string> {
  const whole = await run(failure);
  const first = earliest(whole.violations);
  if (!first) return `seed ${failure.seed}: no violation when it is repeated; the simulation is not deterministic`;
  const changes = await smallest(failure, first.promise);
  const small = await run({ ...failure, changes });
  const shown = small.violations.find(({ promise }) => promise === first.promise)!;
  return [
    `seed ${failure.seed} breaks a promise: ${first.promise}`,
    `  ${first.what}`,
    ...whole.violations.filter((other) => other !== first).map(({ promise, what }) => `  also: ${promise}: ${what}`),
    `options: ${JSON.stringify(whole.options)}`,
    `enough for it: ${JSON.stringify(small.options)}`,
    `  ${shown.what}`,
    ...storyOf(small.trace.slice(0, shown.line), shown.what),
    `repeat it: ${commandOf({ ...failure, changes })}`,
  ].join('\n');
}

/** The command that shows this seed again, with its whole trace. */
export function commandOf({ seed, store, changes }: Failure): string {
  const set = Object.entries(changes).map(([name, value]) => `${name}=${value}`);
  const options = [...(store === 'simulated' ? [] : ['--store', store]), ...(set.length ? ['--set', set.join()] : [])];
  return ['npm run simulate -- --seed', seed, '--seeds 1 --trace', ...options].join(' ');
}

const run = ({ seed, store, changes }: Failure): Promise<Outcome> => {
  const setup = setupOf(store);
  return simulate(seed, { ...setup, changes: { ...setup.changes, ...changes }, keepsTrace: true });
};

const earliest = (violations: readonly Violation[]) => [...violations].sort((a, b) => a.line - b.line)[0];

// One option after the other is made harmless, and stays so when the promise is broken all the same.
async function smallest(failure: Failure, promise: string): Promise<Partial<Options>> {
  const { turns } = expand(failure.seed, failure.changes);
  const harmless: Partial<Options>[] = [
    { sessions: 1 },
    { instances: 1 },
    ...Object.keys(CALM).map((name) => ({ [name]: 0 })),
    ...Array.from({ length: turns - 1 }, (_, at) => ({ turns: turns - 1 - at })),
  ];
  let changes = failure.changes;
  for (const change of harmless) {
    const tried = { ...changes, ...change };
    const { violations } = await run({ ...failure, changes: tried });
    if (violations.some((violation) => violation.promise === promise)) changes = tried;
  }
  return changes;
}

/** The last lines about the session that the violation names, and what happened to processes meanwhile. */
function storyOf(trace: readonly TraceLine[], what: string): string[] {
  const named = /\bs\d+\b/.exec(what)?.[0];
  const lines = trace.filter(({ session }) => !named || session === '' || session.endsWith(named));
  return lines.slice(-LINES).map(({ session, text }) => lineOf(session, text));
}

export function lineOf(session: string, text: string): string {
  const line = `  ${session.slice(session.lastIndexOf(':') + 1).padEnd(3)}${text}`;
  return line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line;
}
