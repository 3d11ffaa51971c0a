// The feed of events: every change of a twin, protocol or proposal and every credit, numbered, for good. Numbers survive restarts.

import type { DocumentStore, JsonObject, Kind } from '../../store/store.ts';
import { CREDIT, DOMAIN, PROPOSAL, PROTOCOL } from '../kinds.ts';
import { isoTime } from '../twin/record.ts';
import { type Journaled, revisionOf } from './journal.ts';

/** An event as subscribers see it, and whose it is. */
export interface FeedEvent {
  /** Grows with the order of the writes; never used twice; there are gaps. */
  readonly seq: number;
  readonly tenant: string;
  /** Such as `domain.verified`. */
  readonly type: string;
  /** The twin or protocol that it is about. */
  readonly did: string;
  readonly revision: number;
  /** RFC 3339. */
  readonly at: string;
  readonly by: string;
  readonly data: JsonObject;
}

/** What subscribers read. */
export function eventView({ seq, type, did, revision, at, data }: FeedEvent): JsonObject {
  return { seq, type, did, revision, at, data };
}

/** Events, and how far the store was read for them: there may be none where much has happened to other things. */
export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Go on after this number. */
  readonly upTo: number;
  /** Nothing is there beyond `upTo`. */
  readonly atEnd: boolean;
}

// A write makes up to this many events; together with the number of the change they give each event a number of its own.
const EVENTS_PER_CHANGE = 16;
const KINDS = new Map<string, Kind>([PROTOCOL, DOMAIN, PROPOSAL, CREDIT].map((kind) => [kind.name, kind]));

/** The events numbered above `after`, of all tenants, out of the next `limit` changes of the store. */
export async function eventsAfter(documents: DocumentStore, after: number, limit: number): Promise<FeedPage> {
  // Where `after` stands between two events of a change, that change is read again.
  const from = Math.max(0, Math.floor((after + 1) / EVENTS_PER_CHANGE) - 1);
  const changes = await documents.changes(from, limit);
  const found = await Promise.all(
    changes.map(async ({ seq, kind, id, revision }) => {
      const known = revision > 0 ? KINDS.get(kind) : undefined;
      const written = known && (await revisionOf<Journaled>(documents, { kind: known, id, revision }));
      return written ? eventsOf(seq, id, { revision, body: written.body }) : [];
    }),
  );
  const last = changes.at(-1)?.seq;
  return {
    events: found.flat().filter(({ seq }) => seq > after),
    upTo: last === undefined ? after : Math.max(after, last * EVENTS_PER_CHANGE + EVENTS_PER_CHANGE - 1),
    atEnd: changes.length < limit,
  };
}

function eventsOf(change: number, id: string, { revision, body }: { revision: number; body: Journaled }): FeedEvent[] {
  const { tenant, journal } = body;
  const did = typeof body.subject === 'string' ? body.subject : typeof body.did === 'string' ? body.did : id;
  return journal.events.slice(0, EVENTS_PER_CHANGE).map(({ type, data }, at) => ({
    seq: change * EVENTS_PER_CHANGE + at,
    tenant,
    type,
    did,
    revision,
    at: isoTime(journal.at),
    by: journal.by,
    data,
  }));
}

/** Whether the feed has come as far as this number: one that it never gave out belongs to another store. */
export async function hasReached(documents: DocumentStore, seq: number): Promise<boolean> {
  const change = Math.floor(seq / EVENTS_PER_CHANGE);
  return change === 0 || (await documents.changes(change - 1, 1)).length > 0;
}

/** The number after which only what happens from now on comes. */
export async function endOfFeed(documents: DocumentStore): Promise<number> {
  return (await documents.lastChange()) * EVENTS_PER_CHANGE + EVENTS_PER_CHANGE - 1;
}
