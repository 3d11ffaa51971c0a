// What XState does: an actor that never leaves memory, with a clock that goes from one moment to the next.

import { type AnyMachineSnapshot, type AnyStateMachine, createActor } from 'xstate';
import { ENGINE_LIMITS } from '../../../lib/engine/limits.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';
import { EVENTS } from './generate.ts';

/** Where a machine stands, and what it has told. */
export interface Standing {
  readonly status: string;
  readonly value: unknown;
  readonly context: unknown;
  readonly output?: unknown;
  /** The code of what made it fail. */
  readonly error?: unknown;
  readonly told: readonly string[];
  /** Of an active machine, as its `read` sees it: its tags, and the events that it can take. */
  readonly tags?: readonly string[];
  readonly can?: readonly string[];
}

/** What those see who look at the snapshot of an active machine. */
export function seeInside(snapshot: AnyMachineSnapshot): Pick<Standing, 'tags' | 'can'> {
  if (snapshot.status !== 'active') return {};
  const canTake = (type: string) => {
    try {
      return snapshot.can({ type, v: 1 });
    } catch {
      return true;
    }
  };
  return { tags: [...snapshot.tags].sort(), can: EVENTS.filter(canTake) };
}

/** How a service answers. */
export type Behaviour =
  | { readonly after: number; readonly answer: (input: JsonObject) => Json }
  | { readonly after: number; readonly error: { readonly code: string; readonly message: string } }
  | { readonly after: undefined };

export type Behaviours = { readonly [name: string]: Behaviour };

/** Events that one moment may hold; with more of them it is a loop without end. */
const EVENTS_PER_MOMENT = 60;
const MICROSTEPS = 100;
/** Calls of a case: a chain of more is a loop as well. */
const CALLS = 20;

interface Wait {
  readonly at: number;
  /** Timers, then answers. */
  readonly rank: number;
  readonly run: () => void;
}

class EndlessLoop extends Error {}

/** Moves from one wait to the next; of two at one moment, timers are first, then the older. */
class StepClock {
  now = 0;
  waits: Wait[] = [];
  #ran = 0;

  wait(ms: number, rank: number, run: () => void): Wait {
    const wait = { at: this.now + Math.max(0, ms), rank, run };
    this.waits.push(wait);
    if (this.waits.length >= ENGINE_LIMITS.timersPerSession) this.isIncomparable = true;
    return wait;
  }

  isIncomparable = false;
  /** Events since the last one from outside. */
  chain = 0;
  mayLoop = false;
  #calls = 0;
  readonly #living = new Set<string>();

  /**
   * A state that is entered again without being left, by way of a history, starts its call a second time. In memory the first one then
   * belongs to nobody, and its failure still ends the machine: such a case cannot be compared.
   */
  beginCall(id: string): void {
    if (++this.#calls > CALLS || this.#living.has(id)) this.isIncomparable = true;
    this.#living.add(id);
  }

  endCall(id: string): void {
    this.#living.delete(id);
  }

  count(): void {
    if (++this.chain >= ENGINE_LIMITS.hopsPerTurn) this.mayLoop = true;
    if (++this.#ran <= EVENTS_PER_MOMENT) return;
    this.isIncomparable = true;
    throw new EndlessLoop();
  }

  advance(ms: number): void {
    const end = this.now + ms;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.waits = this.waits.filter((wait) => wait !== next);
      if (next.at > this.now) this.#ran = 0;
      this.now = next.at;
      next.run();
    }
    if (end > this.now) this.#ran = 0;
    this.now = end;
  }

  #next(end: number): Wait | undefined {
    let first: Wait | undefined;
    for (const wait of this.waits)
      if (wait.at <= end && (!first || wait.at < first.at || (wait.at === first.at && wait.rank < first.rank)))
        first = wait;
    return first;
  }
}

export interface InMemory {
  advance(ms: number): void;
  send(event: { readonly type: string }): void;
  look(): Standing;
  /** A guard or action has thrown, or its transitions form a cycle. */
  readonly hasThrown: boolean;
  /** So many events led to each other that the engine may take them for a loop: of calls, however long those take. */
  readonly mayLoop: boolean;
  /** It is not to be compared any further: what it does has no end, or XState has lost one of its calls. */
  readonly isIncomparable: boolean;
}

