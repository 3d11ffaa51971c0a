// Carrying a turn of a team chat on to its end: the message is said to the agent, the reply is posted to the thread.

import { wellFormedText } from '../../../lib/agent/well-formed.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { retryDelay } from '../../../lib/retry.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import { AgentError } from '../../user/errors.ts';
import type { PluginContext } from '../plugin.ts';
import { changeTurn, KEEP_MS, LEASE_MS, ownerOf, runOf, type StoredTurn, sessionOf, TURN, type Turn } from './turn.ts';

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

/** Carries on a turn that this process holds. Never rejects: what fails is tried again later, by whoever comes by. */
export async function carryOn(ctx: PluginContext, api: ChatApi, turn: Turn): Promise<void> {
  let held: Turn | undefined = turn;
  try {
    const text = await replyTo(ctx, turn);
    if (text === undefined) return;
    // The process that took the turn over meanwhile posts the reply.
    held = await changeTurn(ctx, turn, { dueAt: ctx.clock.now() + LEASE_MS });
    if (!held) return;
    await post(ctx, api, { turn: held.body, text });
    await changeTurn(ctx, held, { state: 'done', text: '', dueAt: ctx.clock.now() + KEEP_MS });
  } catch (error) {
    if (ctx.closing.aborted || !held) return;
    ctx.log.warn({ err: error, tries: held.body.tries }, 'a message of the team chat is not answered yet');
    await putOff(ctx, held).catch((problem: unknown) => ctx.log.warn({ err: problem }, 'a message waits for its turn'));
  }
}

/** Carries on what others have left, and forgets what is over; how much. */
export async function sweepTurns(ctx: PluginContext, api: ChatApi): Promise<number> {
  const where = { dueAt: { lte: ctx.clock.now() } };
  const { items } = await ctx.documents.find<StoredTurn>(TURN, {
    index: 'due',
    where,
    limit: SHARED_LIMITS.sweepBatch,
  });
  for (const turn of items) {
    if (turn.body.state !== 'open') await ctx.documents.remove(TURN, turn.id, turn.revision);
    else {
      const held = await changeTurn(ctx, turn, { dueAt: ctx.clock.now() + LEASE_MS });
      if (held) void carryOn(ctx, api, held);
    }
  }
  return items.length;
}

/** What to post; undefined when the server ends before it is known. */
async function replyTo(ctx: PluginContext, turn: Turn): Promise<string | undefined> {
  const [owner, runId] = [ownerOf(turn.body), runOf(turn)];
  const sessionId = await sessionOf(ctx, turn.body);
  try {
    const sent = await ctx.send({ did: owner, sessionId, message: turn.body.text, runId });
    if (sent.kind !== 'accepted') throw new TwinlineError('ERR_BUSY', 'The agent has too much to do.');
  } catch (error) {
    // A gate has refused it, in words for the user.
    if (error instanceof AgentError && error.body.statusCode < 500) return String(error.body.message);
    // It was said before; its run goes on, or has ended.
    if (!(error instanceof TwinlineError && error.code === 'ERR_EXISTS')) throw error;
  }
  const outcome = await ctx.agent.outcome({ owner, runId, signal: ctx.closing });
  if (!outcome) return ctx.closing.aborted ? undefined : FAILED;
  const text = outcome.message?.content ?? outcome.done.partialText ?? '';
  return text.trim() === '' ? FAILED : text.slice(0, REPLY_CHARS);
}

async function post(ctx: PluginContext, { url, token }: ChatApi, { turn, text }: { turn: StoredTurn; text: string }) {
  const signal = AbortSignal.any([AbortSignal.timeout(SHARED_LIMITS.webhookAnswerMs), ctx.closing]);
  const body = JSON.stringify({ channel: turn.channel, thread_ts: turn.thread, text: wellFormedText(text) });
  const headers = { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` };
  const answer = await ctx.post({ url, headers, body }, signal);
  if (answer.status < 200 || answer.status > 299)
    throw new TwinlineError('ERR_SERVICE', `The team chat answered ${answer.status} to a reply.`);
  const { ok, error } = parsed(answer.text);
  // A word such as channel_not_found.
  if (ok === false)
    throw new TwinlineError(
      'ERR_SERVICE',
      `The team chat refused a reply: ${/^\w{1,64}$/.exec(String(error)) ?? 'it does not say why'}.`,
    );
}

function parsed(text: string): { ok?: unknown; error?: unknown } {
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
