// The tries of a turn, or of work behind a caller, until one is committed: what is stored, whose request it is, and what becomes of
// answers that come after the reply.

import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { checkPayload } from '../../json/lossless.ts';
import { retryDelay } from '../../retry.ts';
import type { CallOutcome } from '../calls.ts';
import type { Conversation } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import type { Completion } from '../later.ts';
import { findOwner, recallInput, type TurnMemory, turnMemory } from '../memory/keeping.ts';
import type { MemoryOwner } from '../memory/memory.ts';
import { type Live, type OpenedSession, openStored } from './open.ts';
import { beginWork, resumeWork } from './open-work.ts';
import type { SessionRecord } from './record.ts';
import { askWhether, canResume, isAsking, takeOver } from './resume.ts';
import { type Attempt, type Background, continueInBackground, repeatReply, type Turn, takeInputs } from './run.ts';
import type { Again } from './settle.ts';
import { hasDueTask, makeDueTasks } from './tasks.ts';
import type { Decision, SessionState, TurnResult } from './turn-result.ts';
import type { WorkingCall } from './working-calls.ts';

const JOIN_POLL_MS = 50;

// Background work has no time of its own, so that it does not delay the turns that wait behind it: the answers of calls
// that it makes are delivered later.
export function inBackground(engine: Engine, key: string, background: Background): Promise<TurnResult> {
  return retryUntilCommitted(engine, { key, until: engine.clock.now(), background });
}

/** Takes the turn; again when another writer was first, or when it waits for another process. */
export async function retryUntilCommitted(engine: Engine, attempt: Attempt): Promise<TurnResult> {
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
  session: OpenedSession,
): TurnResult | Promise<TurnResult | Again> {
  const { key, requestId } = attempt;
  if (session.kind === 'unreadable') engine.onProblem?.({ key, reason: session.reason, requestId });
  // Its event has been taken: what is left is the reply.
  if (session.kind === 'live' && hasBegun(attempt, session.record)) return joinTurn(engine, attempt, session);
  if (session.kind === 'ended' && hasBegun(attempt, session.record)) return repeatReply(engine, key, session.stored);
  const { background } = attempt;
  if (background === 'wake' && 'record' in session && hasDueTask(session.record, engine.clock.now()))
    return makeDueTasks(engine, key).then(() => 'poll');
  if (typeof background === 'object' && 'key' in background) {
    background.fate = findFate(engine, session, background.key);
    if (background.fate !== 'completed') return { kind: 'refused', reason: background.fate };
  }
  if (background)
    return session.kind === 'live'
      ? runTurn(engine, attempt, {
          opened: session,
          work: resumeWork(engine, key, session, attempt.rewritten),
          inputs: [],
          deliverLater,
        })
      : refuseWithoutSession(session);
  const decision = attempt.decide!(sessionState(session));
  checkDecision(decision);
  switch (decision.kind) {
    case 'refuse':
      return { kind: 'refused', reason: decision.reason };
    case 'repeat':
      return session.kind === 'none'
        ? { kind: 'refused', reason: 'there is nothing to repeat' }
        : repeatReply(engine, key, session.stored);
    case 'begin': {
      const conversation = engine.library.current(decision.conversation);
      const owner = conversation?.keeping && findOwner(engine, conversation, decision.door ?? {});
      if (!conversation || !owner) return beginSession(engine, attempt, { session, decision });
      return beginRemembered(engine, attempt, { session, decision, conversation, owner });
    }
    case 'input': {
      if (session.kind !== 'live') return refuseWithoutSession(session);
      if (isAsking(session)) return answerQuestion(engine, attempt, session, decision);
      const inputs = attempt.isDropped ? [] : [decision.input];
      return goOn(engine, attempt, { session, decision, inputs });
    }
  }
}

interface Beginning {
  readonly session: OpenedSession;
  readonly decision: Decision & { readonly kind: 'begin' };
  readonly memory?: TurnMemory;
}

function beginSession(engine: Engine, attempt: Attempt, { session, decision, memory }: Beginning) {
  const after = session.kind === 'live' || session.kind === 'ended' ? session.record : undefined;
  const work = beginWork(engine, attempt.key, { ...decision, ...(after && { after }), memory });
  work.door = decision.door ?? {};
  return runTurn(engine, attempt, { opened: session, work, inputs: decision.inputs ?? [], deliverLater });
}

interface GoingOn {
  readonly session: Live;
  readonly decision: Decision & { readonly kind: 'input' };
  readonly inputs: readonly Json[];
  /** Its own key, when it becomes the last session of its caller. */
  readonly lastKey?: string | undefined;
  readonly isLate?: boolean;
}

function goOn(engine: Engine, attempt: Attempt, { session, decision, inputs, lastKey, isLate = false }: GoingOn) {
  const work = resumeWork(engine, attempt.key, session, attempt.rewritten);
  work.door = decision.door ?? work.door;
  if (work.memory && lastKey !== undefined) work.memory.session = lastKey;
  return runTurn(engine, attempt, { opened: session, work, inputs, isLate, deliverLater });
}

interface CallerBeginning extends Beginning {
  readonly conversation: Conversation;
  readonly owner: MemoryOwner;
}

async function beginRemembered(
  engine: Engine,
  attempt: Attempt,
  { session, decision, conversation, owner }: CallerBeginning,
): Promise<TurnResult | Again> {
  const { key } = attempt;
  const { keeping } = conversation;
  const { door = {} } = decision;
  const { input, session: last } = await recallInput(engine, key, { conversation, owner, input: decision.input });
  const isPlain = !decision.inputs?.length && last !== undefined && last !== key;
  if (keeping!.resume && isPlain && (await canResume(engine, last, { conversation, door }))) {
    const after = 'record' in session ? session.record : undefined;
    const work = resumeWork(engine, key, askWhether(engine, { conversation, input, door, cut: last, after }));
    return runTurn(engine, attempt, { opened: session, work, inputs: [], deliverLater });
  }
  const memory = turnMemory(owner, keeping!.begin(input), attempt.rewritten);
  if (keeping!.resume) memory.session = key;
  return beginSession(engine, attempt, { session, decision: { ...decision, input }, memory });
}

