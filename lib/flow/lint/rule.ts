// What a rule is, and what it sees of a flow: its parts, and the graph of its screens.

import { type Flow, findExitScreen, type Keys, type Screen, type Variable } from '../format/flow.ts';
import type { Finding, Mend, Problem } from '../format/problem.ts';
import { isInteractive, listTargets } from '../screens/kinds.ts';
import type { Parts } from './parts.ts';
import type { ServiceContract } from './shapes.ts';

/** A flow under inspection. */
export interface Lint {
  readonly flow: Flow;
  readonly parts: Parts;
  readonly graph: Graph;
  readonly vars: ReadonlyMap<string, Variable>;
  readonly screenIds: readonly string[];
  readonly varNames: readonly string[];
  readonly langs: readonly string[];
  readonly keys: Keys;
  /** All flows by name, this one among them; undefined when the others are not known. */
  readonly flows: ReadonlyMap<string, Flow> | undefined;
  /** Names of all services; undefined when they are not known. */
  readonly services: ReadonlySet<string> | undefined;
  /** What services take and answer, of those for which that is known. */
  readonly contracts: { readonly [service: string]: ServiceContract };
  /** Whether each request repeats all answers, as in the cumulative mode of telecom gateways. */
  readonly isRepeated: boolean;
  /** The screen that an id means: itself, else the nearest that exists. */
  readonly meant: (id: string) => string | undefined;
  /** The known name nearest to a misspelt one. */
  readonly nearest: (name: string, names: readonly string[]) => string | undefined;
  /** To write that one instead, where no other is as near. */
  readonly mend: (name: string, names: readonly string[]) => { readonly mend?: Mend };
}

/** What a rule has found. */
export interface RuleFinding extends Finding {
  /** @default the rule's own */
  readonly severity?: Problem['severity'];
}

/** One kind of mistake. */
export interface LintRule {
  readonly code: string;
  readonly severity: Problem['severity'];
  /** What it is that is wrong. */
  readonly means: string;
  find(lint: Lint): Iterable<RuleFinding>;
}

/** ` Did you mean "x"?`, or '' when there is nothing near. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean "${name}"?`;
}

/** `a, b, c … (12)`: at most eight names. */
export function formatNames(names: readonly string[]): string {
  return names.length > 8 ? `${names.slice(0, 8).join(', ')} … (${names.length})` : names.join(', ');
}

export interface Graph {
  readonly screens: ReadonlyMap<string, Screen>;
  /** Where a screen leads by itself or by an answer; a misspelt id counts as the one that is meant. */
  readonly next: ReadonlyMap<string, readonly string[]>;
  /** Screens of which something leads to an id that nothing is near. */
  readonly loose: ReadonlySet<string>;
  /** Reached from the start, by the exit key, or by conversations of an older version. */
  readonly reached: ReadonlySet<string>;
  /** How many screens may lie behind one: 0, 1, or 2 for more. Only for those that are reached. */
  readonly depth: ReadonlyMap<string, number>;
  /** Whether some screen that is reached leads to nothing known, so that more may be reached than is seen. */
  readonly isOpen: boolean;
  /** Whether another flow calls this one, so that screens may lie behind its start. */
  readonly isCalled: boolean;
}

export interface GraphOptions {
  /** The screen that an id means: itself, the nearest that exists, or none. */
  readonly meant: (id: string) => string | undefined;
  readonly keys: Keys;
  /** Screens that conversations of older versions may stand on. */
  readonly migrated: readonly string[];
  readonly isCalled: boolean;
}

export function buildGraph(flow: Flow, { meant, keys, migrated, isCalled }: GraphOptions): Graph {
  const screens = new Map(Object.entries(flow.screens));
  const next = new Map<string, readonly string[]>();
  const loose = new Set<string>();
  for (const [id, screen] of screens) {
    const targets = new Set<string>();
    for (const to of listTargets(screen)) {
      const target = meant(to);
      if (target === undefined) loose.add(id);
      else targets.add(target);
    }
    if (typeof screen.back === 'string' && meant(screen.back) === undefined) loose.add(id);
    next.set(id, [...targets]);
  }
  const start = meant(flow.start);
  const exit = keys.exit === false ? undefined : findExitScreen(flow);
  const roots = [start, exit, ...migrated.map(meant)].filter((id) => id !== undefined);
  const back = (screen: Screen) =>
    typeof screen.back === 'string' && isInteractive(screen) && keys.back !== false ? meant(screen.back) : undefined;
  const depth = findDepths({ screens, next, back, roots, start, isCalled });
  const isOpen = start === undefined || [...loose].some((id) => depth.has(id));
  return { screens, next, loose, reached: new Set(depth.keys()), depth, isOpen, isCalled };
}

/** The same arrows from their heads. */
export function reverseEdges(ids: Iterable<string>, next: (id: string) => readonly string[]): Map<string, string[]> {
  const before = new Map<string, string[]>();
  for (const id of ids) for (const to of next(id)) getList(before, to).push(id);
  return before;
}

/** `from`, and everything that arrows lead to from there. */
export function reachFrom(from: Iterable<string>, next: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set(from);
  const work = [...reached];
  for (let id = work.pop(); id !== undefined; id = work.pop()) {
    for (const to of next.get(id) ?? []) {
      if (!reached.has(to)) work.push(to);
      reached.add(to);
    }
  }
  return reached;
}

/** The list under a key, made when there is none. */
export function getList<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

interface Walk {
  readonly screens: ReadonlyMap<string, Screen>;
  readonly next: ReadonlyMap<string, readonly string[]>;
  /** Where the back key of a screen always leads, if it does. */
  readonly back: (screen: Screen) => string | undefined;
  readonly roots: readonly string[];
  readonly start: string | undefined;
  readonly isCalled: boolean;
}

const MANY = 2;

// Grows until nothing changes; each screen grows at most three times.
function findDepths({ screens, next, back, roots, start, isCalled }: Walk): Map<string, number> {
  const depth = new Map<string, number>();
  const work: string[] = [];
  const raise = (id: string, to: number): void => {
    const most = screens.get(id)?.back === false ? 0 : Math.min(to, MANY);
    if (most <= (depth.get(id) ?? -1)) return;
    depth.set(id, most);
    work.push(id);
  };
  for (const root of roots) raise(root, root === start && isCalled ? MANY : 0);
  for (let id = work.pop(); id !== undefined; id = work.pop()) {
    const screen = screens.get(id)!;
    const behind = depth.get(id)!;
    for (const to of next.get(id)!) raise(to, isInteractive(screen) && to !== id ? behind + 1 : behind);
    const fixed = back(screen);
    if (fixed !== undefined) raise(fixed, 0);
  }
  return depth;
}
