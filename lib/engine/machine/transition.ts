// How XState is called: a machine at rest, one event, the next rest and what must be done.
//
// XState's public `transition()` builds an actor and a whole initial snapshot on every call, and `resolveState` looks at
// every child of the root. Here both happen once per machine: a scope is reused, and a template snapshot is kept per
// state value, into which only the context is put. A record with history or running calls takes XState's own restore.
// Plain steps of pure machines take a shortcut (shortcut.ts).

import {
  type ActorScope,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  fromPromise,
  type StateValue,
} from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { CallError } from './failure.ts';
import { findInvokedServices, shortcuts, type Vocabulary } from './shortcut.ts';
import { boundedMachine, type Statechart } from './statechart.ts';

/** A machine between two events, as plain JSON. */
export interface AtRest {
  readonly state: StateValue;
  readonly context: JsonObject;
  /** Ids of the states that history nodes remember, by history node id. */
  readonly history?: { readonly [node: string]: readonly string[] } | undefined;
  /** Ids of the active states as XState goes through them, where that is not the order of the machine. */
  readonly order?: readonly string[] | undefined;
  /** Ids of invoked calls that have not answered yet. */
  readonly calling?: readonly string[];
  /** Only once the machine has ended: `done` in a final state, `error` when it has failed. It takes nothing any more. */
  readonly status?: 'done' | 'error' | undefined;
  /** What its `output` gave, where `status` is `done` and it has one. */
  readonly output?: Json | undefined;
  /** Why it has failed, where `status` is `error`. */
  readonly error?: CallError | undefined;
}

/** What a step asks the engine to do; nothing has been done yet. */
export type Effect =
  | CallEffect
  /** Without an id it cannot be cancelled, and never takes the place of another. */
  | { readonly type: 'timer'; readonly id?: string; readonly delayMs: number; readonly event: EventObject }
  | { readonly type: 'cancel'; readonly id: string }
  | { readonly type: 'send'; readonly event: EventObject }
  | { readonly type: 'fact'; readonly name: string; readonly params: Json };

export interface CallEffect {
  readonly type: 'call';
  readonly id: string;
  readonly service: string;
  readonly input: Json;
}

/** The machine after a step. `live` continues in this turn without a restore; never keep it longer. */
export interface Step {
  readonly live: AnyMachineSnapshot;
  readonly effects: readonly Effect[];
}

/** A compiled machine: pure steps from one rest to the next. */
export interface Machine {
  readonly id: string;
  readonly source: AnyStateMachine;
  /** Events without a rest or a pause after which the machine goes in circles. */
  readonly longestChain: number;
  begin(input?: JsonObject): Step;
  /** Throws ERR_RECORD when the state does not exist; never falls back to the initial state. */
  resume(rest: AtRest): AnyMachineSnapshot;
  /**
   * A failed call that no transition takes gives a machine of status `error`. Throws ERR_MACHINE when a guard or action throws,
   * ERR_TURN_LIMIT when the machine does not come to rest.
   */
  step(live: AnyMachineSnapshot, event: EventObject): Step;
  /** The rest of a live snapshot; its context is not copied. */
  rest(live: AnyMachineSnapshot): AtRest;
  /** Ids of the calls that the active states invoke. */
  calling(live: AnyMachineSnapshot): readonly string[];
  /** Those calls as a step that entered the states would ask for them. */
  listCalls(live: AnyMachineSnapshot): readonly CallEffect[];
}

interface ActionRecord {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: XState's executable actions carry parameters of every shape
  readonly params: any;
}

type Scope = ActorScope<AnyMachineSnapshot, EventObject>;

/** No transition takes it; what a machine does by itself in its state, it does. */
export const NO_EVENT: EventObject = { type: 'xstate.init' };

/**
 * Prepares a machine for turns: bounded microsteps, a reused scope, a template per state value. The machine itself stays as it is.
 * Throws ERR_CONFIG when `chart` is no machine of XState 5, or of a version before {@link XSTATE_RANGE}.
 * @example
 * compileMachine(createMachine({ id: 'light', initial: 'red', states: { red: {} } })).id; // → 'light'
 */
