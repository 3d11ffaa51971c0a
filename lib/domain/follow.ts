// Following the feed: one reader of the store per process, however many listen.

import type { Clock } from '../clock.ts';
import { LIMITS } from '../limits.ts';
import type { DocumentStore } from '../store/store.ts';
import { endOfFeed, eventsAfter, type FeedEvent } from './feed.ts';

export interface Feed {
  /**
   * The events of a tenant numbered above `after` (default: those from now on), as they happen, until `signal` aborts.
   * Whoever reads too slowly gets them from the store again and holds nobody else up.
   */
  follow(tenant: string, options: { after?: number; signal: AbortSignal }): AsyncGenerator<FeedEvent>;
  /** Looks for new events now; whoever has just written calls it so that listeners of this process need not wait. */
  nudge(): void;
  close(): void;
}

export interface FeedOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  /** Milliseconds between two looks for what other processes have written. @default 250 */
  readonly pollMs?: number;
  readonly onProblem?: (error: unknown) => void;
}

export function feed({ documents, clock, pollMs = 250, onProblem = () => {} }: FeedOptions): Feed {
  const closing = new AbortController();
  let followers = 0;
  let wake = new AbortController();
  // Resolves when there may be something new; made anew each time.
  let news = signalled();
  let polling = false;

  async function poll(): Promise<void> {
    polling = true;
    let last = await endOfFeed(documents).catch(() => 0);
    while (followers > 0 && !closing.signal.aborted) {
      try {
        const page = await eventsAfter(documents, last, 1);
        if (page.upTo > last) {
          last = page.atEnd ? page.upTo : Math.max(page.upTo, await endOfFeed(documents));
          const told = news;
          news = signalled();
          told.tell();
        }
      } catch (error) {
        onProblem(error);
      }
      wake = new AbortController();
      await clock.wait(pollMs, AbortSignal.any([wake.signal, closing.signal]));
    }
    polling = false;
  }

  async function* follow(
    tenant: string,
    { after, signal }: { after?: number; signal: AbortSignal },
  ): AsyncGenerator<FeedEvent> {
    const ended = AbortSignal.any([signal, closing.signal]);
    const end = aborted(ended);
    followers++;
    if (!polling) void poll();
    try {
      let at = after ?? (await endOfFeed(documents));
      while (!ended.aborted) {
        const next = news;
        const page = await eventsAfter(documents, at, LIMITS.feedPage);
        for (const event of page.events) if (event.tenant === tenant) yield event;
        at = page.upTo;
        if (page.atEnd) await Promise.race([next.told, end]);
      }
    } finally {
      followers--;
    }
  }

  return {
    follow,
    nudge: () => wake.abort(),
    close: () => closing.abort(),
  };
}

function signalled() {
  let tell = () => {};
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { told, tell };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
