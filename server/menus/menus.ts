// The menus of a folder, from files to conversations: read → schema → lint → compile → their own tests.

import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { invalidFlow, loadFlows } from '../../lib/flow/format/load.ts';
import { FLOW_FILE } from '../../lib/flow/format/parse.ts';
import type { Problem } from '../../lib/flow/format/problem.ts';
import type { FlowSource } from '../../lib/flow/format/source.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import {
  FLOW_TEST_FILE,
  type FlowTest,
  type FlowTestFile,
  type ParsedFlowTests,
  parseFlowTests,
} from '../../lib/flow/testing/file.ts';
import { type FlowTestReport, runFlowTests } from '../../lib/flow/testing/run.ts';
import { updateFlowTests } from '../../lib/flow/testing/update.ts';

export interface MenuFolder {
  readonly folder: string;
  /** Names of the services that flows may call; without it, they are not checked. */
  readonly services?: ReadonlySet<string> | undefined;
}

export interface Menus {
  /** The flows that compile, by name. */
  readonly compiled: ReadonlyMap<string, CompiledFlow>;
  readonly problems: readonly Problem[];
  /** Why flows without problems still do not compile. */
  readonly failures: readonly string[];
  /** Flow files that were read. */
  readonly files: readonly string[];
}

/** Reads and compiles the menus of a folder. Throws ERR_CONFIG when the folder cannot be read. */
export async function readMenus({ folder, services }: MenuFolder): Promise<Menus> {
  const { flows, problems, files } = await loadFlows(folder, services ? { services } : {});
  const compiled = new Map<string, CompiledFlow>();
  const failures: string[] = [];
  for (const flow of flows.values()) {
    const result = tryCompile(flow, flows);
    if (typeof result === 'string') failures.push(result);
    else compiled.set(flow.flow, result);
  }
  return { compiled, problems, failures, files };
}

/**
 * The menus for a start: those that are broken are left out, but `needed` must be there. Throws ERR_FLOW_INVALID with
 * all that is wrong with it, or ERR_FLOW_UNKNOWN with the names of those that there are.
 */
export async function loadMenus(folder: MenuFolder, needed: string): Promise<Menus> {
  const menus = await readMenus(folder);
  if (menus.compiled.has(needed)) return menus;
  const file = join(folder.folder, needed + FLOW_FILE);
  const words = `Cannot start: the flow "${needed}" (USSD_FLOW)`;
  if (!menus.files.includes(file)) {
    const names = [...menus.compiled.keys()].join(', ') || 'none';
    throw new TwinlineError('ERR_FLOW_UNKNOWN', `${words} is not in ${folder.folder}. Flows there: ${names}.`);
  }
  const own = menus.problems.filter((problem) => problem.file === file);
  throw invalidFlow([`${words} has errors.`, ...menus.failures].join('\n'), own);
}

export interface CheckedMenus extends Menus {
  /** Of flow files and test files; warnings too. */
  readonly problems: readonly Problem[];
  /** Of every compiled flow that has tests. */
  readonly reports: readonly FlowTestReport[];
  /** Flows that have no tests beside them. */
  readonly untested: readonly string[];
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
    const found = await readTests(folder.folder, name);
    if (!found) untested.push(name);
    problems.push(...(found?.problems ?? []));
    if (!found?.file) continue;
    const { file, source } = found;
    const update = options.update ? await rewrite(compiled, { file, source, only: isRun }) : undefined;
    updated += update?.changed ?? 0;
    const tests = (update?.file ?? file).tests.filter(isRun);
    reports.push(await runFlowTests(compiled, { ...file, tests }));
  }
  return { ...menus, problems, reports, untested, updated };
}

interface Rewrite {
  readonly file: FlowTestFile;
  readonly source: FlowSource;
  readonly only: (test: FlowTest) => boolean;
}

async function rewrite(compiled: CompiledFlow, { file, source, only }: Rewrite) {
  const { text, changed } = await updateFlowTests(compiled, { file, text: source.text, only });
  if (changed) await writeFile(source.file, text);
  return { changed, file: changed ? parseFlowTests(text, source.file).file : file };
}

/** The tests beside a flow, or undefined when there are none. */
export async function readTests(folder: string, flow: string): Promise<ParsedFlowTests | undefined> {
  const file = join(folder, flow + FLOW_TEST_FILE);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : parseFlowTests(text, file);
}

/** The flow compiled, or in words why it cannot be. */
export function tryCompile(flow: Flow, flows: ReadonlyMap<string, Flow>): CompiledFlow | string {
  try {
    return compileFlow(flow, { flows });
  } catch (error) {
    if (error instanceof TwinlineError) return `flow "${flow.flow}": ${error.message}`;
    throw error;
  }
}

/** `menus/main.flow.json` → `main` */
export const flowNameOf = (file: string) => basename(file, FLOW_FILE);
