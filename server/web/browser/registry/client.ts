// What the registry asks of /v1, with the API key that was pasted: it stays in this tab and goes nowhere but into requests to
// this server.

const KEPT = 'twinline-api-key';

export interface Me {
  readonly principal: string;
  readonly roles: readonly string[];
  readonly tenant: string;
}

/** A problem document, or that the server did not answer. */
export class RequestProblem extends Error {
  readonly status: number;

  constructor(status: number, words: string) {
    super(words);
    this.status = status;
  }
}

export const hasKey = () => sessionStorage.getItem(KEPT) !== null;
export const keepKey = (key: string) => sessionStorage.setItem(KEPT, key);
export const forgetKey = () => sessionStorage.removeItem(KEPT);

export interface Sent {
  readonly body?: unknown;
  /** @default JSON */
  readonly accept?: string;
}

/** Asks, `GET /v1/domains`; the answer is what the server says, never kept. Rejects with {@link RequestProblem}. */
export async function ask(line: string, { body, accept = 'application/json' }: Sent = {}): Promise<Response> {
  const [method, path] = line.split(' ') as [string, string];
  const headers = {
    Authorization: `Bearer ${sessionStorage.getItem(KEPT) ?? ''}`,
    Accept: accept,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    // The same click is never done twice.
    ...(method !== 'GET' && { 'Idempotency-Key': makeKey() }),
  };
  const init = {
    method,
    headers,
    cache: 'no-store' as const,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const answer = await fetch(path, init).catch(() => undefined);
  if (!answer) throw new RequestProblem(0, 'The server does not answer. Is it running?');
  if (answer.ok) return answer;
  throw new RequestProblem(answer.status, await readProblem(answer));
}

// Browsers give `randomUUID` to pages over HTTPS or of this machine only.
function makeKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function readProblem(answer: Response): Promise<string> {
  const problem = (await answer.json().catch(() => ({}))) as {
    detail?: string;
    title?: string;
    error?: { details?: readonly { field: string; error: string }[] };
  };
  const fields = (problem.error?.details ?? []).map(({ field, error }) => `${field}: ${error}`);
  return [problem.detail ?? problem.title ?? `Status ${answer.status}.`, ...fields].join('\n');
}

export async function askJson<T>(line: string, sent?: Sent): Promise<T> {
  return (await ask(line, sent)).json() as Promise<T>;
}

/** The part of a path that names a twin. */
export const segment = (did: string) => encodeURIComponent(did);
