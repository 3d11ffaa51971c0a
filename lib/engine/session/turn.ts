// A turn: load → retry? → due timers → transition → effects → one atomic commit → reply.
// Exactly once rests on one write: a compare-and-set on the revision that stores the turn key with its reply. A turn that calls a
// service commits its intent first, so no other process makes the call, and a crash leaves its idempotency key behind.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { checkTurn, requireGiven } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { retryDelay } from '../../retry.ts';
import type { StoredSession } from '../../store/store.ts';
import { noteTyped } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { ServiceAnswer } from '../machine/step.ts';
import { sessionWriter } from './commit.ts';
import { type Live, type OpenedSession, openReply, openStored } from './open.ts';
import type { RecordProblem } from './record.ts';
import { type Again, type Settled, settle } from './settle.ts';
import type { TurnMove, TurnResult } from './turn-result.ts';
import { beginWork, feed, fireDue, giveAnswer, makeView, resumeWork, type Work, type WorkingCall } from './work.ts';

export type { TurnMove, TurnResult };

/** The stored session as a door sees it when it decides what a request means. */
export type SessionState =
  | { readonly kind: 'none' }
  | { readonly kind: 'live' | 'ended'; readonly door: JsonObject; readonly turn: number }
  | { readonly kind: 'unreadable'; readonly reason: RecordProblem };

/** What a request means for the stored session. */
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

/** One request of a session, for `takeTurn`. */
export interface TurnRequest {
  /** The session's key in the store, 1–256 characters. */
  readonly key: string;
  /** Identifies the request: the same key again gets the same bytes back. Without it nothing is recognised as a retry. */
  readonly turnKey?: string | undefined;
  /** Decides from what is stored; must be pure, for it runs again after a conflict. */
  readonly decide: (state: SessionState) => Decision;
  /** Milliseconds until an answer must be there; calls that take longer go on in the background. @default 8000 */
  readonly deadlineMs?: number;
  /** What the log calls the request. */
  readonly requestId?: string | undefined;
}

/**
 * Takes one turn of a session and resolves once it is stored. Turns of one session run one after the other.
 * Throws ERR_STORE, ERR_CONFLICT, ERR_MACHINE, ERR_TURN_LIMIT, ERR_FLOW_UNKNOWN or ERR_BUSY; then nothing of
 * the turn is stored but which calls it had begun.
 * @example
 * const hello = compileFlow(await loadFlow('hello.flow.json'));
 * const engine = createEngine({ store: memorySnapshots(), conversations: [hello] });
 * await takeTurn(engine, { key: 'ann', turnKey: 'a', decide: () => ({ kind: 'begin', conversation: 'hello' }) });
 * const leave = () => takeTurn(engine, { key: 'ann', turnKey: 'b', decide: () => ({ kind: 'input', input: '1' }) });
 * (await leave()).reply?.text; // → 'Bye'
 * (await leave()).repeated; // → true
 */
export function takeTurn(engine: Engine, request: TurnRequest): Promise<TurnResult> {
  const { key, turnKey, decide, deadlineMs = 8_000, requestId } = checkTurn(engine, request);
  const until = engine.clock.now() + deadlineMs - ENGINE_LIMITS.turnReserveMs;
  return engine.inOrder(key, () => retryUntilCommitted(engine, { key, until, turnKey, decide, requestId }));
}

/**
 * Fires the due timers of a session and makes the calls again whose process died; does not wait for their answers.
 * Any process may do it, each second. A session that cannot be woken is postponed by a minute, and the error is thrown.
 * @example
 * const engine = createEngine({ store: memorySnapshots(), conversations: [compileFlow(await loadFlow('hello.flow.json'))] });
 * for (const key of await engine.store.due(engine.clock.now(), 10)) await wakeSession(engine, key);
 * await viewSession(engine, 'nobody'); // → undefined
 */
export async function wakeSession(engine: Engine, key: string): Promise<void> {
  requireGiven('wake a session', { engine, key }, { engine: 'engine', key: 'text' });
  await engine.inOrder(key, async () => {
    try {
      const { kind } = await inBackground(engine, key, 'wake');
      if (kind === 'unreadable') await postponeWake(engine, key);
    } catch (error) {
      if (!(error instanceof TwinlineError && error.retry)) await postponeWake(engine, key);
      throw error;
    }
  });
}

const POSTPONE_MS = 60_000;
const JOIN_POLL_MS = 50;

