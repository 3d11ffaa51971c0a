// What XState does: an actor that never leaves memory, with a clock that goes from one moment to the next.

import { type AnyMachineSnapshot, type AnyStateMachine, type AnyStateNode, createActor } from 'xstate';
import { ENGINE_LIMITS } from '../../../lib/engine/limits.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';

/** Where a machine stands, and what it has told. */
export interface Standing {
  readonly status: string;
  readonly value: unknown;
  readonly context: unknown;
  readonly output?: unknown;
  /** The code of what made it fail. */
  readonly error?: unknown;
  readonly told: readonly string[];
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
    if (this.waits.length >= ENGINE_LIMITS.timersPerSession) this.isEndless = true;
    return wait;
  }

  isEndless = false;
  #calls = 0;

  countCall(): void {
    if (++this.#calls > CALLS) this.isEndless = true;
  }

  count(): void {
    if (++this.#ran <= EVENTS_PER_MOMENT) return;
    this.isEndless = true;
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
  /** What it does has no end, or is against its own rules: it is not to be compared any further. */
  readonly isEndless: boolean;
}

/** Starts the machine. */
export function inMemory(machine: AnyStateMachine, behaviours: Behaviours, input?: JsonObject): InMemory {
  const clock = new StepClock();
  const told: string[] = [];
  const actors = Object.entries(behaviours).map(([name, behaviour]) => [name, service(behaviour, clock)]);
  const whole = machine.provide({ actors: Object.fromEntries(actors) });
  whole.options.maxIterations = MICROSTEPS;
  const guarded = (work: () => void) => {
    if (clock.isEndless) return;
    try {
      work();
    } catch (error) {
      if (!(error instanceof EndlessLoop)) throw error;
    }
  };
  const actor = createActor(whole, {
    input: input as never,
    clock: {
      setTimeout: (run: () => void, ms: number) => clock.wait(ms, 0, run) as never,
      clearTimeout: (wait: unknown) => {
        clock.waits = clock.waits.filter((other) => other !== wait);
      },
    },
    inspect: (event) => {
      if (event.type === '@xstate.event' && event.actorRef === actor && event.event.type !== 'xstate.init')
        clock.count();
    },
  });
  actor.subscribe({ error: () => {} });
  actor.on('*', (event) => told.push(JSON.stringify(event)));
  guarded(() => actor.start());
  const look = (): Standing => {
    const { status, value, context, output, error, _nodes = [] } = actor.getSnapshot() as AnyMachineSnapshot;
    if (_nodes.some((node) => isTorn(node, _nodes))) clock.isEndless = true;
    if (error instanceof Error && error.message.startsWith('Infinite loop')) clock.isEndless = true;
    return {
      status,
      value,
      context,
      ...(output !== undefined && { output }),
      ...(status === 'error' && { error: (error as { code?: string }).code }),
      told,
    };
  };
  look();
  return {
    advance: (ms) => guarded(() => clock.advance(ms)),
    send: (event) => guarded(() => actor.send(event)),
    look,
    get isEndless() {
      return clock.isEndless;
    },
  };
}

// XState may leave a compound state in two states at once, when several transitions follow a history.
function isTorn(node: AnyStateNode, active: readonly AnyStateNode[]): boolean {
  return node.type === 'compound' && active.filter(({ parent }) => parent === node).length > 1;
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
    start: ({ input }: { input: JsonObject }, { self }: { self: { send(event: object): void } }) => {
      clock.countCall();
      if (behaviour.after === undefined) return;
      const end =
        'answer' in behaviour
          ? { status: 'done', output: behaviour.answer(input) }
          : { status: 'error', error: behaviour.error };
      clock.wait(behaviour.after, 1, () => self.send({ type: 'settle', end }));
    },
    transition: (snapshot: object, event: { type: string; end?: object }) => {
      if (event.type === 'settle') return { ...snapshot, ...event.end };
      return event.type === 'xstate.stop' ? { ...snapshot, status: 'stopped' } : snapshot;
    },
    getPersistedSnapshot: (snapshot: object) => snapshot,
    restoreSnapshot: (snapshot: object) => snapshot,
  };
  return logic as never;
}
