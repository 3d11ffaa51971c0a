// An in-memory cache of replies, kept while they are valid, that also coalesces identical concurrent calls.

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../clock.ts';
import { requireGiven } from '../../given.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { Stop, type StopSignal } from './channel.ts';
import type { Metadata } from './metadata.ts';

/** Identifies a call. */
export interface CacheKey {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly request: Uint8Array;
  /** The requested height, verbatim; absent, empty or `0` means the latest. */
  readonly height?: string | undefined;
  /** Everything else sent to the node, in a fixed order: the forwarded headers. */
  readonly forwarded?: Metadata;
  /** Separates running calls that have the same reply, such as by a deadline that is sent to the node. */
  readonly apart?: string;
}

/** Options of `openCache`. */
export interface CacheOptions<T> {
  /** How long a reply for the latest height is kept at most, in milliseconds; 0 caches none but still coalesces calls. */
  readonly ttlMs: number;
  /** Total bytes of the cache. */
  readonly maxBytes: number;
  /** Size of a reply in bytes. */
  countBytes(answer: T): number;
  /** Whether a reply may be cached: never for an error. */
  isKept(answer: T): boolean;
  /** The chain height of a reply. */
  readHeight(answer: T): string | undefined;
  readonly clock?: Clock;
}

/** How a caller waits. */
export interface CallerWait {
  /** Milliseconds that this caller waits. */
  readonly deadlineMs: number;
  readonly signal?: StopSignal;
}

/** A reply and its source, or why there is none. */
export type CacheResult<T> =
  | { readonly kind: 'answer'; readonly answer: T; readonly from: 'cache' | 'node' | 'shared' }
  /** The caller's deadline passed, the caller left, or too many callers are waiting. */
  | { readonly kind: 'late' | 'left' | 'full' };

type Load<T> = (signal: StopSignal) => Promise<T>;

/** A cache of replies from the node. */
export interface AnswerCache<T> {
  /**
   * Returns the cached reply or the result of `load`. Concurrent callers with the same key share one `load`; each has its own
   * deadline, and when the last one leaves, the signal of `load` aborts. Rejects with the error of `load`.
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
  /** Callers that joined another caller's call. */
  readonly shared: number;
  /** The largest height seen. */
  readonly height: number;
}

interface CacheEntry<T> {
  readonly answer: T;
  /** For a reply at the latest height: the height known when it arrived. */
  readonly of: number | undefined;
}

// Overhead of an entry besides its key and its bytes.
const ENTRY_BYTES = 256;

/**
 * Opens an empty cache. A new height in any cached reply invalidates all replies for the latest height.
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
  const entries = new LRUCache<string, CacheEntry<T>>({
    maxSize: Math.max(maxBytes, 1),
    maxEntrySize: Math.max(1, Math.min(maxBytes, GATEWAY_LIMITS.cacheAnswerBytes)),
    sizeCalculation: ({ answer }, key) => countBytes(answer) + key.length + ENTRY_BYTES,
    // Starts at one hour, because lru-cache takes 0 for "no time".
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
    const entry = entries.get(key);
    if (!entry || entry.of === undefined || entry.of === height) return entry;
    entries.delete(key);
    return undefined;
  }

  function keep(key: string, { answer, isLatest }: { answer: T; isLatest: boolean }): void {
    if (!isKept(answer)) return;
    const answerHeight = parseHeight(readHeight(answer));
    if (answerHeight !== undefined) noteHeight(answerHeight);
    if (!isLatest) entries.set(key, { answer, of: undefined }, { ttl: GATEWAY_LIMITS.cacheHeightMs });
    // A reply at an older height was overtaken while in flight.
    else if (ttlMs > 0 && (answerHeight === undefined || answerHeight === height))
      entries.set(key, { answer, of: height });
  }

  function noteHeight(seenHeight: number): void {
    const now = clock.monotonic();
    // Heights only grow, unless the chain restarted.
    if (seenHeight < height && now - confirmedAt < GATEWAY_LIMITS.cacheForgetMs) return;
    height = seenHeight;
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
      // A caller that knows a new height must not join a call started before it.
      const call = `${isLatest ? height : ''}\n${what.apart ?? ''}\n${key}`;
      return calls.join(call, waiting, async (signal) => {
        const answer = await load(signal);
        keep(key, { answer, isLatest });
        return answer;
      });
    },
    stats: () => ({ entries: entries.size, bytes: entries.calculatedSize, hits, misses, shared: calls.joined, height }),
    clear: () => entries.clear(),
  };
}

/**
 * A strong ETag for a body, including the quotes.
 * @example
 * entityTag(Buffer.from('{}')) === entityTag(Buffer.from('{}')); // → true
 */
export function entityTag(body: Uint8Array): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
}

const KEY_BYTES = 512;

// Keys are unambiguous: paths and heights contain no NUL, and JSON escapes it.
function formatKey({ path, request, height, forwarded: metadata = [] }: CacheKey): string {
  const bytes = Buffer.from(request.buffer, request.byteOffset, request.length);
  const content = bytes.length > KEY_BYTES ? `#${hash('sha256', bytes, 'base64')}` : `=${bytes.toString('latin1')}`;
  const at = height === '0' ? '' : (height ?? '');
  return `${path}\0${JSON.stringify(at)}\0${metadata.length ? JSON.stringify(metadata) : ''}\0${content}`;
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

/** Coalesces concurrent calls with the same key: each caller has its own deadline, and the last to leave cancels the call. */
class SharedCalls<T> {
  /** Callers that joined another caller's call so far. */
  joined = 0;
  readonly #running = new Map<string, RunningCall<T>>();

  /** Joins the running call with this key, or starts it. Rejects with the error of `load`. */
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
    // Later callers start a new call instead of joining the cancelled one.
    this.#forget(key, call);
    call.stop.abort();
  }

  #forget(key: string, call: RunningCall<T>): void {
    if (this.#running.get(key) === call) this.#running.delete(key);
  }
}
