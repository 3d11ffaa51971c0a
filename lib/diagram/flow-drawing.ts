// The drawing of a flow: a card for every screen, an arrow for every transition, chips for the keys that work everywhere.

import { findExitScreen } from '../flow/format/flow.ts';
import type { CompiledFlow } from '../flow/run/compile.ts';
import type { ScreenNode } from '../flow/run/scope.ts';
import { findKind, isInteractive } from '../flow/screens/kinds.ts';
import { arrowKey, type Chip, type DiagramState, type Drawing, groupArrows, type SingleTransition } from './drawing.ts';
import { screenLines, screenSteps } from './screens.ts';

const GOODBYE = '$goodbye';

/** Draws a flow, with the flows that it calls nested inside the calling screens. */
export function flowDrawing({ flow, screens }: CompiledFlow): Drawing {
  const nodes = [...screens.values()].filter((node) => node.path !== GOODBYE || hasExit(screens));
  const steps = nodes.flatMap((node) => screenSteps(node, flow.flow));
  const { drawn, chipped } = splitSteps(steps);
  const inner = nodes.filter(({ scope, path }) => path === scope.path + scope.flow.start);
  const entries = inner.map(({ path, scope }) => ({ from: scope.path.slice(0, -1), to: path }));
  const before = interactiveBefore(screens, [...steps, ...entries]);
  const exit = hasExit(screens) ? (findExitScreen(flow) ?? GOODBYE) : undefined;
  const states = nodes.map((node): DiagramState => {
    const { chips = [] } = findKind(node.screen).card(node.screen);
    const failures = chipped.filter(({ from }) => from === node.path).map(failureChip);
    const ways = keyChips(node, { before: before.get(node.path) ?? new Set(), start: flow.start });
    const exits: Chip[] = node.path === exit ? [{ sign: 'exit', text: 'from any screen', events: ['exit'] }] : [];
    return { ...describeScreen(node), chips: [...chips, ...failures, ...ways, ...exits] };
  });
  return {
    id: flow.flow,
    title: `Flow ${flow.flow}, version ${flow.version}`,
    states,
    arrows: groupArrows(drawn),
    starts: new Set(inner.map(({ path }) => path)),
  };
}

function describeScreen({ path, screen, scope }: ScreenNode): Omit<DiagramState, 'chips'> {
  const title = path === GOODBYE ? 'Goodbye' : path.slice(scope.path.length);
  const parent = scope.path.slice(0, -1);
  const lines = screenLines(scope.flow, screen);
  return { id: path, kind: screen.type, title, lines, ...(parent !== '' && { parent }) };
}

// Many calls fail to the same screen: if an arrow leads there anyway, or from another screen, a chip is enough.
function splitSteps(steps: readonly SingleTransition[]): { drawn: SingleTransition[]; chipped: SingleTransition[] } {
  const usual = steps.filter(({ role, from, to }) => role === 'on' && from !== to);
  const reachable = new Set(usual.map(({ to }) => to));
  const pairs = new Set(usual.map(arrowKey));
  const first = new Map<string, string>();
  const isDrawn = ({ role, from, to }: SingleTransition): boolean => {
    if (role === 'on' || pairs.has(arrowKey({ from, to }))) return true;
    if (!first.has(to)) first.set(to, from);
    return !reachable.has(to) && first.get(to) === from;
  };
  const drawn = new Set(steps.filter(isDrawn));
  return { drawn: [...drawn], chipped: steps.filter((step) => !drawn.has(step)) };
}

const failureChip = ({ to, event }: SingleTransition): Chip => ({
  sign: 'error',
  text: lastPart(to),
  to,
  events: [event],
});

function keyChips(
  { screen, scope, path }: ScreenNode,
  { before, start }: { before: ReadonlySet<string>; start: string },
): Chip[] {
  if (!isInteractive(screen) || screen.back === false || scope.keys.back === false) return [];
  if (typeof screen.back === 'string')
    return [{ sign: 'back', text: screen.back, to: scope.path + screen.back, events: ['back'] }];
  if (before.size === 0) return [];
  const [only] = before;
  const back: Chip =
    before.size === 1 && only !== undefined
      ? { sign: 'back', text: lastPart(only), to: only, events: [`back.${only}`] }
      : { sign: 'back', text: 'back', events: [...before].map((id) => `back.${id}`) };
  const isFar = scope.keys.home !== false && path !== start && !(before.size === 1 && only === start);
  return isFar ? [back, { sign: 'home', text: start, to: start, events: ['home'] }] : [back];
}

/** The interactive screens that may directly precede each screen. */
function interactiveBefore(
  screens: CompiledFlow['screens'],
  steps: readonly { readonly from: string; readonly to: string }[],
): Map<string, Set<string>> {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of steps) next.set(from, (next.get(from) ?? new Set()).add(to));
  const waits = (path: string) => isInteractive(screens.get(path)!.screen);
  const before = new Map<string, Set<string>>();
  for (const path of [...screens.keys()].filter(waits)) {
    const passed = new Set<string>();
    const work = [...(next.get(path) ?? [])];
    for (let to = work.pop(); to !== undefined; to = work.pop()) {
      if (passed.has(to) || to === path) continue;
      passed.add(to);
      const node = screens.get(to);
      if (!node || node.screen.back === false) continue;
      if (waits(to)) before.set(to, (before.get(to) ?? new Set()).add(path));
      else work.push(...(next.get(to) ?? []));
    }
  }
  return before;
}

const hasExit = (screens: CompiledFlow['screens']): boolean =>
  [...screens.values()].some(({ screen, scope }) => isInteractive(screen) && scope.keys.exit !== false);

const lastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
