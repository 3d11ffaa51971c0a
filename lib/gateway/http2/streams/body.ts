// The messages of one request in their frames of gRPC, given out in pieces of any size.

import { MESSAGE_HEAD } from './messages.ts';

export class Body {
  /** Bytes that are still to be sent. */
  left = 0;
  readonly #messages: readonly Uint8Array[];
  #nth = 0;
  /** In the message with its head. */
  #offset = 0;

  constructor(messages: readonly Uint8Array[]) {
    this.#messages = messages;
    for (const { length } of messages) this.left += MESSAGE_HEAD + length;
  }

  /** Writes the next `count` bytes, of those that are left. */
  write(target: Buffer, at: number, count: number): void {
    this.left -= count;
    const end = at + count;
    let to = at;
    while (to < end) {
      const message = this.#messages[this.#nth]!;
      if (this.#offset < MESSAGE_HEAD) target[to++] = headByte(message.length, this.#offset++);
      else {
        const from = this.#offset - MESSAGE_HEAD;
        const count = Math.min(message.length - from, end - to);
        target.set(count === message.length ? message : message.subarray(from, from + count), to);
        to += count;
        this.#offset += count;
      }
      if (this.#offset === MESSAGE_HEAD + message.length) {
        this.#nth++;
        this.#offset = 0;
      }
    }
  }
}

/** One byte that says that the message is not compressed, four with its length. */
function headByte(length: number, nth: number): number {
  return nth === 0 ? 0 : (length >>> (8 * (MESSAGE_HEAD - 1 - nth))) & 0xff;
}
