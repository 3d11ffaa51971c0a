// The menus of a folder: read, checked and compiled; and the tests beside them.

import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { invalidFlow, loadFlows } from '../../lib/flow/format/load.ts';
import { FLOW_FILE } from '../../lib/flow/format/parse.ts';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import type { LintRule } from '../../lib/flow/lint/rule.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE } from '../../lib/flow/testing/file.ts';
import { type ParsedFlowTests, parseFlowTests } from '../../lib/flow/testing/parse.ts';
import { CONTRACTS } from './contracts.ts';

export interface MenuFolder {
  readonly folder: string;
  /** Names of the services that flows may call; without it, they are not checked. */
  readonly services?: ReadonlySet<string> | undefined;
  /** Rules besides our own. */
  readonly rules?: readonly LintRule[] | undefined;
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
export async function readMenus({ folder, services, rules }: MenuFolder): Promise<Menus> {
  const { flows, problems, files } = await loadFlows(folder, { services, rules, contracts: CONTRACTS });
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

/** Why flows of a start are left out, in words, one problem each. */
export function listRefused({ problems, failures }: Pick<Menus, 'problems' | 'failures'>): string[] {
  return [...problems.filter(({ severity }) => severity === 'error').map(problemLine), ...failures];
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

/** What is wrong with the files of tests beside these files of flows. */
export async function readTestProblems(folder: string, files: readonly string[]): Promise<Problem[]> {
  const found = await Promise.all(files.map((file) => readTests(folder, cutFlowName(file))));
  return found.flatMap((tests) => tests?.problems ?? []);
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
export const cutFlowName = (file: string) => basename(file, FLOW_FILE);
