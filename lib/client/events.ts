// Streams of server-sent events: read however their bytes are cut, and gone on with after each cut from the last event.

import { systemClock } from '../clock.ts';
import { readEvents } from '../event-stream.ts';
import { ConnectionError } from './errors.ts';
import { type ClientOptions, findWait, untilAborted } from './requests.ts';

/** How an iterator is read. */
export interface ListenOptions {
  /** Ends the iterator, which throws its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection is there, and when it is lost and will be tried again. */
  readonly onConnected?: ((isConnected: boolean) => void) | undefined;
}

interface Followed extends ListenOptions {
  /** What is followed, for errors. */
  readonly name: string;
  /** The number of the last event that is known. @default the server says it */
  readonly after: number | undefined;
  /** Connects, to hear what follows an event. */
  readonly connect: (after: number | undefined, signal: AbortSignal) => Promise<Response>;
  /** The event after which nothing comes. @default none */
  readonly last?: string;
}

/** Yields each event once, in order. Throws what is final, and any error after too many tries in which nothing was heard. */
export async function* followEvents(
  { name, after, connect, last, signal, onConnected }: Followed,
  { tries: most = 12, silenceMs = 45_000, clock = systemClock }: ClientOptions,
) {
  let position = after;
  for (let tries = 0; ; ) {
    const ending = new AbortController();
    const ends = AbortSignal.any(signal ? [signal, ending.signal] : [ending.signal]);
    const silent = () => ending.abort(new ConnectionError(name, `nothing came for ${silenceMs} ms`));
    const watch = <Value>(work: Promise<Value>) => {
      const timer = setTimeout(silent, silenceMs);
      return untilAborted(work, ends).finally(() => clearTimeout(timer));
    };
    async function* readChunks({ body }: Response) {
      const reader = body!.getReader();
      try {
        for (;;) {
          const { value, done } = await watch(reader.read());
          if (done) return;
          tries = 0;
          yield value;
        }
      } catch (error) {
        throw new ConnectionError(name, 'the stream was cut off', error);
      } finally {
        await reader.cancel().catch(() => {});
      }
    }
    let failure: unknown = new ConnectionError(name, 'the stream ended');
    try {
      const answer = await watch(connect(position, ends));
      const type = answer.headers.get('content-type') ?? '';
      if (!type.startsWith('text/event-stream')) throw new ConnectionError(name, `the answer (${type}) is no stream`);
      onConnected?.(true);
      for await (const { id, event, data } of readEvents(readChunks(answer))) {
        const n = /^\d+$/.test(id) ? Number(id) : -1;
        if (n <= (position ?? -1)) continue;
        position = n;
        // That tells where a stream begins that was asked for without a number.
        if (event === 'ready') continue;
        yield { n, event, data };
        if (event === last) return;
      }
    } catch (error) {
      failure = error;
    } finally {
      ending.abort();
    }
    signal?.throwIfAborted();
    const wait = findWait(failure, ++tries, true);
    if (wait === undefined || tries >= most) throw failure;
    onConnected?.(false);
    await clock.wait(wait, signal);
    signal?.throwIfAborted();
  }
}