// Without this, sessions that fail would stay first in the list of due ones.
async function postponeWake(engine: Engine, key: string): Promise<void> {
  const stored = await engine.store.load(key);
  const now = engine.clock.now();
  if (!stored || stored.dueAt === null || stored.dueAt > now) return;
  const { revision, ...same } = stored;
  await engine.store.commit(key, revision, { ...same, dueAt: now + POSTPONE_MS });
}

interface Attempt extends Partial<Pick<TurnRequest, 'turnKey' | 'decide' | 'requestId'>> {
  readonly key: string;
  /** Milliseconds since 1970: when the turn has to reply. */
  readonly until: number;
  /** Present when no caller waits for a reply. */
  readonly background?: Background;
}

/** Fire timers, or give the machine an answer that came late. */
type Background = 'wake' | { readonly call: WorkingCall; readonly answer: ServiceAnswer };

// Background work has no time of its own, so that it does not delay the turns that wait behind it: the answers of calls
// that it makes are delivered later.
function inBackground(engine: Engine, key: string, background: Background): Promise<TurnResult> {
  return retryUntilCommitted(engine, { key, until: engine.clock.now(), background });
}

async function retryUntilCommitted(engine: Engine, attempt: Attempt): Promise<TurnResult> {
  for (let conflicts = 0; conflicts < COMMON_LIMITS.conflictsPerTurn || engine.clock.now() < attempt.until; ) {
    const loading = engine.store.load(attempt.key);
    const stored = loading instanceof Promise ? await loading : loading;
    const isRetry = stored && attempt.turnKey !== undefined && stored.turnKey === attempt.turnKey;
    if (isRetry) return repeatReply(engine, attempt.key, stored);
    const result = await takeAttempt(engine, attempt, openStored(engine, attempt.key, stored));
    if (typeof result === 'object') return result;
    if (result === 'conflict') conflicts++;
  }
  throw new TwinlineError(
    'ERR_CONFLICT',
    `Other writers were first ${COMMON_LIMITS.conflictsPerTurn} times in a row on one session.`,
  );
}

function takeAttempt(
  engine: Engine,
  attempt: Attempt,
  opened: OpenedSession,
): TurnResult | Promise<TurnResult | Again> {
  const { key, turnKey, requestId } = attempt;
  if (opened.kind === 'unreadable') engine.onProblem?.({ key, reason: opened.reason, requestId });
  if (opened.kind === 'live' && turnKey !== undefined && opened.record.busy === turnKey)
    return joinTurn(engine, attempt, opened);
  if (attempt.background)
    return opened.kind === 'live'
      ? runTurn(engine, attempt, { opened, work: resumeWork(engine, key, opened), inputs: [] })
      : refuseWithoutSession(opened);
  const decision = attempt.decide!(sessionState(opened));
  switch (decision.kind) {
    case 'refuse':
      return { kind: 'refused', reason: decision.reason };
    case 'repeat':
      return opened.kind === 'none'
        ? { kind: 'refused', reason: 'there is nothing to repeat' }
        : repeatReply(engine, key, opened.stored);
    case 'begin': {
      const after = opened.kind === 'live' || opened.kind === 'ended' ? opened.record : undefined;
      const work = beginWork(engine, key, { ...decision, ...(after && { after }) });
      work.door = decision.door ?? {};
      return runTurn(engine, attempt, { opened, work, inputs: decision.inputs ?? [] });
    }
    case 'input': {
      if (opened.kind !== 'live') return refuseWithoutSession(opened);
      const work = resumeWork(engine, key, opened);
      work.door = decision.door ?? work.door;
      return runTurn(engine, attempt, { opened, work, inputs: [decision.input] });
    }
  }
}

function sessionState(opened: OpenedSession): SessionState {
  if (opened.kind === 'none') return opened;
  if (opened.kind === 'unreadable') return { kind: 'unreadable', reason: opened.reason };
  return { kind: opened.kind, door: opened.record.door, turn: opened.record.turn };
}

function refuseWithoutSession(opened: OpenedSession): TurnResult {
  if (opened.kind === 'unreadable') return { kind: 'unreadable', reason: opened.reason };
  return { kind: 'refused', reason: opened.kind === 'ended' ? 'the session has ended' : 'there is no such session' };
}

function repeatReply(engine: Engine, key: string, stored: StoredSession): TurnResult {
  const opened = openReply(engine, key, stored);
  if (typeof opened === 'string') return { kind: 'unreadable', reason: opened };
  return { kind: 'replied', reply: { kind: stored.ended ? 'end' : 'continue', text: opened.text }, repeated: true };
}

interface Turn {
  readonly opened: OpenedSession;
  readonly work: Work;
  readonly inputs: readonly Json[];
}

