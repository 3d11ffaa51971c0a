// One gRPC call on an HTTP/2 connection: the request goes out whole, then headers, messages and trailers come in.

import { type ClientHttp2Session, type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { type Call, GRPC, type Metadata, type Status, type StreamCall } from './channel.ts';
import { type FrameTrouble, framed, frameReader } from './frames.ts';
import type { Link } from './http2-link.ts';
import type { Sink, Source } from './message-stream.ts';
import { readMetadata, writeMetadata } from './metadata.ts';
import * as statuses from './statuses.ts';

export interface CallPlace {
  readonly link: Link;
  readonly authority: string;
  readonly scheme: 'http' | 'https';
  readonly deadlineMs: number;
  readonly answerBytes: number;
}

const NONE: Metadata = [];

/** Begins a call; `sink.end` is called once, and nothing after it. */
export function http2Call(call: Call | StreamCall, place: CallPlace, sink: Sink): Source {
  const { link, answerBytes } = place;
  const { signal, deadlineMs = place.deadlineMs } = call;
  const beganAt = performance.now();
  let stream: ClientHttp2Stream | undefined;
  let session: ClientHttp2Session | undefined;
  let status: Status | undefined;
  let trailers = NONE;
  let isOver = false;
  let isAnswered = false;
  let isPaused = false;
  let tries = 0;

  const abort = () => stop(statuses.CANCELLED);
  const timer = setTimeout(() => {
    if (session && !isAnswered) link.suspect(session);
    stop(statuses.LATE);
  }, deadlineMs);
  signal?.addEventListener('abort', abort, { once: true });
  go();

  function go(): void {
    tries++;
    const open = link.current();
    if (open && !open.closed) send(open);
    else
      void link.open().then((made) => {
        if (isOver) return;
        if (made) send(made);
        else finish(link.health().state === 'closed' ? statuses.CLOSED : statuses.UNREACHABLE);
      });
  }

  function send(open: ClientHttp2Session): void {
    session = open;
    try {
      stream = open.request(headersFor(call, place, deadlineMs - (performance.now() - beganAt)));
    } catch {
      // The connection broke in this moment, or has used up its numbers for streams: nothing was sent.
      if (tries > 1) finish(statuses.LOST);
      else go();
      return;
    }
    listen(stream);
    if (isPaused) stream.pause();
    const requests = 'request' in call ? [call.request] : call.requests;
    const last = requests.length - 1;
    for (let at = 0; at < last; at++) stream.write(framed(requests[at]!));
    if (last < 0) stream.end();
    else stream.end(framed(requests[last]!));
  }

  function listen(on: ClientHttp2Stream): void {
    const reader = frameReader(answerBytes, sink.message);
    on.on('response', (headers, flags) => begin(headers, (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0));
    on.on('data', (chunk: Buffer) => {
      const trouble = isOver ? undefined : reader.write(chunk);
      if (trouble) stop(frameStatus(trouble, answerBytes));
    });
    on.on('trailers', (headers) => {
      trailers = readMetadata(headers);
      status = statuses.statusIn(headers);
    });
    // Only now have all messages been given on.
    on.on('end', () => {
      if (status) finish(status.code === GRPC.ok && reader.isAmid() ? statuses.UNFINISHED : status);
    });
    // What went wrong is told by `close`.
    on.on('error', () => {});
    on.on('close', () => end(on));
  }

  function begin(headers: IncomingHttpHeaders, isAll: boolean): void {
    isAnswered = true;
    const own = statuses.statusIn(headers);
    const foreign = own ? undefined : statuses.notGrpc(headers);
    if (foreign) stop(foreign);
    else if (isAll) {
      trailers = readMetadata(headers);
      finish(own ?? statuses.NO_STATUS);
    } else sink.headers(readMetadata(headers));
  }

  function end(on: ClientHttp2Stream): void {
    if (isOver) return;
    // The node did not begin with it, says HTTP/2: it may be sent again.
    const isRefused = on.rstCode === constants.NGHTTP2_REFUSED_STREAM && !isAnswered;
    if (isRefused && tries === 1) go();
    else finish(status ?? (session?.destroyed ? statuses.LOST : statuses.resetStatus(on.rstCode)));
  }

  function stop(why: Status): void {
    if (isOver) return;
    finish(why);
    stream?.close(constants.NGHTTP2_CANCEL);
    // Whatever is left flows away, so that the stream can close.
    stream?.resume();
  }

  function finish(how: Status): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    sink.end({ status: how, trailers });
  }

  return {
    pause: () => {
      isPaused = true;
      stream?.pause();
    },
    resume: () => {
      isPaused = false;
      stream?.resume();
    },
    cancel: abort,
  };
}

function headersFor(call: Call | StreamCall, place: CallPlace, leftMs: number): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {
    ':method': 'POST',
    ':scheme': place.scheme,
    ':authority': place.authority,
    ':path': call.path,
    te: 'trailers',
    'content-type': 'application/grpc+proto',
    'grpc-timeout': statuses.timeoutText(Math.max(leftMs, 1)),
    'grpc-accept-encoding': 'identity',
  };
  if (call.metadata) writeMetadata(headers, call.metadata);
  return headers;
}

const BY_FRAME: Readonly<Record<Exclude<FrameTrouble, 'too large'>, Status>> = {
  compressed: statuses.made(GRPC.internal, 'The node compressed its answer, though it was told not to.'),
  malformed: statuses.made(GRPC.internal, 'The node sent a malformed frame.'),
};

function frameStatus(trouble: FrameTrouble, maxBytes: number): Status {
  return trouble === 'too large' ? statuses.tooLarge(maxBytes) : BY_FRAME[trouble];
}
