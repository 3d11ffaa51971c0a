// Client of the agent service, with short-lived tokens kept in memory only. Reads each frame of a run once, reconnecting as
// often as necessary.

import type { RunView } from '../../../../lib/agent/run/run.ts';
import type { Message, MessagePage } from '../../../../lib/agent/session/message.ts';
import type { ChatSession } from '../../../../lib/agent/session/session.ts';
import { type Backoff, retryDelay } from '../../../../lib/retry.ts';

/** An error answer of the service, with its message. */
export class ServiceError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface AccessToken {
  readonly text: string;
  /** The user. */
  readonly did: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

// One request at a time: two concurrent ones from a new browser would create two users.
let token: Promise<AccessToken> | undefined;
let until = 0;

/** The user of this browser. */
export async function user(): Promise<string> {
  return (await current()).did;
}

function current(): Promise<AccessToken> {
  if (token && Date.now() < until) return token;
  until = Number.POSITIVE_INFINITY;
  token = mint();
  const fresh = (next: AccessToken) => {
    until = next.until;
  };
  const fail = () => {
    until = 0;
  };
  token.then(fresh, fail);
  return token;
}

async function mint(): Promise<AccessToken> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch('/chat/token', { method: 'POST', headers, body: '{}' });
  if (!answer.ok) throw await refusal(answer);
  const { token: text, did, expiresIn } = (await answer.json()) as { token: string; did: string; expiresIn: number };
  // Renewed after nine tenths of its lifetime.
  return { text, did, until: Date.now() + expiresIn * 900 };
}

export interface Asking {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** Sends a request. Throws {@link ServiceError}, or the error of `fetch` without an answer. */
export async function ask(path: string, { method = 'GET', body, signal }: Asking = {}): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const { text } = await current();
    const headers = {
      Authorization: `Bearer ${text}`,
      'X-Auth-Type': 'ucan',
      ...(body && { 'Content-Type': 'application/json' }),
    };
    const json = body && JSON.stringify(body);
    const answer = await fetch(path, { method, headers, ...(json && { body: json }), ...(signal && { signal }) });
    if (answer.ok) return answer;
    if (answer.status !== 401 || tries > 1) throw await refusal(answer);
    until = 0;
  }
}

async function refusal(answer: Response): Promise<ServiceError> {
  const problem = (await answer.json().catch(() => ({}))) as { message?: string | string[]; error?: string };
  const words = [problem.message ?? problem.error ?? answer.statusText].flat().join('; ');
  return new ServiceError(answer.status, words || `Status ${answer.status}`);
}

async function json<Value>(path: string, asking?: Asking): Promise<Value> {
  return (await (await ask(path, asking)).json()) as Value;
}

const at = (session: string) => encodeURIComponent(session);

export const newSession = () => json<ChatSession>('/sessions', { method: 'POST' });
export const sessionPage = (limit: number, offset: number) =>
  json<{ sessions: ChatSession[]; total: number }>(`/sessions?limit=${limit}&offset=${offset}`);
export const deleteSession = (session: string) => ask(`/sessions/${at(session)}`, { method: 'DELETE' });
export const openRun = async (session: string) =>
  (await json<{ run: RunView | null }>(`/sessions/${at(session)}/run`)).run;
/** The newest messages, or those before a cursor. */
export const messagePage = (session: string, before?: string) =>
  json<MessagePage>(`/sessions/${at(session)}/messages?limit=30${before === undefined ? '' : `&before=${before}`}`);
export const abortRun = (session: string, runId: string) =>
  ask('/messages/abort', { method: 'POST', body: { sessionId: session, runId } });
export const sendMessage = (session: string, message: string) =>
  ask(`/messages/${at(session)}`, { method: 'POST', body: { message, stream: true } });

/** Id of a run's message in the transcript; undefined without `crypto.subtle`, over plain HTTP. */
export async function makeMessageId(runId: string, type: Message['type']): Promise<string | undefined> {
  const bytes = await globalThis.crypto.subtle?.digest('SHA-256', new TextEncoder().encode(`${runId}/${type}`));
  return bytes && [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A frame: number, name and data. */
export interface ReceivedFrame {
  readonly n: number;
  readonly event: string;
  readonly data: string;
}

export interface FrameReading {
  readonly signal: AbortSignal;
  /** Response with the first frames. @default requests them */
  readonly answer?: Response;
  /** Called when the connection is lost or restored. */
  readonly onConnected: (isConnected: boolean) => void;
}

const TRIES = 12;
const BACKOFF: Backoff = { firstMs: 500, maxMs: 8_000 };

/** Yields frames up to `done`. Throws if the run is gone or there is no answer for a minute. Ends when the signal aborts. */
export async function* runFrames(
  runId: string,
  { signal, answer, onConnected }: FrameReading,
): AsyncGenerator<ReceivedFrame> {
  let next = answer;
  let last = 0;
  for (let tries = 0; !signal.aborted; ) {
    try {
      next ??= await ask(`/runs/${runId}?after=${last}`, { signal });
      onConnected(true);
      for await (const frame of readFrames(next.body!)) {
        if (!(frame.n > last)) continue;
        last = frame.n;
        tries = 0;
        yield frame;
        if (frame.event === 'done') return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const isFinal = error instanceof ServiceError && error.status < 500 && error.status !== 429;
      if (isFinal || tries === TRIES) throw error;
    }
    next = undefined;
    onConnected(false);
    tries++;
    await pause(retryDelay(tries, BACKOFF), signal);
  }
}

/** Yields the numbered frames of a byte stream. */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<ReceivedFrame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const texts = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = texts.pop()!;
      for (const text of texts) {
        const frame = parseFrame(text);
        if (frame) yield frame;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

// The service writes one line per field.
function parseFrame(text: string): ReceivedFrame | undefined {
  const fields = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const n = Number(fields.get('id') ?? Number.NaN);
  return Number.isNaN(n) ? undefined : { n, event: fields.get('event') ?? '', data: fields.get('data') ?? '{}' };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