export function compileMachine(chart: Statechart, vocabulary: Vocabulary = 'any'): Machine {
  // Flows build a machine for themselves; what others pass in stays as it is.
  const source = boundedMachine(chart, { isOwn: vocabulary === 'pure' });
  const services = findInvokedServices(source);
  const nodes = listNodes(source);
  const nodesById = new Map(nodes.map((node) => [node.id, node]));
  // XState works out the input of an invoke only when it knows the actor; here the services stand outside of the machine.
  for (const name of services.values()) source.implementations.actors[name] ??= UNANSWERED;
  let done: ActionRecord[] = [];
  const scope = inertScope(source, (action) => done.push(action));
  const templates = new Map<string, AnyMachineSnapshot>();

  const stepTo = (live: AnyMachineSnapshot): Step => ({
    live,
    effects: done.length ? listEffects(done, scope.self) : NONE,
  });

  const template = (state: StateValue): AnyMachineSnapshot => {
    const key = typeof state === 'string' ? state : JSON.stringify(state);
    const known = templates.get(key);
    if (known) return known;
    if (!isState(source.root as unknown as StateNode, state)) throw unknownStateError(source.id, state);
    const made = attempt(source.id, () => source.resolveState({ value: state, context: {} }));
    templates.set(key, made);
    short?.admit(made);
    return made;
  };
  const short = vocabulary === 'pure' ? shortcuts(source, template) : undefined;

  // The order of the active states tells only which of several eventless transitions is taken first.
  const keepsOrder = nodes.some(({ type }) => type === 'parallel') && nodes.some(({ always }) => always !== undefined);

  return {
    id: source.id,
    source,
    longestChain: ENGINE_LIMITS.hopsPerTurn + (vocabulary === 'pure' ? 0 : nodes.length),
    begin: (input) => {
      done = [];
      const live = attempt(source.id, () => source.getInitialSnapshot(scope, input) as AnyMachineSnapshot);
      if (live.status === 'error') throw wrapError(source.id, live.error);
      return stepTo(live);
    },
    resume: (rest) => {
      const fresh = template(rest.state);
      if (rest.status) return endAs(fresh, rest);
      const live =
        rest.history || rest.calling?.length
          ? restore(fresh, scope, { rest, services, nodesById })
          : ({ ...fresh, context: rest.context } as AnyMachineSnapshot);
      if (rest.order) live._nodes = sortNodes(live._nodes, rest.order);
      return live;
    },
    step: (live, event) => {
      const next = short?.step(live, event);
      if (next) return { live: next, effects: NONE };
      if (done.length) done = [];
      try {
        return stepTo(source.transition(live, event, scope) as AnyMachineSnapshot);
      } catch (error) {
        throw wrapError(source.id, error);
      }
    },
    rest: (live) => (keepsOrder ? withOrder(toRest(live), live, template) : toRest(live)),
    calling: (live) => listInvokes(live).map((call) => call.id),
    listCalls: (live) =>
      listInvokes(live).map(({ id, src, input }) => {
        const given =
          typeof input === 'function' ? input({ context: live.context, event: NO_EVENT, self: scope.self }) : input;
        return { type: 'call', id, service: String(src), input: readInput({ input: given }) };
      }),
  };
}

const NONE: readonly Effect[] = [];

function endAs(fresh: AnyMachineSnapshot, { context, status, output, error }: AtRest): AnyMachineSnapshot {
  return { ...fresh, context, status, output, error } as unknown as AnyMachineSnapshot;
}

function listInvokes(live: AnyMachineSnapshot): readonly { id: string; src: unknown; input?: unknown }[] {
  return live._nodes.flatMap((node) => node.invoke);
}

const UNANSWERED = fromPromise(() => new Promise(() => {}));

function inertScope(source: AnyStateMachine, collect: (action: ActionRecord) => void): Scope {
  const self = createActor(source);
  return {
    self,
    id: '',
    sessionId: '',
    logger: () => {},
    defer: () => {},
    system: self.system,
    stopChild: () => {},
    emit: () => {},
    actionExecutor: collect,
  } as unknown as Scope;
}

const EFFECTS: { [type: string]: (params: ActionRecord['params'], self: AnyActorRef) => Effect | undefined } = {
  'xstate.spawnChild': (p) => ({ type: 'call', id: p.id, service: String(p.src), input: readInput(p) }),
  'xstate.stopChild': () => undefined, // the engine drops calls whose state is no longer active
  'xstate.raise': (p) => (typeof p.delay === 'number' ? makeTimer(p) : undefined),
  'xstate.sendTo': (p, self) => {
    if (p.to !== self) return undefined;
    return typeof p.delay === 'number' ? makeTimer(p) : { type: 'send', event: p.event };
  },
  'xstate.cancel': (p) => ({ type: 'cancel', id: String(p.sendId) }),
  'xstate.assign': () => undefined,
  'xstate.log': () => undefined,
  'xstate.emit': (p) => ({ type: 'fact', name: p.event.type, params: p.event }),
};

// A service that is given nothing gets `{}`: most take named values.
function readInput({ input }: { readonly input?: unknown }): Json {
  return (input === undefined ? {} : input) as Json;
}

function makeTimer({ id, delay, event }: { id?: string; delay: number; event: EventObject }): Effect {
  return { type: 'timer', ...(id !== undefined && { id }), delayMs: delay, event };
}

function listEffects(actions: readonly ActionRecord[], self: AnyActorRef): Effect[] {
  const effects: Effect[] = [];
  for (const { type, params } of actions) {
    const known = Object.hasOwn(EFFECTS, type) ? EFFECTS[type] : undefined;
    const effect: Effect | undefined = known
      ? known(params, self)
      : { type: 'fact', name: type, params: params ?? null };
    if (effect) effects.push(effect);
  }
  return effects;
}