/** Starts the machine. */
export function inMemory(machine: AnyStateMachine, behaviours: Behaviours, input?: JsonObject): InMemory {
  const clock = new StepClock();
  const told: string[] = [];
  const actors = Object.entries(behaviours).map(([name, behaviour]) => [name, service(behaviour, clock)]);
  const whole = machine.provide({ actors: Object.fromEntries(actors) });
  whole.options.maxIterations = MICROSTEPS;
  const guarded = (work: () => void) => {
    if (clock.isIncomparable) return;
    try {
      work();
    } catch (error) {
      if (!(error instanceof EndlessLoop)) throw error;
    }
  };
  // biome-ignore lint/suspicious/noExplicitAny: parameters of every shape
  const tell = ({ type, params }: { readonly type: string; readonly params: any }) => {
    if (type === 'xstate.emit') told.push(JSON.stringify(params.event));
    else if (type === 'xstate.log')
      told.push(JSON.stringify({ ...(params.label && { label: params.label }), value: params.value }));
    else if (!type.startsWith('xstate.')) told.push(JSON.stringify(params));
  };
  const actor = createActor(whole, {
    input: input as never,
    clock: {
      setTimeout: (run: () => void, ms: number) => clock.wait(ms, 0, run) as never,
      clearTimeout: (wait: unknown) => {
        clock.waits = clock.waits.filter((other) => other !== wait);
      },
    },
    logger: () => {},
    inspect: (event) => {
      // In the order of actions: what is emitted and logged, and actions that have no function.
      if (event.type === '@xstate.action' && event.actorRef === actor) tell(event.action);
      if (event.type === '@xstate.event' && event.actorRef === actor && event.event.type !== 'xstate.init')
        clock.count();
    },
  });
  actor.subscribe({ error: () => {} });
  guarded(() => actor.start());
  const look = (): Standing => {
    const { status, value, context, output, error } = actor.getSnapshot() as AnyMachineSnapshot;
    return {
      status,
      value,
      context,
      ...(output !== undefined && { output }),
      ...(status === 'error' && { error: codeOf(error) }),
      told,
      ...seeInside(actor.getSnapshot() as AnyMachineSnapshot),
    };
  };
  return {
    get hasThrown() {
      return actor.getSnapshot().error instanceof Error;
    },
    advance: (ms) => guarded(() => clock.advance(ms)),
    send: (event) => {
      clock.chain = 0;
      guarded(() => actor.send(event));
    },
    look,
    get mayLoop() {
      return clock.mayLoop;
    },
    get isIncomparable() {
      return clock.isIncomparable;
    },
  };
}

/** Of the failure of a service, or as Twinline tells what a machine throws. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return (error as { code: string }).code;
  return error.message.startsWith('Infinite loop') ? 'ERR_TURN_LIMIT' : 'ERR_MACHINE';
}

// As `fromPromise`, but it settles at its moment and not a few ticks of the event loop later.
function service(behaviour: Behaviour, clock: StepClock): never {
  const logic = {
    getInitialSnapshot: (_scope: unknown, input: unknown) => ({
      status: 'active',
      output: undefined,
      error: undefined,
      input,
    }),
    start: (
      { input }: { input: JsonObject },
      { self }: { self: { readonly id: string; send(event: object): void } },
    ) => {
      clock.beginCall(self.id);
      if (behaviour.after === undefined) return;
      const end =
        'answer' in behaviour
          ? { status: 'done', output: behaviour.answer(input) }
          : { status: 'error', error: behaviour.error };
      clock.wait(behaviour.after, 1, () => self.send({ type: 'settle', end }));
    },
    transition: (
      snapshot: object,
      event: { type: string; end?: object },
      { self }: { self: { readonly id: string } },
    ) => {
      if (event.type === 'settle' || event.type === 'xstate.stop') clock.endCall(self.id);
      if (event.type === 'settle') return { ...snapshot, ...event.end };
      return event.type === 'xstate.stop' ? { ...snapshot, status: 'stopped' } : snapshot;
    },
    getPersistedSnapshot: (snapshot: object) => snapshot,
    restoreSnapshot: (snapshot: object) => snapshot,
  };
  return logic as never;
}
