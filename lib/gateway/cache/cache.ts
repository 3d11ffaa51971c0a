// Answers that are kept in memory for as long as they are true, and one call for all who ask the same at the same time.

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../clock.ts';
import { requireGiven } from '../../given.ts';
import { Stop, type StopSignal } from '../channel/channel.ts';
import type { Metadata } from '../channel/metadata.ts';
import { GATEWAY_LIMITS } from '../limits.ts';

/** What makes two calls the same. */
export interface CacheKey {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly request: Uint8Array;
  /** The height that was asked for, as it came; absent, empty or `0`: the latest. */
  readonly height?: string | undefined;
  /** Everything else that goes to the node, in a fixed order: the forwarded headers. */
  readonly forwarded?: Metadata;
  /** What tells running calls apart whose answers are the same, such as a deadline of its own that is sent to the node. */
  readonly apart?: string;
}

/** Options of `openCache`. */
export interface CacheOptions<T> {
  /** Milliseconds that an answer of the latest height is kept at most; 0 keeps none, and calls are shared all the same. */
  readonly ttlMs: number;
  /** Bytes of all that is kept. */
  readonly maxBytes: number;
  /** Bytes of one answer. */
  countBytes(answer: T): number;
  /** Whether it may be kept: never an error. */
  isKept(answer: T): boolean;
  /** The height of the chain that came with it. */
  readHeight(answer: T): string | undefined;
  readonly clock?: Clock;
}

/** How one caller waits. */
export interface CallerWait {
  /** Milliseconds that this caller waits. */
  readonly deadlineMs: number;
  readonly signal?: StopSignal;
}

/** An answer and where it came from, or why there is none. */
export type CacheResult<T> =
  | { readonly kind: 'answer'; readonly answer: T; readonly from: 'cache' | 'node' | 'shared' }
  /** The deadline of the caller passed, the caller left, or too many wait already. */
  | { readonly kind: 'late' | 'left' | 'full' };

type Load<T> = (signal: StopSignal) => Promise<T>;

/** Answers of the node that are given again for a while. */
export interface AnswerCache<T> {
  /**
   * The kept answer, or what `load` gives. All who ask for the same key while one `load` runs share it; each has a deadline
   * of its own, and when the last one has left, the signal of `load` aborts. Rejects with what `load` throws.
   */
  answer(key: CacheKey, waiting: CallerWait, load: Load<T>): Promise<CacheResult<T>>;
  stats(): CacheStats;
  clear(): void;
}

export interface CacheStats {
  readonly entries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
  /** Callers who joined a call of another one. */
  readonly shared: number;
  /** The largest height that was seen. */
  readonly height: number;
}

interface CacheEntry<T> {
  readonly answer: T;
  /** For an answer of the latest height: the height known when it came. */
  readonly of: number | undefined;
}

// What an entry costs besides its key and its bytes.
const ENTRY_BYTES = 256;

/**
 * Opens a cache, empty. A new height in any kept answer makes all answers of the latest height untrue.
 * @example
 * const cache = openCache<string>({
 *   ttlMs: 1_000,
 *   maxBytes: 1_048_576,
 *   countBytes: (answer) => answer.length,
 *   isKept: () => true,
 *   readHeight: () => undefined,
 * });
 * const key = { path: '/demo.Library/Get', request: new Uint8Array() };
 * await cache.answer(key, { deadlineMs: 500 }, async () => 'one'); // → { kind: 'answer', answer: 'one', from: 'node' }
 * await cache.answer(key, { deadlineMs: 500 }, async () => 'two'); // → { kind: 'answer', answer: 'one', from: 'cache' }
 */
