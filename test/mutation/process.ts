// The process in which tests run against mutants: it is told which, loads the test files once, and answers over its channel.

import { beginFile, type Outcome, runTests } from './suites.ts';

/** What the process is told. */
export interface Job {
  /** Ids of tests, in the order in which they run; undefined: all. */
  readonly tests?: readonly string[] | undefined;
  /** The mutant that is active; undefined: none, and what the tests reach is counted. */
  readonly mutant?: string | undefined;
  /** How often the mutant may be reached: more is an endless loop. */
  readonly hitLimit?: number | undefined;
}

/** What it answers. */
export interface Answer {
  readonly outcomes: readonly Outcome[];
  readonly coverage: unknown;
  readonly isEndless: boolean;
  /** The test that failed passes again once the mutant is gone: nothing else was in its way. */
  readonly isRepeatable: boolean;
}

interface Instrumented {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: unknown;
}

export type Files = { readonly [file: string]: () => Promise<unknown> };

const inside: Instrumented = {};
let stray: Outcome[] = [];

/** Takes jobs until nobody gives any more. `files` are loaded with the first job, under its mutant. */
export function work(files: Files): void {
  Object.assign(globalThis, { __stryker__: inside });
  const onStray = (thrown: unknown) => noteStray('outside of tests', thrown);
  process.on('uncaughtException', onStray).on('unhandledRejection', onStray);
  process.on('disconnect', () => process.exit());
  let isLoaded = false;
  process.on('message', async (job: Job) => {
    stray = [];
    Object.assign(inside, { activeMutant: job.mutant, hitCount: job.hitLimit && 0, hitLimit: job.hitLimit });
    if (!isLoaded) await load(files);
    isLoaded = true;
    process.send!(await run(job));
  });
}

async function load(files: Files): Promise<void> {
  for (const [file, read] of Object.entries(files)) {
    beginFile(file);
    try {
      await read();
    } catch (thrown) {
      noteStray(`${file} cannot be loaded`, thrown);
    }
  }
}

async function run({ tests, mutant, hitLimit }: Job): Promise<Answer> {
  const onTest = (id: string | undefined) => {
    inside.currentTestId = id;
  };
  const found = stray.length ? [] : await runTests({ tests, onTest, stopsAtFailure: mutant !== undefined });
  // Rejections that nobody handled come to light one turn of the loop later.
  await new Promise(setImmediate);
  const outcomes = [...found, ...stray];
  const isEndless = hitLimit !== undefined && (inside.hitCount ?? 0) > hitLimit;
  Object.assign(inside, { activeMutant: undefined, hitCount: undefined, hitLimit: undefined });
  const last = found.at(-1);
  const isKilled = mutant !== undefined && stray.length === 0 && last?.kind === 'failed';
  const again = isKilled ? await runTests({ tests: [last.id], onTest, stopsAtFailure: true }) : [];
  const isRepeatable = again.length > 0 && again.every(({ kind }) => kind === 'passed') && stray.length === 0;
  return { outcomes, coverage: inside.mutantCoverage, isEndless, isRepeatable };
}

function noteStray(id: string, thrown: unknown): void {
  stray.push({ id, file: '', ms: 0, kind: 'failed', reason: String(thrown) });
}
