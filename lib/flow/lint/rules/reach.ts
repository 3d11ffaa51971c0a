// Unreachable screens, and screens without a way out.

import type { Json } from '../../../json/json.ts';
import { compileExpression } from '../../expression/expression.ts';
import { findExitScreen, isInteractive, type Screen, type Values } from '../../format/flow.ts';
import { pointerTo } from '../../format/source.ts';
import {
  formatNames,
  type Graph,
  getList,
  type Lint,
  type LintRule,
  type RuleFinding,
  reachFrom,
  reverseEdges,
} from '../rule.ts';
import { listMigrations } from './names.ts';

export const reachRules: readonly LintRule[] = [
  {
    code: 'unreachable',
    severity: 'warning',
    means: 'no path leads from the start to this screen, or none for callers of one of its languages',
    *find(lint) {
      const { graph } = lint;
      if (graph.isOpen) return;
      for (const id of graph.screens.keys()) {
        if (graph.reached.has(id)) continue;
        const message = `Nothing that the start leads to leads to screen "${id}".`;
        yield { pointer: pointerTo('screens', id), at: 'key', message, fix: `Lead to "${id}", or remove it.` };
      }
      yield* findUnreadTexts(lint);
    },
  },
  {
    code: 'dead-end',
    severity: 'error',
    means: 'a screen that waits for an answer, and no answer leads out of it',
    *find(lint) {
      for (const id of readTraps(lint).deadEnds) {
        const message = `No answer leads out of screen "${id}": it has no way on, no way back, and no key that exits.`;
        const fix = `Give "${id}" a way on ("pick", an option), a "back", or set "keys": { "exit": "*" }.`;
        yield { pointer: pointerTo('screens', id), at: 'key', message, fix };
      }
    },
  },
  {
    code: 'no-end',
    severity: 'error',
    means: 'no path leads from this screen to an end',
    *find(lint) {
      const { loops, inside } = readTraps(lint);
      for (const id of loops) {
        const message = `No path leads from screen "${id}" to an end screen.`;
        const fix = `Lead from one of these to an end: ${formatNames(inside)}; or set "keys": { "exit": "*" }.`;
        yield { pointer: pointerTo('screens', id), at: 'key', message, fix };
      }
    },
  },
];

// Texts in a language whose callers do not come to their screen, because conditions on the way ask for another one.
function* findUnreadTexts(lint: Lint): Iterable<RuleFinding> {
  const { parts, graph, langs } = lint;
  const asks = parts.expressions.some(
    ({ role, compiled: expression }) => role === 'condition' && readsLanguage(expression),
  );
  if (!asks || langs.length < 2 || graph.isCalled) return;
  const read = findLanguages(lint);
  for (const { pointer, screen, lang } of parts.wordings) {
    if (screen === undefined || lang === undefined || !langs.includes(lang) || !graph.reached.has(screen)) continue;
    if (!pointer.startsWith(`${pointerTo('screens', screen, 'text')}/`) || read.get(screen)?.has(lang)) continue;
    const message = `No caller who reads "${lang}" comes to screen "${screen}": conditions on the way ask for ${formatNames([...(read.get(screen) ?? [])])}.`;
    const fix = `Correct the condition that leads to "${screen}", or write its text once, without languages.`;
    yield { pointer, at: 'key', message, fix };
  }
}

const readsLanguage = (expression: Lint['parts']['expressions'][number]['compiled']) =>
  expression.ok && expression.value.names.includes('lang');

interface LanguageWay {
  readonly to: string;
  readonly when?: string | undefined;
  readonly set?: Values | undefined;
}

/** In which languages each screen may be read. What is not known of a condition or a value counts as possible. */
function findLanguages({ graph, langs, flow, meant, keys }: Lint): ReadonlyMap<string, ReadonlySet<string>> {
  const read = new Map<string, Set<string>>();
  const before = previousScreens(graph);
  const work: (readonly [id: string, lang: string])[] = [];
  const raise = (to: string, lang: string): void => {
    const id = meant(to);
    if (id === undefined || read.get(id)?.has(lang)) return;
    read.set(id, new Set([...(read.get(id) ?? []), lang]));
    work.push([id, lang]);
  };
  const exit = keys.exit === false ? undefined : findExitScreen(flow);
  const roots = [flow.start, ...(exit === undefined ? [] : [exit]), ...listMigrations(flow).map(({ to }) => to)];
  for (const root of roots) for (const lang of langs) raise(root, lang);
  for (let next = work.pop(); next; next = work.pop()) {
    const [id, lang] = next;
    for (const { to, when, set } of listWaysOut(graph.screens.get(id)!)) {
      if (when !== undefined && evaluateLanguage(when, lang) === false) continue;
      const value = set?.lang;
      const into = value === undefined ? [lang] : listLanguages(value, lang, langs);
      for (const one of into) raise(to, one);
      // Who changes the language here may go back to where it was another one.
      const earlier = into.some((one) => one !== lang) ? reachFrom([id], before) : [];
      for (const one of into) for (const past of earlier) if (read.get(past)?.has(lang)) raise(past, one);
    }
  }
  return read;
}

