// What the engine tests share: one place that engines come and go on, services that wait, and short ways to take a turn.

import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Conversation } from '../../lib/engine/conversation.ts';
import { createEngine, type Engine, type EngineOptions } from '../../lib/engine/engine.ts';
import type { Service } from '../../lib/engine/service.ts';
import { decodeRecord, type SessionRecord } from '../../lib/engine/session/record.ts';
import { type TurnResult, takeTurn } from '../../lib/engine/session/turn.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { SnapshotStore, StoredSession } from '../../lib/store/store.ts';

export const KEY = 'session';

/** A store and a clock that outlive the engines on them. */
export interface Place {
  readonly clock: SimulatedClock;
  readonly store: SnapshotStore;
  /** A new engine, as a new process would build it. */
  engine(options?: Partial<EngineOptions>): Engine;
  /** An engine whose process stops at the first thing it waits for: no time passes for it. */
  doomed(options?: Partial<EngineOptions>): Engine;
  stored(): StoredSession;
  /** The stored record; fails when it cannot be read without a seal. */
  record(): SessionRecord;
}

export function place(conversation: Conversation, shared: Partial<EngineOptions> = {}): Place {
  const clock = new SimulatedClock();
  const store = memorySnapshots({ clock });
  const stored = () => {
    const found = store.load(KEY);
    assert.ok(found && !(found instanceof Promise), 'nothing is stored');
    return found as StoredSession;
  };
  const engine = (options: Partial<EngineOptions> = {}) =>
    createEngine({ store, clock, conversations: [conversation], ...shared, ...options });
  return {
    clock,
    store,
    engine,
    doomed: (options) =>
      engine({ clock: { now: clock.now, monotonic: clock.monotonic, wait: () => new Promise(() => {}) }, ...options }),
    stored,
    record: () => {
      const record = decodeRecord(KEY, stored().record, []);
      assert.type(record, 'object');
      return record as SessionRecord;
    },
  };
}

export interface Said {
  readonly turnKey?: string;
  readonly deadlineMs?: number;
}

/** Begins the engine's only conversation. */
export function begin(
  engine: Engine,
  { inputs, input, ...said }: Said & { inputs?: readonly Json[]; input?: JsonObject } = {},
): Promise<TurnResult> {
  const decision = {
    kind: 'begin',
    conversation: engine.library.ids[0]!,
    ...(inputs && { inputs }),
    ...(input && { input }),
  } as const;
  return takeTurn(engine, { key: KEY, ...said, decide: () => decision });
}

/** Gives an input to the session. */
export function say(engine: Engine, input: Json, said: Said = {}): Promise<TurnResult> {
  return takeTurn(engine, { key: KEY, ...said, decide: () => ({ kind: 'input', input }) });
}

/** What was replied; fails when the turn was refused. */
export async function textOf(turn: Promise<TurnResult>): Promise<string> {
  const result = await turn;
  assert.is(result.kind, 'replied', JSON.stringify(result));
  return result.kind === 'replied' ? result.reply.text : '';
}

export interface Gate {
  readonly service: Service;
  /** The idempotency keys of its calls, in order. */
  readonly keys: string[];
  /** Answers the oldest call that has no answer yet. */
  answer(output: Json): void;
  /** Never answers the oldest call: its process is gone. */
  skip(): void;
}

/** A service that answers when it is told to. */
export function gate(): Gate {
  const keys: string[] = [];
  const open: ((output: Json) => void)[] = [];
  return {
    keys,
    service: (_input, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      return new Promise((resolve) => open.push(resolve));
    },
    answer: (output) => open.shift()!(output),
    skip: () => open.shift(),
  };
}

/** Lets everything run that waits for no time to pass. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
}

/** The error that a promise rejects with; fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<TwinlineError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.instance(outcome, Error, 'a rejection was expected');
  return outcome as TwinlineError;
}

/** What `work` throws; fails when it throws nothing. */
export function thrown(work: () => unknown): TwinlineError {
  try {
    work();
  } catch (error) {
    return error as TwinlineError;
  }
  return assert.unreachable('it did not throw') as never;
}
