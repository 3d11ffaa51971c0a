// The working copy of a session during one turn: events go in, effects are taken up, until the machine rests.

import { createHash } from 'node:crypto';
import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import type { Conversation, View } from '../conversation.ts';
import { currentConversation, type Engine, type Fact } from '../engine.ts';
import { noteAnswer, startTrace, type Trace } from '../inspection.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { cancelTimer, freeTimerId, setTimer, type Timer } from '../machine/timers.ts';
import { type CallEffect, type Effect, NO_EVENT, type Step } from '../machine/transition.ts';
import type { ServiceSession } from '../service.ts';
import { type Answer, longest } from './calls.ts';
import type { Live } from './open.ts';
import type { PendingCall, SessionRecord } from './record.ts';

/** A call in the working copy of a session. */
export interface WorkingCall {
  readonly call: PendingCall;
  /** Kept here even when it may not be stored; absent when the call was found in the record without it. */
  readonly input?: JsonObject;
  /** Once this process works on it, or knows how it ended. */
  readonly answer?: Promise<Answer>;
  /** The record says that it has begun, under this lease. */
  readonly stored: boolean;
}

export interface Work {
  readonly key: string;
  readonly conversation: Conversation;
  readonly turn: number;
  readonly startedAt: number;
  live: AnyMachineSnapshot;
  door: JsonObject;
  timers: readonly Timer[];
  calls: WorkingCall[];
  waiting: boolean;
  /** As in the record that the turn began with. */
  readonly busy: string | undefined;
  readonly isOvertaken: boolean;
  /** Timers and answers passed through since the machine last rested. */
  steps: number;
  /** Calls whose answers were taken up in this turn, by their keys. */
  readonly answered: string[];
  /** Calls that were started in this turn. */
  readonly started: WorkingCall[];
  /** Self-sent events that are still to be taken. */
  readonly queue: EventObject[];
  readonly facts: Fact[];
  readonly events: string[];
  /** Undefined unless an inspector was active when the turn began. */
  readonly trace: Trace | undefined;
}

/** Begins a conversation at its initial state. `after` is the record of an earlier dial with the same key. */
export function beginWork(
  engine: Engine,
  key: string,
  begin: { conversation: string; input?: JsonObject; after?: SessionRecord },
): Work {
  const conversation = currentConversation(engine, begin.conversation);
  const step = conversation.machine.begin(begin.input ?? {});
  const work: Work = {
    key,
    conversation,
    turn: (begin.after?.turn ?? 0) + 1,
    startedAt: engine.clock.now(),
    live: step.live,
    door: {},
    timers: [],
    calls: [],
    waiting: false,
    busy: undefined,
    isOvertaken: false,
    steps: 0,
    answered: [],
    started: [],
    queue: [],
    facts: [],
    events: [],
    trace: startTrace(engine.watch),
  };
  work.trace?.transitions.push({ event: BEGIN, from: null, to: step.live.value });
  absorb(engine, work, step);
  drain(engine, work);
  return work;
}

const BEGIN = 'xstate.init';

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
    calls: record.calls.map((call) => ({ call, stored: true, ...(call.input && { input: call.input }) })),
    // The outcome of a turn that was begun and never answered was not shown to the caller either.
    waiting: record.waiting === true || record.calls.length > 0,
    busy: record.busy,
    isOvertaken: record.isOvertaken === true,
    steps: record.steps ?? 0,
    answered: [],
    started: [],
    queue: [],
    facts: [],
    events: [],
    trace: startTrace(engine.watch),
  };
  if (isMigrated) adopt(engine, work);
  return work;
}

// Nobody entered the state in this version: the calls that go with it are made now, and where it goes on by itself it
// does. A call of the same name goes on; a new one that needs a secret cannot be made, for the secret is gone.
function adopt(engine: Engine, work: Work): void {
  const { machine } = work.conversation;
  const known = new Set(work.calls.map(({ call }) => call.id));
  for (const effect of machine.callsOf(work.live)) if (!known.has(effect.id)) addCall(engine, work, effect);
  const lost = ({ call }: WorkingCall): WorkingCall => ({ call: { ...call, until: 0 }, stored: true });
  work.calls = work.calls.map((call) => (call.stored || call.call.input ? call : lost(call)));
  take(engine, work, NO_EVENT);
  drain(engine, work);
  work.waiting ||= work.calls.length > 0;
}

export function viewOf(work: Work): View {
  const { state, context, history } = work.conversation.machine.rest(work.live);
  return { state, context, history, waiting: work.waiting };
}

/** One event, and every event that the machine then sends to itself. */
export function feed(engine: Engine, work: Work, event: EventObject): void {
  take(engine, work, event);
  drain(engine, work);
}

function drain(engine: Engine, work: Work): void {
  for (let next = work.queue.shift(); next; next = work.queue.shift()) {
    hop(work);
    take(engine, work, next);
  }
}

/** Fires what is due, earliest first. A timer may set further ones. */
export function fireDue(engine: Engine, work: Work): void {
  for (let timer = work.timers[0]; timer && timer.at <= engine.clock.now(); timer = work.timers[0]) {
    hop(work);
    work.timers = cancelTimer(work.timers, timer.id);
    feed(engine, work, timer.event);
  }
}

