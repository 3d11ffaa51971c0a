// Followers of logs in one process: they share the wake-ups and the reads of a log, and one timer.

import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { STORE_LIMITS } from '../limits.ts';
import { checkLog, checkRead } from '../log-rules.ts';
import type { FollowOptions, Frame, LogPage, LogStore, ReadOptions } from '../log-store.ts';

export interface FollowSource {
  readonly clock: Pick<Clock, 'now'>;
  readonly read: (log: string, options: Required<ReadOptions>) => Promise<LogPage | undefined>;
  /** Calls `wake` whenever the log may have changed, from when it resolves until what it resolved with is called. */
  readonly watch?: (log: string, wake: () => void) => Promise<() => void>;
  /** For a backend without notifications: asked every `lookMs`, it gives a way to look at logs, or nothing if none changed. */
  readonly look?: () => ((log: string) => LogProgress | undefined) | undefined;
  readonly lookMs?: number;
}

export interface Followers {
  readonly follow: LogStore['follow'];
  /**
   * The log has changed: wakes who waits for it. `page`: the frames after `after` that were just written for good, and where the log
   * ends; those who wait for exactly these need not read them again.
   */
  wakeFollowers(log: string, written?: WrittenFrames): void;
  /** Wakes everybody; the reads of a closed store tell them. */
  close(): void;
}

type LogProgress = Pick<LogPage, 'last' | 'ended' | 'expiresAt'>;

/** Frames as a read would give them. */
export interface WrittenFrames {
  readonly after: number;
  readonly page: LogPage;
}

/** One log that is followed. */
interface Topic {
  readonly log: string;
  followers: number;
  /** Grows with every wake-up, so that a read knows whether it may be older than one. */
  news: number;
  readonly sleeping: Set<() => void>;
  readonly reads: Map<string, SharedRead>;
  watching: Promise<() => void> | undefined;
  seen: LogProgress | undefined;
  /** What the last wake-up was about, if it was about frames written here. */
  written: WrittenFrames | undefined;
}

interface SharedRead {
  readonly news: number;
  readonly page: Promise<LogPage | undefined>;
}

/** Milliseconds between two looks for logs that have expired, and before a store that was away is asked again. */
const LOOK_MS = 500;
const AGAIN_MS = 250;

