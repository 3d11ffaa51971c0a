// gRPC's length-prefixed messages: reads those of a reply, sends those of a request, and holds bytes while paused.

import type { ByteBudget } from '../channel/message-stream.ts';
import type { ByteRange } from './protocol.ts';

/** Bytes of a message's prefix: compression flag (1), length (4). */
const PREFIX_BYTES = 5;

/** Bytes reserved before any part of a message arrives; beyond that, memory grows with the data, within the budget. */
const ROOM_BYTES = 65_536;

/** Bytes of a page shared by small messages, and of the largest message that shares one. */
const PAGE_BYTES = 65_536;
const SHARED_BYTES = 16_384;

export type MessageError = 'compressed' | 'malformed' | 'too large' | 'crowded';

export interface MessageHandler {
  /** Whether it accepts no messages for now. */
  readonly isPaused: boolean;
  /** Receives a message, in memory that nothing else writes to. */
  onMessage(bytes: Buffer): void;
}

const NOTHING = Buffer.alloc(0);

/**
 * Splits received bytes into messages. A message longer than `maxBytes` is refused by its prefix, before using memory; one
 * that exceeds the budget, as it grows. Compressed messages are refused, because requests announce no compression.
 */
export class MessageReader {
  readonly #handler: MessageHandler;
  readonly #maxBytes: number;
  readonly #budget: ByteBudget;
  #prefixBytes = 0;
  #size = 0;
  #message: Buffer = NOTHING;
  #filled = 0;
  /** Bytes reserved from the budget. */
  #taken = 0;

  constructor({ maxBytes, budget }: { maxBytes: number; budget: ByteBudget }, handler: MessageHandler) {
    this.#maxBytes = maxBytes;
    this.#budget = budget;
    this.#handler = handler;
  }

  /** Whether a message has arrived in part. */
  get isPartial(): boolean {
    return this.#prefixBytes > 0;
  }

  /** Reads from the start of the range, shortening it, until the handler pauses. Must not be called after an error. */
  write(range: ByteRange): MessageError | undefined {
    const { bytes, to } = range;
    let at = range.from;
    while (at < to && !this.#handler.isPaused) {
      while (this.#prefixBytes < PREFIX_BYTES && at < to) {
        const error = this.#readPrefix(bytes[at++]!);
        if (error) return error;
      }
      if (this.#prefixBytes < PREFIX_BYTES) break;
      const count = Math.min(this.#size - this.#filled, to - at);
      if (!this.#grow(count)) return 'crowded';
      this.#filled += bytes.copy(this.#message, this.#filled, at, at + count);
      at += count;
      if (this.#filled === this.#size) this.#emit();
    }
    range.from = at;
    return undefined;
  }

  /** Frees the memory of a partial message. */
  release(): void {
    this.#message = NOTHING;
    this.#budget.give(this.#taken);
    this.#taken = 0;
  }

  #readPrefix(byte: number): MessageError | undefined {
    if (this.#prefixBytes++ === 0) {
      this.#size = 0;
      return byte === 0 ? undefined : byte === 1 ? 'compressed' : 'malformed';
    }
    this.#size = this.#size * 256 + byte;
    return this.#size > this.#maxBytes ? 'too large' : undefined;
  }

  /** Makes room for received bytes, not for the announced length; false when the budget is exhausted. */
  #grow(count: number): boolean {
    const needed = this.#filled + count;
    const { length } = this.#message;
    if (needed <= length) return true;
    const room = Math.min(this.#size, Math.max(needed, ROOM_BYTES, length * 2));
    if (room > ROOM_BYTES) {
      if (!this.#budget.take(room - this.#taken)) return false;
      this.#taken = room;
    }
    const larger = allocate(room);
    this.#message.copy(larger, 0, 0, this.#filled);
    this.#message = larger;
    return true;
  }

  #emit(): void {
    const message = this.#message;
    this.release();
    this.#prefixBytes = 0;
    this.#filled = 0;
    this.#handler.onMessage(message);
  }
}

let page = Buffer.allocUnsafeSlow(PAGE_BYTES);
let pageUsed = 0;

/**
 * Small messages share a page, because a separate allocation costs more than the rest of a call. A kept message retains its
 * page.
 */
function allocate(bytes: number): Buffer {
  if (bytes > SHARED_BYTES) return Buffer.allocUnsafeSlow(bytes);
  if (pageUsed + bytes > PAGE_BYTES) {
    page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    pageUsed = 0;
  }
  pageUsed += bytes;
  return page.subarray(pageUsed - bytes, pageUsed);
}

/** The messages of a request with their prefixes, written in chunks of any size. */
export class RequestBody {
  /** Bytes not written yet. */
  left = 0;
  readonly #messages: readonly Uint8Array[];
  #nth = 0;
  /** Offset in the current message, including its prefix. */
  #offset = 0;

  constructor(messages: readonly Uint8Array[]) {
    this.#messages = messages;
    for (const { length } of messages) this.left += PREFIX_BYTES + length;
  }

  /** Writes the next `count` bytes, at most `left`. */
  write(target: Buffer, at: number, count: number): void {
    this.left -= count;
    const end = at + count;
    let to = at;
    while (to < end) {
      const message = this.#messages[this.#nth]!;
      if (this.#offset < PREFIX_BYTES) target[to++] = prefixByte(message.length, this.#offset++);
      else {
        const from = this.#offset - PREFIX_BYTES;
        const count = Math.min(message.length - from, end - to);
        target.set(count === message.length ? message : message.subarray(from, from + count), to);
        to += count;
        this.#offset += count;
      }
      if (this.#offset === PREFIX_BYTES + message.length) {
        this.#nth++;
        this.#offset = 0;
      }
    }
  }
}

/** The `nth` prefix byte of an uncompressed message. */
function prefixByte(length: number, nth: number): number {
  return nth === 0 ? 0 : (length >>> (8 * (PREFIX_BYTES - 1 - nth))) & 0xff;
}

const HELD_FIRST_BYTES = 16_384;

/** Bytes of a reply received while its reader was paused, in one buffer: at most a stream's window. */
export class HeldBytes implements ByteRange {
  bytes: Buffer = Buffer.allocUnsafeSlow(HELD_FIRST_BYTES);
  from = 0;
  to = 0;
  readonly #budget: ByteBudget;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Appends a copy; false when the budget is exhausted. */
  add({ bytes, from, to }: ByteRange): boolean {
    if (this.to + to - from > this.bytes.length && !this.#makeRoom(to - from)) return false;
    this.to += bytes.copy(this.bytes, this.to, from, to);
    return true;
  }

  /** Returns the memory to the budget; nothing may be added afterwards. */
  release(): void {
    this.#budget.give(this.bytes.length - HELD_FIRST_BYTES);
  }

  /** Moves unread bytes to the start of a new buffer, twice as large if they fill more than half of this one. */
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
