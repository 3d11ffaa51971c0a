// The interface of rules, and what they can inspect: the parts of a flow and the graph of its screens.

import { type Flow, findExitScreen, type Keys, keysOn, type Screen, type Variable } from '../format/flow.ts';
import type { Finding, Mend, Problem } from '../format/problem.ts';
import { isInteractive, listTargets } from '../screens/kinds.ts';
import type { Parts } from './parts.ts';
import type { Contracts } from './shapes.ts';

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
  /** All flows by name, including this one; undefined if the others are unknown. */
  readonly flows: ReadonlyMap<string, Flow> | undefined;
  /** Names of all services; undefined if unknown. */
  readonly services: ReadonlySet<string> | undefined;
  /** Inputs and outputs of services, as far as known. */
  readonly contracts: Contracts;
  /** Whether the flow is known to be called by others only: nobody dials it or writes to it. */
  readonly isOnlyCalled: boolean;
  /** Hosts that the services `http.…` may call; undefined if unknown. */
  readonly serviceHosts: readonly string[] | undefined;
  /** Whether each request repeats all answers, as in the cumulative mode of telecom gateways. */
  readonly isRepeated: boolean;
  /** Whether there is a gateway for `sms.send`; undefined when nobody knows. */
  readonly sendsSms: boolean | undefined;
  /** Whether callbacks have an address; undefined when nobody knows. */
  readonly hasAddress: boolean | undefined;
  /** The screen that an id refers to: the id itself, or the most similar existing one. */
  readonly meant: (id: string) => string | undefined;
  /** The name in the list that is most similar to a misspelt one. */
  readonly nearest: (name: string, names: readonly string[]) => string | undefined;
  /** The fix that replaces a misspelt name by the most similar one, if that is unique. */
  readonly mend: (name: string, names: readonly string[]) => { readonly mend?: Mend };
}

/** A problem found by a rule. */
export interface RuleFinding extends Finding {
  /** @default the severity of the rule */
  readonly severity?: Problem['severity'];
}

/** One kind of mistake. */
export interface LintRule {
  readonly code: string;
  readonly severity: Problem['severity'];
  /** What is wrong, in a few words. */
  readonly means: string;
  find(lint: Lint): Iterable<RuleFinding>;
}

/** ` Did you mean "x"?`, or '' without a name. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean "${name}"?`;
}

/** `a, b, c … (12)`: at most eight names. */
export function formatNames(names: readonly string[]): string {
  return names.length > 8 ? `${names.slice(0, 8).join(', ')} … (${names.length})` : names.join(', ');
}

export interface Graph {
  readonly screens: ReadonlyMap<string, Screen>;
  /** Targets of each screen; a misspelt id counts as the most similar one. */
  readonly next: ReadonlyMap<string, readonly string[]>;
  /** Screens with a target that resembles no existing id. */
  readonly loose: ReadonlySet<string>;
  /** Reachable from the start, with the exit key, or from sessions of an older version. */
  readonly reached: ReadonlySet<string>;
  /** The most screens that can be on the back stack: 0, 1, or 2 for more. Only reachable screens have an entry. */
  readonly depth: ReadonlyMap<string, number>;
  /** Whether a reachable screen has an unknown target, so that more screens may be reachable. */
  readonly isOpen: boolean;
  /** Whether another flow calls this one, so that the back stack at its start may not be empty. */
  readonly isCalled: boolean;
}

export interface GraphOptions {
  /** See {@link Lint.meant}. */
  readonly meant: (id: string) => string | undefined;
  readonly keys: Keys;
  /** Screens on which sessions of older versions may resume. */
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
    typeof screen.back === 'string' && isInteractive(screen) && keysOn(screen, keys).back !== false
      ? meant(screen.back)
      : undefined;
  const depth = findDepths({ screens, next, back, roots, start, isCalled });
  const isOpen = start === undefined || [...loose].some((id) => depth.has(id));
  return { screens, next, loose, reached: new Set(depth.keys()), depth, isOpen, isCalled };
}

/** The reversed graph: predecessors of each screen. */
export function reverseEdges(ids: Iterable<string>, next: (id: string) => readonly string[]): Map<string, string[]> {
  const before = new Map<string, string[]>();
  for (const id of ids) for (const to of next(id)) getList(before, to).push(id);
  return before;
}

/** All nodes reachable from `from`, including `from`. */
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

/** The list under a key, created if missing. */
export function getList<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

interface Walk {
  readonly screens: ReadonlyMap<string, Screen>;
  readonly next: ReadonlyMap<string, readonly string[]>;
  /** The fixed target of the back key, if the screen has one. */
  readonly back: (screen: Screen) => string | undefined;
  readonly roots: readonly string[];
  readonly start: string | undefined;
  readonly isCalled: boolean;
}

const MANY = 2;

// Iterates until nothing changes; the depth of a screen increases at most three times.
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
