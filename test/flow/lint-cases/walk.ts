// Small flows walked along every path, with the whole way back in mind: what rules about paths must agree with.

import fc from 'fast-check';
import type { Flow, Screen } from '../../../lib/flow/format/flow.ts';

const IDS = ['a', 'b', 'c', 'd'] as const;
const STACK_MAX = 6;

const id = fc.constantFrom(...IDS);
const back = fc.constantFrom(undefined, undefined, false as const, ...IDS);
const targets = fc.uniqueArray(id, { minLength: 1, maxLength: 2 });
const screen = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(targets, back).map(([to, where]) => menu(to, where)) },
  { weight: 2, arbitrary: targets.map((to): Screen => ({ type: 'branch', branch: ways(to) })) },
  { weight: 1, arbitrary: back.map((where): Screen => ({ ...list, ...(where !== undefined && { back: where }) })) },
  { weight: 1, arbitrary: fc.constant<Screen>({ type: 'end', text: 'End' }) },
);
const list: Screen = { type: 'list', text: 'List', items: 'x', row: 'r' };

/** Flows of four screens whose conditions may all hold. */
export const smallFlow = fc
  .record({
    start: id,
    screens: fc.record({ a: screen, b: screen, c: screen, d: screen }),
    keys: fc.record({ back: fc.constantFrom('0', false as const), home: fc.constantFrom('00', false as const) }),
  })
  .map((made): Flow => ({ flow: 'small', version: 1, vars: { x: { type: 'array' } }, ...made }));

function menu(to: readonly string[], where: false | string | undefined): Screen {
  const options = to.map((one, at) => ({ id: `o${at}`, text: 'Go', to: one }));
  return { type: 'menu', text: 'Menu', options, ...(where !== undefined && { back: where }) };
}

function ways(to: readonly string[]) {
  return to.map((one, at) => (at < to.length - 1 ? { when: 'x == null', to: one } : { to: one }));
}

interface Place {
  readonly at: string;
  readonly stack: readonly string[];
}

/** The screens that some path comes to, and those of them from which no path at all comes to an end. */
export function walk(flow: Flow): { reached: Set<string>; trapped: Set<string> } {
  const places = new Map<string, Place>();
  const before = new Map<string, string[]>();
  const key = ({ at, stack }: Place) => [at, ...stack].join(' ');
  const first: Place = { at: flow.start, stack: [] };
  const work = [first];
  places.set(key(first), first);
  for (let place = work.pop(); place; place = work.pop()) {
    for (const next of steps(flow, place)) {
      before.set(key(next), [...(before.get(key(next)) ?? []), key(place)]);
      if (!places.has(key(next))) work.push(next);
      places.set(key(next), next);
    }
  }
  const ending = [...places].filter(([, { at }]) => flow.screens[at]!.type === 'end').map(([name]) => name);
  const good = new Set(ending);
  for (let name = ending.pop(); name !== undefined; name = ending.pop()) {
    for (const earlier of before.get(name) ?? []) if (!good.has(earlier)) ending.push(earlier);
    for (const earlier of before.get(name) ?? []) good.add(earlier);
  }
  const reached = new Set([...places.values()].map(({ at }) => at));
  const fine = new Set([...places].filter(([name]) => good.has(name)).map(([, { at }]) => at));
  return { reached, trapped: new Set([...reached].filter((at) => !fine.has(at))) };
}

function steps(flow: Flow, { at, stack }: Place): Place[] {
  const here = flow.screens[at]!;
  const enter = (to: string, behind: readonly string[]): Place => {
    return { at: to, stack: flow.screens[to]!.back === false ? [] : behind.slice(-STACK_MAX) };
  };
  if (here.type === 'branch') return here.branch.map(({ to }) => enter(to, stack));
  if (here.type === 'end') return [];
  const on = here.type === 'menu' ? here.options.map(({ to }) => to) : [];
  const next = on.map((to) => enter(to, to === at ? stack : [...stack, at]));
  if (flow.keys?.back !== false && typeof here.back === 'string') {
    const found = stack.lastIndexOf(here.back);
    next.push({ at: here.back, stack: found < 0 ? [] : stack.slice(0, found) });
  } else if (flow.keys?.back !== false && here.back !== false && stack.length) {
    next.push({ at: stack.at(-1)!, stack: stack.slice(0, -1) });
  }
  // Home has its line where more than one screen lies behind; only then callers know of it.
  if (flow.keys?.home !== false && stack.length > 1) next.push({ at: flow.start, stack: [] });
  return next;
}
