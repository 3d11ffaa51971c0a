// Assembles a flow from screens and variables: removes unused variables, avoids key conflicts, and repairs lint errors, which it reports.

import { TwinlineError } from '../../../errors.ts';
import type { Flow, Screen, Values, Variable } from '../../format/flow.ts';
import { parseFlow } from '../../format/parse.ts';
import type { LintContext } from '../../lint/lint.ts';
import { collectParts } from '../../lint/parts.ts';
import type { ConversionReport } from '../report.ts';
import { refuseFile, refuseFlow } from '../source.ts';
import { repairFlow } from './repair.ts';
import type { StepGraph } from './route.ts';
import { makeScreens } from './screens.ts';
import type { Variables } from './variables.ts';

export interface Unfinished {
  readonly graph: StepGraph;
  readonly variables: Variables;
  /** The note of the flow. */
  readonly note: string;
  /** How long it waits for an answer, in minutes. */
  readonly minutes: number | undefined;
}

/** The context of a conversion. */
export interface ConversionTarget {
  readonly report: ConversionReport;
  /** Inputs and outputs of services, for lint. */
  readonly contracts?: LintContext['contracts'];
}

/** A flow, with the source node of each screen. */
export interface Assembled {
  readonly flow: Flow;
  readonly nodes: ReadonlyMap<string, string>;
}

/** Limits of the schema. */
const VARIABLES_MAX = 1_000;
/** As RapidPro has it: two weeks. */
const MINUTES_MAX = 20_160;
const MORE_KEYS = ['98', '99', '#', '*', '##'];

/** A flow before linting. */
export function assembleFlow({ graph, variables, note, minutes }: Unfinished): Assembled {
  const { start, screens, nodes } = makeScreens(graph);
  const keys = new Set(Object.values(screens).flatMap(listKeys));
  const whole: Flow = {
    flow: graph.flow,
    version: 1,
    start,
    langs: graph.langs,
    keys: { back: false, home: false, more: MORE_KEYS.find((key) => !keys.has(key)) ?? false },
    ...(minutes !== undefined && minutes > 0 && { limits: { session: `${Math.min(minutes, MINUTES_MAX)}m` } }),
    note,
    vars: {},
    screens,
  };
  const { flow: sound, problems } = parseFlow(JSON.stringify(whole), `${graph.flow}.flow.json`);
  if (!sound) throw refuseFlow(graph.flow, problems);
  const reads = dropUnread(sound, variables);
  const vars = declareUsed(reads, variables.all);
  const count = Object.keys(vars).length;
  if (count > VARIABLES_MAX)
    throw refuseFile(
      `the flow "${graph.flow}"`,
      `it needs ${count} variables, and ${VARIABLES_MAX} is the most. Split it into flows that enter each other`,
    );
  return { flow: { ...reads, vars }, nodes };
}

/** What `work` makes of a flow; undefined, and reported, where that cannot be made. */
export function tryFlow<T>(flow: string, report: ConversionReport, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof TwinlineError && error.code === 'ERR_INPUT')) throw error;
    reportLeftOut(flow, error.message.replaceAll('\n', ' '), report);
    return undefined;
  }
}

export function reportLeftOut(flow: string, why: string, report: ConversionReport): void {
  report.add({ flow, node: '', what: 'the whole flow', reason: `${why.replace(/\.?$/, '.')} The flow is left out.` });
}

/** Repairs flows that call each other. */
export function finishFlows(parts: readonly Assembled[], target: ConversionTarget): Flow[] {
  const others = new Map(parts.map(({ flow }) => [flow.flow, flow]));
  const finish = () => {
    for (const { flow, nodes } of parts) {
      const before = others.get(flow.flow);
      const after =
        before && tryFlow(flow.flow, target.report, () => finishFlow({ flow: before, nodes }, { ...target, others }));
      if (after) others.set(flow.flow, after);
      else others.delete(flow.flow);
    }
  };
  finish();
  // Callers must see changes of the flows they call.
  for (let size = -1; size !== others.size; ) {
    size = others.size;
    finish();
  }
  return [...others.values()];
}

/** Repairs lint errors; `others` are the flows that this one may call. */
function finishFlow(
  { flow, nodes }: Assembled,
  target: ConversionTarget & { readonly others: ReadonlyMap<string, Flow> },
): Flow {
  const finished = repairFlow(flow, { ...target, nodes });
  const vars = Object.fromEntries(
    Object.entries(finished.vars ?? {}).filter(([name, variable]) => variable.secret || !isLost(name, flow, finished)),
  );
  return { ...finished, vars };
}

// Whether only removed parts used a variable.
function isLost(name: string, before: Flow, after: Flow): boolean {
  return listNames(before).has(name) && !listNames(after).has(name);
}

function listKeys(screen: Screen): string[] {
  return screen.type === 'menu' ? screen.options.map(({ key }, at) => key ?? String(at + 1)) : [];
}

function dropUnread(flow: Flow, { derived }: Variables): Flow {
  for (let now = flow; ; ) {
    const read = listReads(now);
    const unread = new Set([...derived].filter((name) => !read.has(name)));
    const next = { ...now, screens: mapSets(now.screens, (values) => dropNames(values, unread)) };
    if (JSON.stringify(next) === JSON.stringify(now)) return now;
    now = next;
  }
}

function dropNames(values: Values, names: ReadonlySet<string>): Values | undefined {
  const entries = Object.entries(values).filter(([name]) => !names.has(name));
  return entries.length ? Object.fromEntries(entries) : undefined;
}

// Objects with arbitrary keys.
const UNSET = new Set(['with', 'accept', 'output']);

type Sets = { readonly [id: string]: Screen };

function mapSets(screens: Sets, change: (values: Values) => Values | undefined): Sets {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).flatMap(([key, inner]) => {
      if (key !== 'set') return [[key, UNSET.has(key) ? inner : visit(inner)]];
      const changed = change(inner as Values);
      return changed ? [[key, changed]] : [];
    });
    return Object.fromEntries(entries);
  };
  return visit(screens) as Sets;
}

function listReads(flow: Flow): Set<string> {
  const { expressions, wordings } = collectParts(flow);
  return new Set([
    ...expressions.flatMap(({ compiled }) => (compiled.ok ? compiled.value.names : [])),
    ...wordings.flatMap(({ compiled }) => (compiled.ok ? compiled.value.paths.map(({ root }) => root) : [])),
  ]);
}

function listNames(flow: Flow): Set<string> {
  const writes = collectParts(flow).writes.filter(({ of }) => of === undefined);
  return new Set([...listReads(flow), ...writes.map(({ name }) => name), ...listCompared(flow)]);
}

function listCompared(flow: Flow): string[] {
  return Object.values(flow.screens).flatMap((screen) =>
    screen.type === 'input' && typeof screen.accept?.sameAs === 'string' ? [screen.accept.sameAs] : [],
  );
}

function declareUsed(flow: Flow, all: ReadonlyMap<string, Variable>): { readonly [name: string]: Variable } {
  const reads = listNames(flow);
  const always = (flow.langs?.length ?? 0) > 1 ? ['lang'] : [];
  const names = [...new Set([...all.keys(), ...reads, ...always])].filter(
    (name) => reads.has(name) || always.includes(name),
  );
  const lang: Variable = { type: 'string', default: flow.langs?.[0] ?? 'en', max: 20 };
  const fallback = (name: string): Variable => (name === 'lang' ? lang : { type: 'string' });
  return Object.fromEntries(
    names.filter((name) => name !== 'row' && name !== 'error').map((name) => [name, all.get(name) ?? fallback(name)]),
  );
}
