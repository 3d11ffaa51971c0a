// A message of a team chat on its way to its reply: stored, said to the agent, its reply posted to the thread. A crash at any
// point leaves it to be carried on.

import { createHash } from 'node:crypto';
import { wellFormedText } from '../../../lib/agent/well-formed.ts';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { retryDelay } from '../../../lib/retry.ts';
import { findDue } from '../../../lib/store/due.ts';
import type { Kind, StoredDocument } from '../../../lib/store/store.ts';
import { update } from '../../../lib/store/update.ts';
import { AgentError } from '../../user/errors.ts';
import type { PluginContext, PluginHost } from '../plugin.ts';
import type { ChatMessage } from './event.ts';

/** What its document holds; its id is made of the event's. Times are milliseconds since 1970. */
export type StoredTurn = JsonObject & {
  /** The message itself: two events about it are one turn. */
  readonly message: string;
  readonly team: string;
  readonly channel: string;
  readonly thread: string;
  /** Emptied once it is answered. */
  readonly text: string;
  readonly state: 'open' | 'done' | 'failed';
  readonly tries: number;
  /** Milliseconds since 1970 when the sweep looks at it next; the process that works on it moves this ahead. */
  readonly dueAt: number;
};

export type Turn = StoredDocument<StoredTurn>;

export const TURN: Kind = {
  name: 'plugin-team-chat-turn',
  indexes: { due: { fields: ['dueAt'] }, message: { fields: ['message'], unique: true } },
};
export const THREAD: Kind = { name: 'plugin-team-chat-thread', indexes: {} };

/** Milliseconds for which a turn is left to the process that carries it on. */
const LEASE_MS = 120_000;
/** Milliseconds that answered turns are kept: the chat may deliver their events once more. */
const KEEP_MS = 86_400_000;

type Deps = Pick<PluginHost, 'documents' | 'clock'>;

/** The turn of this message, held by this process; undefined when it has been taken in before. */
export async function takeIn({ documents, clock }: Deps, said: ChatMessage): Promise<Turn | undefined> {
  const { eventId, team, channel, ts, thread, text } = said;
  const message = makeHash(team, channel, ts);
  const dueAt = clock.now() + LEASE_MS;
  const body: StoredTurn = { message, team, channel, thread, text, state: 'open', tries: 0, dueAt };
  const inserted = await documents.insert(TURN, makeHash(team, eventId), body);
  return inserted.kind === 'inserted' ? inserted : undefined;
}

/** The next revision of a turn that this process holds; undefined when another one has it. */
async function changeTurn(
  { documents }: Deps,
  { id, revision, body }: Turn,
  change: Partial<StoredTurn>,
): Promise<Turn | undefined> {
  const next = { ...body, ...change } as StoredTurn;
  const replaced = await documents.replace(TURN, id, revision, next);
  return replaced.kind === 'replaced' ? { id, revision: replaced.revision, body: next } : undefined;
}

/** The owner of the sessions of a team: no DID, so that no token is ever taken for it. */
function nameOwner({ team }: Pick<StoredTurn, 'team'>): string {
  return `urn:team-chat:${/^[\w-]{1,64}$/.test(team) ? team : makeHash(team)}`;
}

/** The id of the run that answers a turn. */
function runId({ id }: Turn): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** The session of a thread, made when there is none. */
async function findOrMakeSession(
  { documents, agent }: Pick<PluginHost, 'documents' | 'agent'>,
  turn: StoredTurn,
): Promise<string> {
  const owner = nameOwner(turn);
  const id = makeHash(turn.team, turn.channel, turn.thread);
  const thread = await update<{ session: string }>(documents, THREAD, id, async (known) => {
    if (known && (await agent.sessions.owns(owner, known.session))) return known;
    return { session: (await agent.sessions.create(owner)).sessionId };
  });
  if (thread.kind === 'updated') return thread.document.body.session;
  throw new TwinlineError('ERR_CONFLICT', 'The session of a thread was changed by others. Try again.');
}

