// The working copy of a session during one turn: what its machine is given, and what is to be done and stored after it.

import { createHash } from 'node:crypto';
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { listRequestSecrets } from '../../redact.ts';
import { openText, type Seal, sealText } from '../../sealing.ts';
import { longestMs } from '../calls.ts';
import { type Conversation, noteAnswer, startTrace, type Trace, type View } from '../conversation.ts';
import { currentConversation, type Engine, type Fact } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import {
  answerEvent,
  begin,
  cancelTimer,
  countHop,
  type MachineState,
  type NewCall,
  type ServiceAnswer,
  type StepResult,
  step,
  type Timer,
} from '../machine/step.ts';
import { NO_EVENT } from '../machine/transition.ts';
import type { ServiceSession } from '../service.ts';
import type { Live } from './open.ts';
import type { SessionCall, SessionRecord } from './record.ts';

/** A call in the working copy of a session. */
export interface WorkingCall {
  /** The invoke's id in the machine. */
  readonly id: string;
  readonly call: SessionCall;
  /** Kept here even when it may not be stored; absent when the call was found in the record without it. */
  readonly input?: JsonObject;
  /** Once this process works on it, or knows how it ended. */
  readonly answer?: Promise<ServiceAnswer>;
  /** The record says that it has begun, under this lease. */
  readonly stored: boolean;
}

export interface Work extends MachineState<WorkingCall> {
  readonly key: string;
  readonly conversation: Conversation;
  readonly turn: number;
  readonly startedAt: number;
  live: AnyMachineSnapshot;
  door: JsonObject;
  timers: readonly Timer[];
  calls: readonly WorkingCall[];
  waiting: boolean;
  /** Why the last input was refused, for its caller; undefined when it was taken. */
  refusal: string | undefined;
  /** As in the record that the turn began with. */
  readonly busy: string | undefined;
  readonly isOvertaken: boolean;
  /** Timers, answers and events of its own that the machine passed through since it last rested. */
  hops: number;
  /** Calls whose answers were given to the machine in this turn, by their keys. */
  readonly answered: string[];
  /** Calls that were started in this turn. */
  readonly started: WorkingCall[];
  readonly facts: Fact[];
  /** Types of the events that the machine was given in this turn. */
  readonly events: string[];
  /** Undefined unless an inspector was active when the turn began. */
  readonly trace: Trace | undefined;
}

/** Begins a conversation at its initial state. `after` is the record of an earlier dial with the same key. */
export function beginWork(
  engine: Engine,
  key: string,
  first: { conversation: string; input?: JsonObject; after?: SessionRecord },
): Work {
  const conversation = currentConversation(engine, first.conversation);
  const at = engine.clock.now();
  const result = begin(conversation.machine, first.input ?? {}, { at });
  const work: Work = {
    key,
    conversation,
    turn: (first.after?.turn ?? 0) + 1,
    startedAt: at,
    live: result.live,
    door: {},
    timers: [],
    calls: [],
    waiting: false,
    refusal: undefined,
    busy: undefined,
    isOvertaken: false,
    hops: 0,
    answered: [],
    started: [],
    facts: [],
    events: [],
    trace: startTrace(engine.inspector),
  };
  applyResult(engine, work, result);
  return work;
}

/** Continues a session from its record. */
export function resumeWork(engine: Engine, key: string, { conversation, record, isMigrated, live }: Live): Work {
  const work: Work = {
    key,
    conversation,
    turn: record.turn + 1,
    startedAt: record.startedAt,
    live,
    door: record.door,
    timers: record.timers,
    calls: record.calls.map((call) => ({
      id: call.id,
      call,
      stored: true,
      ...readInput(engine, call),
    })),
    // The outcome of a turn that was begun and never answered was not shown to the caller either.
    waiting: record.waiting === true || record.calls.length > 0,
    refusal: undefined,
    busy: record.busy,
    isOvertaken: record.isOvertaken === true,
    hops: record.steps ?? 0,
    answered: [],
    started: [],
    facts: [],
    events: [],
    trace: startTrace(engine.inspector),
  };
  if (isMigrated) enterMigrated(engine, work);
  return work;
}

// The state of a migrated record was never entered in this version: its calls are made now, and its eventless
// transitions taken. A pending call of the same name goes on; a new one that needs a secret fails, for the secret is gone.
function enterMigrated(engine: Engine, work: Work): void {
  const { machine } = work.conversation;
  const pending = new Set(work.calls.map(({ id }) => id));
  const missing = machine.listCalls(work.live).filter(({ id }) => !pending.has(id));
  const made = missing.map((call) => workingCall(engine, work, { ...call, hops: work.hops }));
  const failing = ({ id, call }: WorkingCall): WorkingCall => ({ id, call: { ...call, until: 0 }, stored: true });
  work.calls = [...work.calls, ...made.map((call) => (call.call.input || call.call.sealed ? call : failing(call)))];
  feed(engine, work, NO_EVENT);
  work.waiting ||= work.calls.length > 0;
}

