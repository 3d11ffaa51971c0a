// What test files get in place of `uvu` while mutants are tested: their tests are kept, to run some of them and stop at the
// first failure.

import type { Callback, Test } from 'uvu';
import { Skip } from '../support/skip.ts';

/** What became of one test. */
export type Outcome = { readonly id: string; readonly file: string; readonly ms: number } & End;

type End = { readonly kind: 'passed' | 'skipped' } | { readonly kind: 'failed'; readonly reason: string };

export interface RunOptions {
  /** Ids of the tests to run, in this order; undefined: all. */
  readonly tests: readonly string[] | undefined;
  /** Told before each test with its id, and with nothing after it. */
  readonly onTest: (id: string | undefined) => void;
  readonly stopsAtFailure: boolean;
}

type Handler = Callback<object>;
type Step = 'before' | 'after' | 'before.each' | 'after.each';

interface Suite {
  readonly context: object;
  readonly hooks: Record<Step, Handler[]>;
}

interface OneTest {
  readonly id: string;
  readonly file: string;
  readonly title: string;
  readonly handler: Handler;
  readonly suite: Suite;
}

const all = new Map<string, OneTest>();
let currentFile = '';

/** Says which file the suites that follow belong to. */
export function beginFile(file: string): void {
  currentFile = file;
}

/** As uvu's `suite`. */
export function suite<T = Record<string, unknown>>(name = '', context?: T): Test<T> {
  const own: Suite = {
    context: { ...context, __suite__: name, __test__: '' },
    hooks: { before: [], after: [], 'before.each': [], 'after.each': [] },
  };
  const add = (title: string, handler: Callback<T>): void => {
    const id = newId(name, title);
    all.set(id, { id, file: currentFile, title, handler: handler as Handler, suite: own });
  };
  const hook = (step: 'before' | 'after') =>
    Object.assign((handler: Handler) => void own.hooks[step].push(handler), {
      each: (handler: Handler) => void own.hooks[`${step}.each`].push(handler),
    });
  const rest = { only: add, skip: () => {}, before: hook('before'), after: hook('after'), run: () => {} };
  return Object.assign(add, rest) as unknown as Test<T>;
}

/** As uvu's unnamed suite. */
export const test: Test = suite();

function newId(suiteName: string, title: string): string {
  const name = `${currentFile} › ${suiteName} › ${title}`;
  let id = name;
  for (let nth = 2; all.has(id); nth++) id = `${name} (${nth})`;
  return id;
}

/** Runs tests one after the other. The hooks around a suite run before the first of its tests and after the last. */
export async function runTests({ tests, onTest, stopsAtFailure }: RunOptions): Promise<readonly Outcome[]> {
  const chosen = (tests ?? [...all.keys()]).map((id) => all.get(id)).filter((test) => test !== undefined);
  const outcomes: Outcome[] = [];
  const begun = new Map<Suite, End>();
  for (const test of chosen) {
    const { suite } = test;
    const beginning = begun.get(suite) ?? (await call(suite, suite.hooks.before));
    begun.set(suite, beginning);
    onTest(test.id);
    const outcome = await runOne(test, beginning);
    onTest(undefined);
    outcomes.push(outcome);
    if (outcome.kind === 'failed' && stopsAtFailure) break;
  }
  for (const suite of begun.keys()) {
    const end = await call(suite, suite.hooks.after);
    const at = outcomes.findLastIndex(({ id }) => all.get(id)!.suite === suite);
    if (end.kind === 'failed') outcomes[at] = { ...outcomes[at]!, ...end };
  }
  return outcomes;
}

async function runOne({ id, file, title, handler, suite }: OneTest, beginning: End): Promise<Outcome> {
  const { context, hooks } = suite;
  Object.assign(context, { __test__: title });
  const start = performance.now();
  const end = beginning.kind === 'passed' ? await call(suite, [...hooks['before.each'], handler]) : beginning;
  const cleaned = await call(suite, hooks['after.each']);
  return { id, file, ms: performance.now() - start, ...(cleaned.kind === 'failed' ? cleaned : end) };
}

async function call({ context }: Suite, handlers: readonly Handler[]): Promise<End> {
  try {
    for (const one of handlers) await one(context as never);
    return { kind: 'passed' };
  } catch (thrown) {
    return thrown instanceof Skip ? { kind: 'skipped' } : { kind: 'failed', reason: String(thrown) };
  }
}
