// The step that everything shares: load → retry check → due timers → transition → effects → one atomic commit → reply.
//
// Exactly once rests on two things in one write: the compare-and-set on the revision, and the turn key with its reply.
// A turn that calls a service commits its intent first, so that no other process makes the same call, and so that a
// crash leaves behind which call was begun under which idempotency key.

import { TwinlineError } from '../../errors.ts';
import { retryDelay } from '../../retry.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import type { Json, JsonObject, StoredSession } from '../../store/store.ts';
import type { Reply } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import { noteTyped } from '../inspection.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { Answer } from '../machine/step.ts';
import { sessionWriter } from './commit.ts';
import { type Live, type Opened, openStored, type RecordProblem } from './record.ts';
import { type Again, type Settled, settle } from './settle.ts';
import { beginWork, feed, fireDue, giveAnswer, resumeWork, viewOf, type Work, type WorkingCall } from './work.ts';

/** What a door sees of the stored session when it decides what a request means. */
export type Seen =
  | { readonly kind: 'none' }
  | { readonly kind: 'live' | 'ended'; readonly door: JsonObject; readonly turn: number }
  | { readonly kind: 'unreadable'; readonly reason: RecordProblem };

/** What a request means, given what is stored. */
export type Decision =
  /** A new conversation; `inputs` are taken one after the other right away. */
  | {
      readonly kind: 'begin';
      readonly conversation: string;
      readonly input?: JsonObject;
      readonly inputs?: readonly Json[];
      readonly door?: JsonObject;
    }
  | { readonly kind: 'input'; readonly input: Json; readonly door?: JsonObject }
  /** Answer once more what was answered last; nothing changes. */
  | { readonly kind: 'repeat' }
  | { readonly kind: 'refuse'; readonly reason: string };

export interface TurnRequest {
  /** The session's key in the store, 1–256 characters. */
  readonly key: string;
  /** Identifies the request: the same key again gets the same bytes back. Without it nothing is recognised as a retry. */
  readonly turnKey?: string | undefined;
  /** Decides from what is stored; must be pure, for it runs again after a conflict. */
  readonly decide: (seen: Seen) => Decision;
  /** Milliseconds until an answer must be there; calls that take longer go on in the background. @default 8000 */
  readonly deadlineMs?: number;
  /** What the log calls the request. */
  readonly requestId?: string | undefined;
}

export type TurnResult =
  | { readonly kind: 'replied'; readonly reply: Reply; readonly repeated: boolean }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: RecordProblem };

/**
 * Takes one turn of a session and resolves once it is stored. Turns of one session run one after the other.
 * Throws ERR_STORE, ERR_CONFLICT, ERR_MACHINE, ERR_TURN_LIMIT, ERR_FLOW_UNKNOWN or ERR_BUSY; then nothing was kept of the
 * turn but the intent of calls that it had begun.
 */
export function takeTurn(engine: Engine, request: TurnRequest): Promise<TurnResult> {
  const { key, turnKey, decide, deadlineMs = 8_000, requestId } = request;
  const until = engine.clock.now() + deadlineMs - ENGINE_LIMITS.turnReserveMs;
  return engine.inOrder(key, () => untilCommitted(engine, { key, until, turnKey, decide, requestId }));
}

/**
 * Fires the due timers of a session and makes the calls again whose process died; does not wait for their answers.
 * Any process may do it. A session that cannot be woken is put off for a minute, and the error is thrown.
 */
export async function wakeSession(engine: Engine, key: string): Promise<void> {
  await engine.inOrder(key, async () => {
    try {
      const { kind } = await inBackground(engine, key, 'wake');
      if (kind === 'unreadable') await putOff(engine, key);
    } catch (error) {
      if (!(error instanceof TwinlineError && error.retry)) await putOff(engine, key);
      throw error;
    }
  });
}

const PUT_OFF_MS = 60_000;
const JOIN_POLL_MS = 50;

// Without this, sessions that fail would stand first in the list of due ones for ever.
async function putOff(engine: Engine, key: string): Promise<void> {
  const stored = await engine.store.load(key);
  const now = engine.clock.now();
  if (!stored || stored.dueAt === null || stored.dueAt > now) return;
  const { revision, ...same } = stored;
  await engine.store.commit(key, revision, { ...same, dueAt: now + PUT_OFF_MS });
}

