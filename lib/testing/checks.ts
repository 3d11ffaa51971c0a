// A suite as a list: named checks that any test runner can run.

import type { RandomOptions } from './random.ts';

/** One promise, and what shows that it is kept. */
export interface Check {
  /** A sentence. */
  readonly name: string;
  /** Rejects when the promise is broken. Each opens what it needs and cleans up behind itself, so checks may run in any order. */
  run(): Promise<void>;
  /** Why it is left out; then it is not to be run. */
  readonly skip?: string;
}

/** Which checks are left out. */
export interface SkipOptions {
  /** Promises to leave out, by their exact sentence, each with the reason. @default none */
  readonly skip?: { readonly [name: string]: string };
}

/** Options of a suite. */
export interface SuiteOptions extends SkipOptions, RandomOptions {}

/** Marks the checks to be left out. Throws where a sentence is none of theirs: a check that was renamed is not left out unseen. */
export function skipChecks(checks: readonly Check[], { skip = {} }: SkipOptions): Check[] {
  const unknown = Object.keys(skip).filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length) throw new Error(`No check has the name ${JSON.stringify(unknown[0])}, so it cannot be left out.`);
  return checks.map((check) => (skip[check.name] === undefined ? check : { ...check, skip: skip[check.name]! }));
}

/** The checks of a table of promises; `keep` opens what they need. */
export function listChecks<Needed>(
  promises: { readonly [name: string]: (needed: Needed) => Promise<void> },
  open: (keep: (needed: Needed) => Promise<void>) => Promise<void>,
): Check[] {
  return Object.entries(promises).map(([name, keep]) => ({ name, run: () => open(keep) }));
}