/** Gives the machine the answer of one of its calls; one that it does not wait for any more changes nothing. */
export function giveAnswer(engine: Engine, work: Work, { call }: WorkingCall, answer: Answer): void {
  if (!work.calls.some((other) => other.call.key === call.key)) return;
  hop(work);
  work.calls = work.calls.filter((other) => other.call.key !== call.key);
  work.answered.push(call.key);
  if (work.trace) noteAnswer(work.trace, answer, { conversation: work.conversation, ...call });
  takeAnswer(engine, work, { actorId: call.id, answer });
  drain(engine, work);
}

// When the machine cannot make anything of an answer (a condition throws on it), the call has failed for it.
function takeAnswer(engine: Engine, work: Work, { actorId, answer }: { actorId: string; answer: Answer }): void {
  const done = { type: `xstate.done.actor.${actorId}`, actorId };
  const failed = { type: `xstate.error.actor.${actorId}`, actorId };
  try {
    const event = answer.ok ? { ...done, output: answer.output } : { ...failed, error: answer.error };
    take(engine, work, event as EventObject);
  } catch (error) {
    const { code, message } = error as TwinlineError;
    if (!answer.ok || !UNUSABLE.has(code)) throw error;
    take(engine, work, { ...failed, error: { code, message } } as EventObject);
  }
}

const UNUSABLE: ReadonlySet<string> = new Set(['ERR_MACHINE', 'ERR_EXPRESSION']);

function take(engine: Engine, work: Work, event: EventObject): void {
  if (work.live.status !== 'active') return;
  work.events.push(event.type);
  const from = work.live.value;
  absorb(engine, work, work.conversation.machine.step(work.live, event));
  work.trace?.transitions.push({ event: event.type, from, to: work.live.value });
}

function hop(work: Work): void {
  if (++work.steps <= ENGINE_LIMITS.hopsPerTurn) return;
  throw new TwinlineError(
    'ERR_TURN_LIMIT',
    `A turn of "${work.conversation.id}" passed through ${ENGINE_LIMITS.hopsPerTurn} calls and timers without coming to rest: its calls form a loop. Put a screen between them.`,
  );
}

function absorb(engine: Engine, work: Work, step: Step): void {
  work.live = step.live;
  for (const effect of step.effects) {
    switch (effect.type) {
      case 'call':
        addCall(engine, work, effect);
        break;
      case 'timer':
        addTimer(engine, work, effect);
        break;
      case 'cancel':
        work.timers = cancelTimer(work.timers, effect.id);
        break;
      case 'send':
        work.queue.push(effect.event);
        break;
      case 'fact':
        work.facts.push({
          key: work.key,
          conversation: work.conversation.id,
          name: effect.name,
          params: effect.params,
        });
    }
  }
  if (work.live.status !== 'active') {
    work.calls = [];
    work.timers = [];
  }
  if (!work.calls.length) return;
  const calling = work.conversation.machine.calling(work.live);
  work.calls = work.calls.filter(({ call }) => calling.includes(call.id));
}

function addTimer(engine: Engine, work: Work, { id, delayMs, event }: Effect & { type: 'timer' }): void {
  const at = engine.clock.now() + Math.max(0, Math.ceil(delayMs));
  if (!Number.isSafeInteger(at))
    throw new TwinlineError(
      'ERR_MACHINE',
      `Machine "${work.conversation.id}" asks for "${event.type}" after ${delayMs} ms; a delay is a finite number of milliseconds.`,
    );
  work.timers = setTimer(work.timers, { id: id ?? freeTimerId(work.timers), at, event });
  if (work.timers.length <= ENGINE_LIMITS.timersPerSession) return;
  throw new TwinlineError(
    'ERR_TURN_LIMIT',
    `A session of "${work.conversation.id}" holds more than ${ENGINE_LIMITS.timersPerSession} timers.`,
  );
}

function addCall(engine: Engine, work: Work, effect: CallEffect): void {
  const policy = work.conversation.callPolicy(effect.id);
  const call: PendingCall = {
    id: effect.id,
    service: effect.service,
    key: callKey(work, effect.id),
    until: engine.clock.now() + longest(policy) + ENGINE_LIMITS.turnReserveMs,
    ...(!policy.secret && { input: effect.input }),
  };
  const others = work.calls.filter((other) => other.call.id !== effect.id);
  work.calls = [...others, { call, input: effect.input, stored: false }];
}

// The same turn computed again gives the same key; another turn, dial or pass through the state gives another.
function callKey(work: Work, id: string): string {
  const parts: Json = [work.key, work.startedAt, work.turn, work.steps, id];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/** The caller, as services get it. */
export function serviceSession(work: Work): ServiceSession {
  const { sessionId, phoneNumber, serviceCode } = work.door;
  return {
    id: typeof sessionId === 'string' ? sessionId : work.key,
    ...(typeof phoneNumber === 'string' && { phoneNumber }),
    ...(typeof serviceCode === 'string' && { serviceCode }),
  };
}
