// The menus of a folder, from files to conversations: read → schema → lint → compile → their own tests.

import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type CompiledFlow, compileFlow } from '../lib/flow/compile.ts';
import { loadFlows } from '../lib/flow/load.ts';
import { FLOW_FILE } from '../lib/flow/parse.ts';
import type { Problem } from '../lib/flow/problem.ts';
import { FLOW_TEST_FILE, parseFlowTests } from '../lib/flow/test-file.ts';
import { type FlowTestReport, runFlowTests } from '../lib/flow/test-run.ts';

/** A flow that is fit to serve: without errors, and its tests pass. */
export interface CheckedMenus {
  readonly fit: readonly CompiledFlow[];
  /** Of flow files and test files; warnings too. */
  readonly problems: readonly Problem[];
  /** Of every compiled flow that has tests. */
  readonly reports: readonly FlowTestReport[];
  /** Flows that have no tests beside them. */
  readonly untested: readonly string[];
  /** Flow files that were read. */
  readonly files: readonly string[];
}

/** Reads and tests the menus of a folder. Throws ERR_CONFIG when the folder cannot be read. */
export async function checkMenus(folder: string, services?: ReadonlySet<string>): Promise<CheckedMenus> {
  const { flows, problems, files } = await loadFlows(folder, services ? { services } : {});
  const found = [...problems];
  const fit: CompiledFlow[] = [];
  const reports: FlowTestReport[] = [];
  const untested: string[] = [];
  for (const flow of flows.values()) {
    const compiled = compileFlow(flow, { flows });
    const tests = await readTests(join(folder, flow.flow + FLOW_TEST_FILE));
    found.push(...tests.problems);
    if (!tests.file) untested.push(flow.flow);
    const report = tests.file && (await runFlowTests(compiled, tests.file));
    if (report) reports.push(report);
    if (!tests.problems.length && (!report || passes(report))) fit.push(compiled);
  }
  return { fit, problems: found, reports, untested, files };
}

export function passes(report: FlowTestReport): boolean {
  return report.tests.every((test) => !test.failures.length);
}

async function readTests(file: string): Promise<Pick<ReturnType<typeof parseFlowTests>, 'file' | 'problems'>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? { problems: [] } : parseFlowTests(text, file);
}

/** `menus/main.flow.json` → `main` */
export const flowNameOf = (file: string) => basename(file, FLOW_FILE);
