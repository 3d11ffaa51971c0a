// Bytes of an answer that came while its reader was paused, in one piece.

import type { ByteBudget } from '../../channel/byte-budget.ts';
import type { Piece } from '../frame-reader.ts';

const FIRST_BYTES = 16_384;

/** As many as the window of a stream allows: a frame of few bytes costs no more than these. */
export class HeldBytes implements Piece {
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  from = 0;
  to = 0;
  readonly #budget: ByteBudget;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Adds a copy of the piece; false when the budget has no room for it. */
  add({ bytes, from, to }: Piece): boolean {
    if (this.to + to - from > this.bytes.length && !this.#makeRoom(to - from)) return false;
    this.to += bytes.copy(this.bytes, this.to, from, to);
    return true;
  }

  /** Gives the memory back; nothing is added after it. */
  drop(): void {
    this.#budget.give(this.bytes.length - FIRST_BYTES);
  }

  /** Moves what is left to the beginning, of more memory when it fills half of this. */
  #makeRoom(count: number): boolean {
    const left = this.to - this.from;
    const { length } = this.bytes;
    const room = (left + count) * 2 > length ? Math.max(left + count, length * 2) : length;
    if (!this.#budget.take(room - length)) return false;
    const larger = Buffer.allocUnsafeSlow(room);
    this.bytes.copy(larger, 0, this.from, this.to);
    this.bytes = larger;
    this.from = 0;
    this.to = left;
    return true;
  }
}
