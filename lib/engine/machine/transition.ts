// How XState is called: a machine at rest, one event, the next rest and what must be done.
//
// XState's public `transition()` builds an actor and a whole initial snapshot on every call, and `resolveState` looks at
// every child of the root. Here both happen once per machine: a scope is reused, and a template snapshot is kept per
// state value, into which only the context is put. A record with history or running calls takes XState's own restore.
// Plain steps of pure machines take a shortcut (shortcut.ts).

import { type AnyMachineSnapshot, type AnyStateMachine, createActor, type EventObject, type StateValue } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { Services } from '../service.ts';
import {
  type ActionRecord,
  type CallEffect,
  checkLossless,
  droppedError,
  type Effect,
  listEffects,
  readInput,
} from './effects.ts';
import { type AtRest, endAs, isState, restore, type Scope, toRest, unknownStateError, withNodes } from './rest.ts';
import { shortcuts, type Vocabulary } from './shortcut.ts';
import {
  boundedMachine,
  findInvokedServices,
  findOwnServices,
  listNodes,
  refuseUnsupported,
  type Statechart,
  UNANSWERED,
} from './statechart.ts';

export type { AtRest, CallEffect, Effect };

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

  const stepTo = (live: AnyMachineSnapshot, before: unknown): Step => {
    if (vocabulary === 'any') checkStep(live, before);
    return { live, effects: done.length ? listEffects(done, effectsOf) : NONE };
  };
  const effectsOf = { machine: source.id, self: scope.self, services };
  const checkStep = ({ context, children, status, output }: AnyMachineSnapshot, before: unknown): void => {
    for (const id in children) if (!services.has(id)) throw droppedError(source.id, 'spawns a child');
    if (context !== before) checkLossless(source.id, 'its context', context, { keepsUndefined: true });
    if (status === 'done' && output !== undefined) checkLossless(source.id, 'its output', output);
  };

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

  const isParallel = nodes.some(({ type }) => type === 'parallel');
  // Which of several eventless transitions is taken first.
  const isOrdered = nodes.some(({ always }) => always !== undefined);

  return {
    id: source.id,
    source,
    services: ownServices,
    longestChain: ENGINE_LIMITS.hopsPerTurn + (vocabulary === 'pure' ? 0 : nodes.length),
    begin: (input) => {
      done = [];
      const live = attempt(source.id, () => source.getInitialSnapshot(scope, input) as AnyMachineSnapshot);
      if (live.status === 'error') throw wrapError(source.id, live.error);
      return stepTo(live, undefined);
    },
    resume: (rest) => {
      const fresh = template(rest.state);
      if (rest.status) return endAs(fresh, rest);
      const live =
        rest.history || rest.calling?.length
          ? attempt(source.id, () => restore(fresh, scope, { rest, services, nodesById }))
          : ({ ...fresh, context: rest.context } as AnyMachineSnapshot);
      if (!rest.nodes) return live;
      const active = rest.nodes.flatMap((id) => nodesById.get(id) ?? []);
      return { ...live, value: rest.state, _nodes: active } as AnyMachineSnapshot;
    },
    step: (live, event) => {
      const next = short?.step(live, event);
      if (next) return { live: next, effects: NONE };
      if (done.length) done = [];
      try {
        return stepTo(source.transition(live, event, scope) as AnyMachineSnapshot, live.context);
      } catch (error) {
        throw wrapError(source.id, error);
      }
    },
    rest: (live) => {
      const rest = toRest(live);
      if (!isParallel || rest.status) return rest;
      return withNodes(rest, live, { restored: template(rest.state)._nodes, isOrdered });
    },
    calling: (live) => listInvokes(live).map((call) => call.id),
    listCalls: (live) =>
      listInvokes(live).map(({ id, src, input }) => {
        const given =
          typeof input === 'function' ? input({ context: live.context, event: NO_EVENT, self: scope.self }) : input;
        return { type: 'call', id, service: String(src), input: readInput({ id, input: given }, source.id) };
      }),
  };
}

const NONE: readonly Effect[] = [];

function listInvokes(live: AnyMachineSnapshot): readonly { id: string; src: unknown; input?: unknown }[] {
  return live._nodes.flatMap((node) => node.invoke);
}

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
