// Random statecharts with random scripts. What a transition leads to is drawn as a number and becomes one of the states that there are,
// so that every smaller draw is a sound chart as well.

import fc from 'fast-check';
import type { ActionData, Chart, GuardData, InvokeData, TransitionData } from './chart.ts';

/** One thing that happens to a machine. */
export interface ScriptStep {
  /** Milliseconds since the one before. */
  readonly ms: number;
  readonly event?: { readonly type: string; readonly v: number; readonly to?: string };
}

export interface Case {
  readonly chart: Chart;
  /** What it begins with. @default nothing */
  readonly input?: { readonly n: number };
  readonly script: readonly ScriptStep[];
  /** Nobody looks between two steps: what is due meanwhile happens when the next step comes. */
  readonly isAsleep: boolean;
}

interface Draft {
  readonly kind: 'leaf' | 'final' | 'history' | 'compound' | 'parallel';
  readonly named: number;
  readonly initial: number;
  readonly children: readonly Draft[];
  readonly initially: readonly ActionDraft[];
  /** Its initial state is one of its history states. */
  readonly remembers: boolean;
  readonly tagged: boolean;
  readonly route: readonly (GuardDraft | undefined)[];
  readonly history: {
    readonly kind: unknown;
    readonly typed: boolean;
    readonly target: number;
    readonly second: number;
  };
  readonly entry: readonly ActionDraft[];
  readonly exit: readonly ActionDraft[];
  readonly on: readonly (readonly [string, readonly TransitionDraft[]])[];
  readonly after: readonly (readonly [string, readonly TransitionDraft[]])[];
  readonly always: readonly TransitionDraft[];
  readonly onDone: readonly TransitionDraft[];
  readonly invoke: readonly (Omit<InvokeData, 'onDone' | 'onError'> & {
    readonly done: readonly TransitionDraft[];
    readonly error: readonly TransitionDraft[];
  })[];
  readonly output: number;
}

interface TransitionDraft {
  /** 0: stays where it is. */
  readonly target: number;
  readonly second: number;
  readonly form: number;
  readonly reenter: boolean;
  readonly guard: GuardDraft | undefined;
  readonly actions: readonly ActionDraft[];
}

type GuardDraft = (state: (nth: number) => string) => GuardData;
type ActionDraft = (state: (nth: number) => string) => ActionData;

export const EVENTS = ['A', 'B', 'a', 'a.b', 'a.c', 'a.b.c'];
export const SERVICES = ['quick', 'slow', 'bad', 'never'];

const nat = fc.nat({ max: 30 });
const eventName = fc.constantFrom(...EVENTS);
const list = <T>(item: fc.Arbitrary<T>, maxLength: number) => fc.array(item, { maxLength });
/** Mostly nothing. */
const rare = <T>(item: fc.Arbitrary<T>, weight: number, maxLength = 1) =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: 10 - weight, arbitrary: fc.constant<T[]>([]) },
    { weight, arbitrary: fc.array(item, { minLength: 1, maxLength }) },
  );
const fixed = <T>(value: T) => fc.constant(() => value);

const plainGuard: fc.Arbitrary<GuardDraft> = fc.oneof(
  fc.integer({ min: 0, max: 6 }).map((less) => () => ({ less })),
  fixed<GuardData>({ odd: true }),
  fc.integer({ min: 0, max: 2 }).map((value) => () => ({ value })),
  nat.map((nth) => (state: (nth: number) => string) => ({ in: state(nth) })),
  nat.map((nth) => (state: (nth: number) => string) => ({ inside: state(nth).slice('#m.'.length) })),
);
const guard: fc.Arbitrary<GuardDraft> = fc.oneof(
  { weight: 80, arbitrary: plainGuard },
  { weight: 20, arbitrary: plainGuard.map((inner) => (state: (nth: number) => string) => ({ not: inner(state) })) },
  {
    weight: 20,
    arbitrary: fc.tuple(fc.constantFrom('and', 'or'), plainGuard, plainGuard).map(
      ([kind, one, two]): GuardDraft =>
        (state) =>
          ({ [kind]: [one(state), two(state)] }) as unknown as GuardData,
    ),
  },
  { weight: 1, arbitrary: fixed<GuardData>({ throws: true }) },
);

