// The menus of a folder with their tests run, and rewritten where asked: for the verbs test and graph.

import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Problem } from '../../lib/flow/format/problem.ts';
import type { FlowSource } from '../../lib/flow/format/source.ts';
import type { CompiledFlow } from '../../lib/flow/run/compile.ts';
import type { FlowTest, FlowTestFile } from '../../lib/flow/testing/file.ts';
import { parseFlowTests } from '../../lib/flow/testing/parse.ts';
import { type FlowTestReport, runFlowTests } from '../../lib/flow/testing/run.ts';
import { updateFlowTests } from '../../lib/flow/testing/update.ts';
import { refuseInstalled } from './home.ts';
import { cutFlowName, type MenuFolder, type Menus, readMenus, readTests } from './menus.ts';

export interface CheckedMenus extends Menus {
  /** Of flow files and test files; warnings too. */
  readonly problems: readonly Problem[];
  /** Of every compiled flow that has tests. */
  readonly reports: readonly FlowTestReport[];
  /** Flows that have no tests beside them. */
  readonly untested: readonly string[];
  /** Tests of flows that do not compile. */
  readonly notRun: number;
  /** Expectations that were written anew. */
  readonly updated: number;
}

export interface CheckOptions {
  /** Which flows are tested. @default all */
  readonly flow?: ((name: string) => boolean) | undefined;
  /** Which of their tests are run. @default all */
  readonly test?: ((test: FlowTest) => boolean) | undefined;
  /** Writes what the tests show now into their files before they are run. @default false */
  readonly update?: boolean | undefined;
}

/** Reads, compiles and tests the menus of a folder. Throws ERR_CONFIG when the folder cannot be read. */
export async function checkMenus(folder: MenuFolder, options: CheckOptions = {}): Promise<CheckedMenus> {
  const { flow: isMeant = () => true, test: isRun = () => true } = options;
  const menus = await readMenus(folder);
  const problems = [...menus.problems];
  const reports: FlowTestReport[] = [];
  const untested: string[] = [];
  let updated = 0;
  for (const [name, compiled] of menus.compiled) {
    if (!isMeant(name)) continue;
    const found = await readTests(folder, name);
    if (!found) untested.push(name);
    problems.push(...(found?.problems ?? []));
    if (!found?.file) continue;
    const { file, source } = found;
    const update = options.update ? await rewrite(compiled, { file, source, only: isRun }) : undefined;
    updated += update?.changed ?? 0;
    const tests = (update?.file ?? file).tests.filter(isRun);
    reports.push(await runFlowTests(compiled, { ...file, tests }));
  }
  const notRun = await countNotRun(folder, menus, { flow: isMeant, test: isRun });
  return { ...menus, problems, reports, untested, updated, notRun };
}

// Flows that do not compile are told as problems; their tests are still counted.
async function countNotRun(
  folder: MenuFolder,
  { files, compiled }: Menus,
  { flow: isMeant, test: isRun }: CheckedTests,
): Promise<number> {
  const broken = files.map(cutFlowName).filter((name) => !compiled.has(name) && isMeant(name));
  const tests = await Promise.all(broken.map((name) => readTests(folder, name)));
  return tests.flatMap((one) => one?.file?.tests.filter(isRun) ?? []).length;
}

interface CheckedTests {
  flow(name: string): boolean;
  test(test: FlowTest): boolean;
}

interface Rewrite {
  readonly file: FlowTestFile;
  readonly source: FlowSource;
  readonly only: (test: FlowTest) => boolean;
}

async function rewrite(compiled: CompiledFlow, { file, source, only }: Rewrite) {
  const { text, changed } = await updateFlowTests(compiled, { file, text: source.text, only });
  if (changed) {
    refuseInstalled(dirname(source.file));
    await writeFile(source.file, text);
  }
  return { changed, file: changed ? parseFlowTests(text, source.file).file : file };
}
