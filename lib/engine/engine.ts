// The engine: what it is made of.

import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import type { Json } from '../json/json.ts';
import { type Keyring, shortMac } from '../keyring.ts';
import { type KeyedMutex, keyedMutex } from '../queue.ts';
import type { SnapshotStore } from '../store/store.ts';
import { type Calls, callRunner } from './calls.ts';
import { type Conversation, type Inspector, type Library, library } from './conversation.ts';
import type { AtRest } from './machine/transition.ts';
import type { CallerMemory } from './memory/memory.ts';
import type { Services } from './service.ts';
import type { RecordProblem, SealKey } from './session/record.ts';

/** Something a machine reported (an action that is not XState's own); published after the turn is committed. */
export interface Fact {
  readonly key: string;
  readonly conversation: string;
  readonly name: string;
  readonly params: Json;
}

/** A committed turn, for observers. Holds no input and no secret. */
export interface TurnReport {
  readonly key: string;
  readonly conversation: string;
  readonly version: number;
  readonly turn: number;
  readonly revision: number;
  readonly events: readonly string[];
  readonly rest: AtRest;
  readonly ended: boolean;
}

/** Options of `createEngine`. */
export interface EngineOptions<C extends Conversation = Conversation> {
  readonly store: SnapshotStore;
  readonly conversations?: readonly C[];
  readonly services?: Services;
  /** @default the system clock */
  readonly clock?: Clock;
  /**
   * Seals records and private values, and proves secrets. Without it, sessions can be tampered with, private values are
   * stored as they are, and secrets are compared only in this process.
   */
  readonly keyring?: Keyring;
  /** Where conversations keep values of callers between sessions. @default they begin anew each time */
  readonly memory?: CallerMemory | undefined;
  /** Seconds of silence before a session is forgotten, ≥ 1. @default 180 */
  readonly ttlSeconds?: number;
  /** The address that answers the call of this token, see `completeCall`. @default calls that wait for a callback fail */
  readonly callbackUrl?: ((token: string) => string | undefined) | undefined;
  readonly onFact?: (fact: Fact) => void;
  readonly onTurn?: (report: TurnReport) => void;
  /** Receives an inspection event for each stored turn. */
  readonly inspector?: Inspector | undefined;
  /**
   * What no caller is told: errors in background work, records that cannot be read, every failed try of a service, and machines that
   * fail, each once.
   */
  readonly onProblem?: (problem: EngineProblem) => void;
}

/** What went wrong with a session. */
export interface EngineProblem {
  readonly key: string;
  /**
   * `service`: a try of a call failed, with `error`; the session goes on as its flow or machine says. `machine`: a guard, action or
   * output threw `error` on an answer or a timer, or nothing takes the failure of a call; the machine has failed, or its flow
   * goes on with `fail`. `task`: what was to be done after the reply is given up, after `error`. `memory`: what is kept of the caller
   * does not fit the variables named in `variables` any more.
   */
  readonly reason: RecordProblem | 'background' | 'service' | 'machine' | 'task' | 'memory';
  readonly error?: unknown;
  /** The id of the call whose outcome the machine was taking, or of the task. */
  readonly call?: string;
  /** The name of the service that failed. */
  readonly service?: string;
  /** Variables that begin with their defaults instead of what was kept. */
  readonly variables?: readonly string[];
  /** Of the request that met it. */
  readonly requestId?: string | undefined;
}