// Delivers the answers of this turn's calls even when the turn fails: the caller may not send another request.
async function runTurn(engine: Engine, attempt: Attempt, turn: Turn): Promise<TurnResult | Again> {
  let result: TurnResult | Again = 'conflict';
  try {
    result = await (attempt.background ? continueInBackground : takeInputs)(engine, attempt, turn);
    return result;
  } finally {
    if (typeof result === 'string') deliverLater(engine, attempt.key, turn.work.started);
  }
}

// Pending calls are waited for first; an input that arrives meanwhile changes nothing, unless it interrupts the waiting.
async function takeInputs(
  engine: Engine,
  attempt: Attempt,
  { opened, work, inputs }: Turn,
): Promise<TurnResult | Again> {
  const { key, until, turnKey } = attempt;
  const { conversation, trace } = work;
  const before = opened.kind === 'none' ? undefined : opened.stored;
  const writer = sessionWriter(engine, work, { before, turnKey });
  fireDue(engine, work);
  const interrupting =
    work.calls.length && inputs.length ? conversation.interrupt?.(makeView(work), inputs[0]!) : undefined;
  if (interrupting) {
    if (trace) noteTyped(trace, inputs[0]!, { conversation, view: makeView(work) });
    feed(engine, work, interrupting);
  }
  let settled: Settled = work.calls.length ? await settle(engine, work, { writer, until }) : 'rested';
  for (const input of interrupting ? [] : inputs) {
    if (settled !== 'rested') break;
    const view = makeView(work);
    if (trace) noteTyped(trace, input, { conversation, view });
    const event = conversation.read(view, input, (secret) => engine.prove(key, secret));
    work.refusal = typeof event === 'string' ? event : undefined;
    if (typeof event === 'object') feed(engine, work, event);
    fireDue(engine, work);
    if (work.calls.length) settled = await settle(engine, work, { writer, until });
  }
  if (settled === 'conflict' || settled === 'poll') return settled;
  work.waiting = settled === 'late';
  if (work.waiting) deliverLater(engine, key, work.calls);
  const reply = await writer.storeReply();
  return reply ? { kind: 'replied', reply, repeated: false, move: describeMove(work, opened) } : 'conflict';
}

function describeMove({ conversation: { id, version }, live }: Work, opened: OpenedSession): TurnMove {
  return { flow: id, version, from: opened.kind === 'live' ? opened.record.rest.state : undefined, to: live.value };
}

async function continueInBackground(engine: Engine, attempt: Attempt, turn: Turn): Promise<TurnResult | Again> {
  const { background, key, until } = attempt;
  const { work } = turn;
  const before = (turn.opened as Live).stored;
  const writer = sessionWriter(engine, work, { before, turnKey: undefined });
  const { hops } = work;
  fireDue(engine, work);
  if (typeof background === 'object') giveAnswer(engine, work, background.call, background.answer);
  fireDue(engine, work);
  const settled = await settle(engine, work, { writer, until });
  if (settled === 'conflict' || settled === 'poll') return settled;
  if (settled === 'late') deliverLater(engine, key, work.calls);
  return work.hops === hops || (await writer.storeProgress()) ? repeatReply(engine, key, before) : 'conflict';
}

// The turn replies now; the answers of its running calls are given to the session when they come, in its order of turns.
function deliverLater(engine: Engine, key: string, calls: readonly WorkingCall[]): void {
  for (const call of calls) void call.answer?.then((answer) => deliver(engine, key, { call, answer }));
}

const DELIVERY_BACKOFF = { firstMs: 100, maxMs: 400 };

// Only this process has the answer, and a call that held a secret is not made again. So it is tried for as long as the
// call's lease lasts: a store that is away for a moment must not lose it.
async function deliver(engine: Engine, key: string, late: { call: WorkingCall; answer: ServiceAnswer }): Promise<void> {
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

// The same request has been begun by another process, or by this one before it failed: its reply is this one's too.
async function joinTurn(engine: Engine, attempt: Attempt, opened: Live): Promise<TurnResult | Again> {
  const work = resumeWork(engine, attempt.key, opened);
  const isForeign = ({ call }: WorkingCall) => !engine.calls.find(call.key) && call.until > engine.clock.now();
  // Out of time, this turn too stores that its caller was answered "please wait": the other process then says the same.
  if (engine.clock.now() >= attempt.until || !work.calls.some(isForeign))
    return runTurn(engine, attempt, { opened, work, inputs: [] });
  await engine.clock.wait(JOIN_POLL_MS);
  return 'poll';
}