interface Attempt {
  readonly key: string;
  readonly until: number;
  readonly turnKey?: string | undefined;
  readonly decide?: TurnRequest['decide'];
  readonly requestId?: string | undefined;
  /** Nobody waits for this one. */
  readonly background?: Background;
}

/** Fire timers, or apply an answer that came late. */
type Background = 'wake' | { readonly call: WorkingCall; readonly answer: Answer };

// It must not hold up the turns that wait in line behind it, so it has no time: what it calls is delivered later.
function inBackground(engine: Engine, key: string, background: Background): Promise<TurnResult> {
  return untilCommitted(engine, { key, until: engine.clock.now(), background });
}

async function untilCommitted(engine: Engine, attempt: Attempt): Promise<TurnResult> {
  for (let conflicts = 0; conflicts < SHARED_LIMITS.conflictsPerTurn || engine.clock.now() < attempt.until; ) {
    const loading = engine.store.load(attempt.key);
    const stored = loading instanceof Promise ? await loading : loading;
    const isRetry = stored && attempt.turnKey !== undefined && stored.turnKey === attempt.turnKey;
    if (isRetry) return replied(stored, true);
    const result = await once(engine, attempt, openStored(engine, attempt.key, stored));
    if (typeof result === 'object') return result;
    if (result === 'conflict') conflicts++;
  }
  throw new TwinlineError(
    'ERR_CONFLICT',
    `Other writers were first ${SHARED_LIMITS.conflictsPerTurn} times in a row on one session.`,
  );
}

function once(engine: Engine, attempt: Attempt, opened: Opened): TurnResult | Promise<TurnResult | Again> {
  const { key, requestId } = attempt;
  if (opened.kind === 'unreadable') engine.onProblem?.({ key, reason: opened.reason, requestId });
  if (opened.kind === 'live' && attempt.turnKey !== undefined && opened.record.busy === attempt.turnKey)
    return joinTurn(engine, attempt, opened);
  if (attempt.background)
    return opened.kind === 'live'
      ? run(engine, attempt, { opened, work: resumeWork(engine, attempt.key, opened), inputs: [] })
      : noSession(opened);
  const decision = attempt.decide!(seenOf(opened));
  switch (decision.kind) {
    case 'refuse':
      return { kind: 'refused', reason: decision.reason };
    case 'repeat':
      return repeatOf(opened);
    case 'begin': {
      const { input, conversation } = decision;
      const after = recordOf(opened);
      const work = beginWork(engine, attempt.key, { conversation, ...(input && { input }), ...(after && { after }) });
      work.door = decision.door ?? {};
      return run(engine, attempt, { opened, work, inputs: decision.inputs ?? [] });
    }
    case 'input': {
      if (opened.kind !== 'live') return noSession(opened);
      const work = resumeWork(engine, attempt.key, opened);
      work.door = decision.door ?? work.door;
      return run(engine, attempt, { opened, work, inputs: [decision.input] });
    }
  }
}

const storedOf = (opened: Opened) => (opened.kind === 'none' ? undefined : opened.stored);
const recordOf = (opened: Opened) => (opened.kind === 'live' || opened.kind === 'ended' ? opened.record : undefined);

function repeatOf(opened: Opened): TurnResult {
  const stored = storedOf(opened);
  return stored ? replied(stored, true) : { kind: 'refused', reason: 'there is nothing to repeat' };
}

function seenOf(opened: Opened): Seen {
  if (opened.kind === 'none') return opened;
  if (opened.kind === 'unreadable') return { kind: 'unreadable', reason: opened.reason };
  return { kind: opened.kind, door: opened.record.door, turn: opened.record.turn };
}

function noSession(opened: Opened): TurnResult {
  if (opened.kind === 'unreadable') return { kind: 'unreadable', reason: opened.reason };
  return { kind: 'refused', reason: opened.kind === 'ended' ? 'the session has ended' : 'there is no such session' };
}

function replied(stored: Pick<StoredSession, 'reply' | 'ended'>, repeated: boolean): TurnResult {
  return { kind: 'replied', reply: { kind: stored.ended ? 'end' : 'continue', text: stored.reply }, repeated };
}

interface Run {
  readonly opened: Opened;
  readonly work: Work;
  readonly inputs: readonly Json[];
}

