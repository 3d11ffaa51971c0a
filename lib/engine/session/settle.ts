// Running the effects of a turn until its machine rests, or until the turn has no more time.

import type { Json, JsonObject } from '../../store/store.ts';
import type { Engine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { Answer } from '../machine/step.ts';
import { longest } from '../service.ts';
import type { SessionWriter } from './commit.ts';
import { fireDue, giveAnswer, serviceSession, type Work, type WorkingCall } from './work.ts';

/** Why a turn has to begin anew: another writer was first, or another process has what is waited for. */
export type Again = 'conflict' | 'poll';
/** How settling ended: at rest, with calls still running, or with the need to load again. */
export type Settled = 'rested' | 'late' | Again;

/**
 * Makes the calls that the machine asks for and gives it their answers, until `until` (ms since 1970). Timers of the
 * calling state fire meanwhile.
 */
export async function settle(
  engine: Engine,
  work: Work,
  { writer, until }: { writer: SessionWriter; until: number },
): Promise<Settled> {
  while (work.calls.length) {
    work.calls = work.calls.map((call) => recover(engine, work, call));
    if (work.calls.some((call) => !call.stored) && !(await writer.intend())) return 'conflict';
    work.calls = work.calls.map((call) => start(engine, work, call));
    const next = await nextAnswer(engine, work, until);
    if (next === 'late' || next === 'poll') return next;
    fireDue(engine, work);
    if (next !== 'due') giveAnswer(engine, work, next.call, next.answer);
    fireDue(engine, work);
  }
  return 'rested';
}

const POLL_MS = 50;

type Answered = { readonly call: WorkingCall; readonly answer: Answer };

async function nextAnswer(engine: Engine, work: Work, until: number): Promise<Answered | 'late' | 'due' | 'poll'> {
  const { clock } = engine;
  const ours = work.calls.flatMap((call) => (call.answer ? [call.answer.then((answer) => ({ call, answer }))] : []));
  const isForeign = ours.length < work.calls.length;
  const due = work.timers[0]?.at ?? Infinity;
  const end = Math.min(until, due, isForeign ? clock.now() + POLL_MS : Infinity);
  const stop = new AbortController();
  const pause = clock.wait(Math.max(0, end - clock.now()), stop.signal);
  const first = await Promise.race([...ours, pause]);
  // A reason saves the cost of creating an error that is never read.
  stop.abort(null);
  if (first) return first;
  if (clock.now() >= until) return 'late';
  // A wait may end a moment early; then this looks again.
  return isForeign ? 'poll' : 'due';
}

// A call from the record whose lease has run out has lost its process. It is made again under the same key and a new
// lease; if it held a secret its input is gone, and it has failed.
function recover(engine: Engine, work: Work, working: WorkingCall): WorkingCall {
  const { call, input, answer, stored } = working;
  const running = answer ?? engine.calls.find(call.key);
  if (running) return { ...working, answer: running };
  if (!stored || call.until > engine.clock.now()) return working;
  if (!input) return { ...working, answer: Promise.resolve(interrupted(call.service)) };
  const until = engine.clock.now() + longest(work.conversation.callPolicy(call.id)) + ENGINE_LIMITS.turnReserveMs;
  return { ...working, call: { ...call, until }, stored: false };
}

function interrupted(service: string): Answer {
  const message = `The process that called "${service}" stopped, and the call held a secret, so it cannot be repeated.`;
  return { ok: false, error: { code: 'ERR_SERVICE', message } };
}

// Only what this turn has just announced in the record is started; what others announced is theirs.
function start(engine: Engine, work: Work, working: WorkingCall): WorkingCall {
  if (working.stored) return working;
  const { call, input } = working;
  const policy = work.conversation.callPolicy(call.id);
  const secrets = policy.secret ? secretsOf(work, input ?? {}) : [];
  const answer = engine.calls.start({ call, input: input ?? {}, policy, session: serviceSession(work), secrets });
  const started = { ...working, answer, stored: true };
  work.started.push(started);
  return started;
}

function secretsOf({ conversation, live }: Work, input: JsonObject): readonly string[] {
  return conversation.secretsIn?.(live.context as JsonObject) ?? textsIn(input);
}

function textsIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' && value !== '' ? [value] : [];
  return Object.values(value).flatMap((part) => textsIn(part as Json));
}
