// The feed of events: every change of a twin, protocol or proposal and every credit, numbered for good. One reader of the
// store per process serves all who follow it.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import { requireGiven } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore } from '../../store/store.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { isoTime } from '../twin/record.ts';
import { EVENTS_PER_CHANGE, eventNumber, findSubject, type Written, writtenAfter } from './journal.ts';

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

/** Milliseconds; those who follow one another at this distance read for themselves. */
const PAGE_KEPT_MS = 10_000;

/**
 * The events numbered above `after`, of all tenants, out of the next `limit` changes of the store.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * await eventsAfter(documents, 0, 100); // → { events: [], upTo: 0, atEnd: true }
 */
export async function eventsAfter(documents: DocumentStore, after: number, limit: number): Promise<FeedPage> {
  const { written, last, atEnd } = await writtenAfter(documents, changeBefore(after), limit);
  return {
    events: written.flatMap(listEvents).filter(({ seq }) => seq > after),
    upTo: last === undefined ? after : Math.max(after, eventNumber(last, EVENTS_PER_CHANGE - 1)),
    atEnd,
  };
}

/** The last change of which every event is numbered up to `after`. */
function changeBefore(after: number): number {
  return Math.max(0, Math.floor((after + 1) / EVENTS_PER_CHANGE) - 1);
}

