// Making the calls of a turn until its machine rests, or until the turn has no more time.

import type { Json, JsonObject } from '../../json/json.ts';
import type { CallOutcome } from '../calls.ts';
import type { Engine } from '../engine.ts';
import { lateAnswer, sealToken } from '../later.ts';
import type { SessionWriter } from './commit.ts';
import { fireDue, giveOutcome, type Work } from './work.ts';
import { leaseUntil, serviceSession, type WorkingCall } from './working-calls.ts';

/** Why a turn has to begin anew: another writer was first, or another process makes the calls. */
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
    work.calls = work.calls.map((call) => recoverCall(engine, work, call));
    if (work.calls.some((call) => !call.stored) && !(await writer.storeIntent())) return 'conflict';
    work.calls = work.calls.map((call) => startCall(engine, work, call));
    const next = await waitForAnswer(engine, work, until);
    if (next === 'late' || next === 'poll') return next;
    fireDue(engine, work);
    if (next !== 'due') giveOutcome(engine, work, next.call, next.outcome);
    fireDue(engine, work);
  }
  return 'rested';
}

/** Of the tokens of calls. */
export const SESSION_CALLS = 'session';

const POLL_MS = 50;

type AnsweredCall = { readonly call: WorkingCall; readonly outcome: CallOutcome };

async function waitForAnswer(
  engine: Engine,
  work: Work,
  until: number,
): Promise<AnsweredCall | 'late' | 'due' | 'poll'> {
  const { clock } = engine;
  const own = work.calls.flatMap((call) => (call.answer ? [call.answer.then((outcome) => ({ call, outcome }))] : []));
  const isForeign = work.calls.some(({ answer, call }) => !answer && !call.later);
  // What comes from outside comes to whoever takes it.
  if (!own.length && !isForeign) return 'late';
  const due = work.timers[0]?.at ?? Infinity;
  const end = Math.min(until, due, isForeign ? clock.now() + POLL_MS : Infinity);
  const stop = new AbortController();
  const pause = clock.wait(Math.max(0, end - clock.now()), stop.signal);
  const race = Promise.race([...own, pause]);
  const first = await (work.conversation.takesWhileCalling ? engine.pause(work.key, race) : race);
  // A reason saves the cost of creating an error that is never read.
  stop.abort(null);
  if (first === 'changed') return 'poll';
  if (first) return first;
  // The wait itself tells, for the clock may have been set back meanwhile.
  if (end === until || clock.now() >= until) return 'late';
  // A wait may end a moment early; the caller then waits again.
  return isForeign ? 'poll' : 'due';
}

// A stored call whose lease has run out has lost its process. It is made again under the same key and a new lease; if it
// held a secret, its input is gone and it has failed.
function recoverCall(engine: Engine, work: Work, working: WorkingCall): WorkingCall {
  const { call, input, answer, stored } = working;
  if (call.later) {
    if (call.until > engine.clock.now()) return working;
    return { ...working, answer: Promise.resolve(lateAnswer(call.service)) };
  }
  const running = answer ?? engine.calls.find(call.key);
  if (running) return { ...working, answer: running };
  if (!stored || call.until > engine.clock.now()) return working;
  if (input !== undefined)
    return { ...working, call: { ...call, until: leaseUntil(engine, work, call.id) }, stored: false };
  const message = `The process that called "${call.service}" stopped, and the call held a secret, so it cannot be repeated.`;
  return { ...working, answer: Promise.resolve({ ok: false, error: { code: 'ERR_SERVICE', message } }) };
}

// Only calls that this turn has just stored are started: others belong to the process that stored them.
function startCall(engine: Engine, work: Work, working: WorkingCall): WorkingCall {
  if (working.stored || working.call.later) return { ...working, stored: true };
  const { call, input = {} } = working;
  const policy = work.conversation.callPolicy(call.id);
  const secrets = policy.secret ? listSecrets(work, input) : [];
  const context = work.live.context as JsonObject;
  const { privateIn } = work.conversation;
  const privates = privateIn && (() => privateIn(context));
  const { onProblem } = engine;
  const { service } = call;
  const onFailure = onProblem && ((error: unknown) => onProblem({ key: work.key, reason: 'service', service, error }));
  const own = work.conversation.machine.services;
  const token = engine.keyring && (() => sealToken(engine.keyring!, SESSION_CALLS, [work.key, call.key]));
  const { callbackUrl } = engine;
  const request = {
    call,
    input,
    policy,
    session: serviceSession(work),
    own,
    secrets,
    privates,
    token,
    callbackUrl,
    onFailure,
  };
  const answer = engine.calls.start(request);
  const next = { ...working, answer, stored: true };
  work.started.push(next);
  return next;
}

function listSecrets({ conversation, live }: Work, input: Json): readonly string[] {
  return conversation.secretsIn?.(live.context as JsonObject) ?? textsIn(input);
}

function textsIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' && value !== '' ? [value] : [];
  return Object.values(value).flatMap((part) => textsIn(part as Json));
}
