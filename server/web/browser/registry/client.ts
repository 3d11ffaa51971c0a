// Requests of the registry to /v1 and the records that they return. The API key stays in this tab and is sent to this server
// only.

import { ConnectionError, ProblemError } from '../../../../lib/client/errors.ts';
import { makeId, type RequestParts } from '../../../../lib/client/requests.ts';
import { twinsClient } from '../../../../lib/client/twins.ts';
import type { ProposalView } from '../../../../lib/domain/voting/proposal.ts';
import { formatDistance, formatMoment } from '../../kit/time-words.ts';
import { element } from '../element.ts';

const KEPT = 'twinline-api-key';

export interface Me {
  readonly principal: string;
  readonly roles: readonly string[];
  readonly tenant: string;
}

export const hasKey = () => sessionStorage.getItem(KEPT) !== null;
export const keepKey = (key: string) => sessionStorage.setItem(KEPT, key);
export const forgetKey = () => sessionStorage.removeItem(KEPT);

// Read for each request: another key may have been entered, or this one forgotten.
const twins = twinsClient({ credential: () => ({ value: sessionStorage.getItem(KEPT) ?? '', expiresAt: 0 }) });

/** Parts of a request that are sent as they are. */
export type Sent = Omit<RequestParts<string>, 'path'>;

/** Sends a request such as `GET /v1/domains`. Rejects with an error whose words are for people. */
export function ask(line: string, { headers = {}, ...sent }: Sent = {}): Promise<Response> {
  return twins.send(line, { ...sent, headers: { ...repeatable(line), ...headers } }).catch(explain);
}

/** The same; resolves to the content of the answer. */
export function askJson<T>(line: string, sent: Sent = {}): Promise<T> {
  return twins.ask(line, { ...sent, headers: repeatable(line) }).catch(explain);
}

// What is sent again takes effect once.
const repeatable = (line: string) => (line.startsWith('GET ') ? {} : { 'Idempotency-Key': makeId() });

function explain(error: unknown): never {
  if (error instanceof ConnectionError) throw new Error('The server does not answer. Is it running?');
  if (error instanceof ProblemError && error.details.length > 0)
    error.message = [error.message, ...error.details.map(({ field, error }) => `${field}: ${error}`)].join('\n');
  throw error;
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

/** How long ago, with the exact moment as title. */
export function timeElement(iso: string): HTMLElement {
  const ms = Date.parse(iso);
  return element('time', { text: formatDistance(ms, Date.now()), is: { datetime: iso, title: formatMoment(ms) } });
}

/** Whether a value is the DID of a twin, and not of a person. */
export const isTwinDid = (value: unknown): value is string =>
  typeof value === 'string' && /^did:ixo:entity:[\w-]+$/.test(value);

export const twinLink = (did: string) => element('a', { text: did, is: { href: `#/twin/${segment(did)}` } });

/** The name of a protocol, which gets there once it is read; its DID until then, and as title. */
export function protocolName(did: string): HTMLElement {
  const words = element('span', { text: did, is: { title: did } });
  void askJson<RecordPage<Protocol>>('GET /v1/protocols?limit=200').then(
    ({ items }) => {
      words.textContent = items.find((one) => one.did === did)?.name ?? did;
    },
    () => {},
  );
  return words;
}
