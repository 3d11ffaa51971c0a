// The drawing of a flow: a card for every screen, an arrow for every transition, chips for the keys that work everywhere.

import { findExitScreen } from '../flow/format/flow.ts';
import type { CompiledFlow } from '../flow/run/compile.ts';
import { RESUME } from '../flow/run/keeping.ts';
import { screenKeys } from '../flow/run/page.ts';
import type { ScreenNode } from '../flow/run/scope.ts';
import { findKind, isInteractive } from '../flow/screens/kinds.ts';
import { arrowKey, type Chip, type DiagramState, type Drawing, groupArrows, type SingleTransition } from './drawing.ts';
import { screenLines, screenSteps } from './screens.ts';

const GOODBYE = '$goodbye';
/** Of screens that no author has named. */
const TITLES: { readonly [path: string]: string } = { [GOODBYE]: 'Goodbye', [RESUME]: 'After a cut' };

/** Draws a flow, and beside it the flows that are called, each once and in a frame of its own. */
export function flowDrawing({ flow, screens }: CompiledFlow): Drawing {
  const nodes = [...screens.values()].filter((node) => node.path !== GOODBYE || hasExit(screens));
  // Where a caller goes on is not known here.
  const steps = nodes.filter(({ path }) => path !== RESUME).flatMap(screenSteps);
  const { drawn, chipped } = splitSteps(steps);
  const starts = nodes.filter(({ prefix, path, scope }) => path === prefix + scope.flow.start);
  const calls = nodes.flatMap(({ path, screen }) =>
    screen.type === 'flow' ? [{ from: path, to: `${screen.flow}.` }] : [],
  );
  const entries = calls.map(({ from, to }) => ({ from, to: starts.find(({ prefix }) => prefix === to)!.path }));
  const before = interactiveBefore(screens, [...steps, ...entries]);
  const exit = hasExit(screens) ? (findExitScreen(flow) ?? GOODBYE) : undefined;
  const states = nodes.map((node): DiagramState => {
    const { chips = [] } = findKind(node.screen).card(node.screen);
    const failures = chipped.filter(({ from }) => from === node.path).map(failureChip);
    const ways = keyChips(node, { before: before.get(node.path) ?? new Set(), start: flow.start });
    const exits: Chip[] = node.path === exit ? [{ sign: 'exit', text: 'from any screen', events: ['exit'] }] : [];
    return { ...describeScreen(node), chips: [...chips, ...failures, ...ways, ...ownKeys(node), ...exits] };
  });
  const frames = new Map(starts.map(({ prefix, scope }) => [prefix, scope.flow.flow]));
  frames.delete('');
  const entering = calls.map((call) => ({ ...call, event: 'always', label: 'calls', role: 'on' }) as const);
  return {
    id: flow.flow,
    title: `Flow ${flow.flow}, version ${flow.version}`,
    states: [...[...frames].map(([id, title]) => frame(id, title)), ...states],
    arrows: groupArrows([...drawn, ...entering]),
    starts: new Set(starts.map(({ path }) => path)),
  };
}

// Its name is what the names of its screens begin with.
const frame = (id: string, title: string): DiagramState => ({ id, kind: 'flow', title, lines: [], chips: [] });

function describeScreen({ path, prefix, screen, scope }: ScreenNode): Omit<DiagramState, 'chips'> {
  const title = TITLES[path] ?? path.slice(prefix.length);
  const lines = screenLines(scope.flow, screen);
  return { id: path, kind: screen.type, title, lines, ...(prefix !== '' && { parent: prefix }) };
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

// What the screen has instead of the keys of its flow.
function ownKeys({ screen }: ScreenNode): Chip[] {
  const keys = Object.entries(('keys' in screen && screen.keys) || {});
  const text = keys.map(([name, key]) => (key === false ? `no ${name}` : `${name} ${key}`)).join(', ');
  return text === '' ? [] : [{ sign: 'key', text }];
}

function keyChips(node: ScreenNode, { before, start }: { before: ReadonlySet<string>; start: string }): Chip[] {
  const { screen, path, prefix } = node;
  const keys = screenKeys(node);
  if (!isInteractive(screen) || screen.back === false || keys.back === false) return [];
  if (typeof screen.back === 'string')
    return [{ sign: 'back', text: screen.back, to: prefix + screen.back, events: ['back'] }];
  if (before.size === 0) return [];
  const [only] = before;
  const back: Chip =
    before.size === 1 && only !== undefined
      ? { sign: 'back', text: lastPart(only), to: only, events: [`back.${only}`] }
      : { sign: 'back', text: 'back', events: [...before].map((id) => `back.${id}`) };
  const isFar = keys.home !== false && path !== start && !(before.size === 1 && only === start);
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
  [...screens.values()].some((node) => isInteractive(node.screen) && screenKeys(node).exit !== false);

const lastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
