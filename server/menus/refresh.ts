// An edit of the menus, taken up only where it is sound and tested: everything else stays as it runs.

import type { Library } from '../../lib/engine/conversation.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { loadFlows } from '../../lib/flow/format/load.ts';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import type { CompiledFlow } from '../../lib/flow/run/compile.ts';
import { failureText, runFlowTests } from '../../lib/flow/testing/run.ts';
import { flowNameOf, type MenuFolder, readTests, tryCompile } from './menus.ts';

/** What became of an edit. */
export interface Refresh {
  readonly taken: readonly { readonly flow: string; readonly version: number }[];
  /** Why others stay as they run; in words, one problem each. */
  readonly refused: readonly string[];
  readonly problems: readonly Problem[];
  /** Running flows whose file is gone. */
  readonly orphans: readonly string[];
}

/**
 * Checks, compiles and tests what has changed in the folder, and adds what passes to the library. A flow that calls a
 * changed one changes with it and is tested again; where the called one is refused, it goes on with the running form.
 */
export async function refreshMenus({ folder, services }: MenuFolder, library: Library): Promise<Refresh> {
  const { flows, problems, files } = await loadFlows(folder, services ? { services } : {});
  const taken: Refresh['taken'][number][] = [];
  const refused: string[] = [];
  const accepted = new Map(library.ids.map((name) => [name, running(library, name)!.flow]));
  for (const flow of calledFirst(flows)) {
    const before = accepted.get(flow.flow);
    accepted.set(flow.flow, flow);
    const next = tryCompile(flow, accepted);
    if (typeof next !== 'string' && isSame(next, running(library, flow.flow))) continue;
    const reasons = typeof next === 'string' ? [next] : await failedTests(next, folder);
    if (typeof next !== 'string' && reasons.length === 0) {
      library.add(next);
      taken.push({ flow: flow.flow, version: flow.version });
      continue;
    }
    refused.push(...reasons);
    if (before) accepted.set(flow.flow, before);
    else accepted.delete(flow.flow);
  }
  const names = new Set(files.map(flowNameOf));
  return { taken, refused, problems, orphans: library.ids.filter((name) => !names.has(name)) };
}

const running = (library: Library, name: string) => library.current(name) as CompiledFlow | undefined;
const isSame = (one: CompiledFlow, other: CompiledFlow | undefined) =>
  one.hash === other?.hash && one.version === other.version;

async function failedTests(compiled: CompiledFlow, folder: string): Promise<string[]> {
  const tests = await readTests(folder, compiled.id);
  if (!tests) return [];
  if (!tests.file) return tests.problems.map(problemLine);
  const report = await runFlowTests(compiled, tests.file);
  return report.tests.flatMap(({ name, failures }) =>
    failures.map((failure) => `flow "${compiled.id}", test "${name}": ${failureText(failure)}`),
  );
}

// A flow comes after those that it calls; circles were refused by lint.
function calledFirst(flows: ReadonlyMap<string, Flow>): Flow[] {
  const order = new Set<Flow>();
  const visit = (flow: Flow, around: readonly Flow[]): void => {
    if (order.has(flow) || around.includes(flow)) return;
    for (const screen of Object.values(flow.screens)) {
      const called = screen.type === 'flow' ? flows.get(screen.flow) : undefined;
      if (called) visit(called, [...around, flow]);
    }
    order.add(flow);
  };
  for (const flow of flows.values()) visit(flow, []);
  return [...order];
}
