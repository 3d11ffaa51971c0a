// What Twinline does with the same machine: it is put into a store and taken out again between any two events.

import * as assert from 'uvu/assert';
import type { AnyStateMachine } from 'xstate';
import { SimulatedClock } from '../../../lib/clock.ts';
import { createEngine, type TurnReport } from '../../../lib/engine/engine.ts';
import { plainWrite } from '../../../lib/engine/lifecycle/changes.ts';
import { lifecycle } from '../../../lib/engine/lifecycle/lifecycle.ts';
import { readRecord, toStored } from '../../../lib/engine/lifecycle/record.ts';
import { machineConversation } from '../../../lib/engine/machine/machine-conversation.ts';
import { type AtRest, compileMachine, type Machine } from '../../../lib/engine/machine/transition.ts';
import type { Services } from '../../../lib/engine/service.ts';
import { decodeRecord, encodeRecord } from '../../../lib/engine/session/record.ts';
import { type Decision, takeTurn, wakeSession } from '../../../lib/engine/session/turn.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';
import { memoryDocuments, memorySnapshots } from '../../../lib/store/memory/index.ts';
import type { Kind, SnapshotStore } from '../../../lib/store/store.ts';
import { type Behaviours, type Standing, seeInside } from './in-memory.ts';

/** A machine in a store. */
export interface Durable {
  /** Lets time pass; whoever is not asleep is woken whenever it is due. */
  pass(ms: number, isAsleep: boolean): Promise<void>;
  send(event: { readonly type: string }): Promise<void>;
  /** Looks, so that what is due happens. */
  wake(): Promise<void>;
  look(): Standing;
  close(): Promise<void>;
}

const KEY = 'one';

function standing(machine: Machine, rest: AtRest, told: readonly string[]): Standing {
  const { status, state, context, output, error } = rest;
  const live = machine.resume(rest);
  const [before, after] = [JSON.stringify(rest), JSON.stringify(machine.rest(live))];
  if (after !== before)
    assert.equal(plain(after), plain(before), `stored as ${before}, restored and stored as ${after}`);
  return {
    status: status ?? 'active',
    value: state,
    context,
    ...(output !== undefined && { output }),
    ...(error && { error: error.code }),
    told,
    ...seeInside(live),
  };
}

const plain = (text: string): unknown => JSON.parse(text);

/** A machine that has failed is told as a problem, too. */
const isFailure = (error: unknown) =>
  / has failed: |a guard or action threw|did not come to rest/.test((error as Error).message);

/** Longer than any script. */
const LONG_MS = 1e9;

function makeServices(behaviours: Behaviours, clock: SimulatedClock): Services {
  const rows = Object.entries(behaviours).map(([name, behaviour]) => [
    name,
    async (input: JsonObject): Promise<Json> => {
      if (behaviour.after === undefined) return new Promise(() => {});
      await clock.wait(behaviour.after);
      if ('answer' in behaviour) return behaviour.answer(input);
      throw new TwinlineError(behaviour.error.code as 'ERR_INPUT', behaviour.error.message);
    },
  ]);
  return Object.fromEntries(rows);
}

const everyCall = <T extends object>(policy: T) => new Proxy({}, { get: () => policy }) as { readonly [id: string]: T };

/** Lets everything run that waits for no time to pass; `isBusy`: something is with the store. */
async function drain(isBusy: () => boolean): Promise<void> {
  do await new Promise(setImmediate);
  while (isBusy());
}