function listWaysOut(screen: Screen): readonly LanguageWay[] {
  const own = (ways: string | readonly LanguageWay[]) => (typeof ways === 'string' ? [{ to: ways }] : ways);
  const back = typeof screen.back === 'string' ? [{ to: screen.back }] : [];
  switch (screen.type) {
    case 'menu':
      return [...screen.options, ...back];
    case 'input':
      return [{ to: screen.to, set: screen.set }, ...(screen.else === undefined ? [] : own(screen.else)), ...back];
    case 'list':
      return [...(screen.pick ? [screen.pick] : []), ...back];
    case 'call':
      return [...own(screen.done), ...own(screen.fail)];
    case 'branch':
      return screen.branch;
    case 'flow':
      return own(screen.done);
    case 'end':
      return [];
  }
}

/** What an expression gives that reads nothing but the language; undefined where it reads more. */
function evaluateLanguage(source: string, lang: string): unknown {
  try {
    const { names, evaluate } = compileExpression(source);
    return names.every((name) => name === 'lang') ? evaluate({ lang }) : undefined;
  } catch {
    return undefined;
  }
}

function listLanguages(value: Json, lang: string, langs: readonly string[]): readonly string[] {
  const given = typeof value === 'string' && value.startsWith('=') ? evaluateLanguage(value.slice(1), lang) : value;
  if (given === undefined) return langs;
  // Any other value is read as the first language.
  return [typeof given === 'string' && langs.includes(given) ? given : langs[0]!];
}

interface Traps {
  readonly deadEnds: readonly string[];
  /** Where one enters a part of the flow that has no end; everything in it. */
  readonly loops: readonly string[];
  readonly inside: readonly string[];
}

const traps = new WeakMap<Graph, Traps>();

function readTraps(lint: Lint): Traps {
  const known = traps.get(lint.graph);
  if (known) return known;
  const made = findTraps(lint);
  traps.set(lint.graph, made);
  return made;
}

function findTraps(lint: Lint): Traps {
  const { graph } = lint;
  const good = findEnding(lint);
  const bad = [...graph.reached].filter((id) => !good.has(id));
  const deadEnds = bad.filter((id) => isInteractive(graph.screens.get(id)!) && leavesNowhere(lint, id));
  // Screens that lead only to a dead end are not reported again.
  const blamed = reachFrom(deadEnds, previousScreens(graph));
  const inside = bad.filter((id) => !blamed.has(id));
  const start = inside.includes(lint.flow.start) ? [lint.flow.start] : undefined;
  const entered = new Set([...graph.reached].filter((id) => good.has(id)).flatMap((id) => graph.next.get(id)!));
  const loops = start ?? inside.filter((id) => entered.has(id));
  return { deadEnds, loops: loops.length ? loops : inside.slice(0, 1), inside };
}

function leavesNowhere({ graph, keys }: Lint, id: string): boolean {
  const { back } = graph.screens.get(id)!;
  const goesOn = graph.next.get(id)!.some((to) => to !== id);
  const goesBack = keys.back !== false && back !== false && (typeof back === 'string' || graph.depth.get(id)! > 0);
  return !goesOn && !goesBack;
}

/** The screens from which some path leads to an end: forward, back, home where its line is shown, or by the exit key. */
function findEnding({ flow, graph, keys }: Lint): Set<string> {
  const { screens, next, depth } = graph;
  const good = new Set<string>();
  // Screens that may be entered with a good one behind them.
  const backed = new Set<string>();
  const earlier = previousScreens(graph);
  const homeward: string[] = [];
  for (const [id, screen] of screens) {
    if (typeof screen.back === 'string' && keys.back !== false && isInteractive(screen))
      getList(earlier, screen.back).push(id);
    if (isInteractive(screen) && keys.home !== false && (depth.get(id) ?? 0) > 1) homeward.push(id);
  }
  for (const id of homeward) getList(earlier, flow.start).push(id);

  const work: string[] = [];
  const mark = (id: string): void => {
    if (good.has(id)) return;
    good.add(id);
    work.push(id);
  };
  const lieBehind = (first: string): void => {
    const entered = [first];
    for (let id = entered.pop(); id !== undefined; id = entered.pop()) {
      const screen = screens.get(id)!;
      if (backed.has(id) || screen.back === false) continue;
      backed.add(id);
      if (!isInteractive(screen)) entered.push(...next.get(id)!);
      else if (screen.back === undefined && keys.back !== false) mark(id);
    }
  };
  for (const [id, screen] of screens) {
    const exits = isInteractive(screen) && keys.exit !== false;
    if (screen.type === 'end' || exits || graph.loose.has(id)) mark(id);
  }
  if (graph.isCalled && screens.has(flow.start)) lieBehind(flow.start);
  for (let id = work.pop(); id !== undefined; id = work.pop()) {
    for (const one of earlier.get(id) ?? []) mark(one);
    const mayBeBehind = isInteractive(screens.get(id)!) && (graph.isOpen || graph.reached.has(id));
    if (mayBeBehind) for (const to of next.get(id)!) if (to !== id) lieBehind(to);
  }
  return good;
}

function previousScreens({ screens, next }: Graph): Map<string, string[]> {
  return reverseEdges(screens.keys(), (id) => next.get(id)!);
}
