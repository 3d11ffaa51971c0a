// Unreachable screens, and screens without a way out.

import { keysOn } from '../../format/flow.ts';
import { pointerTo } from '../../format/source.ts';
import { isInteractive } from '../../screens/kinds.ts';
import { listOptions } from '../../screens/option.ts';
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

export const reachRules: readonly LintRule[] = [
  {
    code: 'unreachable',
    severity: 'warning',
    means: 'no path leads from the start to this screen, or no caller sees this text',
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
    means: 'no answer leads away from this screen',
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

const ONE_LANGUAGE = /^\s*lang\s*==\s*(['"])([A-Za-z-]+)\1\s*$/;

// An option shown in one language only that has texts in others. Only recognizes `lang == 'x'`.
function* findUnreadTexts({ flow, langs }: Lint): Iterable<RuleFinding> {
  for (const [id, screen] of Object.entries(flow.screens))
    for (const [at, { id: option, when = '', text }] of listOptions(screen).entries()) {
      const only = ONE_LANGUAGE.exec(when)?.[2];
      if (only === undefined || typeof text === 'string' || !langs.includes(only)) continue;
      for (const lang of Object.keys(text)) {
        if (lang === only || !langs.includes(lang)) continue;
        const message = `No caller who reads "${lang}" sees option "${option}" of ${screen.type} "${id}": its "when" asks for "${only}".`;
        const fix = 'Correct "when", or write the text once, without languages.';
        yield { pointer: pointerTo('screens', id, 'options', at, 'text', lang), at: 'key', message, fix };
      }
    }
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
  const screen = graph.screens.get(id)!;
  const { back } = screen;
  const goesOn = graph.next.get(id)!.some((to) => to !== id);
  const hasKey = back !== false && keysOn(screen, keys).back !== false;
  const goesBack = hasKey && (typeof back === 'string' || graph.depth.get(id)! > 0);
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
    const own = keysOn(screen, keys);
    if (typeof screen.back === 'string' && own.back !== false && isInteractive(screen))
      getList(earlier, screen.back).push(id);
    if (isInteractive(screen) && own.home !== false && (depth.get(id) ?? 0) > 1) homeward.push(id);
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
      else if (screen.back === undefined && keysOn(screen, keys).back !== false) mark(id);
    }
  };
  for (const [id, screen] of screens) {
    const exits = isInteractive(screen) && keysOn(screen, keys).exit !== false;
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
