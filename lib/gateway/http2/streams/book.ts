// Which streams of a connection run, which wait for their turn, and what is known of those that ended.

import { LRUCache } from 'lru-cache';
import { LIMITS } from '../../../limits.ts';
import { STREAM_MAX } from '../codes.ts';
import type { Stream } from './stream.ts';

export class StreamBook {
  /** In their order. */
  readonly waiting = new Set<Stream>();
  /**
   * Each at the place that its number says. A Map would keep half of all calls from the garbage collector for long: a
   * table that it has outgrown goes on to hold what it held then.
   */
  readonly #places: (Stream | undefined)[] = new Array(LIMITS.grpcStreamsAtOnce).fill(undefined);
  /** Those that ended before their time, and who ended them; of the last ones only. */
  readonly #broken = new LRUCache<number, 'node' | 'us'>({ max: LIMITS.grpcBrokenKept });
  #running = 0;
  #next = 1;

  /** How many run. */
  get running(): number {
    return this.#running;
  }

  /** Whether the numbers are used up, but for those that may have to be left out. */
  get isSpent(): boolean {
    return this.#next > STREAM_MAX - 2 * LIMITS.grpcStreamsAtOnce;
  }

  get isEmpty(): boolean {
    return this.#running === 0 && this.waiting.size === 0;
  }

  /** The stream of this number, if it runs. */
  get(id: number): Stream | undefined {
    const stream = this.#places[placeOf(id)];
    return stream?.id === id ? stream : undefined;
  }

  /** All that run. */
  all(): Stream[] {
    return this.#places.filter((stream) => stream !== undefined);
  }

  /** Gives a stream its number; there is room for it. Numbers whose place is taken by one that lasts are left out. */
  begin(stream: Stream): void {
    while (this.#places[placeOf(this.#next)]) this.#next += 2;
    stream.id = this.#next;
    this.#next += 2;
    this.#places[placeOf(stream.id)] = stream;
    this.#running++;
  }

  /** Forgets a stream; `brokenBy` when not both sides had come to their end. */
  end(stream: Stream, brokenBy?: 'node' | 'us'): void {
    stream.isOver = true;
    if (stream.id) {
      this.#places[placeOf(stream.id)] = undefined;
      this.#running--;
    } else this.waiting.delete(stream);
    if (brokenBy && stream.id) this.#broken.set(stream.id, brokenBy);
  }

  /** Whether no stream with this number was ever begun: the node itself begins none. */
  isIdle(id: number): boolean {
    return id % 2 === 0 || id >= this.#next;
  }

  /** Who ended a stream that runs no more. */
  brokenBy(id: number): 'node' | 'us' | undefined {
    return this.#broken.peek(id);
  }
}

function placeOf(id: number): number {
  return ((id - 1) / 2) % LIMITS.grpcStreamsAtOnce;
}