export function openCache<T>(options: CacheOptions<T>): AnswerCache<T> {
  requireGiven('open a cache', options, { countBytes: 'function', isKept: 'function', readHeight: 'function' });
  const { ttlMs, maxBytes, countBytes, isKept, readHeight, clock = systemClock } = options;
  const kept = new LRUCache<string, CacheEntry<T>>({
    maxSize: Math.max(maxBytes, 1),
    maxEntrySize: Math.max(1, Math.min(maxBytes, GATEWAY_LIMITS.cacheAnswerBytes)),
    sizeCalculation: ({ answer }, key) => countBytes(answer) + key.length + ENTRY_BYTES,
    // Counted from one hour on, for the library takes 0 for "no time".
    perf: { now: () => clock.monotonic() + 3_600_000 },
    ttlResolution: 0,
    ttl: Math.max(ttlMs, 1),
  });
  const calls = new SharedCalls<T>();
  let hits = 0;
  let misses = 0;
  let height = 0;
  let confirmedAt = clock.monotonic();

  function find(key: string): CacheEntry<T> | undefined {
    const entry = kept.get(key);
    if (!entry || entry.of === undefined || entry.of === height) return entry;
    kept.delete(key);
    return undefined;
  }

  function keep(key: string, { answer, isLatest }: { answer: T; isLatest: boolean }): void {
    if (!isKept(answer)) return;
    const answerHeight = parseHeight(readHeight(answer));
    if (answerHeight !== undefined) noteHeight(answerHeight);
    if (!isLatest) kept.set(key, { answer, of: undefined }, { ttl: GATEWAY_LIMITS.cacheHeightMs });
    // One of an older height has been overtaken while it was on its way.
    else if (ttlMs > 0 && (answerHeight === undefined || answerHeight === height))
      kept.set(key, { answer, of: height });
  }

  function noteHeight(seen: number): void {
    const now = clock.monotonic();
    // Heights only grow, unless the chain began anew.
    if (seen < height && now - confirmedAt < GATEWAY_LIMITS.cacheForgetMs) return;
    height = seen;
    confirmedAt = now;
  }

  return {
    answer: async (what, waiting, load) => {
      const isLatest = !what.height || what.height === '0';
      const key = formatKey(what);
      const entry = find(key);
      if (entry) {
        hits++;
        return { kind: 'answer', answer: entry.answer, from: 'cache' };
      }
      misses++;
      // Who knows of a new height does not join a call that began before it.
      const call = `${isLatest ? height : ''}\n${what.apart ?? ''}\n${key}`;
      return calls.join(call, waiting, async (signal) => {
        const answer = await load(signal);
        keep(key, { answer, isLatest });
        return answer;
      });
    },
    stats: () => ({ entries: kept.size, bytes: kept.calculatedSize, hits, misses, shared: calls.joined, height }),
    clear: () => kept.clear(),
  };
}

/**
 * A strong entity tag for a body, with its quotes.
 * @example
 * entityTag(Buffer.from('{}')) === entityTag(Buffer.from('{}')); // → true
 */
export function entityTag(body: Uint8Array): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}

const KEY_BYTES = 512;

// No two keys have the same text: paths and heights hold no NUL, and JSON writes it as an escape.
function formatKey({ path, request, height, forwarded = [] }: CacheKey): string {
  const bytes = Buffer.from(request.buffer, request.byteOffset, request.length);
  const content = bytes.length > KEY_BYTES ? `#${hash('sha256', bytes, 'base64')}` : `=${bytes.toString('latin1')}`;
  const at = height === '0' ? '' : (height ?? '');
  return `${path}\0${JSON.stringify(at)}\0${forwarded.length ? JSON.stringify(forwarded) : ''}\0${content}`;
}

function parseHeight(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined;
  return Number(text);
}

interface RunningCall<T> {
  readonly answer: Promise<T>;
  readonly stop: Stop;
  waiters: number;
}

/** One call for all who ask the same at the same time: each has a deadline of its own, and the last to leave cancels it. */
class SharedCalls<T> {
  /** Callers who joined a call of another one, so far. */
  joined = 0;
  readonly #running = new Map<string, RunningCall<T>>();

  /** Joins the call that runs under this key, or begins it. Rejects with what `load` throws. */
  join(key: string, { deadlineMs, signal }: CallerWait, load: Load<T>): Promise<CacheResult<T>> {
    if (signal?.aborted) return Promise.resolve({ kind: 'left' });
    const other = this.#running.get(key);
    if (other && other.waiters >= GATEWAY_LIMITS.sharedWaiters) return Promise.resolve({ kind: 'full' });
    if (other) this.joined++;
    const call = other ?? this.#begin(key, load);
    call.waiters++;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const leave = (kind: 'late' | 'left') => {
        end();
        resolve({ kind });
        this.#leave(key, call);
      };
      const abort = () => leave('left');
      const timer = setTimeout(() => leave('late'), deadlineMs);
      signal?.addEventListener('abort', abort, { once: true });
      call.answer.then(
        (answer) => {
          end();
          resolve({ kind: 'answer', answer, from: other ? 'shared' : 'node' });
        },
        (error) => {
          end();
          reject(error);
        },
      );
    });
  }

  #begin(key: string, load: Load<T>): RunningCall<T> {
    const stop = new Stop();
    const call: RunningCall<T> = { answer: load(stop), stop, waiters: 0 };
    this.#running.set(key, call);
    const forget = () => this.#forget(key, call);
    call.answer.then(forget, forget);
    return call;
  }

  #leave(key: string, call: RunningCall<T>): void {
    if (--call.waiters) return;
    // Later callers begin a new call, and do not get what was cancelled.
    this.#forget(key, call);
    call.stop.abort();
  }

  #forget(key: string, call: RunningCall<T>): void {
    if (this.#running.get(key) === call) this.#running.delete(key);
  }
}