/** Begins a session of the machine. */
export async function inSession(
  source: AnyStateMachine,
  behaviours: Behaviours,
  input: JsonObject = {},
  open: (clock: SimulatedClock) => SnapshotStore = (clock) => memorySnapshots({ clock }),
): Promise<Durable> {
  const clock = new SimulatedClock();
  const told: string[] = [];
  let report: TurnReport | undefined;
  let inFlight = 0;
  const store = counted(open(clock), (by) => {
    inFlight += by;
  });
  const machine = compileMachine(source);
  const calls = everyCall({ timeoutMs: LONG_MS });
  let failure: unknown;
  const engine = createEngine({
    store,
    clock,
    services: makeServices(behaviours, clock),
    conversations: [machineConversation(machine, { calls, shown: 'all' })],
    ttlSeconds: LONG_MS,
    onTurn: (turn) => {
      report = turn;
    },
    onFact: ({ params }) => told.push(JSON.stringify(params)),
    onProblem: ({ reason, error }) => {
      if (reason === 'background' && !isFailure(error)) failure = error;
    },
  });
  const settle = () => drain(() => inFlight > 0);
  const take = async (decision: Decision) => {
    // Without time of its own a turn does not wait for calls.
    await takeTurn(engine, { key: KEY, deadlineMs: 500, decide: () => decision });
    await settle();
    await checkIdentity(store);
  };
  const stored = async () => store.load(KEY);
  await take({ kind: 'begin', conversation: machine.id, input });
  return {
    pass: async (ms, isAsleep) => {
      const end = clock.now() + ms;
      for (;;) {
        const session = isAsleep ? undefined : await stored();
        const next = Math.min(end, clock.now() + (clock.pending()[0] ?? Infinity), session?.dueAt ?? Infinity);
        await clock.advance(Math.max(0, next - clock.now()));
        await settle();
        const due = isAsleep ? undefined : await stored();
        const isDue = due && due.dueAt !== null && due.dueAt <= clock.now();
        if (isDue) await wakeSession(engine, KEY);
        await settle();
        if (clock.now() >= end && !isDue) break;
      }
      if (failure) throw failure;
    },
    send: async (event) => take({ kind: 'input', input: event as unknown as Json }),
    wake: async () => {
      await wakeSession(engine, KEY);
      await settle();
    },
    close: async () => store.close(),
    look: () => {
      const { rest, ended } = report!;
      if (ended !== (rest.status !== undefined)) throw new Error(`ended: ${ended}, status: ${rest.status}`);
      return standing(machine, rest, told);
    },
  };
}

/** What is stored, read and stored again is the same. */
async function checkIdentity(store: SnapshotStore): Promise<void> {
  const session = await store.load(KEY);
  if (!session) return;
  const record = decodeRecord(KEY, session.record, []);
  if (typeof record === 'string') throw new Error(`the record is ${record}: ${session.record}`);
  if (encodeRecord(KEY, record, undefined) !== session.record) throw new Error(`another record: ${session.record}`);
}

/** The store, and how many of its answers are awaited. */
function counted(store: SnapshotStore, count: (by: number) => void): SnapshotStore {
  const during = <T>(work: T | Promise<T>): T | Promise<T> => {
    if (!(work instanceof Promise)) return work;
    count(1);
    return work.finally(() => count(-1));
  };
  return {
    ...store,
    load: (key) => during(store.load(key)),
    commit: (...args) => during(store.commit(...args)) as never,
  };
}

const KIND: Kind = { name: 'thing', indexes: { due: { fields: ['dueAt'] } } };

/** Begins a lifecycle of the machine. */
export async function inDocument(
  source: AnyStateMachine,
  behaviours: Behaviours,
  input: JsonObject = {},
): Promise<Durable> {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare([KIND]);
  const told: string[] = [];
  const machine: Machine = compileMachine(source);
  let failure: unknown;
  const things = lifecycle({
    documents,
    kind: KIND,
    machine,
    clock,
    services: makeServices(behaviours, clock),
    calls: everyCall({ timeoutMs: LONG_MS, tries: 1 }),
    write: async (write) => {
      const result = await plainWrite(write);
      if (result.kind === 'written') for (const { data } of write.entry.facts) told.push(JSON.stringify(data));
      return result;
    },
    onProblem: ({ error }) => {
      if (!isFailure(error)) failure = error;
    },
  });
  const settle = () => drain(() => false);
  let last = await documents.get(KIND, KEY);
  const refresh = async () => {
    await settle();
    last = await documents.get(KIND, KEY);
    if (failure) throw failure;
    const stored = last!.body.machine;
    const expected = { machine, version: 1 };
    assert.equal(toStored(expected, readRecord(last!, expected)), stored, 'what is stored, read and stored again');
  };
  const begin = things.begin(KEY, { input });
  begin.catch((error) => {
    failure = error;
  });
  await refresh();
  return {
    pass: async (ms, isAsleep) => {
      const end = clock.now() + ms;
      for (;;) {
        const due = isAsleep ? null : (last!.body.dueAt as number | null);
        const next = Math.min(end, clock.now() + (clock.pending()[0] ?? Infinity), due ?? Infinity);
        await clock.advance(Math.max(0, next - clock.now()));
        await refresh();
        const isDue = !isAsleep && last!.body.dueAt !== null && (last!.body.dueAt as number) <= clock.now();
        if (isDue) void things.sweep();
        await refresh();
        if (clock.now() >= end && !isDue) break;
      }
    },
    send: async (event) => {
      things.take(KEY, { decide: () => event }).catch((error: TwinlineError) => {
        // XState ignores an event that it does not take.
        if (!/ does not take /.test(error.message)) failure = error;
      });
      await refresh();
    },
    wake: async () => {
      void things.sweep();
      await refresh();
    },
    close: async () => documents.close(),
    look: () => standing(machine, readRecord(last!, { machine, version: 1 }).rest, told),
  };
}
