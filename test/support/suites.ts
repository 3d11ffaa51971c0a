// uvu's suites, with every hook and test watched. The runner puts this module in the place of `uvu`, because uvu's own
// loop loses what hooks throw, breaks on a thrown string and does not notice a suite that is never run.

import './queue.ts';
import { type Callback, type Test, suite as uvuSuite } from 'uvu';
import { type Loop, takeLoop } from './queue.ts';
import { describe, type Failure } from './report.ts';
import { Skip } from './skip.ts';
import { watched } from './watchdog.ts';

/** What became of one test. */
export type Result = { readonly title: string } & (
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed' | 'skipped'; readonly reason: string }
);

/** Everything that is known about one `.run()` of one suite. */
export interface Ledger {
  readonly name: string;
  readonly titles: string[];
  readonly only: string[];
  /** Titles given to uvu's own `skip`, which knows no reason. */
  readonly unexplained: string[];
  readonly results: Result[];
  /** Failures outside of a test: hooks around the suite, a timeout. */
  readonly troubles: Failure[];
  /** The reason that a `before` hook gave to `skipped`. */
  skip: string | undefined;
  /** What is running now, or ''. */
  doing: string;
  /** Set when the runner stopped waiting: whatever is left of the suite refuses to start. */
  abandoned: boolean;
  /** uvu's loop over the tests, once `.run()` was called. */
  loop: Loop | undefined;
  /** Set when the runner starts the loop. */
  ran: boolean;
}

type Step = 'before' | 'before.each' | 'test' | 'after.each' | 'after';

let ledgers: Ledger[] = [];

/** Suites registered since the last call, in order of registration. */
export function takeLedgers(): Ledger[] {
  const taken = ledgers;
  ledgers = [];
  return taken;
}

/** As uvu's `suite`. */
export function suite<T = Record<string, unknown>>(name = '', context?: T): Test<T> {
  const inner = uvuSuite<T>(name, context);
  let open: Ledger | undefined;
  const ledger = (): Ledger => {
    // A ledger that was taken away belongs to an earlier file.
    if (!open || !ledgers.includes(open)) {
      open = newLedger(name);
      ledgers.push(open);
    }
    return open;
  };
  const outer = ((title: string, handler: Callback<T>) => {
    ledger().titles.push(title);
    inner(title, watch(ledger(), 'test', handler));
  }) as Test<T>;
  outer.only = (title, handler) => {
    ledger().only.push(title);
    inner.only(title, watch(ledger(), 'test', handler));
  };
  outer.skip = (title = '') => {
    ledger().unexplained.push(title);
  };
  outer.before = hook(inner.before, ledger, 'before');
  outer.after = hook(inner.after, ledger, 'after');
  outer.run = () => {
    const closed = ledger();
    inner.run();
    closed.loop = takeLoop();
    open = undefined;
  };
  return outer;
}

/** As uvu's unnamed default suite. */
export const test: Test = suite();

function hook<T>(inner: Test<T>['before'], ledger: () => Ledger, step: 'before' | 'after'): Test<T>['before'] {
  const outer = ((handler: Callback<T>) => inner(watch(ledger(), step, handler))) as Test<T>['before'];
  outer.each = (handler) => inner.each(watch(ledger(), `${step}.each`, handler));
  return outer;
}

function newLedger(name: string): Ledger {
  return {
    name,
    titles: [],
    only: [],
    unexplained: [],
    results: [],
    troubles: [],
    skip: undefined,
    doing: '',
    abandoned: false,
    loop: undefined,
    ran: false,
  };
}

function watch<T>(ledger: Ledger, step: Step, handler: Callback<T>): Callback<T> {
  return async (context) => {
    const title = context.__test__;
    if (ledger.abandoned) throw new Error('This suite was abandoned after its timeout.');
    ledger.doing = step === 'test' ? `"${title}"` : title ? `${step} of "${title}"` : step;
    watched(ledger.doing);
    try {
      await handler(context);
      if (step === 'test') ledger.results.push({ title, kind: 'passed' });
    } catch (thrown) {
      if (!ledger.abandoned) RECORD[step](ledger, title, thrown);
      // Always an Error: uvu's formatter breaks on anything else, and then its loop ends without a word.
      if (step !== 'after' && step !== 'after.each') throw new Error('recorded');
    } finally {
      ledger.doing = '';
    }
  };
}

// Errors of cleaning hooks are recorded and not thrown on: uvu would drop the rest of the suite, or its own totals.
const RECORD: Record<Step, (ledger: Ledger, title: string, thrown: unknown) => void> = {
  before: (ledger, _title, thrown) => {
    if (thrown instanceof Skip) ledger.skip = thrown.message;
    else ledger.troubles.push({ where: 'the before hook', reason: `threw ${describe(thrown)}` });
  },
  'before.each': (ledger, title, thrown) => ledger.results.push(outcome(title, thrown, 'the before.each hook threw ')),
  test: (ledger, title, thrown) => ledger.results.push(outcome(title, thrown, '')),
  'after.each': (ledger, title, thrown) => {
    const last = ledger.results.pop();
    const earlier = last?.kind === 'failed' ? `${last.reason}\n` : '';
    const reason = `${earlier}the after.each hook threw ${describe(thrown)}`;
    ledger.results.push({ title, kind: 'failed', reason });
  },
  after: (ledger, _title, thrown) =>
    ledger.troubles.push({ where: 'the after hook', reason: `threw ${describe(thrown)}` }),
};

function outcome(title: string, thrown: unknown, lead: string): Result {
  if (thrown instanceof Skip) return { title, kind: 'skipped', reason: thrown.message };
  return { title, kind: 'failed', reason: lead + describe(thrown) };
}
