// GET /v1/events: what happens to the twins of a tenant, as server-sent events that can be resumed without a gap.

import type Router from '@koa/router';
import type { Context } from 'koa';
import { isDid } from '../../../lib/domain/did/did.ts';
import { eventView, type Feed, type FeedEvent, hasReached } from '../../../lib/domain/feed/feed.ts';
import { typeProblems, wantsType } from '../../../lib/domain/feed/journal.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import type { SettleVotes } from '../../../lib/domain/voting/proposal.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { EventStreams } from '../../http/event-streams.ts';
import { callerOf, recheckOf } from '../authenticate.ts';

export interface EventDeps {
  readonly documents: DocumentStore;
  readonly feed: Feed;
  readonly streams: EventStreams;
  readonly settleVotes: SettleVotes;
}

/** Adds the route; `ctx.state.caller` is known. */
export function eventRoutes(router: Router, { documents, feed, streams, settleVotes }: EventDeps): void {
  router.get('/v1/events', async (ctx) => {
    const { tenant } = callerOf(ctx);
    const wants = wantedOf(ctx);
    const given = positionOf(ctx);
    await settleVotes({ tenant });
    if (given !== undefined && !(await hasReached(documents, given)))
      throw refuse(
        'bad-request',
        `There is no event ${given} here. Begin with ?after=0, or without it for what comes next.`,
      );
    const after = given ?? (await feed.end());
    // The id lets a reader that is cut off before its first event go on from here.
    const hello = given === undefined ? `: from now on\nretry: 1000\nid: ${after}\n\n` : ': go on\nretry: 1000\n\n';
    const messages = async function* (signal: AbortSignal) {
      for await (const event of feed.follow(tenant, { after, signal })) if (wants(event)) yield messageOf(event);
    };
    if (ctx.method !== 'HEAD') return streams.serve(ctx, { owner: tenant, hello, messages, mayRead: recheckOf(ctx) });
    ctx.status = 200;
    ctx.type = 'text/event-stream';
  });
}

function messageOf(event: FeedEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(eventView(event))}\n\n`;
}

// A reader that comes back sends the header, to the address that it had at first.
function positionOf(ctx: Context): number | undefined {
  const header = ctx.get('last-event-id').trim();
  const [name, given] = header === '' ? ['after', ctx.query.after] : ['Last-Event-ID', header];
  if (given === undefined) return undefined;
  const seq = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (Number.isSafeInteger(seq)) return seq;
  throw refuse('bad-request', `${name}=${JSON.stringify(given)} is not the number of an event.`);
}

function wantedOf(ctx: Context): (event: FeedEvent) => boolean {
  const { types, did } = ctx.query;
  if (Array.isArray(types) || (types !== undefined && types.length > SERVER_LIMITS.eventTypesChars))
    throw refuse(
      'bad-request',
      `types is one list with commas, of at most ${SERVER_LIMITS.eventTypesChars} characters.`,
    );
  const list = types === undefined ? [] : types.split(',');
  const [problem] = typeProblems(list, 'types');
  if (problem) throw refuse('bad-request', `${problem.field} ${problem.error}.`);
  if (did !== undefined && (Array.isArray(did) || !isDid(did)))
    throw refuse('bad-request', `did=${JSON.stringify(did)} is not a DID.`);
  return (event) => wantsType(list, event.type) && (did === undefined || event.did === did);
}
