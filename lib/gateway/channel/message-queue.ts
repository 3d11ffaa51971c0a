// Messages that wait for their reader, oldest first, with a count of what they take in memory.

import { GATEWAY_LIMITS } from '../limits.ts';

/** What a message costs besides its bytes: an empty one is not free. */
const MESSAGE_BYTES = 64;
/** Places of messages that were taken before the list is cut. */
const CUT_PLACES = 1_024;

export class MessageQueue {
  #messages: (Buffer | undefined)[] = [];
  #first = 0;
  #bytes = 0;

  get length(): number {
    return this.#messages.length - this.#first;
  }

  /** Whether the sender should wait: GATEWAY_LIMITS.grpcAheadBytes, or GATEWAY_LIMITS.grpcAheadMessages, are waiting. */
  get isFull(): boolean {
    return this.#bytes > GATEWAY_LIMITS.grpcAheadBytes || this.length >= GATEWAY_LIMITS.grpcAheadMessages;
  }

  add(message: Buffer): void {
    this.#messages.push(message);
    this.#bytes += message.length + MESSAGE_BYTES;
  }

  /** Takes the oldest one. Takes constant time, however many wait. */
  take(): Buffer | undefined {
    const message = this.#messages[this.#first];
    if (!message) return undefined;
    this.#messages[this.#first++] = undefined;
    this.#bytes -= message.length + MESSAGE_BYTES;
    if (this.#first === this.#messages.length) {
      this.#messages.length = 0;
      this.#first = 0;
    } else if (this.#first >= CUT_PLACES && this.#first * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#first);
      this.#first = 0;
    }
    return message;
  }
}
