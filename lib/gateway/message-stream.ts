// A stream of messages for one reader: what comes waits for him, and when much waits, the sender is told to wait too.

import { LIMITS } from '../limits.ts';
import type { MessageStream, Metadata, Status, StreamEnd } from './channel.ts';

/** Where a call puts what comes from the node; `end` is the last. */
export interface Sink {
  headers(metadata: Metadata): void;
  message(bytes: Buffer): void;
  end(end: StreamEnd): void;
}

/** The call behind a stream. */
export interface Source {
  pause(): void;
  resume(): void;
  cancel(): void;
}

/** Starts a call and gives what it receives as a stream. */
export function messageStream(start: (sink: Sink) => Source): MessageStream {
  const headers = promised<Metadata>();
  const end = promised<StreamEnd>();
  const waiting: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  let isPaused = false;
  let reader: (() => void) | undefined;
  const wake = () => {
    reader?.();
    reader = undefined;
  };

  const source = start({
    headers: headers.resolve,
    message: (message) => {
      waiting.push(message);
      bytes += message.length;
      if (bytes > LIMITS.grpcAheadBytes && !isPaused) {
        isPaused = true;
        source.pause();
      }
      wake();
    },
    end: (ending) => {
      isOver = true;
      headers.resolve([]);
      end.resolve(ending);
      wake();
    },
  });

  function take(): Buffer | undefined {
    const message = waiting.shift();
    bytes -= message?.length ?? 0;
    if (isPaused && !waiting.length) {
      isPaused = false;
      source.resume();
    }
    return message;
  }

  async function* messages(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        const message = take();
        if (message) yield message;
        else if (isOver) return;
        else await new Promise<void>((resolve) => (reader = resolve));
      }
    } finally {
      waiting.length = 0;
      source.cancel();
    }
  }

  return { headers: headers.promise, messages: messages(), end: end.promise };
}

/** A stream that is over before it began. */
export function endedStream(status: Status): MessageStream {
  return messageStream((sink) => {
    sink.end({ status, trailers: [] });
    return { pause: () => {}, resume: () => {}, cancel: () => {} };
  });
}

function promised<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
