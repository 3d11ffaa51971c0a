// A machine that lives in a document: begun, moved and read there, for as long as the document is kept.
//
// Every event is one compare-and-set of the whole document, in which state, timers, pending calls and facts change
// together. A call is stored before it is made, so that a crash leaves behind what has to be made again; its service
// must act at most once per idempotency key. Due timers are fired by the next reader or sweep, one write each.

import type { EventObject, StateValue } from 'xstate';
import { type Clock, systemClock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { checkPayload } from '../../json/lossless.ts';
import type { Keyring } from '../../keyring.ts';
import { keyedMutex } from '../../queue.ts';
import type { DocumentStore, Kind, StoredDocument } from '../../store/store.ts';
import { takenError } from '../../store/update.ts';
import type { Inspector } from '../conversation.ts';
import { type Completion, checkAnswer, openToken, sealToken } from '../later.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { checkEvent } from '../machine/events.ts';
import type { CallError } from '../machine/failure.ts';
import type { ServiceAnswer } from '../machine/step.ts';
import type { AtRest, Machine } from '../machine/transition.ts';
import type { Services } from '../service.ts';
import { type LifecycleCalls, type LifecyclePolicies, lifecycleCalls } from './calls.ts';
import { type LifecycleDocument, plainWrite, type Settled, type StoredStep, type WriteStep } from './changes.ts';
import type { Expected, LifecycleCall } from './record.ts';
import { LifecycleRunner } from './run.ts';

/** A machine and its document at one revision. */
export interface Instance<Context = JsonObject, Body = JsonObject> {
  readonly id: string;
  readonly revision: number;
  readonly body: Body;
  readonly state: StateValue;
  readonly context: Context;
  /** Milliseconds since 1970 of the last event. */
  readonly at: number;
  /** Ids of the calls that have not been answered yet. */
  readonly calling: readonly string[];
  /** `done` in a final state, `error` when the machine has failed: a guard, action or call did, and nothing took that. */
  readonly status: 'active' | 'done' | 'error';
  /** What the machine's `output` gave, where `status` is `done` and it has one. */
  readonly output?: Json;
  /** Why it has failed, where `status` is `error`. */
  readonly error?: CallError;
}

/** What a machine in a document is begun with. */
export interface Beginning {
  /** For the machine; `at`, the time in milliseconds since 1970, is added. */
  readonly input: JsonObject;
  /** Fields of the document beside those that the lifecycle keeps. */
  readonly body?: JsonObject;
  /** Who asks, as the write may note. @default 'system' */
  readonly by?: string;
  /** @default 'begin' */
  readonly action?: string;
}

/** An event for a machine in a document, decided when it is known where the machine stands. */
export interface Command<Context = JsonObject, Body = JsonObject> {
  /**
   * The event, to which `at` is added, or why there is none. Pure: it is asked for exactly the revision that is
   * replaced, and again after a conflict. Due timers have fired before.
   */
  readonly decide: (instance: Instance<Context, Body>, at: number) => EventObject | TwinlineError;
  /** Tells a repeated command: it changes nothing. Forgotten after ENGINE_LIMITS.commandsKept further ones. */
  readonly key?: string;
  /** Who asks, as the write may note. @default 'system' */
  readonly by?: string;
  /** @default the event's type */
  readonly action?: string;
}

/** Where the machine stands after a command. */
export interface TakeResult<Context = JsonObject, Body = JsonObject> {
  readonly instance: Instance<Context, Body>;
  /** The command, or the beginning, had been taken before. */
  readonly repeated: boolean;
}

/** Options of `lifecycle`. */
export interface LifecycleOptions {
  readonly documents: DocumentStore;
  /** Has an index `due` on the field `dueAt`. */
  readonly kind: Kind;
  readonly machine: Machine;
  /** Of the machine. @default 1 */
  readonly version?: number;
  /** A rest of another version in terms of this one, or undefined when it has no place here. */
  readonly migrate?: Expected['migrate'];
  /** @default the system's clock */
  readonly clock?: Clock;
  /** What the machine's calls name; each acts at most once per idempotency key. */
  readonly services?: Services;
  readonly calls?: LifecyclePolicies;
  /** Seals the tokens of calls whose answers come later. @default none: services cannot answer later */
  readonly keyring?: Keyring;
  /**
   * Fields of the document that follow from where the machine is, for indexes; null for one that is no more. `calling`
   * holds the ids of the calls that have not been answered yet.
   */
  readonly fields?: (rest: AtRest, calling: readonly string[]) => JsonObject;
  /** Writes one step. @default a plain insert or replace, which drops the facts */
  readonly write?: WriteStep;
  /** Receives an inspection event for each stored event. */
  readonly inspector?: Inspector | undefined;
  /** Called after the write of each event, by the process that has stored it. It must return at once. */
  readonly onStep?: ((step: StoredStep) => void) | undefined;
  /** Called with errors of background work, and once for a machine that fails: with `call` when it was taking its outcome. */
  readonly onProblem?: (problem: { readonly id: string; readonly error: unknown; readonly call?: string }) => void;
}

/**
 * Every function throws ERR_STORE when the store is away, ERR_RECORD for a document that holds no such machine,
 * ERR_CONFLICT when other writers were first COMMON_LIMITS.conflictsPerTurn times, ERR_EXISTS when another document has a
 * unique value of this one, ERR_BUSY when too many wait.
 */
export interface Lifecycle<Context = JsonObject, Body = JsonObject> {
  /** Inserts the document; one with this id that exists already is given back. Waits for the first try of its calls. */
  begin(id: string, beginning: Beginning): Promise<TakeResult<Context, Body>>;
  /**
   * Moves the machine and waits for the first try of the calls that follow. Throws what `decide` refuses with,
   * ERR_NOT_FOUND, or ERR_MACHINE when the machine does not take the event; then nothing but deadlines is stored.
   */
  take(id: string, command: Command<Context, Body>): Promise<TakeResult<Context, Body>>;
  /** The machine now: due timers fire and due calls are made first. Undefined when there is no such document. */
  read(id: string): Promise<Instance<Context, Body> | undefined>;
  /** As {@link read}, for a document that was just found. */
  refresh(document: StoredDocument): Promise<Instance<Context, Body>>;
  /** Answers a call whose service said that its answer comes later, as the function `completeCall` does for sessions. */
  completeCall(token: string, answer: ServiceAnswer): Promise<Completion>;
  /** Reads what is due, up to `limit`; how many. What cannot be read is put off. @default COMMON_LIMITS.sweepBatch */
  sweep(limit?: number): Promise<number>;
}

/**
 * Runs the machines of one kind of document.
 * @example
 * const ORDER = { name: 'order', indexes: { due: { fields: ['dueAt'] } } };
 * const states = { placed: { on: { PAY: 'paid' } }, paid: { type: 'final' as const } };
 * const machine = compileMachine(createMachine({ id: 'order', initial: 'placed', states }));
 * const documents = memoryDocuments();
 * await documents.declare([ORDER]);
 * const orders = lifecycle({ documents, kind: ORDER, machine });
 * await orders.begin('order-1', { input: {} });
 * await orders.take('order-1', { key: 'request-1', decide: () => ({ type: 'PAY' }) });
 * (await orders.read('order-1'))?.state; // → 'paid'
 */
export function lifecycle<Context = JsonObject, Body = JsonObject>(
  options: LifecycleOptions,
): Lifecycle<Context, Body> {
  requireGiven('make a lifecycle', options, {
    documents: 'documents',
    kind: 'object',
    machine: 'machine',
    clock: 'clock?',
  });
  return new DocumentLifecycle<Context, Body>(options);
}

class DocumentLifecycle<Context, Body> implements Lifecycle<Context, Body> {
  readonly #options: LifecycleOptions;
  readonly #clock: Clock;
  readonly #calls: LifecycleCalls;
  readonly #runner: LifecycleRunner;
  /** Of the tokens of calls. */
  readonly #scope: string;
  readonly #mutex = keyedMutex(ENGINE_LIMITS.lifecycleQueue, 'requests for one thing');

  constructor(options: LifecycleOptions) {
    const { documents, kind, clock = systemClock, write = plainWrite, machine, version = 1, migrate, fields } = options;
    const { keyring, inspector, onStep, onProblem } = options;
    const scope = `document/${kind.name}`;
    const makeToken = keyring && ((id: string, key: string) => sealToken(keyring, scope, [id, key]));
    const services = { ...machine.services, ...options.services };
    const calls = lifecycleCalls(services, { clock, policies: options.calls ?? {}, makeToken });
    const expected: Expected = { machine, version, ...(migrate && { migrate }) };
    const watching = { inspector, onStep, onProblem };
    this.#options = options;
    this.#clock = clock;
    this.#calls = calls;
    this.#scope = scope;
    this.#runner = new LifecycleRunner({ documents, kind, expected, clock, calls, write, fields, ...watching });
  }

  async begin(
    id: string,
    { input, body = {}, by = 'system', action = 'begin' }: Beginning,
  ): Promise<TakeResult<Context, Body>> {
    const { documents, kind, machine } = this.#options;
    checkPayload(`The input of machine "${machine.id}"`, input, { keepsUndefined: true });
    checkPayload(`The body of ${kind.name} ${JSON.stringify(id)}`, body);
    const result = await this.#runner.insert(id, body, { input, by, action });
    if (!('kind' in result)) return { instance: await this.#finish(result), repeated: false };
    const document = await documents.get(kind, id);
    if (!document) throw takenError(kind.name, id, result.index);
    return { instance: await this.refresh(document), repeated: true };
  }

  async take(
    id: string,
    { decide, key, by = 'system', action }: Command<Context, Body>,
  ): Promise<TakeResult<Context, Body>> {
    const { machine } = this.#options;
    let refusal: TwinlineError | undefined;
    let repeated = false;
    const next = await this.#mutex.run(id, () =>
      this.#runner.take(id, (current, at) => {
        repeated = key !== undefined && current.record.commands.includes(key);
        const event = repeated ? undefined : decide(makeInstance(current), at);
        refusal = event instanceof TwinlineError ? event : undefined;
        if (!event || event instanceof TwinlineError) return undefined;
        checkEvent(machine.id, event);
        return { event, ...(key !== undefined && { key }), noted: { by, action: action ?? event.type } };
      }),
    );
    const instance = await this.#finish(next);
    if (refusal) throw refusal;
    return { instance, repeated };
  }

  async read(id: string): Promise<Instance<Context, Body> | undefined> {
    const document = await this.#options.documents.get(this.#options.kind, id);
    return document && this.refresh(document);
  }

  async refresh(document: StoredDocument): Promise<Instance<Context, Body>> {
    const current = this.#runner.open(document);
    if (!this.#runner.isDue(current)) return makeInstance(current);
    return this.#finish(await this.#mutex.run(document.id, () => this.#runner.settle(document.id)));
  }

  async completeCall(token: string, answer: ServiceAnswer): Promise<Completion> {
    const [id, key] = openToken(this.#options.keyring, this.#scope, token);
    const plain = checkAnswer(answer);
    const { next, fate } = await this.#mutex.run(id, () => this.#runner.complete(id, key, plain));
    await this.#finish(next);
    return fate;
  }

  async sweep(limit: number = COMMON_LIMITS.sweepBatch): Promise<number> {
    const { documents, kind } = this.#options;
    const where = { dueAt: { lte: this.#clock.now() } };
    const { items } = await documents.find(kind, { index: 'due', where, limit });
    await Promise.all(items.map((document) => this.#sweepOne(document)));
    return items.length;
  }

  async #sweepOne(document: StoredDocument): Promise<void> {
    try {
      await this.refresh(document);
    } catch (error) {
      this.#options.onProblem?.({ id: document.id, error });
      if (!(error instanceof TwinlineError && error.retry)) await this.#runner.putOff(document);
    }
  }

  /** Makes the calls that this process has to make, side by side, and those that follow from their answers. */
  async #finish(first: Settled): Promise<Instance<Context, Body>> {
    const { id } = first.document;
    let last: LifecycleDocument = first;
    const makeAll = (mine: readonly LifecycleCall[]) => Promise.all(mine.map(makeOne));
    const makeOne = async (call: LifecycleCall): Promise<void> => {
      try {
        const answer = await this.#calls.make(id, call);
        const next: Settled = await this.#mutex.run(id, () => this.#runner.answer(id, call, answer));
        if (next.document.revision > last.document.revision) last = next;
        await makeAll(next.mine);
      } catch (error) {
        // What led to the call is stored; the call is made again when it is due.
        this.#options.onProblem?.({ id, error });
      }
    };
    await makeAll(first.mine);
    return makeInstance(last);
  }
}

function makeInstance<Context, Body>({ document, record }: LifecycleDocument): Instance<Context, Body> {
  const { status = 'active', output, error } = record.rest;
  return {
    id: document.id,
    revision: document.revision,
    body: document.body as Body,
    state: record.rest.state,
    context: record.rest.context as Context,
    at: record.at,
    calling: record.calls.map(({ id }) => id),
    status,
    ...(output !== undefined && { output }),
    ...(error && { error }),
  };
}
