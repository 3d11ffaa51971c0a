// How XState is called: a machine at rest, one event, the next rest and what must be done.
//
// XState's public `transition()` builds an actor and a whole initial snapshot on every call, and `resolveState` looks at
// every child of the root. Here both happen once per machine: a scope is reused, and a template snapshot is kept per
// state value, into which only the context is put. A record with history or running calls takes XState's own restore.
// Plain steps of pure machines take a shortcut (shortcut.ts).

import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  createActor,
  type EventObject,
} from 'xstate';
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
  type EffectOptions,
  listEffects,
  readInput,
} from './effects.ts';
import { type AtRest, endAs, restore, type Scope, Templates, toRest, withActive, withNodes } from './rest.ts';
import { type Shortcuts, shortcuts, type Vocabulary } from './shortcut.ts';
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
  return new CompiledMachine(chart, vocabulary);
}

class CompiledMachine implements Machine {
  readonly id: string;
  readonly source: AnyStateMachine;
  readonly services: Services;
  readonly longestChain: number;
  /** By the id of the invoke. */
  readonly #invoked: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #nodesById: ReadonlyMap<string, AnyStateNode>;
  /** XState may be where a value does not tell: with parallel states, and where a history is an initial state. */
  readonly #namesNodes: boolean;
  /** Which of several eventless transitions is taken first is then told by the order of the active states. */
  readonly #isOrdered: boolean;
  readonly #isChecked: boolean;
  readonly #templates: Templates;
  readonly #shortcuts: Shortcuts | undefined;
  readonly #scope: Scope;
  readonly #effectOptions: EffectOptions;
  /** Of the step under way. */
  #actions: ActionRecord[] = [];

  constructor(chart: Statechart, vocabulary: Vocabulary) {
    const isPure = vocabulary === 'pure';
    // Flows build a machine for themselves; what others pass in stays as it is.
    const source = boundedMachine(chart, { isOwn: isPure });
    const nodes = listNodes(source);
    if (!isPure) refuseUnsupported(source, nodes);
    this.id = source.id;
    this.source = source;
    this.services = findOwnServices(source, nodes);
    this.longestChain = ENGINE_LIMITS.hopsPerTurn + (isPure ? 0 : nodes.length);
    this.#invoked = findInvokedServices(nodes);
    this.#nodesById = new Map(nodes.map((node) => [node.id, node]));
    this.#namesNodes = nodes.some(mayHideNodes);
    this.#isOrdered = nodes.some(({ always }) => always !== undefined);
    this.#isChecked = !isPure;
    // XState works out the input of an invoke only when it knows the actor; here the services stand outside of the machine.
    for (const name of [...this.#invoked.values()].flatMap((names) => [...names]))
      source.implementations.actors[name] = UNANSWERED;
    this.#templates = new Templates(source, (template) => this.#shortcuts?.admit(template));
    this.#shortcuts = isPure ? shortcuts(source, (state) => this.#templates.get({ state })) : undefined;
    this.#scope = inertScope(source, (action) => this.#actions.push(action));
    this.#effectOptions = { machine: source.id, self: this.#scope.self, services: this.#invoked };
  }

  begin(input?: JsonObject): Step {
    const { id, source } = this;
    this.#actions = [];
    const live = attempt(id, () => source.getInitialSnapshot(this.#scope, input) as AnyMachineSnapshot);
    if (live.status === 'error') throw wrapError(id, live.error);
    return this.#finish(live, undefined);
  }

  resume(rest: AtRest): AnyMachineSnapshot {
    const fresh = this.#templates.get(rest);
    if (rest.status) return endAs(fresh, rest);
    const [services, nodesById] = [this.#invoked, this.#nodesById];
    const live =
      rest.history || rest.calling?.length
        ? attempt(this.id, () => restore(fresh, this.#scope, { rest, services, nodesById }))
        : ({ ...fresh, context: rest.context } as AnyMachineSnapshot);
    return rest.nodes ? withActive(live, rest, nodesById) : live;
  }

  step(live: AnyMachineSnapshot, event: EventObject): Step {
    const next = this.#shortcuts?.step(live, event);
    if (next) return { live: next, effects: NONE };
    if (this.#actions.length) this.#actions = [];
    try {
      return this.#finish(this.source.transition(live, event, this.#scope) as AnyMachineSnapshot, live.context);
    } catch (error) {
      throw wrapError(this.id, error);
    }
  }

  rest(live: AnyMachineSnapshot): AtRest {
    const rest = toRest(live);
    if (!this.#namesNodes || rest.status) return rest;
    return withNodes(rest, live, {
      restored: this.#templates.find(rest.state)?._nodes,
      isOrdered: this.#isOrdered,
    });
  }

  calling(live: AnyMachineSnapshot): readonly string[] {
    return listInvokes(live).map((call) => call.id);
  }

  listCalls(live: AnyMachineSnapshot): readonly CallEffect[] {
    const args = { context: live.context, event: NO_EVENT, self: this.#scope.self };
    return listInvokes(live).map(({ id, src, input }) => {
      const value = typeof input === 'function' ? input(args) : input;
      return { type: 'call', id, service: String(src), input: readInput({ id, input: value }, this.id) };
    });
  }

  #finish(live: AnyMachineSnapshot, before: unknown): Step {
    if (this.#isChecked) this.#check(live, before);
    return { live, effects: this.#actions.length ? listEffects(this.#actions, this.#effectOptions) : NONE };
  }

  #check({ context, children, status, output }: AnyMachineSnapshot, before: unknown): void {
    for (const id in children) if (!this.#invoked.has(id)) throw droppedError(this.id, 'spawns a child');
    if (context !== before) checkLossless(this.id, 'its context', context, { keepsUndefined: true });
    if (status === 'done' && output !== undefined) checkLossless(this.id, 'its output', output);
  }
}

const NONE: readonly Effect[] = [];

const mayHideNodes = ({ type, initial }: AnyStateNode): boolean =>
  type === 'parallel' || (type === 'compound' && initial.target.some((state) => state.type === 'history'));

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