/** What takes turns: a store, its conversations and services. Made by `createEngine`. */
export interface Engine<C extends Conversation = Conversation> {
  readonly store: SnapshotStore;
  readonly library: Library<C>;
  readonly clock: Clock;
  readonly calls: Calls;
  readonly memory: CallerMemory | undefined;
  readonly ttlMs: number;
  readonly callbackUrl: EngineOptions['callbackUrl'];
  /** Seals what records may not hold as it is. */
  readonly keyring: Keyring | undefined;
  /** Keys that seal records: the first seals, all open. Empty without a keyring. */
  readonly seals: readonly SealKey[];
  readonly onFact: EngineOptions['onFact'];
  readonly onTurn: EngineOptions['onTurn'];
  /** Who is told of stored turns; `inspectEngine` puts itself beside it. */
  inspector: Inspector | undefined;
  readonly onProblem: EngineOptions['onProblem'];
  /** A keyed hash of a secret, bound to the session. */
  prove(key: string, secret: string): string;
  /** Runs the turns of one session one after the other; those of others at the same time. */
  inOrder<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** For a turn that runs: others of its session run until `wait` has settled, or one of them has stored something: `changed`. */
  pause<T>(key: string, wait: Promise<T>): Promise<T | 'changed'>;
  /** Wakes the turns of a session that pause: what they have loaded is not what is stored any more. */
  noteChange(key: string): void;
  /** Resolves when no turn and no call is running any more. */
  idle(): Promise<void>;
}

/**
 * Builds an engine around a store. Nothing runs until a turn is taken.
 * @example
 * const states = { red: { on: { GO: 'green' } }, green: {} };
 * const light = machineConversation(compileMachine(createMachine({ id: 'light', initial: 'red', states })));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [light] });
 * const { reply } = await takeTurn(engine, { key: 'crossing', decide: () => ({ kind: 'begin', conversation: 'light' }) });
 * reply?.text; // → '"red"'
 */
export function createEngine<C extends Conversation>(options: EngineOptions<C>): Engine<C> {
  requireGiven('make an engine', options, {
    store: 'sessions',
    conversations: 'conversations?',
    services: 'object?',
    clock: 'clock?',
    keyring: 'keyring?',
  });
  const clock = options.clock ?? systemClock;
  const proofKey = options.keyring?.subkey('secret-proof/v1') ?? randomBytes(32);
  const mutex = keyedMutex(WAITING_MAX, 'requests of one session');
  const calls = callRunner(options.services ?? {}, clock);
  return {
    store: options.store,
    library: library(options.conversations),
    clock,
    calls,
    memory: options.memory,
    ttlMs: (options.ttlSeconds ?? 180) * 1000,
    callbackUrl: options.callbackUrl,
    keyring: options.keyring,
    seals: options.keyring?.ids.map((kid) => ({ kid, key: options.keyring!.subkey('record-seal/v1', kid)! })) ?? [],
    onFact: options.onFact,
    onTurn: options.onTurn,
    inspector: options.inspector,
    onProblem: options.onProblem,
    prove: (key, secret) => shortMac(proofKey, [key, secret]),
    inOrder: mutex.run,
    ...pauses(mutex),
    idle: async () => {
      while (mutex.size() || calls.size) await clock.wait(5);
    },
  };
}

const WAITING_MAX = 64;

function pauses(mutex: KeyedMutex): Pick<Engine, 'pause' | 'noteChange'> {
  const paused = new Map<string, Set<() => void>>();
  return {
    async pause(key, wait) {
      const wakers = paused.get(key) ?? new Set();
      paused.set(key, wakers);
      let wake!: () => void;
      const changed = new Promise<'changed'>((resolve) => {
        wake = () => resolve('changed');
      });
      wakers.add(wake);
      try {
        return await mutex.pause(key, Promise.race([wait, changed]));
      } finally {
        wakers.delete(wake);
        if (!wakers.size) paused.delete(key);
      }
    },
    noteChange: (key) => {
      for (const wake of paused.get(key) ?? []) wake();
    },
  };
}

/** The conversation with this id, or ERR_FLOW_UNKNOWN with the names that there are. */
export function currentConversation(engine: Engine, id: string): Conversation {
  const conversation = engine.library.current(id);
  if (conversation) return conversation;
  const names = engine.library.ids.join(', ') || 'none';
  throw new TwinlineError('ERR_FLOW_UNKNOWN', `No flow "${id}" is loaded. Loaded: ${names}.`);
}
