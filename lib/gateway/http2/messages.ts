// The frame around each message of gRPC: one byte that says whether it is compressed, four bytes of length.

import type { Piece } from './frame-reader.ts';

/** Bytes before each message. */
export const MESSAGE_HEAD = 5;

/** Bytes for which room is made before any of them has come; then room grows with what comes. */
const ROOM_BYTES = 65_536;

/** Bytes of a page, which messages share that are no longer than a part of it. */
const PAGE_BYTES = 65_536;
const SHARED_BYTES = 16_384;

export type MessageTrouble = 'compressed' | 'malformed' | 'too large';

const NOTHING = Buffer.alloc(0);

/**
 * Cuts bytes into messages and gives each to `user`, in memory that nobody else writes. A message that announces more than `maxBytes`
 * is refused by its head, before it is held. Compressed ones are refused: this side tells the node that it takes none.
 */
export class MessageReader {
  readonly #user: { message(bytes: Buffer): void };
  readonly #maxBytes: number;
  #headBytes = 0;
  #size = 0;
  #message: Buffer = NOTHING;
  #filled = 0;

  constructor(maxBytes: number, user: { message(bytes: Buffer): void }) {
    this.#maxBytes = maxBytes;
    this.#user = user;
  }

  /** Whether bytes of an unfinished message have come. */
  get isAmid(): boolean {
    return this.#headBytes > 0;
  }

  /** Takes bytes as they come; the first trouble ends the reading: call it no more. */
  write({ bytes, from, to }: Piece): MessageTrouble | undefined {
    let at = from;
    while (at < to) {
      while (this.#headBytes < MESSAGE_HEAD && at < to) {
        const found = this.#head(bytes[at++]!);
        if (found) return found;
      }
      if (this.#headBytes < MESSAGE_HEAD) break;
      const count = Math.min(this.#size - this.#filled, to - at);
      this.#grow(count);
      this.#filled += bytes.copy(this.#message, this.#filled, at, at + count);
      at += count;
      if (this.#filled === this.#size) this.#give();
    }
    return undefined;
  }

  #head(byte: number): MessageTrouble | undefined {
    if (this.#headBytes++ === 0) {
      this.#size = 0;
      return byte === 0 ? undefined : byte === 1 ? 'compressed' : 'malformed';
    }
    this.#size = this.#size * 256 + byte;
    return this.#size > this.#maxBytes ? 'too large' : undefined;
  }

  /** Memory is taken for what came, not for what was announced. */
  #grow(count: number): void {
    const needed = this.#filled + count;
    if (needed <= this.#message.length) return;
    const room = Math.min(this.#size, Math.max(needed, ROOM_BYTES, this.#message.length * 2));
    const larger = memory(room);
    this.#message.copy(larger, 0, 0, this.#filled);
    this.#message = larger;
  }

  #give(): void {
    const message = this.#message;
    this.#message = NOTHING;
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
