// The agent service as the page asks it: with short tokens that are kept in memory only; and the frames of a run, each once,
// over as many connections as it takes.

import type { RunView } from '../../../../lib/agent/run/run.ts';
import type { Message, MessagePage } from '../../../../lib/agent/session/message.ts';
import type { ChatSession } from '../../../../lib/agent/session/session.ts';
import { type Backoff, retryDelay } from '../../../../lib/retry.ts';

/** A refusal of the service, in its words. */
export class ServiceError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface AccessToken {
  readonly text: string;
  /** The user that it speaks for. */
  readonly did: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

// One at a time: two that are asked for at once by a new browser would be of two users.
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
  const fresh = (made: AccessToken) => {
    until = made.until;
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
  // Asked for anew when a tenth of its time is left.
  return { text, did, until: Date.now() + expiresIn * 900 };
}

export interface Asking {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** Asks a route of the service. Throws {@link ServiceError}, or what `fetch` throws when there is no answer. */
export async function ask(path: string, { method = 'GET', body, signal }: Asking = {}): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const { text } = await current();
    const headers = {
      Authorization: `Bearer ${text}`,
      'X-Auth-Type': 'ucan',
      ...(body && { 'Content-Type': 'application/json' }),
    };
    const sent = body && JSON.stringify(body);
    const answer = await fetch(path, { method, headers, ...(sent && { body: sent }), ...(signal && { signal }) });
    if (answer.ok) return answer;
    if (answer.status !== 401 || tries > 1) throw await refusal(answer);
    until = 0;
  }
}

async function refusal(answer: Response): Promise<ServiceError> {
  const said = (await answer.json().catch(() => ({}))) as { message?: string | string[]; error?: string };
  const words = [said.message ?? said.error ?? answer.statusText].flat().join('; ');
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

/** The id that the message of a run has in the transcript; undefined where the browser may not hash. */
export async function makeMessageId(runId: string, type: Message['type']): Promise<string | undefined> {
  const bytes = await globalThis.crypto.subtle?.digest('SHA-256', new TextEncoder().encode(`${runId}/${type}`));
  return bytes && [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A frame as the service sends it: its number, its name and its data. */
export interface ReceivedFrame {
  readonly n: number;
  readonly event: string;
  readonly data: string;
}

export interface FrameReading {
  readonly signal: AbortSignal;
  /** The answer that has the first frames, where there is one. */
  readonly answer?: Response;
  /** Told when the connection is lost, and when frames come again. */
  readonly onConnected: (isConnected: boolean) => void;
}

const TRIES = 12;
const BACKOFF: Backoff = { firstMs: 500, maxMs: 8_000 };

/** The frames up to `done`; throws when the run is gone or there is no answer for a minute. Ends when the signal aborts. */
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

/** The frames in the bytes of a stream; what has no number is left out. */
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

// The service writes one line for each field.
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