/** Follows logs of one store. Timers run only while a log is followed. */
export function followers({ clock, read, watch, look, lookMs = LOOK_MS }: FollowSource): Followers {
  const topics = new Map<string, Topic>();
  const failures = new Set<Topic>();
  let looking: NodeJS.Timeout | undefined;
  let again: NodeJS.Timeout | undefined;
  let isClosed = false;

  function join(log: string): Topic {
    const fresh = { log, followers: 0, news: 0, sleeping: new Set<() => void>(), reads: new Map() };
    const topic = topics.get(log) ?? { ...fresh, watching: undefined, seen: undefined, written: undefined };
    topics.set(log, topic);
    topic.followers++;
    looking ??= setInterval(lookAround, lookMs);
    return topic;
  }

  function leave(topic: Topic): void {
    topic.followers--;
    if (topic.followers > 0) return;
    topics.delete(topic.log);
    topic.watching?.then((stop) => stop()).catch(() => {});
    if (topics.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  }

  function wake(topic: Topic, written?: WrittenFrames): void {
    topic.news++;
    topic.written = written;
    const sleeping = [...topic.sleeping];
    topic.sleeping.clear();
    for (const rise of sleeping) rise();
  }

  // A store that cannot be looked at tells so to those who read it: no error may leave a timer.
  function lookAround(): void {
    try {
      wakeThoseWithNews();
    } catch {
      for (const topic of topics.values()) wake(topic);
    }
  }

  function wakeThoseWithNews(): void {
    const now = clock.now();
    const find = look?.();
    for (const topic of topics.values()) {
      const { seen, log } = topic;
      if (seen === undefined) continue;
      const head = find ? find(log) : seen;
      const same = head?.last === seen.last && head.ended === seen.ended && head.expiresAt === seen.expiresAt;
      if (!same || seen.expiresAt <= now) wake(topic);
    }
  }

  // Followers that are equally far share one read; one that began before a wake-up is not good enough to sleep on.
  function share(topic: Topic, options: Required<ReadOptions>): SharedRead {
    const place = `${options.after}/${options.limit}`;
    const under = topic.reads.get(place);
    if (under) return under;
    const page = findWritten(topic, options) ?? watchTopic(topic).then(() => read(topic.log, options));
    const reading: SharedRead = { news: topic.news, page };
    const done = () => void topic.reads.delete(place);
    topic.reads.set(place, reading);
    reading.page.then((page) => {
      topic.seen = page;
      done();
    }, done);
    return reading;
  }

  function findWritten({ written }: Topic, { after, limit }: Required<ReadOptions>): Promise<LogPage> | undefined {
    if (written?.after !== after || written.page.frames.length > limit || isClosed) return undefined;
    return written.page.expiresAt > clock.now() ? Promise.resolve(written.page) : undefined;
  }

  function watchTopic(topic: Topic): Promise<unknown> {
    if (!watch) return Promise.resolve();
    if (topic.watching) return topic.watching;
    const watching = watch(topic.log, () => wake(topic));
    watching.catch(() => {
      topic.watching = undefined;
    });
    topic.watching = watching;
    return watching;
  }

  // One timer for all: readers whose read failed are woken to try again.
  function wakeLater(topic: Topic): void {
    failures.add(topic);
    again ??= setTimeout(() => {
      again = undefined;
      const woken = [...failures];
      failures.clear();
      for (const one of woken) wake(one);
    }, AGAIN_MS);
  }

  async function* follow(log: string, options: FollowOptions = {}): AsyncGenerator<readonly Frame[]> {
    checkLog(log);
    const { signal } = options;
    const { limit } = checkRead(options);
    let { after = 0 } = options;
    const topic = join(log);
    const sleeper = makeSleeper(topic, signal);
    let awaySince: number | undefined;
    try {
      while (!signal?.aborted) {
        const shared = share(topic, { after, limit });
        const page = await shared.page.catch(away);
        if (signal?.aborted) return;
        if (page === 'away') {
          await sleeper.sleep();
          continue;
        }
        awaySince = undefined;
        if (!page) throw gone(log);
        if (page.frames.length) {
          yield page.frames;
          after = page.frames.at(-1)!.n;
        } else if (page.ended) return;
        else if (topic.news === shared.news) await sleeper.sleep();
      }
    } finally {
      sleeper.close();
      leave(topic);
    }

    function away(error: unknown): 'away' {
      awaySince ??= performance.now();
      const patient = performance.now() - awaySince < STORE_LIMITS.followPatienceMs;
      if (isClosed || !patient || !(error instanceof TwinlineError && error.retry)) throw error;
      wakeLater(topic);
      return 'away';
    }
  }

  return {
    follow,
    wakeFollowers(log, written) {
      const topic = topics.get(log);
      if (topic) wake(topic, written);
    },
    close() {
      isClosed = true;
      clearTimeout(again);
      for (const topic of topics.values()) wake(topic);
    },
  };
}

// A follower's place to wait: until the log is woken, or the follower's signal aborts.
function makeSleeper(topic: Topic, signal: AbortSignal | undefined) {
  let rise = () => {};
  const onAbort = () => rise();
  signal?.addEventListener('abort', onAbort);
  return {
    sleep: () =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) return resolve();
        rise = resolve;
        topic.sleeping.add(resolve);
      }),
    close(): void {
      topic.sleeping.delete(rise);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

function gone(log: string): TwinlineError {
  return new TwinlineError(
    'ERR_NOT_FOUND',
    `The log "${log}" cannot be followed: it was never opened, or has expired or been removed. Look at its run.`,
  );
}