// Results of the calls that this turn started are delivered to the session even when the turn fails: after a conflict the
// turn may have nothing left to do, and after an error the caller may not send another request.
async function run(engine: Engine, attempt: Attempt, turn: Run): Promise<TurnResult | Again> {
  let result: TurnResult | Again = 'conflict';
  try {
    result = await (attempt.background ? proceed : finish)(engine, attempt, turn);
    return result;
  } finally {
    if (typeof result === 'string') deliverLater(engine, attempt.key, turn.work.started);
  }
}

// A call that is still pending when its caller comes back is waited for; what is typed meanwhile changes nothing, but for
// what ends the waiting.
async function finish(engine: Engine, attempt: Attempt, { opened, work, inputs }: Run): Promise<TurnResult | Again> {
  const { until } = attempt;
  const writer = sessionWriter(engine, work, { before: storedOf(opened), turnKey: attempt.turnKey });
  fireDue(engine, work);
  const leave =
    work.calls.length && inputs.length ? work.conversation.interrupt?.(viewOf(work), inputs[0]!) : undefined;
  if (leave) {
    if (work.trace) noteTyped(work.trace, inputs[0]!, { conversation: work.conversation, view: viewOf(work) });
    feed(engine, work, leave);
  }
  let settled: Settled = work.calls.length ? await settle(engine, work, { writer, until }) : 'rested';
  for (const input of leave ? [] : inputs) {
    if (settled !== 'rested') break;
    const view = viewOf(work);
    if (work.trace) noteTyped(work.trace, input, { conversation: work.conversation, view });
    const event = work.conversation.read(view, input, (secret) => engine.prove(attempt.key, secret));
    if (event) feed(engine, work, event);
    fireDue(engine, work);
    if (work.calls.length) settled = await settle(engine, work, { writer, until });
  }
  if (settled === 'conflict' || settled === 'poll') return settled;
  work.waiting = settled === 'late';
  if (work.waiting) deliverLater(engine, work.key, work.calls);
  const reply = await writer.commit();
  return reply ? { kind: 'replied', reply, repeated: false } : 'conflict';
}

async function proceed(engine: Engine, attempt: Attempt, { opened, work }: Run): Promise<TurnResult | Again> {
  const { background, until } = attempt;
  const before = storedOf(opened)!;
  const writer = sessionWriter(engine, work, { before, turnKey: undefined });
  const { hops } = work;
  fireDue(engine, work);
  if (typeof background === 'object') giveAnswer(engine, work, background.call, background.answer);
  fireDue(engine, work);
  const settled = await settle(engine, work, { writer, until });
  if (settled === 'conflict' || settled === 'poll') return settled;
  if (settled === 'late') deliverLater(engine, work.key, work.calls);
  const hasMoved = work.hops !== hops;
  return !hasMoved || (await writer.commitQuietly()) ? replied(before, true) : 'conflict';
}

// The turn answers now; what this process is still calling is applied when it comes, in the session's order of turns.
function deliverLater(engine: Engine, key: string, calls: readonly WorkingCall[]): void {
  for (const call of calls) void call.answer?.then((answer) => deliver(engine, key, { call, answer }));
}

const DELIVERY_BACKOFF = { firstMs: 100, maxMs: 400 };

// Nobody else has this answer, and a call that held a secret is not made again: while its lease lasts, a store that was
// away for a moment must not cost it.
async function deliver(engine: Engine, key: string, late: { call: WorkingCall; answer: Answer }): Promise<void> {
  for (let tries = 1; ; tries++) {
    const pause = retryDelay(tries, DELIVERY_BACKOFF);
    try {
      await engine.inOrder(key, () => inBackground(engine, key, late));
      return;
    } catch (error) {
      const mayPass = error instanceof TwinlineError && error.retry && error.reason !== 'closed';
      if (!mayPass || engine.clock.now() + pause >= late.call.call.until)
        return engine.onProblem?.({ key, reason: 'background', error });
    }
    await engine.clock.wait(pause);
  }
}

// The same request has been begun by another process, or by this one before it failed: its answer is ours too.
async function joinTurn(engine: Engine, attempt: Attempt, opened: Live): Promise<TurnResult | Again> {
  const work = resumeWork(engine, attempt.key, opened);
  const isOthers = ({ call }: WorkingCall) => !engine.calls.find(call.key) && call.until > engine.clock.now();
  // Out of time, this turn too stores that its caller was told to wait: the other process then says the same.
  if (engine.clock.now() >= attempt.until || !work.calls.some(isOthers))
    return run(engine, attempt, { opened, work, inputs: [] });
  await engine.clock.wait(JOIN_POLL_MS);
  return 'poll';
}