const delay = fc.constantFrom<number | string>(10, 20, 20, 50, 120, 'growing', 'short', 'inline', 30, 10, 0);
const sendId = fc.constantFrom('x', 'y');
const callId = fc.constantFrom('one', 'two');
const plainAction: fc.Arbitrary<ActionDraft> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(1, 1, 2, -1).map((add) => () => ({ add })) },
  { weight: 2, arbitrary: fixed<ActionData>({ take: true }) },
  { weight: 1, arbitrary: fc.constantFrom('told', 'said').map((name) => () => ({ emit: name })) },
  { weight: 1, arbitrary: fc.constantFrom('told', 'said').map((name) => () => ({ tell: name })) },
  { weight: 1, arbitrary: fc.constantFrom('', 'here').map((name) => () => ({ log: name })) },
  { weight: 1, arbitrary: fixed<ActionData>({ mark: true }) },
  {
    weight: 1,
    arbitrary: fc.tuple(eventName, fc.boolean()).map(
      ([name, computed]) =>
        () =>
          ({ raise: name, ...(computed && { computed }) }) as ActionData,
    ),
  },
  { weight: 1, arbitrary: eventName.map((name) => () => ({ send: name })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('raise', 'raise', 'send'), eventName, delay, fc.option(sendId, { nil: undefined }))
      .map(
        ([kind, name, ms, id]) =>
          () =>
            ({ [kind]: name, delay: ms, ...(id && { id }) }) as unknown as ActionData,
      ),
  },
  { weight: 1, arbitrary: sendId.map((id) => () => ({ cancel: id })) },
  { weight: 1, arbitrary: callId.map((id) => () => ({ stop: id })) },
);
const action: fc.Arbitrary<ActionDraft> = fc.oneof(
  { weight: 160, arbitrary: plainAction },
  {
    weight: 20,
    arbitrary: fc.tuple(plainGuard, list(plainAction, 2)).map(
      ([when, act]): ActionDraft =>
        (state) => ({ when: when(state), act: act.map((one) => one(state)) }),
    ),
  },
  { weight: 1, arbitrary: fixed<ActionData>({ throws: true }) },
);

const transition = (target: fc.Arbitrary<number>, guarded: fc.Arbitrary<GuardDraft | undefined>) =>
  fc.record({
    target,
    second: fc.oneof(
      { withCrossShrink: true },
      { weight: 4, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: nat },
    ),
    form: fc.nat({ max: 3 }),
    reenter: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    guard: guarded,
    actions: list(action, 2),
  });
const anyTarget = fc.oneof(
  { withCrossShrink: true },
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: nat },
);
const maybe = fc.option(guard, { nil: undefined, freq: 1 });
const transitions = fc.array(transition(anyTarget, maybe), { minLength: 1, maxLength: 2 });
// An eventless transition without a guard is a loop too often.
const eventless = transition(nat, fc.option(guard, { nil: undefined, freq: 12 }));

const descriptor = fc.oneof(
  { weight: 8, arbitrary: eventName },
  { weight: 1, arbitrary: fc.constantFrom('*', 'a.*', 'a.b.*') },
);
const afterDelay = fc.constantFrom('10', '20', '20', '50', '120', 'growing', 'short', '30', '50', '0');
const invoke = fc.record(
  {
    id: callId,
    src: fc.constantFrom(...SERVICES),
    done: rare(transition(anyTarget, maybe), 8, 2),
    error: rare(transition(anyTarget, maybe), 9, 2),
  },
  { requiredKeys: ['src', 'done', 'error'] },
);

const draft = (kinds: readonly Draft['kind'][], children: fc.Arbitrary<Draft[]>, withCalls: boolean) =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    named: fc.nat({ max: 3 }),
    initial: nat,
    initially: rare(action, 1, 2),
    remembers: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    tagged: fc.boolean(),
    route: rare(maybe, 1),
    children,
    history: fc.record({
      kind: fc.constantFrom<unknown>('shallow', 'deep', true),
      typed: fc.boolean(),
      target: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: nat }),
      second: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: nat }),
    }),
    entry: rare(action, 3, 2),
    exit: rare(action, 2),
    on: list(fc.tuple(descriptor, transitions), 3),
    after: rare(fc.tuple(afterDelay, transitions), 3, 2),
    always: rare(eventless, 2, 2),
    onDone: rare(transition(anyTarget, maybe), 5),
    invoke: withCalls ? rare(invoke, 2) : fc.constant([]),
    output: fc.nat({ max: 2 }),
  }) as fc.Arbitrary<Draft>;

