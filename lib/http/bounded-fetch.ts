// Requests to hosts named by the operator: no redirects, and bounds on stalls, line length and total size.

import type { Clock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { withTrace } from './tracing.ts';

export interface FetchBounds {
  readonly clock: Clock;
  /** Timeout in milliseconds for the response headers, and for each chunk of the body. */
  readonly headersMs: number;
  readonly stallMs: number;
  /** Bytes of the body, and of one line: an SSE parser buffers a line until it is complete. */
  readonly bytes: number;
  readonly lineBytes: number;
}

/** An answer whose body arrives within the bounds; iterating it once reads it, and leaving the iteration closes the connection. */
export interface BoundedAnswer extends Pick<Response, 'ok' | 'status' | 'statusText' | 'headers' | 'text'> {
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * A request that rejects with ERR_TIMEOUT or ERR_SERVICE when a bound is exceeded, also while the body is read. Messages
 * never contain the address. Redirects fail, because the credentials of a request are meant for one host.
 */
export function boundedRequest(bounds: FetchBounds): (...request: Parameters<typeof fetch>) => Promise<BoundedAnswer> {
  return async (input, init) => {
    const { answer, pieces } = await begin(bounds, input, init);
    const { ok, status, statusText, headers } = answer;
    return { ok, status, statusText, headers, body: pieces, text: () => readText(pieces) };
  };
}

/** The same as a `fetch`, for libraries that ask for one. Through a stream of the web, a chunk costs twice as much. */
export function boundedFetch(bounds: FetchBounds): typeof fetch {
  return async (input, init) => {
    const { answer, pieces, end } = await begin(bounds, input, init);
    if (!answer.body) return answer;
    const { status, statusText, headers } = answer;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await pieces.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => end(reason ?? new DOMException('The body was cancelled.', 'AbortError')),
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { status, statusText, headers });
  };
}

async function begin(bounds: FetchBounds, input: Parameters<typeof fetch>[0], init: RequestInit = {}) {
  const over = new AbortController();
  const { signal } = init;
  const stop = () => over.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  const watch = stallWatch(bounds.clock, (ms) => over.abort(tooLate(ms)));
  const forget = () => {
    watch.end();
    signal?.removeEventListener('abort', stop);
  };
  const end = (reason: unknown) => {
    forget();
    over.abort(reason);
  };
  try {
    const headers = traceHeaders(init.headers);
    const request = fetch(input, { ...init, headers, signal: over.signal, redirect: 'manual' });
    const answer = await watch.during(request, bounds.headersMs);
    watch.end();
    if (answer.status >= 300 && answer.status < 400) throw redirectError(answer.status);
    const reader = answer.body?.getReader();
    if (!reader) forget();
    const take = () => watch.during(reader!.read(), bounds.stallMs);
    return { answer, end, pieces: readPieces(bounds, { take: reader && take, end, forget }) };
  } catch (error) {
    end(error);
    throw error;
  }
}

/** Tells when work takes too long. One wait serves all chunks of a body: a timer and a signal for each cost more than reading it. */
function stallWatch(clock: Clock, onStall: (ms: number) => void) {
  let over = new AbortController();
  let limit = 0;
  let since: number | undefined;

  async function look(ms: number, { signal }: AbortController): Promise<void> {
    for (let left = ms; left > 0; ) {
      await clock.wait(left, signal);
      if (signal.aborted) return;
      // Nobody waits: the next piece of work begins to look again.
      if (since === undefined) return end();
      left = since + ms - clock.monotonic();
    }
    onStall(ms);
  }

  function end(): void {
    limit = 0;
    over.abort('over');
  }

  return {
    async during<T>(work: Promise<T>, ms: number): Promise<T> {
      since = clock.monotonic();
      if (ms !== limit) {
        end();
        over = new AbortController();
        limit = ms;
        void look(ms, over);
      }
      try {
        return await work;
      } finally {
        since = undefined;
      }
    },
    end,
  };
}

function traceHeaders(init: RequestInit['headers']): Headers {
  const headers = new Headers(init);
  for (const [name, value] of Object.entries(withTrace<Record<string, string>>({}))) headers.set(name, value);
  return headers;
}

interface BodySource {
  /** Undefined where there is no body. */
  readonly take: (() => Promise<{ done: boolean; value?: Uint8Array | undefined }>) | undefined;
  readonly end: (reason: unknown) => void;
  readonly forget: () => void;
}

// Pull-based, so that a slow consumer does not trigger the stall timeout.
async function* readPieces({ bytes, lineBytes }: FetchBounds, { take, end, forget }: BodySource) {
  let total = 0;
  let line = 0;
  let isOver = false;
  try {
    while (take) {
      const { done, value } = await take();
      if (done) break;
      const newline = value!.lastIndexOf(10);
      line = newline < 0 ? line + value!.length : value!.length - newline - 1;
      total += value!.length;
      if (total > bytes) throw tooMuch(`more than ${bytes} bytes`);
      if (line > lineBytes) throw tooMuch(`a line of more than ${lineBytes} bytes`);
      yield value!;
    }
    isOver = true;
    forget();
  } catch (error) {
    isOver = true;
    end(error);
    throw error;
  } finally {
    if (!isOver) end('left');
  }
}

async function readText(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of pieces) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}

function redirectError(status: number): TwinlineError {
  return new TwinlineError(
    'ERR_SERVICE',
    `The server answered ${status}; redirects are not followed. Configure the target address instead.`,
  );
}

function tooLate(ms: number): TwinlineError {
  return new TwinlineError('ERR_TIMEOUT', `No data arrived for ${ms} ms. Retry, or ask for less at once.`);
}

function tooMuch(what: string): TwinlineError {
  return new TwinlineError('ERR_SERVICE', `The response has ${what}. Ask for less.`);
}
