// The event feed: every change of a twin, protocol or proposal and every issued credit, with permanent numbers. One reader per
// process serves all followers.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import { requireGiven } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore } from '../../store/store.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { isoTime } from '../twin/record.ts';
import { EVENTS_PER_CHANGE, eventNumber, findSubject, type Written, writtenAfter } from './journal.ts';

/** An event as subscribers see it, and its tenant. */
export interface FeedEvent {
  /** Increases in write order; never reused; may have gaps. */
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

/** A page of events. May be empty although the feed was read on. */
export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Continue after this number. */
  readonly upTo: number;
  /** There is nothing beyond `upTo`. */
  readonly atEnd: boolean;
}

/** Milliseconds that pages are shared among readers. */
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

/** Whether the feed has reached this number; a number it never assigned belongs to another store. */
export async function hasReached(documents: DocumentStore, seq: number): Promise<boolean> {
  const change = Math.floor(seq / EVENTS_PER_CHANGE);
  return change === 0 || (await documents.changes(change - 1, 1)).length > 0;
}

/** The current end of the feed. */
export async function endOfFeed(documents: DocumentStore): Promise<number> {
  return eventNumber(await documents.lastChange(), EVENTS_PER_CHANGE - 1);
}

export interface FollowOptions {
  /** Only events numbered above this one. @default those from now on */
  readonly after?: number;
  readonly signal: AbortSignal;
}

/** The events of twins, in order. */
export interface Feed {
  /**
   * Yields a tenant's events as they happen, until `signal` aborts or the feed closes. A slow reader falls back to the store
   * and does not delay others. Rejects when the store fails.
   */
  follow(tenant: string, options: FollowOptions): AsyncGenerator<FeedEvent>;
  /** The same for all tenants, page by page; an empty page reports progress. */
  pages(options: FollowOptions): AsyncGenerator<FeedPage>;
  /** Reads the page after a number, from memory if recent. */
  read(after: number): Promise<FeedPage>;
  /** The current end of the feed. */
  end(): Promise<number>;
  /** Polls now. Call it after a write, so that followers in this process need not wait. */
  nudge(): void;
  /** Ends all followers. */
  close(): void;
}

/** Options of `feed`. */
export interface FeedOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  /** Milliseconds between polls for writes of other processes. @default 250 */
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

/** Reads the past. It never changes, so concurrent readers share aligned pages. */
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

/** Polls for new events while anyone follows. */
function newsWatch(options: FeedOptions, { recent, isFollowed }: Followed) {
  const { documents, clock, pollMs = 250, onProblem = () => {} } = options;
  let polling = false;
  let waking = new AbortController();
  // Resolved and replaced when there are new events.
  let news = makeDeferred();

  async function poll(): Promise<void> {
    polling = true;
    while (isFollowed()) {
      // Nudges from here on are not lost.
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
    // On the first poll there may be events that followers have not seen.
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

/** The most recent events, so that many followers cost one read. */
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
