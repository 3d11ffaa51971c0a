// GET /v1/events: the events of a tenant as server-sent events, resumable without gaps.

import { eventView, type Feed, type FeedEvent, hasReached } from '../../../lib/domain/feed/feed.ts';
import { typeProblems, wantsType } from '../../../lib/domain/feed/journal.ts';
import type { SettleVotes } from '../../../lib/domain/find.ts';
import { refuse } from '../../../lib/domain/problems.ts';
import { EVENT } from '../../../lib/domain/schema/webhook-answers.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { EventStreams } from '../../http/event-streams.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { findRecheck, readCaller } from '../api-keys.ts';
import { domainGroup, type ParameterValues, readHeaders, readQuery } from '../requests.ts';

export interface EventDeps {
  readonly documents: DocumentStore;
  readonly feed: Feed;
  readonly streams: EventStreams;
  readonly settleVotes: SettleVotes;
}

const NUMBER = { type: 'integer', minimum: 0 } as const;

const WANTED = {
  after: {
    description: 'The number of the last event that is known; 0 from the beginning',
    schema: NUMBER,
  },
  types: {
    description: 'Types or families with commas between them, such as `domain.verified,proposal.*`',
    schema: { type: 'string', maxLength: SERVER_LIMITS.eventTypesChars },
  },
  did: { description: 'Only about this twin', schema: { type: 'string', format: 'did' } },
} as const;

const LAST_EVENT_ID = {
  'Last-Event-ID': { description: 'As `after`; browsers send it when they come back', schema: NUMBER },
} as const;

/** The stream of events. */
export const EVENT_ROUTES: RouteGroup<EventDeps> = domainGroup({
  tag: 'Events',
  description: 'What happens to the twins of a tenant. Numbers and order survive restarts.',
  schemas: { Event: EVENT },
  routes: [
    {
      method: 'GET',
      path: '/v1/events',
      id: 'followEvents',
      summary: 'Follow what happens, as server-sent events',
      description:
        'Each event has its number as `id`, its type as `event`, and as `data` one line of JSON: an `Event`. To a client that asks for text/event-stream by name, a stream that begins now sends first an event `ready`, with the number of the last event before it.',
      query: WANTED,
      headers: LAST_EVENT_ID,
      answers: { 200: { description: 'The stream', types: { 'text/event-stream': { type: 'string' } } } },
      problems: ['bad-request'],
      reply: async (request, { documents, feed, streams, settleVotes }) => {
        const { tenant } = readCaller(request);
        // A reconnecting reader sends the header to its original URL, so the header wins.
        const { 'Last-Event-ID': last } = readHeaders(request, LAST_EVENT_ID);
        const { after: first, ...filter } = readQuery(request, WANTED);
        const position = last ?? first;
        const wants = makeFilter(filter);
        await settleVotes({ tenant });
        if (position !== undefined && !(await hasReached(documents, position)))
          throw refuse(
            'bad-request',
            `There is no event ${position} here. Begin with ?after=0, or without it for what comes next.`,
          );
        const after = position ?? (await feed.end());
        // The id lets a reader that is cut off before its first event go on from here. Several EventSource libraries take an id only from
        // an event with data: to them it comes as one. They all ask for this type by name.
        const isEventSource = request.get('accept').includes('text/event-stream');
        const data = isEventSource ? `\nevent: ready\ndata: {"seq":${after}}` : '';
        const hello =
          position === undefined ? `: from now on\nretry: 1000\nid: ${after}${data}\n\n` : ': go on\nretry: 1000\n\n';
        const messages = async function* (signal: AbortSignal) {
          for await (const event of feed.follow(tenant, { after, signal })) if (wants(event)) yield formatEvent(event);
        };
        if (request.method === 'HEAD') return { headers: { 'Content-Type': 'text/event-stream; charset=utf-8' } };
        const mayRead = findRecheck(request);
        return (ctx) => streams.serve(ctx, { owner: tenant, hello, messages, mayRead });
      },
    },
  ],
});

function formatEvent(event: FeedEvent): string {
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(eventView(event))}\n\n`;
}

function makeFilter({
  types,
  did,
}: Pick<ParameterValues<typeof WANTED>, 'types' | 'did'>): (event: FeedEvent) => boolean {
  const list = types === undefined ? [] : types.split(',');
  const [problem] = typeProblems(list, 'types');
  if (problem) throw refuse('bad-request', `${problem.field} ${problem.error}.`);
  return (event) => wantsType(list, event.type) && (did === undefined || event.did === did);
}
