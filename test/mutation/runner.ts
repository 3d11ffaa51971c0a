// How Stryker runs tests: a plugin that it loads in a process of its own, whose working folder is the instrumented copy of the
// project. Mutants share a process as long as none can have been in the way of another:
// - a test that failed has to pass at once when its mutant is gone, else its mutant is tried again in a new process;
// - a mutant that survived is tried again in a new process, where nothing is remembered from before;
// - a mutant of code that runs while files are loaded has a process of its own.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MutantCoverage, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  type DryRunOptions,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestResult,
  type TestRunner,
  TestStatus,
} from '@stryker-mutator/api/test-runner';
import { bundleTests } from './bundle.ts';
import type { Job } from './process.ts';
import type { Outcome } from './suites.ts';
import { type Ended, TestProcess } from './test-process.ts';

/** The name of the runner in the options of Stryker. */
export const RUNNER = 'twinline';
/** Jobs of one process: what tests leave in its memory makes later ones slow. */
const JOBS_MAX = 200;
/** Where the order of the tests is kept, in the copy of the project. */
const ORDER = 'order-of-tests.json';
/** Of the time for a mutant: what all of this may take, before Stryker itself ends the process, and its first try. */
const SHARES = { all: 0.9, first: 0.4 } as const;

class Runner implements TestRunner {
  static readonly inject = tokens(commonTokens.options);
  readonly #tests: readonly string[];
  #program = '';
  /** Ids of all tests, quick ones first. */
  #order: readonly string[] = [];
  #shared: TestProcess | undefined;

  constructor(options: StrykerOptions) {
    this.#tests = options.tests as string[];
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    this.#program = await bundleTests(process.cwd(), this.#tests);
    // Stryker makes another runner when one took too long.
    if (existsSync(ORDER)) this.#order = JSON.parse(readFileSync(ORDER, 'utf8')) as string[];
  }

  async dryRun({ timeout }: DryRunOptions): Promise<DryRunResult> {
    const ended = await this.#runApart({}, timeout);
    if ('timeout' in ended) return { status: DryRunStatus.Timeout };
    if ('broken' in ended) return { status: DryRunStatus.Error, errorMessage: ended.broken };
    this.#order = [...ended.outcomes].sort((a, b) => a.ms - b.ms).map(({ id }) => id);
    writeFileSync(ORDER, JSON.stringify(this.#order));
    // Of a mutant, not all tests run: one that needs another before it would seem to notice every change.
    const other = await this.#runApart({ tests: [...this.#order].reverse() }, timeout);
    const outcomes = 'outcomes' in other ? [...ended.outcomes, ...other.outcomes.filter(isFailed)] : ended.outcomes;
    const mutantCoverage = (ended.coverage ?? { static: {}, perTest: {} }) as MutantCoverage;
    return { status: DryRunStatus.Complete, tests: outcomes.map(asTestResult), mutantCoverage };
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, testFilter, timeout, hitLimit, mutantActivation } = options;
    const tests = testFilter ? this.#order.filter((id) => testFilter.includes(id)) : this.#order;
    if (!tests.length) return { status: MutantRunStatus.Error, errorMessage: 'No test is known to run.' };
    const job = { mutant: activeMutant.id, tests, hitLimit };
    const begun = performance.now();
    if (mutantActivation === 'runtime') {
      const ended = await this.#runShared(job, timeout * SHARES.first);
      if (ended && 'outcomes' in ended && ended.isRepeatable) return asMutantResult(ended);
    }
    return asMutantResult(await this.#runApart(job, begun + timeout * SHARES.all - performance.now()));
  }

  async dispose() {
    this.#shared?.end();
  }

  async #runShared(job: Job, timeoutMs: number): Promise<Ended | undefined> {
    this.#shared ??= await this.#loaded(timeoutMs);
    if (!this.#shared) return undefined;
    const ended = await this.#shared.run(job, timeoutMs);
    const isSpent = !('outcomes' in ended) || (ended.outcomes.some(isFailed) && !ended.isRepeatable);
    if (isSpent || this.#shared.jobs > JOBS_MAX) {
      this.#shared.end();
      this.#shared = undefined;
    }
    return ended;
  }

  /** A process that has loaded all files, without a mutant. */
  async #loaded(timeoutMs: number): Promise<TestProcess | undefined> {
    const one = new TestProcess(this.#program);
    const ended = await one.run({ tests: [] }, timeoutMs);
    if ('outcomes' in ended && !ended.outcomes.some(isFailed)) return one;
    one.end();
    return undefined;
  }

  async #runApart(job: Job, timeoutMs: number): Promise<Ended> {
    const one = new TestProcess(this.#program);
    const ended = await one.run(job, timeoutMs);
    one.end();
    return ended;
  }
}

const isFailed = (outcome: Outcome): outcome is Extract<Outcome, { kind: 'failed' }> => outcome.kind === 'failed';

function asTestResult(outcome: Outcome): TestResult {
  const { id, file, ms, kind } = outcome;
  const known = { id, name: id, timeSpentMs: ms, fileName: join(process.cwd(), 'test', `${file}.test.ts`) };
  if (kind === 'failed') return { ...known, status: TestStatus.Failed, failureMessage: outcome.reason };
  return { ...known, status: kind === 'passed' ? TestStatus.Success : TestStatus.Skipped };
}

function asMutantResult(ended: Ended): MutantRunResult {
  if ('timeout' in ended) return { status: MutantRunStatus.Timeout };
  // A process that ends before it has answered: tests wait for what never comes.
  if ('broken' in ended)
    return { status: MutantRunStatus.Killed, killedBy: [], failureMessage: ended.broken, nrOfTests: 0 };
  if (ended.isEndless) return { status: MutantRunStatus.Timeout };
  const nrOfTests = ended.outcomes.length;
  const failed = ended.outcomes.find(isFailed);
  if (!failed) return { status: MutantRunStatus.Survived, nrOfTests };
  return { status: MutantRunStatus.Killed, killedBy: [failed.id], failureMessage: failed.reason, nrOfTests };
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, RUNNER, Runner)];
