// HTTP client for a running server: its URL, an API key that is never printed, and readable errors.

import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { TwinlineError } from '../../lib/errors.ts';
import { UsageError } from './verb.ts';

export interface Remote {
  /** Rejects with ERR_SERVICE and a readable message; `retry` is true if the same request may succeed later. */
  send(path: string, options?: SendOptions): Promise<IncomingMessage>;
}

export interface SendOptions {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is sent while the response is read. */
  readonly body?: Buffer | AsyncIterable<Buffer>;
}

export interface RemoteOptions {
  readonly url: string | undefined;
  readonly key: string | undefined;
}

/** Options of all commands that use a running server. */
export const REMOTE_FLAGS = {
  '--url <address>': 'the server, default http://127.0.0.1:3000',
  '--key <key>': 'an API key; better set TWINLINE_API_KEY, which other users of the machine do not see',
} as const;

const DEFAULT_URL = 'http://127.0.0.1:3000';

/** The OPERATOR_TOKEN to send. Servers accept a list during rotation; the first is used here. */
export function readOperatorToken(env: NodeJS.ProcessEnv): string | undefined {
  return env.OPERATOR_TOKEN?.split(',')[0]?.trim() || undefined;
}

/** The URL of a server without a trailing slash. Throws {@link UsageError}. */
export function readServerUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError(`"${url}" is no address such as ${DEFAULT_URL}.`);
  return url.replace(/\/+$/, '');
}

/** The server at `url`, with the API key `key` or TWINLINE_API_KEY. Throws {@link UsageError}. */
export function remote({ url = DEFAULT_URL, key }: RemoteOptions, env: NodeJS.ProcessEnv): Remote {
  const base = readServerUrl(url);
  const secret = key ?? env.TWINLINE_API_KEY?.trim();
  if (!secret) throw new UsageError('An API key is needed: set TWINLINE_API_KEY, or give --key.');
  // Node's error about an invalid header value would show the key.
  if (!/^[\x21-\x7e]{1,1024}$/.test(secret)) throw new UsageError('The API key has characters that no API key has.');
  return {
    async send(path, { method = 'GET', headers = {}, body } = {}) {
      const sending = { method, headers: { ...headers, authorization: `Bearer ${secret}` } };
      const answer = await sendRequest(base + path, sending, body).catch((error: unknown) => {
        throw serviceError(`Cannot reach ${base} (${readErrorCode(error)}). Is the server running?`, true);
      });
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status <= 299) return answer;
      const answerText = await readText(answer).catch(() => '');
      throw serviceError(`${method} ${path}: ${describeAnswer(status, answerText)}`, status >= 500 || status === 429);
    },
  };
}

// Not fetch: it treats a truncated response as complete if the connection was to be closed after it.
function sendRequest(
  url: string,
  sending: { method: string; headers: Readonly<Record<string, string>> },
  body: SendOptions['body'],
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = (url.startsWith('https:') ? tlsRequest : plainRequest)(url, { ...sending, agent: false }, resolve);
    outgoing.on('error', reject);
    if (body === undefined || Buffer.isBuffer(body)) return outgoing.end(body);
    const source = Readable.from(body, { objectMode: false });
    source.on('error', (error) => outgoing.destroy(error));
    return source.pipe(outgoing);
  });
}

/** The text of a response. Rejects if the response is truncated. */
export async function readText(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return text;
}

/** ERR_SERVICE with `retry` set for this failure. */
export function serviceError(message: string, retry: boolean): TwinlineError {
  return Object.defineProperty(new TwinlineError('ERR_SERVICE', message), 'retry', { value: retry });
}

/** The code of a connection error. */
export function readErrorCode(error: unknown): string {
  const { cause, code, message } = error as { cause?: { code?: string }; code?: string; message?: string };
  return cause?.code ?? code ?? message ?? 'it broke';
}

function describeAnswer(status: number, body: string): string {
  try {
    // The services use different fields for the reason.
    const { detail: given, error } = JSON.parse(body) as { detail?: string; error?: unknown };
    const detail = given ?? (typeof error === 'string' ? error : undefined);
    return detail ? `${detail} (${status})` : `the server answered ${status}`;
  } catch {
    return `the server answered ${status}, and not as a Twinline server does. Is this its address?`;
  }
}