function drafts(withCalls: boolean): fc.Arbitrary<Draft> {
  const leaves = ['leaf', 'leaf', 'leaf', 'final', 'history'] as const;
  const level = (depth: number): fc.Arbitrary<Draft> => {
    const leaf = draft(leaves, fc.constant([]), withCalls);
    if (depth === 0) return leaf;
    const inner = draft(
      ['compound', 'parallel'],
      fc.array(level(depth - 1), { minLength: 1, maxLength: 3 }),
      withCalls,
    );
    return fc.oneof({ withCrossShrink: true }, { weight: 3, arbitrary: leaf }, { weight: 2, arbitrary: inner });
  };
  const children = fc.array(level(2), { minLength: 1, maxLength: 4 });
  return draft(['compound', 'compound', 'parallel'], children, withCalls);
}

/** Leads to a state that has a route. */
const ROUTE = 'xstate.route';

const script = fc.array(
  fc.record(
    {
      ms: fc.constantFrom(0, 10, 10, 20, 30, 100, 300),
      event: fc.oneof(
        { weight: 12, arbitrary: fc.record({ type: eventName, v: fc.nat({ max: 2 }) }) },
        { weight: 1, arbitrary: nat.map((v) => ({ type: ROUTE, v })) },
      ),
    },
    { requiredKeys: ['ms'] },
  ),
  { minLength: 1, maxLength: 12 },
) as fc.Arbitrary<ScriptStep[]>;

/** Charts without calls, which nobody need look at in time. */
export const quietCases = casesOf(false);
/** Charts with calls. */
export const callingCases = casesOf(true);

function casesOf(withCalls: boolean): fc.Arbitrary<Case> {
  return fc
    .record({
      draft: drafts(withCalls),
      n: fc.nat({ max: 3 }),
      script,
      isAsleep: withCalls ? fc.constant(false) : fc.boolean(),
    })
    .map(({ draft: root, n, script: steps, isAsleep }) => {
      const { chart, routes } = build(root);
      // Which route an event takes is drawn as a number as well.
      const along = ({ ms, event }: ScriptStep): ScriptStep =>
        event?.type === ROUTE
          ? { ms, event: { ...event, to: `#${routes[event.v % (routes.length || 1)]}` } }
          : { ms, ...(event && { event }) };
      return { chart, ...(n && { input: { n } }), script: steps.map(along), isAsleep };
    });
}

interface Place {
  readonly draft: Draft;
  readonly kind: Draft['kind'];
  readonly path: readonly string[];
  readonly id: string | undefined;
  readonly parent: Place | undefined;
  readonly children: Place[];
}

const KEYS = 'abcd';

/** Where each state of a draft is; a parent has a state that can be entered, and its last child is one. */
function locate(draft: Draft, path: readonly string[], parent?: Place): Place {
  const isAlone = parent && !parent.children.some(({ kind }) => kind !== 'history');
  const isLast = parent?.draft.children.at(-1) === draft;
  const kind = draft.kind === 'history' && isAlone && isLast ? 'leaf' : draft.kind;
  // XState reads a dot in the id of a route as a step into the state.
  const own = draft.route.length ? 'own-' : draft.named === 3 ? 'own.' : undefined;
  const id = parent && kind !== 'history' && own ? own + path.join('-') : undefined;
  const place: Place = { draft, kind, path, id, parent, children: [] };
  for (const [at, child] of draft.children.entries()) place.children.push(locate(child, [...path, KEYS[at]!], place));
  return place;
}

function build(root: Draft): { chart: Chart; routes: readonly string[] } {
  const top = locate(root, []);
  const all: Place[] = [];
  const walk = (place: Place): void => {
    for (const child of place.children) {
      all.push(child);
      walk(child);
    }
  };
  walk(top);
  const reachable = all.filter(({ kind }) => kind !== 'history');
  const state = (nth: number) => idOf(reachable[nth % reachable.length]!);
  const routes = reachable.flatMap(({ draft: { route }, id }) => (route.length ? [id!] : []));
  return { chart: toChart(top, { all, state }), routes };
}

// An id of its own with a dot cannot be a target: XState reads the dot as a step into the state.
const idOf = (place: Place): string => `#m${place.path.map((key) => `.${key}`).join('')}`;

interface Drawing {
  readonly all: readonly Place[];
  readonly state: (nth: number) => string;
}