export function makeView(work: Work): View {
  const { state, context, history } = work.conversation.machine.rest(work.live);
  return { state, context, history, waiting: work.waiting };
}

/** Gives the machine one event, and every event that it then sends to itself. */
export function feed(engine: Engine, work: Work, event: EventObject): void {
  const options = { at: engine.clock.now(), hops: work.hops };
  applyResult(engine, work, step(work.conversation.machine, work, event, options));
}

function applyResult(engine: Engine, work: Work, result: StepResult<WorkingCall>): void {
  const { live, timers, calls, newCalls, hops } = result;
  work.live = live;
  work.timers = timers;
  work.calls = newCalls.length ? [...calls, ...newCalls.map((call) => workingCall(engine, work, call))] : calls;
  work.hops = hops;
  for (const fact of result.facts) work.facts.push({ key: work.key, conversation: work.conversation.id, ...fact });
  const { shown } = work.conversation;
  for (const transition of result.transitions) {
    const event = shown?.event?.(transition.event) ?? transition.event;
    if (transition.from !== null) work.events.push(event);
    work.trace?.transitions.push({ ...transition, event });
  }
}

/** Fires what is due, earliest first. A timer may set further ones. */
export function fireDue(engine: Engine, work: Work): void {
  for (let timer = work.timers[0]; timer && timer.at <= engine.clock.now(); timer = work.timers[0]) {
    work.hops = countHop(work.conversation.machine, work.hops);
    work.timers = cancelTimer(work.timers, timer.id);
    feed(engine, work, timer.event);
  }
}

/** Gives the machine the answer of one of its calls; one that it does not wait for any more changes nothing. */
export function giveAnswer(engine: Engine, work: Work, { call }: WorkingCall, answer: ServiceAnswer): void {
  if (!work.calls.some((other) => other.call.key === call.key)) return;
  work.hops = countHop(work.conversation.machine, work.hops);
  work.calls = work.calls.filter((other) => other.call.key !== call.key);
  work.answered.push(call.key);
  if (work.trace) noteAnswer(work.trace, answer, { conversation: work.conversation, ...call });
  try {
    feed(engine, work, answerEvent(call.id, answer));
  } catch (error) {
    // A guard or action that throws on an answer cannot use it: for the machine the call has failed.
    const { code, message } = error as TwinlineError;
    if (!answer.ok || !UNUSABLE.has(code)) throw error;
    feed(engine, work, answerEvent(call.id, { ok: false, error: { code, message } }));
  }
}

const UNUSABLE: ReadonlySet<string> = new Set(['ERR_MACHINE', 'ERR_EXPRESSION']);

function workingCall(engine: Engine, work: Work, { id, service, input, hops }: NewCall): WorkingCall {
  const { secret } = work.conversation.callPolicy(id);
  const until = leaseUntil(engine, work, id);
  const key = callKey(work, id, hops);
  const call: SessionCall = { id, service, key, until, ...(!secret && storeInput(engine, key, input)) };
  return { id, call, input, stored: false };
}

const callSeal = (key: string): Seal => ({ purpose: 'call-input/v1', label: [key] });

// Credentials are the same in every session, so a call that holds some can be made again after a crash: its input is sealed.
function storeInput({ keyring }: Engine, key: string, input: JsonObject): Pick<SessionCall, 'input' | 'sealed'> {
  if (listRequestSecrets(input).length === 0) return { input };
  return keyring ? { sealed: sealText(keyring, callSeal(key), JSON.stringify(input)) } : {};
}

function readInput({ keyring }: Engine, { key, input, sealed }: SessionCall): Pick<WorkingCall, 'input'> {
  if (sealed === undefined) return input ? { input } : {};
  const opened = keyring && openText(keyring, callSeal(key), sealed);
  return opened === undefined ? {} : { input: JSON.parse(opened) as JsonObject };
}

/** When the lease of a call ends that is made from now on: after all its tries. */
export function leaseUntil(engine: Engine, work: Work, id: string): number {
  return engine.clock.now() + longestMs(work.conversation.callPolicy(id)) + ENGINE_LIMITS.turnReserveMs;
}

// The same turn computed again gives the same key; another turn, dial or pass through the state gives another.
function callKey(work: Work, id: string, hops: number): string {
  const parts: Json = [work.key, work.startedAt, work.turn, hops, id];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/** The caller, as services get it. */
export function serviceSession(work: Work): ServiceSession {
  const { sessionId, phoneNumber, serviceCode, sim, simulated } = work.door;
  return {
    id: typeof sessionId === 'string' ? sessionId : work.key,
    ...(typeof phoneNumber === 'string' && { phoneNumber }),
    ...(typeof serviceCode === 'string' && { serviceCode }),
    ...(typeof sim === 'string' && { sim }),
    ...(simulated === true && { simulated }),
  };
}
