// A team chat message on its way to a reply: stored, sent to the agent, and the reply posted to its thread. After a crash at
// any point another process continues it.

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
import type { ChatMessage } from './team-chat-event.ts';

/** The stored document; its id is derived from the event id. Times are milliseconds since 1970. */
export type StoredTurn = JsonObject & {
  /** Hash of the message: two events for one message are one turn. */
  readonly message: string;
  readonly team: string;
  readonly channel: string;
  readonly thread: string;
  /** Cleared once answered. */
  readonly text: string;
  readonly state: 'open' | 'done' | 'failed';
  readonly tries: number;
  /** When the sweep next looks at it; moved ahead by the process that works on it. */
  readonly dueAt: number;
};

export type Turn = StoredDocument<StoredTurn>;

export const TURN: Kind = {
  name: 'plugin-team-chat-turn',
  indexes: { due: { fields: ['dueAt'] }, message: { fields: ['message'], unique: true } },
};
export const THREAD: Kind = { name: 'plugin-team-chat-thread', indexes: {} };

/** Lease of the process that works on a turn, in milliseconds. */
const LEASE_MS = 120_000;
/** How long answered turns are kept, in milliseconds: the chat may redeliver their events. */
const KEEP_MS = 86_400_000;

type Deps = Pick<PluginHost, 'documents' | 'clock'>;

/** Stores the turn of a message, leased to this process; undefined if it was stored before. */
export async function takeIn({ documents, clock }: Deps, chatMessage: ChatMessage): Promise<Turn | undefined> {
  const { eventId, team, channel, ts, thread, text } = chatMessage;
  const message = makeHash(team, channel, ts);
  const dueAt = clock.now() + LEASE_MS;
  const body: StoredTurn = { message, team, channel, thread, text, state: 'open', tries: 0, dueAt };
  const inserted = await documents.insert(TURN, makeHash(team, eventId), body);
  return inserted.kind === 'inserted' ? inserted : undefined;
}

/** The next revision of a leased turn; undefined if another process has taken it over. */
async function changeTurn(
  { documents }: Deps,
  { id, revision, body }: Turn,
  change: Partial<StoredTurn>,
): Promise<Turn | undefined> {
  const next = { ...body, ...change } as StoredTurn;
  const replaced = await documents.replace(TURN, id, revision, next);
  return replaced.kind === 'replaced' ? { id, revision: replaced.revision, body: next } : undefined;
}

/** The owner of a team's sessions: not a DID, so no user token matches it. */
function nameOwner({ team }: Pick<StoredTurn, 'team'>): string {
  return `urn:team-chat:${/^[\w-]{1,64}$/.test(team) ? team : makeHash(team)}`;
}

/** The id of the run that answers a turn. */
function runId({ id }: Turn): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** The session of a thread, created if necessary. */
async function findOrMakeSession(
  { documents, agent }: Pick<PluginHost, 'documents' | 'agent'>,
  turn: StoredTurn,
): Promise<string> {
  const owner = nameOwner(turn);
  const id = makeHash(turn.team, turn.channel, turn.thread);
  const thread = await update<{ session: string }>(documents, THREAD, id, async (current) => {
    if (current && (await agent.sessions.owns(owner, current.session))) return current;
    return { session: (await agent.sessions.create(owner)).sessionId };
  });
  if (thread.kind === 'updated') return thread.document.body.session;
  throw new TwinlineError('ERR_CONFLICT', 'The session of a thread was modified concurrently. Try again.');
}

function makeHash(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export interface ChatApi {
  /** URL of `chat.postMessage`. */
  readonly url: string;
  readonly token: string;
}

/** The maximum length of a reply. */
const REPLY_CHARS = 39_000;
/** About 17 minutes, including the pauses. */
const TRIES = 11;
/** Backoff; doubles with each retry. */
const BACKOFF = { firstMs: 1_000 };
const FAILED = 'The reply could not be made. Please try again.';

/** Continues a leased turn. Never rejects: after a failure the sweep of any process retries it. */
export async function carryOn(ctx: PluginContext, api: ChatApi, turn: Turn): Promise<void> {
  let currentTurn: Turn | undefined = turn;
  try {
    const text = await replyTo(ctx, turn);
    if (text === undefined) return;
    // If another process has taken over the turn, that one posts the reply.
    currentTurn = await changeTurn(ctx, turn, { dueAt: ctx.clock.now() + LEASE_MS });
    if (!currentTurn) return;
    await post(ctx, api, { turn: currentTurn, text });
    await changeTurn(ctx, currentTurn, { state: 'done', text: '', dueAt: ctx.clock.now() + KEEP_MS });
  } catch (error) {
    if (ctx.closing.aborted || !currentTurn) return;
    ctx.log.warn({ err: error, tries: currentTurn.body.tries }, 'could not answer a team chat message yet');
    await putOff(ctx, currentTurn).catch((problem: unknown) =>
      ctx.log.warn({ err: problem }, 'could not reschedule a team chat message'),
    );
  }
}

/** Continues turns left by other processes and removes finished ones; returns the number handled. */
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

/** The text to post; undefined if the server shuts down first. */
async function replyTo(ctx: PluginContext, turn: Turn): Promise<string | undefined> {
  const [owner, run] = [nameOwner(turn.body), runId(turn)];
  const sessionId = await findOrMakeSession(ctx, turn.body);
  try {
    const sent = await ctx.send({ did: owner, sessionId, message: turn.body.text, runId: run });
    if (sent.kind !== 'accepted') throw new TwinlineError('ERR_BUSY', 'The agent is overloaded.');
  } catch (error) {
    // A gate refused the message, with a text for the user.
    if (error instanceof AgentError && error.body.statusCode < 500) return String(error.body.message);
    // Sent before; its run continues or has ended.
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
  // The same id after a crash between the post and its record, so that a chat that deduplicates shows the reply once.
  const client_msg_id = runId(turn);
  const body = JSON.stringify({ channel, thread_ts, client_msg_id, text: wellFormedText(text) });
  const headers = { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` };
  const answer = await ctx.post({ url, headers, body }, signal);
  if (answer.status < 200 || answer.status > 299)
    throw new TwinlineError('ERR_SERVICE', `The team chat answered a reply with status ${answer.status}.`);
  const { ok, error } = parseAnswer(answer.text);
  // An error code such as channel_not_found.
  if (ok === false)
    throw new TwinlineError(
      'ERR_SERVICE',
      `The team chat refused a reply: ${/^\w{1,64}$/.exec(String(error)) ?? 'no reason given'}.`,
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
