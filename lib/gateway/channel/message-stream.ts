// A stream of messages for one reader: messages wait in a queue, and when much waits, the sender has to wait too.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { GATEWAY_LIMITS } from '../limits.ts';
import { CHANNEL_STATUS, type MessageStream, type Status, type StreamEnd } from './channel.ts';
import type { Metadata } from './metadata.ts';

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

/** Bytes that may be held at the same time by all who share a budget. Each gives back what it took. */
export class ByteBudget {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /** Takes `bytes`; false, and nothing is taken, when there is no room for them. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}

/** Where a call puts what comes from the node; `end` is the last. */
export interface Sink {
  headers(metadata: Metadata): void;
  message(bytes: Buffer): void;
  end(end: StreamEnd): void;
}

/** The call behind a stream. Between `pause` and `resume` it holds what comes, and lets the node send no more. */
export interface CallSource {
  pause(): void;
  resume(): void;
  cancel(): void;
}

/**
 * Starts a call and gives what it receives as a stream. A large message counts in `budget` until the reader has taken it;
 * a stream for which there is no room ends with UNAVAILABLE. The reader gets GATEWAY_LIMITS.grpcMessagesPerTurn messages, or as
 * many as it takes in GATEWAY_LIMITS.gatewayTurnMs, in one turn of the event loop.
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
    let given = 0;
    let begun = performance.now();
    try {
      for (;;) {
        const message = take();
        if (message) {
          yield message;
          if (++given < GATEWAY_LIMITS.grpcMessagesPerTurn && performance.now() - begun < GATEWAY_LIMITS.gatewayTurnMs)
            continue;
          // What waits already, and a source that goes on at once, would keep the thread from everything else.
          await nextTurn();
          given = 0;
          begun = performance.now();
        } else if (isOver) return;
        else await new Promise<void>((resolve) => (reader = resolve));
      }
    } finally {
      isLeft = true;
      source.cancel();
      for (let left = waiting.take(); left; left = waiting.take()) budget.give(largeBytes(left));
    }
  }

  return { headers: headers.promise, messages: messages(), end: end.promise };
}

/** What a message counts for in a budget: the small ones are bounded by the number of streams. */
function largeBytes({ length }: Buffer): number {
  return length > GATEWAY_LIMITS.grpcAheadBytes ? length : 0;
}

/** A stream that is over before it began. */
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