// The caller was asked whether to go on. Who was told to wait for that has said yes before.
async function answerQuestion(
  engine: Engine,
  attempt: Attempt,
  session: Live,
  decision: Decision & { readonly kind: 'input' },
): Promise<TurnResult | Again> {
  const { key, until } = attempt;
  const { record, conversation } = session;
  const { waiting = false, rest, door } = record;
  const view = { ...rest, waiting: false };
  const event = conversation.read(view, decision.input, (secret) => engine.prove(key, secret));
  const answer = waiting ? 'yes' : conversation.keeping!.resume!.answer(event);
  const next = answer === 'yes' ? await takeOver(engine, key, { session, door: decision.door ?? door }) : 'gone';
  if (next === 'conflict') return 'poll';
  if (next === 'busy' && engine.clock.now() < until) {
    await engine.clock.wait(Math.min(JOIN_POLL_MS, until - engine.clock.now()));
    return 'poll';
  }
  if (next === 'gone') {
    const lastKey = answer === undefined ? undefined : key;
    return goOn(engine, attempt, { session, decision, inputs: [decision.input], lastKey });
  }
  if (next === 'busy') return goOn(engine, attempt, { session, decision, inputs: [], isLate: true });
  return goOn(engine, attempt, {
    session: next,
    decision: { ...decision, door: next.record.door },
    inputs: [],
    lastKey: key,
  });
}

// What callers send is refused before anything of it is stored.
function checkDecision(decision: Decision): void {
  if (decision.kind === 'input') checkInput(decision.input);
  if (decision.kind !== 'begin') return;
  const { input, inputs } = decision;
  if (input) checkPayload('What a session begins with', input, KEEPS_UNDEFINED);
  if (inputs) for (const one of inputs) checkInput(one);
}

function checkInput(input: Json): void {
  if (typeof input !== 'string') checkPayload('The input of a turn', input, KEEPS_UNDEFINED);
}

const KEEPS_UNDEFINED = { keepsUndefined: true } as const;

function findFate({ clock }: Engine, session: OpenedSession, key: string): Completion {
  if (session.kind !== 'live' && session.kind !== 'ended') return 'not-waiting';
  const { calls, completed } = session.record;
  if (completed?.includes(key)) return 'already-completed';
  const call = session.kind === 'live' ? calls.find((one) => one.key === key) : undefined;
  return call && !(call.later && call.until <= clock.now()) ? 'completed' : 'not-waiting';
}

function hasBegun({ turnKey, name = turnKey }: Attempt, { busy, others }: SessionRecord): boolean {
  return name !== undefined && (busy === name || others?.includes(name) === true);
}

// Delivers the answers of this turn's calls even when the turn fails: the caller may not send another request.
async function runTurn(engine: Engine, attempt: Attempt, turn: Turn): Promise<TurnResult | Again> {
  let result: TurnResult | Again = 'conflict';
  try {
    const run = attempt.background ? continueInBackground : takeInputs;
    result = await run(engine, attempt, turn);
    if (result === 'conflict' && turn.work.memory?.written.length)
      attempt.rewritten = [...(attempt.rewritten ?? []), ...turn.work.memory.written];
    return result;
  } finally {
    if (typeof result === 'string') deliverLater(engine, attempt.key, turn.work.started);
  }
}

function sessionState(session: OpenedSession): SessionState {
  if (session.kind === 'none') return session;
  if (session.kind === 'unreadable') return { kind: 'unreadable', reason: session.reason };
  return { kind: session.kind, door: session.record.door, turn: session.record.turn };
}

function refuseWithoutSession(session: OpenedSession): TurnResult {
  if (session.kind === 'unreadable') return { kind: 'unreadable', reason: session.reason };
  return { kind: 'refused', reason: session.kind === 'ended' ? 'the session has ended' : 'there is no such session' };
}

// The turn replies now; the answers of its running calls are given to the session when they come, in its order of turns.
function deliverLater(engine: Engine, key: string, calls: readonly WorkingCall[]): void {
  for (const call of calls) void call.answer?.then((outcome) => deliver(engine, key, { call, outcome }));
}

const DELIVERY_BACKOFF = { firstMs: 100, maxMs: 400 };

// Only this process has the answer, and a call that held a secret is not made again. So it is tried for as long as the
// call's lease lasts: a store that is away for a moment must not lose it.
async function deliver(engine: Engine, key: string, late: { call: WorkingCall; outcome: CallOutcome }): Promise<void> {
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
async function joinTurn(engine: Engine, attempt: Attempt, session: Live): Promise<TurnResult | Again> {
  const work = resumeWork(engine, attempt.key, session);
  const isForeign = ({ call }: WorkingCall) =>
    !call.later && !engine.calls.find(call.key) && call.until > engine.clock.now();
  // Out of time, this turn too stores that its caller was answered "please wait": the other process then says the same.
  if (engine.clock.now() >= attempt.until || !work.calls.some(isForeign))
    return runTurn(engine, attempt, { opened: session, work, inputs: [], deliverLater });
  const pause = engine.clock.wait(JOIN_POLL_MS);
  await (session.conversation.takesWhileCalling ? engine.pause(attempt.key, pause) : pause);
  return 'poll';
}