function toRest(live: AnyMachineSnapshot): AtRest {
  const state = live.value as StateValue;
  const context = live.context as JsonObject;
  let history: Record<string, readonly string[]> | undefined;
  for (const id in live.historyValue) {
    history ??= {};
    history[id] = (live.historyValue as Record<string, { id: string }[]>)[id]!.map((node) => node.id);
  }
  if (live.status === 'active') return history ? { state, context, history } : { state, context };
  return { state, context, ...(history && { history }), ...describeEnd(live) };
}

function describeEnd({ status, output, error }: AnyMachineSnapshot): Pick<AtRest, 'status' | 'output' | 'error'> {
  if (status === 'error') return { status, error: error as CallError };
  return output === undefined ? { status: 'done' } : { status: 'done', output: output as Json };
}

interface RestoreOptions {
  readonly rest: AtRest;
  readonly services: ReadonlyMap<string, string>;
  readonly nodesById: ReadonlyMap<string, StateNode>;
}

function restore(
  fresh: AnyMachineSnapshot,
  scope: Scope,
  { rest, services, nodesById }: RestoreOptions,
): AnyMachineSnapshot {
  const source = fresh.machine as AnyStateMachine;
  const children: Record<string, unknown> = {};
  for (const id of rest.calling ?? [])
    if (services.has(id)) children[id] = { src: services.get(id), snapshot: { status: 'active', input: undefined } };
  // The nodes themselves: XState would take an id with a dot apart.
  const nodesOf = (ids: readonly string[]) => ids.flatMap((id) => nodesById.get(id) ?? []);
  const historyValue = Object.fromEntries(
    Object.entries(rest.history ?? {}).map(([node, ids]) => [node, nodesOf(ids)]),
  );
  // XState looks for actors in the context and changes what looks like one; it gets none to look at.
  const persisted = { status: fresh.status, value: rest.state, context: {}, children, historyValue };
  const restored = attempt(source.id, () => source.restoreSnapshot(persisted as never, scope as never));
  return { ...restored, context: rest.context } as AnyMachineSnapshot;
}

type Nodes = AnyMachineSnapshot['_nodes'];
type StateNode = Nodes[number];

const isLeaf = ({ type }: StateNode): boolean => type === 'atomic' || type === 'final';

function listNodes(source: AnyStateMachine): StateNode[] {
  const list = (node: StateNode): StateNode[] => [node, ...Object.values(node.states).flatMap(list)];
  return list(source.root as unknown as StateNode);
}

// In a machine that stays in memory, regions of a parallel state come in the order in which they were moved last.
function withOrder(
  rest: AtRest,
  { _nodes: nodes }: AnyMachineSnapshot,
  template: (state: StateValue) => AnyMachineSnapshot,
): AtRest {
  const restored = template(rest.state)._nodes.filter(isLeaf);
  const isSame = nodes.filter(isLeaf).every((node, at) => node === restored[at]);
  return isSame ? rest : { ...rest, order: nodes.map(({ id }) => id) };
}

function sortNodes(nodes: Nodes, order: readonly string[]): Nodes {
  const places = new Map(order.map((id, at) => [id, at]));
  return nodes.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
}

// XState looks states up through the prototype, so `constructor` or `{}` would silently become the initial state.
function isState(node: StateNode, value: unknown): boolean {
  const has = (key: string) => Object.hasOwn(node.states, key) && node.states[key]!.type !== 'history';
  if (typeof value === 'string') return has(value) && isLeaf(node.states[value]!);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  const isParallel = node.type === 'parallel';
  const expected = isParallel ? Object.keys(node.states).filter(has).length : node.type === 'compound' ? 1 : 0;
  if (keys.length !== expected) return false;
  // Regions of a parallel state that have no states of their own are written as {}; other states without any are not.
  const isInside = (child: StateNode, inner: unknown) => (isParallel || !isLeaf(child)) && isState(child, inner);
  return keys.every((key) => has(key) && isInside(node.states[key]!, (value as JsonObject)[key]));
}

function unknownStateError(machine: string, state: unknown): TwinlineError {
  const shown = JSON.stringify(state)?.slice(0, 100);
  return new TwinlineError('ERR_RECORD', `Cannot resume machine "${machine}": it has no state ${shown}.`);
}

function attempt<T>(machine: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw wrapError(machine, error);
  }
}

function wrapError(machine: string, cause: unknown): TwinlineError {
  if (cause instanceof TwinlineError) return cause;
  const endless = cause instanceof Error && cause.message.startsWith('Infinite loop');
  return endless
    ? new TwinlineError(
        'ERR_TURN_LIMIT',
        `Machine "${machine}" did not come to rest within ${ENGINE_LIMITS.microstepsPerStep} microsteps: its transitions form a cycle.`,
        { cause },
      )
    : new TwinlineError('ERR_MACHINE', `Machine "${machine}" failed while it took an event: a guard or action threw.`, {
        cause,
      });
}
