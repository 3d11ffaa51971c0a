// What is wrong with a flow of the right shape: a table of rules, each with its code.

import { inOrder, problemOf } from './finding.ts';
import type { Flow } from './flow.ts';
import { DEFAULT_KEYS } from './flow.ts';
import { callRules } from './lint/calls.ts';
import { circleRules } from './lint/circles.ts';
import { graphOf } from './lint/graph.ts';
import { typeRules } from './lint/kinds.ts';
import { languageRules } from './lint/languages.ts';
import { nameRules } from './lint/names.ts';
import { nearestFinder } from './lint/nearest.ts';
import { optionRules } from './lint/options.ts';
import { partsOf } from './lint/parts.ts';
import { reachRules } from './lint/reach.ts';
import { roomRules } from './lint/room.ts';
import type { Lint, Rule } from './lint/rule.ts';
import { secretRules } from './lint/secrets.ts';
import { slipRules } from './lint/slips.ts';
import { sourceRules } from './lint/sources.ts';
import { migrationsOf, targetRules } from './lint/targets.ts';
import { variableRules } from './lint/variables.ts';
import { wayRules } from './lint/ways.ts';
import { type ParsedFlow, parseFlow } from './parse.ts';
import type { Problem } from './problem.ts';
import type { FlowSource } from './source.ts';

/** Every rule, by family. */
export const RULES: readonly Rule[] = [
  ...nameRules,
  ...targetRules,
  ...reachRules,
  ...circleRules,
  ...wayRules,
  ...optionRules,
  ...variableRules,
  ...sourceRules,
  ...languageRules,
  ...roomRules,
  ...secretRules,
  ...callRules,
  ...typeRules,
  ...slipRules,
];

/** What is known beside a flow; what is left out is not checked. */
export interface Surroundings {
  /** The flows that `flow` screens may call, by name. */
  readonly flows?: ReadonlyMap<string, Flow> | undefined;
  /** Names of the services that `call` screens may name. */
  readonly services?: ReadonlySet<string> | undefined;
}

/** Everything that the rules find in a flow that the schema has accepted, in the order of its file. Never throws. */
export function lintFlow(flow: Flow, options: Surroundings & { readonly source: FlowSource }): Problem[] {
  const lint = lintOf(flow, options);
  const problems: Problem[] = [];
  for (const { code, severity, find } of RULES)
    for (const finding of find(lint))
      problems.push(problemOf(options.source, finding, { code, severity: finding.severity ?? severity }));
  return inOrder(problems);
}

/** Reads the text of a flow file and applies the rules: everything that is wrong with it at once. Never throws. */
export function checkFlow(text: string, file: string, known: Surroundings = {}): ParsedFlow {
  const parsed = parseFlow(text, file);
  const { flow, source } = parsed;
  if (!flow) return parsed;
  return { flow, source, problems: inOrder([...parsed.problems, ...lintFlow(flow, { ...known, source })]) };
}

function lintOf(flow: Flow, { flows, services }: Surroundings): Lint {
  const vars = new Map(Object.entries(flow.vars ?? {}));
  const screenIds = Object.keys(flow.screens);
  const ids = new Set(screenIds);
  const nearest = nearestFinder();
  const meant = (id: string) => (ids.has(id) ? id : nearest(id, screenIds));
  const keys = { ...DEFAULT_KEYS, ...flow.keys };
  const migrated = migrationsOf(flow).map(({ to }) => to.split('.')[0]!);
  const isCalled = [...(flows?.values() ?? [])].some((other) => calls(other, flow.flow));
  return {
    flow,
    parts: partsOf(flow),
    graph: graphOf(flow, { meant, keys, migrated, isCalled }),
    vars,
    screenIds,
    varNames: [...vars.keys()],
    langs: flow.langs?.length ? flow.langs : ['en'],
    keys,
    flows: flows && new Map([...flows, [flow.flow, flow]]),
    services,
    meant,
    nearest,
  };
}

function calls(flow: Flow, name: string): boolean {
  return Object.values(flow.screens).some((screen) => screen.type === 'flow' && screen.flow === name);
}
