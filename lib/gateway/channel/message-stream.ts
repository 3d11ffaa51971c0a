// A stream of messages for one reader, with back pressure on the sender when too many are queued.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { GATEWAY_LIMITS } from '../limits.ts';
import { CHANNEL_STATUS, type MessageStream, type Status, type StreamEnd } from './channel.ts';
import type { Metadata } from './metadata.ts';

/** Overhead of a message besides its bytes, so that an empty one is not free. */
const MESSAGE_BYTES = 64;
/** Taken slots before the array is compacted. */
const CUT_PLACES = 1_024;

export class MessageQueue {
  #messages: (Buffer | undefined)[] = [];
  #first = 0;
  #bytes = 0;

  get length(): number {
    return this.#messages.length - this.#first;
  }

  /** Whether the sender should pause: GATEWAY_LIMITS.grpcAheadBytes or GATEWAY_LIMITS.grpcAheadMessages are queued. */
  get isFull(): boolean {
    return this.#bytes > GATEWAY_LIMITS.grpcAheadBytes || this.length >= GATEWAY_LIMITS.grpcAheadMessages;
  }

  add(message: Buffer): void {
    this.#messages.push(message);
    this.#bytes += message.length + MESSAGE_BYTES;
  }

  /** Takes the oldest message, in constant time. */
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

/** A limit on bytes held concurrently by everyone who shares the budget. */
export class ByteBudget {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes held now. */
  get held(): number {
    return this.#held;
  }

  /** Reserves `bytes`; false, reserving nothing, when the budget is exhausted. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** Receives what the node sends; `end` comes last. */
export interface Sink {
  headers(metadata: Metadata): void;
  message(bytes: Buffer): void;
  end(end: StreamEnd): void;
}

/** The call behind a stream. While paused, it buffers what arrives and stops the node from sending more. */
export interface CallSource {
  pause(): void;
  resume(): void;
  cancel(): void;
}

/**
 * Starts a call and returns its messages as a stream. A large message counts against `budget` until it is read; a stream that
 * exceeds the budget ends with UNAVAILABLE. The reader gets GATEWAY_LIMITS.grpcMessagesPerTurn messages, or
 * GATEWAY_LIMITS.gatewayTurnMs of processing, per event-loop turn.
 */
export function messageStream(start: (sink: Sink) => CallSource, budget: ByteBudget): MessageStream {
  const headers = createDeferred<Metadata>();
  const end = createDeferred<StreamEnd>();
  const waiting = new MessageQueue();
  let isOver = false;
  let isLeft = false;
  let isPaused = false;
  let reader: (() => void) | undefined;
  const wake = () => {
    reader?.();
    reader = undefined;
  };
  const finish = (ending: StreamEnd) => {
    if (isOver) return;
    isOver = true;
    headers.resolve([]);
    end.resolve(ending);
    wake();
  };

  const source = start({
    headers: headers.resolve,
    message: (message) => {
      if (isOver || isLeft) return;
      if (!budget.take(largeBytes(message))) {
        finish({ status: CHANNEL_STATUS.crowded, trailers: [] });
        source.cancel();
        return;
      }
      waiting.add(message);
      if (waiting.isFull && !isPaused) {
        isPaused = true;
        source.pause();
      }
      wake();
    },
    end: finish,
  });

  function take(): Buffer | undefined {
    const message = waiting.take();
    if (message) budget.give(largeBytes(message));
    if (isPaused && !waiting.length) {
      isPaused = false;
      source.resume();
    }
    return message;
  }

  async function* messages(): AsyncGenerator<Buffer> {
    let count = 0;
    let startedAt = performance.now();
    try {
      for (;;) {
        const message = take();
        if (message) {
          yield message;
          if (
            ++count < GATEWAY_LIMITS.grpcMessagesPerTurn &&
            performance.now() - startedAt < GATEWAY_LIMITS.gatewayTurnMs
          )
            continue;
          // Otherwise queued messages, or a source that refills immediately, would block the event loop.
          await nextTurn();
          count = 0;
          startedAt = performance.now();
        } else if (isOver) return;
        else await new Promise<void>((resolve) => (reader = resolve));
      }
    } finally {
      isLeft = true;
      source.cancel();
      for (let pending = waiting.take(); pending; pending = waiting.take()) budget.give(largeBytes(pending));
    }
  }

  return { headers: headers.promise, messages: messages(), end: end.promise };
}

/** How much a message counts against a budget; small messages are bounded by the number of streams. */
function largeBytes({ length }: Buffer): number {
  return length > GATEWAY_LIMITS.grpcAheadBytes ? length : 0;
}

/** A stream that has already ended. */
export function makeEndedStream(status: Status): MessageStream {
  return messageStream((sink) => {
    sink.end({ status, trailers: [] });
    return { pause: () => {}, resume: () => {}, cancel: () => {} };
  }, NOTHING_HELD);
}

const NOTHING_HELD = new ByteBudget(0);

function createDeferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
