// What one attempt does: inputs, or what comes by itself, until the machine rests, and the write of it with the reply.

import { randomBytes } from 'node:crypto';
import type { Json } from '../../json/json.ts';
import type { StoredSession } from '../../store/store.ts';
import type { CallOutcome } from '../calls.ts';
import { noteTyped, type Reply } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import type { Completion } from '../later.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { ServiceAnswer } from '../machine/step.ts';
import { sessionTtlMs, sessionWriter } from './commit.ts';
import { type Live, type OpenedSession, openReply, openStored } from './open.ts';
import { noteLock } from './resume.ts';
import { type Again, type Settled, settle } from './settle.ts';
import { readEnding, type TurnMove, type TurnRequest, type TurnResult } from './turn-result.ts';
import { feed, fireDue, giveOutcome, makeView, type Work } from './work.ts';
import type { WorkingCall } from './working-calls.ts';

/** What was answered last, once more. */
export function repeatReply(engine: Engine, key: string, stored: StoredSession): TurnResult {
  const answer = openReply(engine, key, stored);
  if (typeof answer === 'string') return { kind: 'unreadable', reason: answer };
  const { text } = answer;
  if (!stored.ended) return { kind: 'replied', reply: { kind: 'continue', text }, repeated: true };
  const last = openStored(engine, key, stored);
  const { isContinued = false, rest } = last.kind === 'ended' ? last.record : {};
  const reply: Reply = { kind: isContinued ? 'continue' : 'end', text };
  return { kind: 'replied', reply, repeated: true, ...(rest?.status && { ending: readEnding(rest) }) };
}

export interface Attempt extends Partial<Pick<TurnRequest, 'turnKey' | 'decide' | 'requestId'>> {
  readonly key: string;
  /** Milliseconds since 1970: when the turn has to reply. */
  readonly until: number;
  /** Present when no caller waits for a reply. */
  readonly background?: Background;
  /** What the record calls the request while it has no reply: its key, or a name of its own. */
  name?: string | undefined;
  /** Kept variables that a try has written which was not committed. */
  rewritten?: readonly string[];
  /** Its input came while a call went on, and no transition took it: it is not given to the machine again. */
  isDropped?: boolean;
}

/** Fire timers, or give the machine an answer that came late. */
export type Background = 'wake' | { readonly call: WorkingCall; readonly outcome: CallOutcome } | Delivery;

/** An answer that somebody brought from outside, for the call of this key. */
export interface Delivery {
  readonly key: string;
  readonly outcome: ServiceAnswer;
  /** What became of it, once it is known. */
  fate?: Completion;
}

/** What an attempt has to do. */
export interface Turn {
  readonly opened: OpenedSession;
  readonly work: Work;
  readonly inputs: readonly Json[];
  /** The reply is "please wait": the turn waits for another session. */
  readonly isLate?: boolean;
  /** Gives the session of this key the answers of these calls when they come, after this turn. */
  readonly deliverLater: (engine: Engine, key: string, calls: readonly WorkingCall[]) => void;
}

// Who waits for calls shows their outcome before it takes an input, unless the conversation takes inputs while they go on.
export async function takeInputs(engine: Engine, attempt: Attempt, turn: Turn): Promise<TurnResult | Again> {
  const { key, until, turnKey } = attempt;
  const { opened, work, inputs } = turn;
  const { conversation, trace } = work;
  const before = opened.kind === 'none' ? undefined : opened.stored;
  const writer = sessionWriter(engine, work, { before, turnKey, name: () => nameRequest(attempt) });
  if (fireDue(engine, work)) {
    // The request itself has not been taken yet.
    if (opened.kind === 'live') work.door = opened.record.door;
    return (await writer.storeProgress()) ? 'poll' : 'conflict';
  }
  const reception = work.calls.length && inputs.length ? interrupt(engine, work, inputs[0]!) : 'waits';
  if (reception === 'dropped') attempt.isDropped = true;
  work.isOverlapping = reception === 'taken' || attempt.isDropped === true;
  let settled: Settled = turn.isLate ? 'late' : 'rested';
  // An input that was taken, and that asks for no call, has its reply: those of others go on.
  if (work.calls.length)
    settled =
      reception === 'taken' && work.calls.every(({ stored }) => stored)
        ? 'late'
        : await settle(engine, work, { writer, until });
  for (const input of reception === 'waits' ? inputs : []) {
    if (settled !== 'rested') break;
    const view = makeView(work);
    if (trace) noteTyped(trace, input, { conversation, view });
    const event = conversation.read(view, input, (secret) => engine.prove(key, secret));
    work.refusal = typeof event === 'string' ? event : undefined;
    if (typeof event === 'object') {
      if (work.memory) noteLock(work, event);
      feed(engine, work, event);
    }
    fireDue(engine, work);
    if (work.calls.length) settled = await settle(engine, work, { writer, until });
  }
  if (settled === 'conflict' || settled === 'poll') return settled;
  work.waiting = settled === 'late';
  if (work.waiting) turn.deliverLater(engine, key, work.calls);
  const reply = await writer.storeReply();
  if (!reply) return 'conflict';
  const move = describeMove(engine, work, opened);
  if (work.live.status === 'active') return { kind: 'replied', reply, repeated: false, move };
  const ending = readEnding(conversation.machine.rest(work.live));
  return { kind: 'replied', reply, repeated: false, move, ending };
}

