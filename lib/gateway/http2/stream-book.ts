// Which streams of a connection run, which wait for their turn, and what is known of those that ended.

import { LIMITS } from '../../limits.ts';
import { STREAM_MAX } from './codes.ts';
import type { Stream } from './stream.ts';

export class StreamBook {
  readonly running = new Map<number, Stream>();
  /** In their order. */
  readonly waiting = new Set<Stream>();
  /** Those that ended before their time, and who ended them; of the last ones only. */
  readonly #broken = new Map<number, 'node' | 'us'>();
  #next = 1;

  /** Whether all numbers are used up. */
  get isSpent(): boolean {
    return this.#next > STREAM_MAX;
  }

  get isEmpty(): boolean {
    return this.running.size === 0 && this.waiting.size === 0;
  }

  /** Gives a stream its number. */
  begin(stream: Stream): void {
    stream.id = this.#next;
    this.#next += 2;
    this.running.set(stream.id, stream);
  }

  /** Forgets a stream; `brokenBy` when not both sides had come to their end. */
  end(stream: Stream, brokenBy?: 'node' | 'us'): void {
    stream.isOver = true;
    this.running.delete(stream.id);
    this.waiting.delete(stream);
    if (!brokenBy || !stream.id) return;
    this.#broken.set(stream.id, brokenBy);
    if (this.#broken.size > LIMITS.grpcBrokenKept)
      for (const [oldest] of this.#broken) return void this.#broken.delete(oldest);
  }

  /** Whether no stream with this number was ever begun: the node itself begins none. */
  isIdle(id: number): boolean {
    return id % 2 === 0 || id >= this.#next;
  }

  /** Who ended a stream that runs no more. */
  brokenBy(id: number): 'node' | 'us' | undefined {
    return this.#broken.get(id);
  }
}
