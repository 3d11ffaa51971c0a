// The working copy of a session during one turn: what its machine is given, and what is to be done and stored after it.

import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { CallOutcome } from '../calls.ts';
import { type Conversation, noteAnswer, type Trace, type View } from '../conversation.ts';
import type { Engine, Fact } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import {
  type CallError,
  failMachine,
  type MachineProblem,
  machineProblem,
  readFault,
  untakenFailure,
} from '../machine/failure.ts';
import {
  answerEvent,
  type MachineState,
  type ServiceAnswer,
  type StepOptions,
  type StepResult,
  step,
} from '../machine/step.ts';
import { removeTimer, type StepMoment, type Timer, timerStep } from '../machine/timers.ts';
import type { TurnMemory } from '../memory/keeping.ts';
import type { SessionCall, SessionTask } from './record.ts';
import { readTask } from './tasks.ts';
import { type WorkingCall, workingCall } from './working-calls.ts';

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
  readonly others: readonly string[];
  readonly isOvertaken: boolean;
  /** The request came while calls of another one went on. */
  isOverlapping: boolean;
  /** Steps of the machine in this turn. */
  steps: number;
  /** Keys of calls that were answered from outside. */
  completed: readonly string[];
  /** Calls whose answers were given to the machine in this turn, by their keys. */
  readonly answered: string[];
  /** Calls that were started in this turn. */
  readonly started: WorkingCall[];
  readonly facts: Fact[];
  /** What is to be done after the reply: of turns before, and of this one. */
  tasks: readonly SessionTask[];
  readonly newTasks: SessionTask[];
  /** What went wrong while the machine took answers and timers; told once the turn is stored. */
  readonly problems: MachineProblem[];
  /** Types of the events that the machine was given in this turn. */
  readonly events: string[];
  /** As in the record. */
  resumableUntil: number | undefined;
  /** Undefined where nothing is kept of the caller. */
  readonly memory: TurnMemory | undefined;
  /** Undefined unless an inspector was active when the turn began. */
  readonly trace: Trace | undefined;
}

export function makeView(work: Work): View {
  const { state, context, history, nodes, status, output, error } = work.conversation.machine.rest(work.live);
  // Written out, as the record is: an object that is made by a spread costs more.
  return { state, context, history, nodes, status, output, error, waiting: work.waiting };
}

/**
 * Gives the machine one event, now unless `options` say when, and every event that it then sends to itself. False when it does not
 * take it where it is. What it throws on an event of its own leaves it where it was before that one.
 */
export function feed(
  engine: Engine,
  work: Work,
  event: EventObject,
  options: StepOptions = { at: engine.clock.now() },
): boolean {
  const result = step(work.conversation.machine, work, event, options);
  applyResult(engine, work, result);
  if (result.fault !== undefined) throw result.fault;
  return result.isTaken;
}

export function applyResult(engine: Engine, work: Work, result: StepResult<WorkingCall>): void {
  const { live, timers, calls, newCalls } = result;
  work.steps++;
  work.live = live;
  work.timers = timers;
  work.calls = newCalls.length ? [...calls, ...newCalls.map((call) => workingCall(engine, work, call))] : calls;
  for (const fact of result.facts) {
    const task = work.conversation.taskPolicy && readTask(engine, work, fact);
    if (task) addTask(work, task);
    else work.facts.push({ key: work.key, conversation: work.conversation.id, ...fact });
  }
  const { shown } = work.conversation;
  for (const transition of result.transitions) {
    const event = shown?.event?.(transition.event) ?? transition.event;
    if (transition.from !== null) work.events.push(event);
    work.trace?.transitions.push({ ...transition, event });
  }
}

function addTask(work: Work, task: SessionTask): void {
  if (work.tasks.length >= ENGINE_LIMITS.tasksPerSession)
    throw new TwinlineError(
      'ERR_TURN_LIMIT',
      `A session of "${work.conversation.id}" has ${ENGINE_LIMITS.tasksPerSession} tasks open that are done after the reply; no more are kept.`,
    );
  work.tasks = [...work.tasks, task];
  work.newTasks.push(task);
}

