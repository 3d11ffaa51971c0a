// Where webhooks may point: https and the public internet only, when they are made and whenever something is sent.

import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { TwinlineError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { guardedLookup, isPublic, type Resolve, systemResolve } from './hosts.ts';
import { isPublicHost } from './public-url.ts';

/** Why nothing is sent to this URL, as far as its text tells; undefined when it may be. */
export function addressProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is no URL such as https://example.com/hooks';
  const { protocol, username, password, hostname, port } = new URL(text);
  if (protocol !== 'https:') return 'must begin with https://';
  if (username || password) return 'must not hold a user name or a password';
  if (port === '0') return 'has no such port';
  const host = hostname.replace(/^\[|\]$/g, '');
  const mayBePublic = ipaddr.isValid(host) ? isPublic(host) : isPublicHost(host) && /\.[^.]/.test(host);
  return mayBePublic ? undefined : NOT_PUBLIC;
}

const NOT_PUBLIC = 'must lead to the public internet; private, loopback and link-local addresses are refused';

/** The same, with what the name leads to now; a name that leads nowhere yet is asked again when something is sent. */
export async function resolvedProblem(text: string, resolve: Resolve = systemResolve): Promise<string | undefined> {
  const problem = addressProblem(text);
  if (problem !== undefined) return problem;
  const host = new URL(text).hostname;
  if (isLiteral(host)) return undefined;
  const late = new AbortController();
  const addresses = await Promise.race([resolve(host).catch(() => []), nothingAfter(LIMITS.webhookResolveMs, late)]);
  late.abort();
  return addresses.every(({ address }) => isPublic(address)) ? undefined : NOT_PUBLIC;
}

function nothingAfter(ms: number, { signal }: AbortController): Promise<readonly { address: string }[]> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve([]), ms);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

export interface Posted {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** Sends a POST request; the status of the answer. Rejects with ERR_SERVICE or ERR_TIMEOUT, in words that hold no secret. */
export type Post = (posted: Posted, signal: AbortSignal) => Promise<number>;

/** What was answered: a status, and up to LIMITS.httpAnswerBytes of text. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** The same, with what was answered. */
export type Exchange = (posted: Posted, signal: AbortSignal) => Promise<Reply>;

export interface SenderOptions {
  /** Gives the addresses to connect to. @default the system's, refusing all that are not public */
  readonly lookup?: LookupFunction;
  /** Authorities of certificates, in PEM. @default those of Node */
  readonly ca?: string;
}

/** A sender of webhooks. Every request resolves the name anew and connects to the addresses that were checked. */
export function webhookSender(options: SenderOptions = {}): Post {
  return poster(options, async (incoming) => {
    discard(incoming);
    return incoming.statusCode ?? 0;
  });
}

/** The same for services whose answers are read. */
export function publicExchange(options: SenderOptions = {}): Exchange {
  return poster(options, read);
}

type Take<T> = (incoming: IncomingMessage) => Promise<T>;

function poster<T>({ lookup = guardedLookup(systemResolve, 'public'), ca }: SenderOptions, take: Take<T>) {
  return ({ url, headers, body }: Posted, signal: AbortSignal) =>
    new Promise<T>((resolve, reject) => {
      // A literal address is connected to without a lookup.
      const problem = addressProblem(url);
      if (problem !== undefined) return reject(failure(`the URL ${problem}`));
      const settings = { method: 'POST', headers: headersOf(headers, body), agent: false, lookup, signal } as const;
      const outgoing = request(url, { ...settings, ...(ca !== undefined && { ca }) });
      const fail = (error: Error) => reject(signal.aborted ? late() : wordsOf(error));
      outgoing.on('error', fail);
      outgoing.on('response', (incoming) => take(incoming).then(resolve, fail));
      outgoing.end(body);
    });
}

async function read(incoming: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LIMITS.httpAnswerBytes) throw Object.assign(new Error('too long'), { code: 'ANSWER_TOO_LONG' });
    chunks.push(chunk);
  }
  return { status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}

function headersOf(headers: Posted['headers'], body: string): Posted['headers'] {
  const length = String(Buffer.byteLength(body));
  return { 'content-type': 'application/json', 'content-length': length, 'user-agent': 'Twinline', ...headers };
}

// What a receiver says beside its status is nobody's business, and may be endless.
function discard(incoming: IncomingMessage): void {
  let bytes = 0;
  incoming.on('error', () => {});
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LIMITS.httpAnswerBytes) incoming.destroy();
  });
}

function isLiteral(host: string): boolean {
  return ipaddr.isValid(host.replace(/^\[|\]$/g, ''));
}

function failure(words: string): TwinlineError {
  return new TwinlineError('ERR_SERVICE', words);
}

function late(): TwinlineError {
  return new TwinlineError('ERR_TIMEOUT', `no answer within ${LIMITS.webhookAnswerMs / 1_000} s`);
}

// Codes only: the texts of system errors can hold addresses.
function wordsOf(error: NodeJS.ErrnoException): TwinlineError {
  if (error instanceof TwinlineError) return failure('the name leads to an address that is not public');
  return failure(`the connection failed: ${error.code ?? 'it broke'}`);
}
