// Streams of server-sent events: read however their bytes are cut, and gone on with after each cut from the last event.

import { systemClock } from '../clock.ts';
import { ConnectionError } from './errors.ts';
import { type ClientOptions, findWait, untilAborted } from './requests.ts';

/** An event with a number; `data` is one line of JSON. */
export interface NumberedEvent {
  readonly n: number;
  readonly event: string;
  readonly data: string;
}

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
): AsyncGenerator<NumberedEvent, void, undefined> {
  let position = after;
  for (let tries = 0; ; ) {
    const ending = new AbortController();
    const ends = AbortSignal.any(signal ? [signal, ending.signal] : [ending.signal]);
    const silent = () => ending.abort(new ConnectionError(name, `nothing came for ${silenceMs} ms`));
    const watch = <Value>(work: Promise<Value>) => {
      const timer = setTimeout(silent, silenceMs);
      return untilAborted(work, ends).finally(() => clearTimeout(timer));
    };
    const hear = async (reading: ChunkReading) => {
      const chunk = await watch(reading).catch((error) => {
        throw new ConnectionError(name, 'the stream was cut off', error);
      });
      if (!chunk.done) tries = 0;
      return chunk;
    };
    let failure: unknown = new ConnectionError(name, 'the stream ended');
    try {
      const answer = await watch(connect(position, ends));
      onConnected?.(true);
      for await (const event of readEvents(answer, hear)) {
        const isNew = position === undefined || event.n > position;
        position = isNew ? event.n : position;
        // `ready` tells where a stream begins that was asked for without a number.
        if (!isNew || event.event === 'ready') continue;
        yield event;
        if (event.event === last) return;
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

type ChunkReading = ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>;

/** Yields the events of an answer that have a number; each reading goes through `hear`. */
export async function* readEvents(
  answer: Response,
  hear: (reading: ChunkReading) => ChunkReading,
): AsyncGenerator<NumberedEvent, void, undefined> {
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  const end = /\r\n|\n|\r(?!$)/g;
  let [rest, n, event, data] = ['', Number.NaN, '', ''];
  try {
    for (;;) {
      const { value, done } = await hear(reader.read());
      if (done) return;
      // What is left of before has no end of a line, but for a first half at its end.
      let begin = 0;
      end.lastIndex = Math.max(0, rest.length - 1);
      rest += decoder.decode(value, { stream: true });
      for (let found = end.exec(rest); found; found = end.exec(rest)) {
        const line = rest.slice(begin, found.index);
        begin = end.lastIndex;
        const [, field, text = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
        if (field === 'event') event = text;
        else if (field === 'data') data += `${text}\n`;
        else if (field === 'id') n = /^\d+$/.test(text) ? Number(text) : Number.NaN;
        if (line !== '') continue;
        if (data !== '' && n >= 0) yield { n, event, data: data.slice(0, -1) };
        [n, event, data] = [Number.NaN, '', ''];
        end.lastIndex = begin;
      }
      rest = rest.slice(begin);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