function toChart(place: Place, drawing: Drawing): Chart {
  const { draft, kind, id, children } = place;
  const actions = (list: readonly ActionDraft[]) => list.map((one) => one(drawing.state));
  const ways = (list: readonly TransitionDraft[]) => list.map((one) => toTransition(place, one, drawing));
  const table = (rows: readonly (readonly [string, readonly TransitionDraft[]])[]) =>
    Object.fromEntries(rows.map(([key, list]) => [key, ways(list)]));
  if (kind === 'history') return toHistory(place);
  const own = {
    ...(id && { id }),
    ...(draft.tagged && { tags: [place.path.at(-1) ?? 'root'] }),
    ...(id && draft.route.length && { route: draft.route[0] ? { guard: draft.route[0](drawing.state) } : {} }),
    ...(draft.entry.length && { entry: actions(draft.entry) }),
    ...(draft.exit.length && { exit: actions(draft.exit) }),
  };
  if (kind === 'final') return { ...own, type: 'final', ...(draft.output && { output: draft.output }) };
  const memories = draft.remembers ? children.filter((child) => child.kind === 'history') : [];
  const enterable = memories.length ? memories : children.filter((child) => child.kind !== 'history');
  const initial = enterable[draft.initial % (enterable.length || 1)]?.path.at(-1);
  return {
    ...own,
    ...(kind === 'parallel' && { type: 'parallel' }),
    ...(kind === 'compound' && {
      initial: draft.initially.length ? { target: initial, actions: actions(draft.initially) } : initial,
    }),
    ...(children.length && {
      states: Object.fromEntries(children.map((child) => [child.path.at(-1), toChart(child, drawing)])),
    }),
    ...(draft.on.length && { on: table(draft.on) }),
    ...(draft.after.length && { after: table(draft.after) }),
    ...(draft.always.length && { always: ways(draft.always) }),
    ...(children.length && draft.onDone.length && { onDone: ways(draft.onDone) }),
    ...(!place.parent && draft.output && { output: draft.output }),
    ...(draft.invoke.length && {
      invoke: draft.invoke.map(({ done, error, ...same }) => ({
        ...same,
        ...(done.length && { onDone: ways(done) }),
        ...(error.length && { onError: ways(error) }),
      })),
    }),
  } as Chart;
}

function toHistory({ draft, parent }: Place): Chart {
  const { kind, typed, target, second } = draft.history;
  const inner: Place[] = [];
  const walk = (place: Place): void => {
    for (const child of place.children.filter((one) => one.kind !== 'history')) {
      inner.push(child);
      walk(child);
    }
  };
  walk(parent!);
  const name = (nth: number) => inner[(nth - 1) % inner.length]!.path.slice(parent!.path.length).join('.');
  const isPair = second > 0 && parent!.kind === 'parallel';
  return {
    history: kind,
    ...(typed && { type: 'history' }),
    ...(target && inner.length && { target: isPair ? [name(target), name(second)] : name(target) }),
  };
}

function toTransition(place: Place, drawn: TransitionDraft, { all, state }: Drawing): TransitionData {
  const target = drawn.target && all.length ? all[(drawn.target - 1) % all.length]! : undefined;
  const second = target && drawn.second ? findOtherRegion(target, all, drawn.second) : undefined;
  return {
    ...(target && {
      target: second ? [nameTarget(place, target, drawn.form), idOf(second)] : nameTarget(place, target, drawn.form),
    }),
    ...(drawn.reenter && { reenter: true }),
    ...(drawn.guard && { guard: drawn.guard(state) }),
    ...(drawn.actions.length && { actions: drawn.actions.map((one) => one(state)) }),
  };
}

/** A state in another region of the nearest parallel state around `target`. */
function findOtherRegion(target: Place, all: readonly Place[], nth: number): Place | undefined {
  let region = target;
  while (region.parent && region.parent.kind !== 'parallel') region = region.parent;
  const { parent } = region;
  if (!parent) return undefined;
  const isWithin = (place: Place, outer: Place) => outer.path.every((key, at) => place.path[at] === key);
  const others = all.filter(
    (place) => place !== parent && isWithin(place, parent) && !isWithin(place, region) && place.kind !== 'history',
  );
  return others[nth % others.length];
}

/** The target as its source may write it: from its parent, from itself, or by id. */
function nameTarget(source: Place, target: Place, form: number): string {
  const from = (outer: Place) =>
    outer.path.every((key, at) => target.path[at] === key) ? target.path.slice(outer.path.length) : [];
  const [sibling, child] = [source.parent ? from(source.parent) : [], from(source)];
  if (form === 1 && sibling.length) return sibling.join('.');
  if (form === 2 && child.length) return `.${child.join('.')}`;
  return idOf(target);
}