// What becomes of an input that comes while calls go on: `dropped`, as XState drops an event that no transition takes.
function interrupt(engine: Engine, work: Work, input: Json): 'taken' | 'dropped' | 'waits' {
  const { conversation, trace } = work;
  const { takesWhileCalling = false } = conversation;
  const view = makeView(work);
  const event = takesWhileCalling
    ? conversation.read({ ...view, waiting: false }, input, (secret) => engine.prove(work.key, secret))
    : conversation.interrupt?.(view, input);
  if (typeof event !== 'object') return takesWhileCalling ? 'dropped' : 'waits';
  if (trace) noteTyped(trace, input, { conversation, view });
  return feed(engine, work, event) ? 'taken' : 'dropped';
}

// A request without a key has a name while it has no reply, so that it is not taken again when its turn begins anew.
function nameRequest(attempt: Attempt): string {
  attempt.name ??= attempt.turnKey ?? `~${randomBytes(12).toString('base64url')}`;
  return attempt.name;
}

function describeMove(engine: Engine, { conversation, live }: Work, session: OpenedSession): TurnMove {
  const { id: flow, version } = conversation;
  const language = conversation.language?.(live.context);
  if (session.kind !== 'live') return { flow, version, from: undefined, to: live.value, language };
  // A commit sets when the session expires, so the last one was this long before.
  const { record, stored } = session;
  const { resume } = session.conversation.keeping ?? {};
  const lastAt =
    resume && record.resumableUntil
      ? record.resumableUntil - resume.ms
      : stored.expiresAt - sessionTtlMs(engine, session.conversation);
  const stayMs = Math.max(0, engine.clock.now() - lastAt);
  return { flow, version, from: record.rest.state, to: live.value, language, stayMs };
}

/** What comes by itself: due timers, or an answer that came after its turn. */
export async function continueInBackground(engine: Engine, attempt: Attempt, turn: Turn): Promise<TurnResult | Again> {
  const { background, key, until } = attempt;
  const { work } = turn;
  const before = (turn.opened as Live).stored;
  const writer = sessionWriter(engine, work, { before, turnKey: undefined });
  const { steps } = work;
  const { completed } = work;
  const isIdle = () => work.steps === steps && !work.problems.length && work.completed === completed;
  const advance = async (): Promise<boolean | Again> => {
    if (fireDue(engine, work)) return (await writer.storeProgress()) ? 'poll' : 'conflict';
    if (typeof background === 'object') takeLate(engine, work, background);
    fireDue(engine, work);
    const settled = await settle(engine, work, { writer, until });
    if (settled === 'conflict' || settled === 'poll') return settled;
    if (settled === 'late') turn.deliverLater(engine, key, work.calls);
    return isIdle() || writer.storeProgress();
  };
  // What cannot be stored cannot be stored when the same comes again: then the machine has failed where it was stored last.
  const result = await advance().catch((error: unknown) => writer.storeFailure(error));
  if (typeof result === 'string') return result;
  return result ? repeatReply(engine, key, before) : 'conflict';
}

function takeLate(engine: Engine, work: Work, late: Exclude<Background, 'wake'>): void {
  if ('call' in late) {
    giveOutcome(engine, work, late.call, late.outcome);
    return;
  }
  // A timer that was due before may have left the state.
  const call = work.calls.find((other) => other.call.key === late.key);
  late.fate = call ? 'completed' : 'not-waiting';
  if (!call) return;
  work.completed = [...work.completed, late.key].slice(-ENGINE_LIMITS.completionsKept);
  giveOutcome(engine, work, call, late.outcome);
}
