// Server-sent event streams: heartbeats, slow and disconnected readers, and orderly shutdown.

import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { type Clock, every } from '../../lib/clock.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { Refusal } from './errors.ts';
import { WAITING } from './guard.ts';
import { takeLivePlace } from './unsent.ts';

export interface StreamSource {
  /** The tenant or user whose streams are counted together. */
  readonly owner: string;
  /** What the stream begins with. */
  readonly hello: string;
  /** Messages in wire format, until the signal aborts. */
  readonly messages: (signal: AbortSignal) => AsyncIterable<string>;
  /** Whether the reader is still authorised; checked regularly. */
  readonly mayRead: () => boolean;
  /** Ends the stream when it aborts. */
  readonly stop?: AbortSignal;
}

export interface EventStreams {
  /** Throws a refusal with status 503 when there are too many streams, with 429 when the client has too many. Takes over the answer of `ctx`. */
  serve(ctx: Context, source: StreamSource): void;
  /** Ends all streams with an event `shutdown`; disconnects readers that are behind. */
  close(): void;
}

export interface StreamOptions {
  readonly clock: Clock;
  /** @default SERVER_LIMITS.eventHeartbeatMs */
  readonly heartbeatMs?: number;
  /** @default SERVER_LIMITS.eventStallMs */
  readonly stallMs?: number;
  /** How many at a time. @default SERVER_LIMITS.eventStreams, SERVER_LIMITS.eventStreamsPerTenant */
  readonly most?: { readonly all: number; readonly perOwner: number };
  readonly onProblem: (error: unknown) => void;
}

interface Stream {
  readonly owner: string;
  readonly ended: AbortController;
  /** Frees its place among those of the client. */
  readonly leave: () => void;
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Buffering proxies would hold events back.
  'X-Accel-Buffering': 'no',
};
// Without an id, so that a reader resumes after its last event.
const SHUTDOWN = 'event: shutdown\ndata: {"reason":"connect again"}\n\n';

export function eventStreams({
  clock,
  heartbeatMs = SERVER_LIMITS.eventHeartbeatMs,
  stallMs = SERVER_LIMITS.eventStallMs,
  most = { all: SERVER_LIMITS.eventStreams, perOwner: SERVER_LIMITS.eventStreamsPerTenant },
  onProblem,
}: StreamOptions): EventStreams {
  const open = new Set<Stream>();
  /** How many each owner has; only owners who have one. */
  const byOwner = new Map<string, number>();
  let closed = false;

  function admit(res: ServerResponse, owner: string): Stream {
    const ofOwner = byOwner.get(owner) ?? 0;
    if (closed || open.size >= most.all || ofOwner >= most.perOwner)
      throw new Refusal('unavailable', 'There are too many open streams of events. Close one, or try again later.');
    const stream = { owner, ended: new AbortController(), leave: takeLivePlace(res) };
    open.add(stream);
    byOwner.set(owner, ofOwner + 1);
    return stream;
  }

  function dismiss(stream: Stream): void {
    open.delete(stream);
    stream.leave();
    const left = byOwner.get(stream.owner)! - 1;
    if (left) byOwner.set(stream.owner, left);
    else byOwner.delete(stream.owner);
  }

  async function pump(res: ServerResponse, stream: Stream, { hello, messages }: StreamSource): Promise<void> {
    const { signal } = stream.ended;
    res.write(hello);
    for await (const message of messages(signal)) {
      if (res.write(message)) continue;
      if (!(await waitUntilTaken(res, { signal, stallMs, clock }))) break;
    }
    if (res.writableNeedDrain) res.destroy();
    else res.end(signal.aborted ? SHUTDOWN : undefined);
  }

  return {
    serve(ctx, source) {
      const { res } = ctx;
      const stream = admit(res, source.owner);
      ctx.respond = false;
      ctx.status = 200;
      ctx.set(HEADERS);
      res.flushHeaders();
      res.emit(WAITING);
      const endBeat = every(clock, heartbeatMs, () => {
        if (!source.mayRead()) stream.ended.abort();
        else if (!res.writableNeedDrain) res.write(': still here\n\n');
      });
      const gone = () => stream.ended.abort('gone');
      source.stop?.addEventListener('abort', gone, { once: true });
      if (source.stop?.aborted) gone();
      res.once('close', gone);
      res.on('error', gone);
      pump(res, stream, source)
        .catch((error: unknown) => {
          onProblem(error);
          res.destroy();
        })
        .finally(() => {
          endBeat();
          dismiss(stream);
        });
    },
    close() {
      closed = true;
      for (const { ended } of open) ended.abort();
    },
  };
}

/** Waits until the reader has drained the buffer; false on timeout or when the signal aborts first. */
export function waitUntilTaken(
  res: ServerResponse,
  options: { signal: AbortSignal; stallMs: number; clock: Clock },
): Promise<boolean> {
  const { signal, stallMs, clock } = options;
  return new Promise((resolve) => {
    const over = new AbortController();
    const settle = (took: boolean) => {
      over.abort('settled');
      res.off('drain', onDrain);
      signal.removeEventListener('abort', onEnd);
      resolve(took);
    };
    const onDrain = () => settle(true);
    const onEnd = () => settle(false);
    void clock.wait(stallMs, over.signal).then(onEnd);
    res.once('drain', onDrain);
    if (signal.aborted) onEnd();
    else signal.addEventListener('abort', onEnd, { once: true });
  });
}
