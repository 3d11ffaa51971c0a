// Converts steps to screens, by kind of step.

import type { Option, Screen, Text, Way } from '../../format/flow.ts';
import { makeRouter, NOTHING, type Pending, type Router, type StepGraph } from './route.ts';
import {
  isSilent,
  joinSaid,
  readsAny,
  type Step,
  type StepOption,
  type StepWay,
  type WordsWithValues,
} from './step.ts';

export interface Screens {
  readonly start: string;
  readonly screens: { readonly [id: string]: Screen };
  /** Screen id → source node. */
  readonly nodes: ReadonlyMap<string, string>;
}

const OPTIONS_MAX = 500;
const WAYS_MAX = 200;
const GO_ON = 'OK';
const LAST_WORDS = 'Goodbye.';

/** The screens of all steps reachable from the start. */
export function makeScreens(graph: StepGraph): Screens {
  const router = makeRouter(graph);
  const screens: Record<string, Screen> = {};
  const nodes = new Map<string, string>();
  const start = router.target(graph.start, NOTHING);
  for (let at = 0; at < router.queue.length; at++) {
    const { id, step, pending } = router.queue[at]!;
    const isWait = step.kind === 'wait';
    const result = isWait ? step.resolve(isSilent(pending.said) ? undefined : pending.said, pending.keys) : step;
    // A resolved wait already contains the pending texts.
    const built = build(result, { router, pending: isWait ? NOTHING : pending });
    nodes.set(id, step.node);
    if (!readsAny(built.screen, Object.keys(built.values))) {
      screens[id] = built.screen;
      continue;
    }
    // A branch with the screen's id computes its values first.
    const to = router.name(`${id.slice(0, 50)}_shown`);
    screens[id] = { type: 'branch', branch: [{ set: built.values, to }] };
    screens[to] = built.screen;
    nodes.set(to, step.node);
  }
  return { start, screens, nodes };
}

interface ScreenRouting {
  readonly router: Router;
  readonly pending: Pending;
}

interface Built {
  readonly screen: Screen;
  /** Values to compute before it is shown. */
  readonly values: WordsWithValues['values'];
}

type Kinds = {
  readonly [kind in Exclude<Step['kind'], 'wait'>]: (step: Step & { kind: kind }, place: ScreenRouting) => Built;
};

function build(step: Step, place: ScreenRouting): Built {
  return (KINDS as { readonly [kind: string]: (step: Step, place: ScreenRouting) => Built })[step.kind]!(step, place);
}

const KINDS: Kinds = {
  say: ({ said, next }, place) => {
    const go = { id: 'ok', text: GO_ON, ...place.router.way({ next }, NOTHING) };
    return showing(said, place, (text) => ({ type: 'menu', text, options: [go] }));
  },
  assign: ({ values, next }, { router, pending }) =>
    silent({ type: 'branch', branch: [router.way({ set: values, next }, pending)] }),
  split: ({ ways, node }, place) => {
    const branch = makeWays(ways, { ...place, node });
    return silent({ type: 'branch', branch: typeof branch === 'string' ? [{ to: branch }] : branch });
  },
  choose: ({ said, options, error, node }, place) => {
    if (options.length > OPTIONS_MAX)
      place.router.graph.onNote(node, `${options.length} options`, `A menu has at most ${OPTIONS_MAX} of them.`);
    const lines = options.slice(0, OPTIONS_MAX).map((one) => makeOption(one, place.router));
    const refusal = error && { error: place.router.text(error) };
    return showing(said, place, (text) => ({ type: 'menu', text, options: lines, ...refusal }));
  },
  ask: ({ said, save, accept, error, set, next }, place) => {
    const { router } = place;
    const { to, ...more } = router.way({ next, ...(set && { set }) }, NOTHING);
    return showing(said, place, (text) => ({
      type: 'input',
      text,
      save,
      ...(accept && { accept }),
      ...(error && { error: router.text(error) }),
      ...(more.set && { set: more.set }),
      to,
    }));
  },
  call: ({ service, with: given, save, done, fail, node }, place) =>
    silent({
      type: 'call',
      service,
      with: given,
      ...(save !== undefined && { save }),
      done: makeWays(done, { ...place, node }),
      fail: makeWays(fail, { ...place, node }),
    }),
  enter: ({ flow, with: given, save, done, node }, { router }) =>
    silent({
      type: 'flow',
      flow,
      ...(Object.keys(given).length && { with: given }),
      ...(save !== undefined && { save }),
      done: makeWays(done, { router, pending: NOTHING, node }),
    }),
  end: ({ said, node }, place) => {
    const { graph } = place.router;
    const output = graph.output && Object.keys(graph.output).length ? { output: graph.output } : {};
    if (!isSilent(joinSaid(place.pending.said, said)))
      return showing(said, place, (text) => ({ type: 'end', text, ...output }));
    if (!graph.isCalled) graph.onNote(node, 'an end', `Nothing is said there; the caller reads "${LAST_WORDS}".`);
    return silent({ type: 'end', text: LAST_WORDS, ...output });
  },
};

const silent = (screen: Screen): Built => ({ screen, values: {} });

function showing(said: WordsWithValues, { router, pending }: ScreenRouting, make: (text: Text) => Screen): Built {
  const all = joinSaid(pending.said, said);
  return { screen: make(router.text(all.words)), values: all.values };
}

function makeOption({ id, text, key, words, hidden, ...way }: StepOption, router: Router): Option {
  const { when, ...on } = router.way(way, NOTHING);
  return {
    id,
    text: router.text(text),
    ...(key !== undefined && { key }),
    ...(words && { words }),
    ...(hidden && { hidden }),
    ...(when !== undefined && { when }),
    ...on,
  };
}

function makeWays(
  list: readonly StepWay[],
  { router, pending, node }: ScreenRouting & { node: string },
): string | Way[] {
  const last = list.at(-1) ?? { next: undefined };
  const first = list.length > WAYS_MAX ? [...list.slice(0, WAYS_MAX - 1), last] : list.length ? list : [last];
  if (list.length > WAYS_MAX)
    router.graph.onNote(
      node,
      `${list.length} ways`,
      `A screen has at most ${WAYS_MAX} of them; the others are left out.`,
    );
  const ways = first.map((one) => router.way(one, pending));
  const [only] = ways;
  const isPlain = ways.length === 1 && only!.set === undefined && only!.when === undefined;
  return isPlain ? only!.to : ways;
}