function listEvents({ seq, id, revision, body }: Written): FeedEvent[] {
  const { tenant, journal } = body;
  return journal.events.slice(0, EVENTS_PER_CHANGE).map(({ type, data }, at) => ({
    seq: eventNumber(seq, at),
    tenant,
    type,
    did: findSubject(id, body),
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
  return eventNumber(await documents.lastChange(), EVENTS_PER_CHANGE - 1);
}

export interface FollowOptions {
  /** Only events numbered above this one. @default those from now on */
  readonly after?: number;
  readonly signal: AbortSignal;
}

/** What has happened to the twins of a tenant, in order. */
export interface Feed {
  /**
   * The events of a tenant, as they happen, until `signal` aborts or the feed is closed. A slow reader gets
   * them from the store again and does not delay others. Rejects when the store refuses.
   */
  follow(tenant: string, options: FollowOptions): AsyncGenerator<FeedEvent>;
  /** The same for the events of all tenants, page by page: an empty page tells how far the feed was read. */
  pages(options: FollowOptions): AsyncGenerator<FeedPage>;
  /** What comes next after a number: from memory when it is recent. */
  read(after: number): Promise<FeedPage>;
  /** The number after which only what happens from now on comes. */
  end(): Promise<number>;
  /** Looks for new events now. Call it after a write, so that followers in this process need not wait for the poll. */
  nudge(): void;
  /** Ends everything that follows. */
  close(): void;
}

/** Options of `feed`. */
export interface FeedOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  /** Milliseconds between two looks for what other processes have written. @default 250 */
  readonly pollMs?: number;
  readonly onProblem?: (error: unknown) => void;
}

/**
 * Opens the feed of events over a store of documents.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const events = feed({ documents, clock: systemClock });
 * (await events.read(0)).events; // → []
 * events.close();
 */
export function feed(options: FeedOptions): Feed {
  requireGiven('follow changes', options, { documents: 'documents', clock: 'clock' });
  const { documents } = options;
  const recent = recentEvents();
  const readPast = pastReader(documents);
  const read = async (after: number): Promise<FeedPage> => recent.after(after) ?? readPast(after);
  const ends = new Set<() => void>();
  const watch = newsWatch(options, { recent, isFollowed: () => ends.size > 0 });
  let closed = false;

  async function* pages({ after, signal }: FollowOptions): AsyncGenerator<FeedPage> {
    const end = makeDeferred();
    const stop = () => {
      ends.delete(end.send);
      end.send();
    };
    if (closed || signal.aborted) return;
    ends.add(end.send);
    signal.addEventListener('abort', stop, { once: true });
    watch.begin();
    try {
      let at = after ?? (await endOfFeed(documents));
      while (ends.has(end.send)) {
        const news = watch.next();
        const page = await read(at);
        if (page.upTo > at) yield page;
        at = page.upTo;
        if (page.atEnd) await Promise.race([news, end.sent]);
      }
    } finally {
      stop();
      signal.removeEventListener('abort', stop);
    }
  }

  return {
    pages,
    read,
    end: () => endOfFeed(documents),
    async *follow(tenant, options) {
      for await (const { events } of pages(options))
        for (const event of events) {
          if (closed || options.signal.aborted) return;
          if (event.tenant === tenant) yield event;
        }
    },
    nudge: watch.wake,
    close: () => {
      closed = true;
      const ended = [...ends];
      ends.clear();
      for (const end of ended) end();
      watch.wake();
    },
  };
}

/** Reads the past, which never changes: readers share its pages, which begin at the same changes for all. */
function pastReader(documents: DocumentStore): (after: number) => Promise<FeedPage> {
  const pages = new LRUCache<number, Promise<FeedPage>>({ max: DOMAIN_LIMITS.feedPagesKept, ttl: PAGE_KEPT_MS });
  return (after) => {
    const shared = pages.get(after);
    if (shared) return shared;
    const limit = DOMAIN_LIMITS.feedPage - (changeBefore(after) % DOMAIN_LIMITS.feedPage);
    const reading = eventsAfter(documents, after, limit);
    pages.set(after, reading);
    const forget = () => void pages.delete(after);
    reading.then((page) => page.atEnd && forget(), forget);
    return reading;
  };
}

interface Followed {
  readonly recent: ReturnType<typeof recentEvents>;
  readonly isFollowed: () => boolean;
}

/** Looks for new events as long as somebody follows. */
function newsWatch(options: FeedOptions, { recent, isFollowed }: Followed) {
  const { documents, clock, pollMs = 250, onProblem = () => {} } = options;
  let polling = false;
  let waking = new AbortController();
  // Resolves when there is something new; made anew each time.
  let news = makeDeferred();

  async function poll(): Promise<void> {
    polling = true;
    while (isFollowed()) {
      // A nudge from here on is not lost.
      waking = new AbortController();
      const more = await look().catch((error: unknown) => {
        if (isFollowed()) onProblem(error);
        return false;
      });
      if (!more && isFollowed()) await clock.wait(pollMs, waking.signal);
    }
    polling = false;
    recent.forget();
  }

  async function look(): Promise<boolean> {
    const upTo = recent.upTo();
    const at = upTo ?? (await endOfFeed(documents));
    const page = await eventsAfter(documents, at, DOMAIN_LIMITS.feedPage);
    // At the first look: something may have happened since the followers read.
    if (recent.add(at, page) || upTo === undefined) {
      const before = news;
      news = makeDeferred();
      before.send();
    }
    return !page.atEnd;
  }

  return {
    begin(): void {
      if (!polling) void poll();
    },
    /** Resolves when there are new events. */
    next: (): Promise<void> => news.sent,
    wake: () => waking.abort(),
  };
}

/** The last events that were read, so that many listeners cost one reading. */
function recentEvents() {
  // Everything numbered above `from` and up to `to` is in `events`.
  let events: FeedEvent[] = [];
  let from: number | undefined;
  let to: number | undefined;
  return {
    upTo: () => to,
    /** What was read after `at`; whether anything is new. */
    add(at: number, page: FeedPage): boolean {
      from ??= at;
      const isNew = page.upTo > (to ?? at);
      to = page.upTo;
      events.push(...page.events);
      const surplus = events.length - DOMAIN_LIMITS.feedKept;
      if (surplus > 0) {
        from = events[surplus - 1]!.seq;
        events = events.slice(surplus);
      }
      return isNew;
    },
    after(at: number): FeedPage | undefined {
      if (from === undefined || to === undefined || at < from) return undefined;
      let first = events.length;
      while (first > 0 && events[first - 1]!.seq > at) first--;
      return { events: events.slice(first), upTo: Math.max(at, to), atEnd: true };
    },
    forget() {
      events = [];
      from = undefined;
      to = undefined;
    },
  };
}

/** A promise with the function that resolves it. */
function makeDeferred() {
  let send = () => {};
  const sent = new Promise<void>((resolve) => {
    send = resolve;
  });
  return { sent, send };
}
