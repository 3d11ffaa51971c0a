// One group through Stryker: which options it gets, and what became of the mutants.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core';
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';
import type { Reporter } from '@stryker-mutator/api/report';
import { Stryker } from '@stryker-mutator/core';
import type { Group } from './groups.ts';
import { RUNNER } from './runner.ts';
import { describeChange, type Mutant } from './verdict.ts';

/** What is told while a group runs. */
export interface Progress {
  readonly done: number;
  readonly of: number;
  readonly survived: number;
}

export interface GroupRun {
  readonly jobs: number;
  /** Only these, `file` or `file:from-to` in lines. */
  readonly only?: readonly string[] | undefined;
  readonly onProgress: (progress: Progress) => void;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const REPORTER = 'twinline';
/** What no test of a group reads, or what is made anew. */
const NOT_COPIED = ['build', 'dist', 'coverage', 'data', '.git*'];
/** A mutant that takes this much longer than its tests did is noticed: it waits for what never comes. */
const PATIENCE_MS = 10_000;

let onProgress: GroupRun['onProgress'] = () => {};
let told: Progress = { done: 0, of: 0, survived: 0 };

/** Mutates the files of a group and runs its tests against each mutant. Leaves nothing behind in the tree. */
export async function mutate(group: Group, run: GroupRun): Promise<readonly Mutant[]> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-mutants-'));
  onProgress = run.onProgress;
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    const options = listOptions(group, { folder, ...run });
    const results = await new Stryker(options).runMutationTest();
    const broken = results.find(({ status }) => status === 'RuntimeError');
    if (broken) throw new Error(`A mutant of ${broken.fileName} could not be tested: ${broken.statusReason}`);
    return results.filter(({ status }) => status in FATES).map(asMutant);
  } finally {
    remove();
    process.off('exit', remove);
  }
}

function listOptions({ files, tests }: Group, { folder, jobs, only }: GroupRun & { folder: string }) {
  return {
    tests,
    mutate: [...(only ?? files)],
    testRunner: RUNNER,
    plugins: ['runner', 'stryker'].map((name) => new URL(`./${name}.ts`, import.meta.url).href),
    reporters: [REPORTER],
    coverageAnalysis: 'perTest',
    concurrency: jobs,
    timeoutMS: PATIENCE_MS,
    tempDirName: folder,
    cleanTempDir: 'always',
    ignorePatterns: NOT_COPIED,
    // Its compiler API is not among what TypeScript 7 has.
    tsconfigFile: 'none',
    disableTypeChecks: false,
    testRunnerNodeArgs: ['--import', 'tsx'],
    logLevel: 'error',
    fileLogLevel: 'off',
    warnings: false,
  } as PartialStrykerOptions;
}

// Timeouts are noticed: the tests did not come to their end. What cannot run is no mutant.
const FATES = { Killed: 'noticed', Timeout: 'noticed', Survived: 'survived', NoCoverage: 'survived' } as const;

function asMutant({ fileName, location, replacement, status }: MutantResult): Mutant {
  const lines = readFileSync(fileName, 'utf8').split('\n');
  const { start, end } = location;
  // Lines and columns are counted from 1, and the end is behind the last character.
  const part = lines.slice(start.line - 1, end.line);
  part[part.length - 1] = part.at(-1)!.slice(0, end.column - 1);
  part[0] = part[0]!.slice(start.column - 1);
  return {
    file: relative(ROOT, fileName),
    line: start.line,
    at: lines[start.line - 1]!.trim(),
    change: describeChange(part.join('\n'), replacement),
    fate: FATES[status as keyof typeof FATES],
  };
}

const reporter: Reporter = {
  onMutationTestingPlanReady: ({ mutantPlans }) => {
    told = { done: 0, of: mutantPlans.length, survived: 0 };
    onProgress(told);
  },
  onMutantTested: ({ status }) => {
    const survived = status === 'Survived' || status === 'NoCoverage';
    told = { ...told, done: told.done + 1, survived: told.survived + (survived ? 1 : 0) };
    onProgress(told);
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Reporter, REPORTER, reporter)];
