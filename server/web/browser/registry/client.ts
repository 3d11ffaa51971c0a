// Requests of the registry to /v1 and the records that they return. The API key stays in this tab and is sent to this server
// only.

import type { ProposalView } from '../../../../lib/domain/voting/proposal.ts';

const KEPT = 'twinline-api-key';

export interface Me {
  readonly principal: string;
  readonly roles: readonly string[];
  readonly tenant: string;
}

/** An error answer, or no answer (status 0). */
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

/** Sends a request such as `GET /v1/domains`, never cached. Rejects with {@link RequestProblem}. */
export async function ask(line: string, { body, accept = 'application/json' }: Sent = {}): Promise<Response> {
  const [method, path] = line.split(' ') as [string, string];
  const headers = {
    Authorization: `Bearer ${sessionStorage.getItem(KEPT) ?? ''}`,
    Accept: accept,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    // A request that the browser repeats takes effect once.
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

// `crypto.randomUUID` exists on HTTPS and localhost only.
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

/** The path segment of a DID. */
export const segment = (did: string) => encodeURIComponent(did);

export interface Twin {
  readonly did: string;
  readonly type: string;
  readonly status: string;
  readonly entityVerified: boolean;
  readonly controller: string | readonly string[];
  readonly protocol: string | null;
  readonly metadata: { readonly name?: string; readonly description?: string };
  readonly properties: Readonly<Record<string, unknown>>;
  readonly relationships: Readonly<Record<string, unknown>>;
  readonly services: readonly unknown[];
  readonly revision: number;
  readonly created: string;
  readonly updated: string;
  readonly [field: string]: unknown;
}

/** `name`, of the twin, only in the list of all proposals. */
export type ListedProposal = ProposalView & { readonly name?: string | null };

export interface Protocol {
  readonly did: string;
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface HistoryItem {
  readonly revision: number;
  readonly at: string;
  readonly by: string;
  readonly action: string;
  readonly changes: readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];
}

export interface RecordPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

export const readName = ({ metadata, did }: Pick<Twin, 'metadata' | 'did'>) => metadata.name ?? did;
export const formatTime = (iso: string) => new Date(iso).toLocaleString();
