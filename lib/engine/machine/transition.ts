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
  type AnyStateNode,
  createActor,
  type EventObject,
  fromPromise,
  type StateValue,
} from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { findLoss } from '../../json/lossless.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { Services } from '../service.ts';
import type { CallError } from './failure.ts';
import { shortcuts, type Vocabulary } from './shortcut.ts';
import {
  boundedMachine,
  findInvokedServices,
  findOwnServices,
  listNodes,
  refuseUnsupported,
  type Statechart,
} from './statechart.ts';

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
  /** The answer of a call is not wanted any more. */
  | { readonly type: 'stop'; readonly id: string }
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
  /** Promises that the machine brings along, by name. A service of the engine with that name is called in their place. */
  readonly services: Services;
  /** Throws ERR_MACHINE where the context holds what JSON would change. */
  check(live: AnyMachineSnapshot): void;
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
  const nodes = listNodes(source);
  if (vocabulary === 'any') refuseUnsupported(source, nodes);
  const services = findInvokedServices(nodes);
  const ownServices = findOwnServices(source, nodes);
  const nodesById = new Map(nodes.map((node) => [node.id, node]));
  // XState works out the input of an invoke only when it knows the actor; here the services stand outside of the machine.
  for (const name of [...services.values()].flatMap((names) => [...names]))
    source.implementations.actors[name] = UNANSWERED;
  let done: ActionRecord[] = [];
  const scope = inertScope(source, (action) => done.push(action));
  const templates = new Map<string, AnyMachineSnapshot>();

  const stepTo = (live: AnyMachineSnapshot): Step => {
    if (vocabulary === 'any' && live.output !== undefined) checkLossless(source.id, 'its output', live.output);
    if (!done.length) return { live, effects: NONE };
    for (const id in live.children) if (!services.has(id)) throw droppedError(source.id, 'spawns a child');
    return { live, effects: listEffects(done, effectsOf) };
  };
  const effectsOf = { machine: source.id, self: scope.self, services, vocabulary };

  const template = (state: StateValue): AnyMachineSnapshot => {
    const key = typeof state === 'string' ? state : JSON.stringify(state);
    const known = templates.get(key);
    if (known) return known;
    if (!isState(source.root, state)) throw unknownStateError(source.id, state);
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
    services: ownServices,
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
    check: (live) => {
      if (vocabulary === 'any') checkLossless(source.id, 'its context', live.context, { keepsUndefined: true });
    },
    calling: (live) => listInvokes(live).map((call) => call.id),
    listCalls: (live) =>
      listInvokes(live).map(({ id, src, input }) => {
        const given =
          typeof input === 'function' ? input({ context: live.context, event: NO_EVENT, self: scope.self }) : input;
        return { type: 'call', id, service: String(src), input: readInput({ id, input: given }, effectsOf) };
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

interface EffectOptions {
  readonly machine: string;
  readonly self: AnyActorRef;
  readonly vocabulary: Vocabulary;
  /** By the id of the invoke. */
  readonly services: ReadonlyMap<string, ReadonlySet<string>>;
}

const EFFECTS: {
  [type: string]: (params: ActionRecord['params'], options: EffectOptions) => Effect | undefined;
} = {
  'xstate.spawnChild': (p, options) => {
    const { machine, services } = options;
    if (!services.get(p.id)?.has(p.src)) throw droppedError(machine, 'spawns a child');
    return { type: 'call', id: p.id, service: String(p.src), input: readInput(p, options) };
  },
  'xstate.stopChild': (p) => p && { type: 'stop', id: p.id },
  'xstate.raise': (p, { machine }) => (typeof p.delay === 'number' ? makeTimer(p, machine) : undefined),
  'xstate.sendTo': (p, { self, machine }) => {
    if (p.to !== self) throw droppedError(machine, 'sends to another actor');
    return typeof p.delay === 'number' ? makeTimer(p, machine) : { type: 'send', event: p.event };
  },
  'xstate.cancel': (p) => ({ type: 'cancel', id: String(p.sendId) }),
  'xstate.assign': () => undefined,
  'xstate.log': ({ label, value }) => ({
    type: 'fact',
    name: 'xstate.log',
    params: { ...(label && { label }), value },
  }),
  'xstate.emit': (p) => ({ type: 'fact', name: p.event.type, params: p.event }),
};

/** The error of a step that asks for what could not be kept, where only the step itself tells. */
function droppedError(machine: string, what: string): TwinlineError {
  return new TwinlineError(
    'ERR_MACHINE',
    `Machine "${machine}" ${what}, which cannot be kept between two events. Invoke a service by its name, or a fromPromise; a machine sends only to itself.`,
  );
}

// A service that is given nothing gets `{}`: most take named values.
function readInput(
  { id, input = {} }: { readonly id: string; readonly input?: unknown },
  { machine, vocabulary }: Pick<EffectOptions, 'machine' | 'vocabulary'>,
): Json {
  if (vocabulary === 'any') checkLossless(machine, `the input of its call "${id}"`, input, { keepsUndefined: true });
  return input as Json;
}

function makeTimer({ id, delay, event }: { id?: unknown; delay: number; event: EventObject }, machine: string): Effect {
  if (id !== undefined && typeof id !== 'string')
    throw new TwinlineError(
      'ERR_MACHINE',
      `Machine "${machine}" delays "${event.type}" with the id ${String(id)}; an id is a text.`,
    );
  checkLossless(machine, `its delayed event "${event.type}"`, event);
  return { type: 'timer', ...(id !== undefined && { id }), delayMs: delay, event };
}

function checkLossless(machine: string, what: string, value: unknown, options?: { keepsUndefined: boolean }): void {
  const loss = findLoss(value, options);
  if (!loss) return;
  throw new TwinlineError(
    'ERR_MACHINE',
    `Machine "${machine}" cannot be stored: ${what} holds ${loss.what}${loss.path && ` at "${loss.path.slice(0, 200)}"`}, which JSON would change. Keep texts, numbers, true, false, null, lists and plain objects.`,
  );
}

function listEffects(actions: readonly ActionRecord[], options: EffectOptions): Effect[] {
  const effects: Effect[] = [];
  for (const { type, params } of actions) {
    const known = Object.hasOwn(EFFECTS, type) ? EFFECTS[type] : undefined;
    const effect: Effect | undefined = known
      ? known(params, options)
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
  readonly services: ReadonlyMap<string, ReadonlySet<string>>;
  readonly nodesById: ReadonlyMap<string, AnyStateNode>;
}

function restore(
  fresh: AnyMachineSnapshot,
  scope: Scope,
  { rest, services, nodesById }: RestoreOptions,
): AnyMachineSnapshot {
  const source = fresh.machine as AnyStateMachine;
  const children: Record<string, unknown> = {};
  for (const id of rest.calling ?? [])
    for (const src of services.get(id) ?? []) children[id] = { src, snapshot: { status: 'active', input: undefined } };
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

const isLeaf = ({ type }: AnyStateNode): boolean => type === 'atomic' || type === 'final';

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
function isState(node: AnyStateNode, value: unknown): boolean {
  const has = (key: string) => Object.hasOwn(node.states, key) && node.states[key]!.type !== 'history';
  if (typeof value === 'string') return has(value) && isLeaf(node.states[value]!);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  const isParallel = node.type === 'parallel';
  const expected = isParallel ? Object.keys(node.states).filter(has).length : node.type === 'compound' ? 1 : 0;
  if (keys.length !== expected) return false;
  // Regions of a parallel state that have no states of their own are written as {}; other states without any are not.
  const isInside = (child: AnyStateNode, inner: unknown) => (isParallel || !isLeaf(child)) && isState(child, inner);
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
