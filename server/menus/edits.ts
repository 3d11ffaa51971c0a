// What has changed in a folder of menus: checked, compiled and tested. Takes and gives plain data, for it runs in a thread.

import { type Flow, listCalled } from '../../lib/flow/format/flow.ts';
import { loadFlows } from '../../lib/flow/format/load.ts';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import type { LintDoors } from '../../lib/flow/lint/lint.ts';
import type { LintRule, RuleFinding } from '../../lib/flow/lint/rule.ts';
import type { Contracts } from '../../lib/flow/lint/shapes.ts';
import { type CompiledFlow, flowCompiler } from '../../lib/flow/run/compile.ts';
import { failureText, runFlowTests } from '../../lib/flow/testing/run.ts';
import { CONTRACTS } from './contracts.ts';
import { cutFlowName, readTests, sayTaken, type TestedFolder, tryCompile } from './menus.ts';

export interface EditJob {
  readonly folder: string;
  /** Names of the services that flows may call; without it, they are not checked. */
  readonly services: readonly string[] | undefined;
  /** Their inputs and outputs, as far as known. @default those of ours */
  readonly contracts?: Contracts | undefined;
  readonly doors: LintDoors | undefined;
  /** Names of machines of your own, which no flow may have. */
  readonly machines: readonly string[];
  /** What is served. */
  readonly served: readonly { readonly flow: Flow; readonly hash: string }[];
  /** What rules besides our own have found. */
  readonly found: readonly OwnFinding[];
}

interface OwnFinding extends Pick<LintRule, 'code' | 'severity'> {
  readonly flow: string;
  readonly finding: RuleFinding;
}

export interface EditAnswer {
  /** Flows to be served from now on, each after those that it calls. */
  readonly flows: readonly Flow[];
  /** Why others stay as they run; in words, one problem each. */
  readonly refused: readonly string[];
  readonly problems: readonly Problem[];
  /** Flow files that were read. */
  readonly files: readonly string[];
}

/**
 * Checks the flows of a folder, compiles them and runs their tests. A flow that calls a changed one changes with it and is
 * tested again; where the called one is refused, it goes on with the served form. Throws ERR_CONFIG when the folder cannot
 * be read.
 */
export async function checkEdits(job: EditJob): Promise<EditAnswer> {
  const { folder, services, contracts = CONTRACTS, doors, machines, served, found } = job;
  const rules = found.map(
    ({ flow: name, finding, ...rule }): LintRule => ({
      ...rule,
      means: '',
      find: ({ flow }) => (flow.flow === name ? [finding] : []),
    }),
  );
  const context = { services: services && new Set(services), rules, doors, contracts };
  const { flows, problems, files } = await loadFlows(folder, context);
  const taken: Flow[] = [];
  const refused = files.filter((file) => machines.includes(cutFlowName(file))).map(sayTaken);
  const before = new Map(served.map((one) => [one.flow.flow, one]));
  const accepted = new Map(served.map(({ flow }) => [flow.flow, flow]));
  const compile = flowCompiler({ flows: accepted, timezone: doors?.timezone });
  for (const flow of sortCalledFirst(flows)) {
    if (machines.includes(flow.flow)) continue;
    const old = before.get(flow.flow);
    accepted.set(flow.flow, flow);
    const next = tryCompile(compile, flow);
    if (typeof next !== 'string' && next.hash === old?.hash && next.version === old.flow.version) continue;
    const reasons = typeof next === 'string' ? [next] : await listFailedTests(next, { folder, contracts });
    if (reasons.length === 0) {
      taken.push(flow);
      continue;
    }
    refused.push(...reasons);
    if (old) accepted.set(flow.flow, old.flow);
    else accepted.delete(flow.flow);
  }
  return { flows: taken, refused, problems, files };
}

async function listFailedTests(flow: CompiledFlow, folder: TestedFolder): Promise<string[]> {
  const tests = await readTests(folder, flow.id);
  if (!tests) return [];
  if (!tests.file) return tests.problems.map(problemLine);
  const report = await runFlowTests(flow, tests.file);
  return report.tests.flatMap(({ name, failures }) =>
    failures.map((failure) => `flow "${flow.id}", test "${name}": ${failureText(failure)}`),
  );
}

// A flow comes after those that it calls; circles were refused by lint.
function sortCalledFirst(flows: ReadonlyMap<string, Flow>): Flow[] {
  const order = new Set<Flow>();
  const visit = (flow: Flow, around: readonly Flow[]): void => {
    if (order.has(flow) || around.includes(flow)) return;
    for (const name of listCalled(flow)) {
      const called = flows.get(name);
      if (called) visit(called, [...around, flow]);
    }
    order.add(flow);
  };
  for (const flow of flows.values()) visit(flow, []);
  return [...order];
}
