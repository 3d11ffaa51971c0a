// A fetch for hosts named by the operator: no redirects, and bounds on stalls, line length and total size.

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

/**
 * A fetch that rejects with ERR_TIMEOUT or ERR_SERVICE when a bound is exceeded, also while the body is read. Messages
 * never contain the address. Redirects fail, because the credentials of a request are meant for one host.
 */
export function boundedFetch(bounds: FetchBounds): typeof fetch {
  const { clock, headersMs, stallMs } = bounds;
  return async (input, init = {}) => {
    const over = new AbortController();
    const { signal } = init;
    const stop = () => over.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    const forget = () => signal?.removeEventListener('abort', stop);
    const inTime = async <T>(ms: number, work: Promise<T>): Promise<T> => {
      const done = new AbortController();
      void clock.wait(ms, done.signal).then(() => done.signal.aborted || over.abort(tooLate(ms)));
      return work.finally(() => done.abort());
    };
    try {
      const answer = await inTime(
        headersMs,
        fetch(input, { ...init, headers: traceHeaders(init.headers), signal: over.signal, redirect: 'manual' }),
      );
      if (answer.status >= 300 && answer.status < 400) throw redirectError(answer.status);
      const { body, status, statusText, headers } = answer;
      if (!body) {
        forget();
        return answer;
      }
      const reader = body.getReader();
      const take = () => inTime(stallMs, reader.read());
      const end = (reason: unknown) => over.abort(reason);
      return new Response(countStream(bounds, { take, end, forget }), { status, statusText, headers });
    } catch (error) {
      forget();
      over.abort(error);
      throw error;
    }
  };
}

function traceHeaders(init: RequestInit['headers']): Headers {
  const headers = new Headers(init);
  for (const [name, value] of Object.entries(withTrace<Record<string, string>>({}))) headers.set(name, value);
  return headers;
}

interface BodySource {
  readonly take: () => Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  readonly end: (reason: unknown) => void;
  readonly forget: () => void;
}

// Pull-based, so that a slow consumer does not trigger the stall timeout.
function countStream({ bytes, lineBytes }: FetchBounds, { take, end, forget }: BodySource): ReadableStream<Uint8Array> {
  let total = 0;
  let line = 0;
  const count = (piece: Uint8Array): void => {
    total += piece.length;
    const newline = piece.lastIndexOf(10);
    line = newline < 0 ? line + piece.length : piece.length - newline - 1;
    if (total > bytes) throw tooMuch(`more than ${bytes} bytes`);
    if (line > lineBytes) throw tooMuch(`a line of more than ${lineBytes} bytes`);
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await take();
          if (value) count(value);
          if (value) controller.enqueue(value);
          if (!done) return;
          forget();
          controller.close();
        } catch (error) {
          forget();
          end(error);
          throw error;
        }
      },
      cancel(reason) {
        forget();
        end(reason ?? new DOMException('The body was cancelled.', 'AbortError'));
      },
    },
    { highWaterMark: 0 },
  );
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
