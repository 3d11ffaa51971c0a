// The frame around each message of gRPC: one byte that says whether it is compressed, four bytes of length.

import type { ByteBudget } from '../../channel/byte-budget.ts';
import type { Piece } from '../frame-reader.ts';

/** Bytes before each message. */
export const MESSAGE_HEAD = 5;

/** Bytes for which room is made before any of them has come; then room grows with what comes, out of the budget. */
const ROOM_BYTES = 65_536;

/** Bytes of a page, which messages share that are no longer than a part of it. */
const PAGE_BYTES = 65_536;
const SHARED_BYTES = 16_384;

export type MessageTrouble = 'compressed' | 'malformed' | 'too large' | 'crowded';

export interface MessageUser {
  /** Whether it takes no more messages for now. */
  readonly isPaused: boolean;
  message(bytes: Buffer): void;
}

const NOTHING = Buffer.alloc(0);

/**
 * Cuts bytes into messages and gives each to `user`, in memory that nobody else writes. A message that announces more than `maxBytes`
 * is refused by its head, before it is held; one for which the budget has no room, when it grows. Compressed ones are
 * refused: this side tells the node that it takes none.
 */
export class MessageReader {
  readonly #user: MessageUser;
  readonly #maxBytes: number;
  readonly #budget: ByteBudget;
  #headBytes = 0;
  #size = 0;
  #message: Buffer = NOTHING;
  #filled = 0;
  /** Bytes of the budget. */
  #taken = 0;

  constructor({ maxBytes, budget }: { maxBytes: number; budget: ByteBudget }, user: MessageUser) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
    this.#user = user;
  }

  /** Whether bytes of an unfinished message have come. */
  get isAmid(): boolean {
    return this.#headBytes > 0;
  }

  /**
   * Takes bytes as they come, off the beginning of the piece, until the user pauses. The first trouble ends the reading:
   * call it no more.
   */
  write(piece: Piece): MessageTrouble | undefined {
    const { bytes, to } = piece;
    let at = piece.from;
    while (at < to && !this.#user.isPaused) {
      while (this.#headBytes < MESSAGE_HEAD && at < to) {
        const found = this.#head(bytes[at++]!);
        if (found) return found;
      }
      if (this.#headBytes < MESSAGE_HEAD) break;
      const count = Math.min(this.#size - this.#filled, to - at);
      if (!this.#grow(count)) return 'crowded';
      this.#filled += bytes.copy(this.#message, this.#filled, at, at + count);
      at += count;
      if (this.#filled === this.#size) this.#give();
    }
    piece.from = at;
    return undefined;
  }

  /** Drops what came of a message. */
  drop(): void {
    this.#message = NOTHING;
    this.#budget.give(this.#taken);
    this.#taken = 0;
  }

  #head(byte: number): MessageTrouble | undefined {
    if (this.#headBytes++ === 0) {
      this.#size = 0;
      return byte === 0 ? undefined : byte === 1 ? 'compressed' : 'malformed';
    }
    this.#size = this.#size * 256 + byte;
    return this.#size > this.#maxBytes ? 'too large' : undefined;
  }

  /** Memory is taken for what came, not for what was announced; false when there is none left. */
  #grow(count: number): boolean {
    const needed = this.#filled + count;
    const { length } = this.#message;
    if (needed <= length) return true;
    const room = Math.min(this.#size, Math.max(needed, ROOM_BYTES, length * 2));
    if (room > ROOM_BYTES) {
      if (!this.#budget.take(room - this.#taken)) return false;
      this.#taken = room;
    }
    const larger = memory(room);
    this.#message.copy(larger, 0, 0, this.#filled);
    this.#message = larger;
    return true;
  }

  #give(): void {
    const message = this.#message;
    this.drop();
    this.#headBytes = 0;
    this.#filled = 0;
    this.#user.message(message);
  }
}

let page = Buffer.allocUnsafeSlow(PAGE_BYTES);
let taken = 0;

/** Memory of its own for each message would cost more than all the rest of a call. Who keeps a message keeps its page. */
function memory(bytes: number): Buffer {
  if (bytes > SHARED_BYTES) return Buffer.allocUnsafeSlow(bytes);
  if (taken + bytes > PAGE_BYTES) {
    page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    taken = 0;
  }
  taken += bytes;
  return page.subarray(taken - bytes, taken);
}