function makeHash(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export interface ChatApi {
  /** Where replies are posted: `chat.postMessage`. */
  readonly url: string;
  readonly token: string;
}

/** Characters of a reply that a chat takes. */
const REPLY_CHARS = 39_000;
/** With the pauses between them about 17 minutes. */
const TRIES = 11;
/** Milliseconds before the second try; doubles with each further one. */
const BACKOFF = { firstMs: 1_000 };
const FAILED = 'The reply could not be made. Please try again.';

/** Carries on a turn that this process holds. Never rejects: what fails is tried again later, by the sweep of any process. */
export async function carryOn(ctx: PluginContext, api: ChatApi, turn: Turn): Promise<void> {
  let held: Turn | undefined = turn;
  try {
    const text = await replyTo(ctx, turn);
    if (text === undefined) return;
    // The process that took the turn over meanwhile posts the reply.
    held = await changeTurn(ctx, turn, { dueAt: ctx.clock.now() + LEASE_MS });
    if (!held) return;
    await post(ctx, api, { turn: held, text });
    await changeTurn(ctx, held, { state: 'done', text: '', dueAt: ctx.clock.now() + KEEP_MS });
  } catch (error) {
    if (ctx.closing.aborted || !held) return;
    ctx.log.warn({ err: error, tries: held.body.tries }, 'a message of the team chat is not answered yet');
    await putOff(ctx, held).catch((problem: unknown) => ctx.log.warn({ err: problem }, 'a message waits for its turn'));
  }
}

/** Carries on what others have left, and forgets what is over; how much. */
export async function sweepTurns(ctx: PluginContext, api: ChatApi): Promise<number> {
  const isOver = ({ body }: Turn) => body.state !== 'open';
  const items = await findDue(ctx, TURN, { index: 'due', field: 'dueAt', limit: COMMON_LIMITS.sweepBatch, isOver });
  for (const turn of items) {
    if (isOver(turn)) await ctx.documents.remove(TURN, turn.id, turn.revision);
    else {
      const held = await changeTurn(ctx, turn, { dueAt: ctx.clock.now() + LEASE_MS });
      if (held) void carryOn(ctx, api, held);
    }
  }
  return items.length;
}

/** What to post; undefined when the server ends before it is known. */
async function replyTo(ctx: PluginContext, turn: Turn): Promise<string | undefined> {
  const [owner, run] = [nameOwner(turn.body), runId(turn)];
  const sessionId = await findOrMakeSession(ctx, turn.body);
  try {
    const sent = await ctx.send({ did: owner, sessionId, message: turn.body.text, runId: run });
    if (sent.kind !== 'accepted') throw new TwinlineError('ERR_BUSY', 'The agent has too much to do.');
  } catch (error) {
    // A gate has refused it, in words for the user.
    if (error instanceof AgentError && error.body.statusCode < 500) return String(error.body.message);
    // It was said before; its run goes on, or has ended.
    if (!(error instanceof TwinlineError && error.code === 'ERR_EXISTS')) throw error;
  }
  const outcome = await ctx.agent.outcome({ owner, runId: run, signal: ctx.closing });
  if (!outcome) return ctx.closing.aborted ? undefined : FAILED;
  const text = outcome.message?.content ?? outcome.done.partialText ?? '';
  return text.trim() === '' ? FAILED : text.slice(0, REPLY_CHARS);
}

async function post(ctx: PluginContext, { url, token }: ChatApi, { turn, text }: { turn: Turn; text: string }) {
  const { channel, thread: thread_ts } = turn.body;
  const signal = AbortSignal.any([AbortSignal.timeout(COMMON_LIMITS.webhookAnswerMs), ctx.closing]);
  // The same after a crash between the post and the note of it, so that a chat that looks at it shows the reply once.
  const client_msg_id = runId(turn);
  const body = JSON.stringify({ channel, thread_ts, client_msg_id, text: wellFormedText(text) });
  const headers = { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` };
  const answer = await ctx.post({ url, headers, body }, signal);
  if (answer.status < 200 || answer.status > 299)
    throw new TwinlineError('ERR_SERVICE', `The team chat answered ${answer.status} to a reply.`);
  const { ok, error } = parseAnswer(answer.text);
  // A word such as channel_not_found.
  if (ok === false)
    throw new TwinlineError(
      'ERR_SERVICE',
      `The team chat refused a reply: ${/^\w{1,64}$/.exec(String(error)) ?? 'it does not say why'}.`,
    );
}

function parseAnswer(text: string): { ok?: unknown; error?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as { ok?: unknown };
  } catch {
    return {};
  }
}

async function putOff(ctx: PluginContext, turn: Turn): Promise<void> {
  const tries = turn.body.tries + 1;
  const now = ctx.clock.now();
  if (tries >= TRIES) await changeTurn(ctx, turn, { tries, state: 'failed', text: '', dueAt: now + KEEP_MS });
  else await changeTurn(ctx, turn, { tries, dueAt: now + retryDelay(tries, BACKOFF) });
}