/**
 * Fires what is due, earliest first, each at its own time: a timer may set further ones, which may be due as well. True: so many
 * have fired that the turn is to be stored before it goes on.
 */
export function fireDue(engine: Engine, work: Work): boolean {
  for (let timer = work.timers[0]; timer && timer.at <= engine.clock.now(); timer = work.timers[0]) {
    if (work.steps >= ENGINE_LIMITS.stepsPerWrite) return true;
    work.timers = removeTimer(work.timers, timer);
    takeOwn(engine, work, timer);
  }
  return false;
}

/** Gives the machine the outcome of one of its calls; one that it does not wait for any more changes nothing. */
export function giveOutcome(engine: Engine, work: Work, { call }: WorkingCall, outcome: CallOutcome): void {
  if (!work.calls.some((other) => other.call.key === call.key)) return;
  work.answered.push(call.key);
  const { laterMs } = outcome;
  if (laterMs === undefined) giveAnswer(engine, work, call, outcome);
  else work.calls = work.calls.map((other) => (other.call.key === call.key ? putOff(engine, call, laterMs) : other));
}

// It is not made again, so its input is not needed any more.
function putOff({ clock }: Engine, { id, service, key, hops }: SessionCall, laterMs: number): WorkingCall {
  const call: SessionCall = { id, service, key, until: clock.now() + laterMs, later: true, ...(hops && { hops }) };
  return { id, call, stored: false };
}

function giveAnswer(engine: Engine, work: Work, call: SessionCall, answer: ServiceAnswer): void {
  work.calls = work.calls.filter((other) => other.call.key !== call.key);
  const { conversation } = work;
  if (work.trace) noteAnswer(work.trace, answer, { conversation, ...call });
  const own = { at: engine.clock.now(), hops: call.hops ?? 0 };
  if (conversation.unusable !== undefined && answer.ok) takeUsable(engine, work, { ...own, id: call.id, answer });
  else takeOwn(engine, work, { ...own, event: answerEvent(call.id, answer) }, call.id);
}

interface GivenAnswer extends StepMoment {
  /** Of the call. */
  readonly id: string;
  readonly answer: ServiceAnswer;
}

// A flow that cannot compute with a good answer goes on with `fail`.
function takeUsable(engine: Engine, work: Work, { at, hops, id, answer }: GivenAnswer): void {
  const { machine, unusable: code } = work.conversation;
  try {
    feed(engine, work, answerEvent(id, answer), timerStep({ at, hops }, machine));
  } catch (error) {
    if (!isFault(error)) {
      fail(work, error, id);
      return;
    }
    work.problems.push({ error, call: id });
    const { message } = error;
    takeOwn(engine, work, { at, hops, event: answerEvent(id, { ok: false, error: { code: code!, message } }) }, id);
  }
}

const isFault = (error: unknown): error is TwinlineError =>
  error instanceof TwinlineError && (error.code === 'ERR_MACHINE' || error.code === 'ERR_EXPRESSION');

// What comes by itself, a timer or an answer, comes once: if the machine throws on it, nobody could try that again. So the machine has
// failed then, as an actor of XState has. An input that it throws on is refused instead: its caller is there, and is told.
function takeOwn(engine: Engine, work: Work, own: StepMoment & { readonly event: EventObject }, call?: string): void {
  const { machine } = work.conversation;
  try {
    feed(engine, work, own.event, timerStep(own, machine));
    if (work.live.status === 'error')
      work.problems.push(untakenFailure(machine.id, call ?? '', work.live.error as CallError));
  } catch (error) {
    fail(work, error, call);
  }
}

/** The machine has failed where it stands: it takes nothing any more, and waits for nothing. */
export function fail(work: Work, error: unknown, call?: string): void {
  const fault = readFault(error);
  work.live = failMachine(work.live, fault.told);
  work.timers = [];
  work.calls = [];
  work.problems.push(machineProblem(fault.error, call));
}
