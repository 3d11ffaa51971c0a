// How much of this server one client may hold: bytes of large answers that it has not read, and streams and sockets that stay open.

import type { ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { SERVER_LIMITS } from '../config/limits.ts';
import { Refusal } from './errors.ts';
import { Answer, type LivePlaces, type UnsentBytes } from './guard.ts';
import { type Client, type ReadClient, UNCOUNTED } from './middleware/client.ts';

export interface UnsentLimits {
  /** Bytes for all clients. @default SERVER_LIMITS.unsentBytes */
  readonly all?: number;
  /** Bytes for one client. @default SERVER_LIMITS.unsentBytesPerClient */
  readonly perClient?: number;
  /** Bytes from which an answer counts. @default SERVER_LIMITS.answerLargeBytes */
  readonly large?: number;
}

export interface UnsentOptions extends UnsentLimits {
  readonly readClient: ReadClient;
  /** Called for each answer that is refused. */
  readonly onRefused?: () => void;
}

/** A count of what waits in this process. Exempt clients and proxies share only the limit for all. */
export function unsentBytes({ readClient, onRefused, ...limits }: UnsentOptions): UnsentBytes {
  const {
    all = SERVER_LIMITS.unsentBytes,
    perClient = SERVER_LIMITS.unsentBytesPerClient,
    large = SERVER_LIMITS.answerLargeBytes,
  } = limits;
  const clients = new Map<string, number>();
  let sum = 0;

  function hasRoom({ bucket, exempt, proxy }: Client, bytes: number): boolean {
    const own = clients.get(bucket) ?? 0;
    const isWithinAll = sum === 0 || sum + bytes <= all;
    return isWithinAll && (exempt || proxy || own === 0 || own + bytes <= perClient);
  }

  function count(answer: ServerResponse, bytes: number): void {
    if (bytes < large || answer.destroyed) return;
    const { bucket } = readClient(answer.req);
    sum += bytes;
    clients.set(bucket, (clients.get(bucket) ?? 0) + bytes);
    answer.once('close', () => {
      sum -= bytes;
      const left = clients.get(bucket)! - bytes;
      if (left > 0) clients.set(bucket, left);
      else clients.delete(bucket);
    });
  }

  return {
    get bytes() {
      return sum;
    },
    count,
    admit(answer, bytes) {
      if (bytes >= large && !hasRoom(readClient(answer.req), bytes)) {
        onRefused?.();
        return false;
      }
      count(answer, bytes);
      return true;
    },
  };
}

function countUnsent(answer: ServerResponse, bytes: number): void {
  if (answer instanceof Answer) answer.unsent?.count(answer, bytes);
}

/** Counts an answer where answers are counted; false: it may not be sent. */
export function mayBeSent(answer: ServerResponse, bytes: number): boolean {
  return !(answer instanceof Answer) || (answer.unsent?.admit(answer, bytes) ?? true);
}

const OF_THE_BODY = ['ETag', 'Last-Modified', 'Cache-Control', 'Content-Type', 'Content-Disposition', 'Link'];
const RETRY_SECONDS = '5';

/** Counts the bodies of Koa's answers; refuses large ones to reading requests with 503 while there is no room for them. */
export function boundAnswers(): Middleware {
  return async (ctx, next) => {
    await next();
    if (ctx.respond === false || ctx.method === 'HEAD') return;
    const bytes = bodyBytes(ctx);
    // What has been done cannot be taken back: the answer that says so is sent.
    if (ctx.method !== 'GET') return countUnsent(ctx.res, bytes);
    if (mayBeSent(ctx.res, bytes)) return;
    for (const name of OF_THE_BODY) ctx.remove(name);
    ctx.set('Retry-After', RETRY_SECONDS);
    throw new Refusal(
      'unavailable',
      'Too many bytes of answers wait to be read. Read those first, or try again later.',
    );
  };
}

// Koa would write the JSON of an object only after all middleware.
function bodyBytes(ctx: Parameters<Middleware>[0]): number {
  const { body } = ctx;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (Buffer.isBuffer(body)) return body.length;
  if (body === null || typeof body !== 'object' || isStream(body)) return 0;
  const text = JSON.stringify(body);
  ctx.body = text;
  return Buffer.byteLength(text);
}

const isStream = (body: object) =>
  'pipe' in body || 'getReader' in body || body instanceof Blob || body instanceof Response;

interface LivePlacesOptions {
  readonly readClient: ReadClient;
  /** Of one address (IPv6 by /64); a /48 has SERVER_LIMITS.networkShare times as many. */
  readonly perClient: number;
  /** Called with the address for each refusal. */
  readonly onRefused?: (address: string) => void;
}

/** Counts by the address that the rate limiter counts by. Exempt clients, known proxies and uncounted ones have no bound. */
export function livePlaces({ readClient, perClient, onRefused }: LivePlacesOptions): LivePlaces {
  const counts = new Map<string, number>();
  let open = 0;

  function give(names: readonly string[]): () => void {
    open++;
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      open--;
      for (const name of names) {
        const left = counts.get(name)! - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      }
    };
  }

  return {
    get open() {
      return open;
    },
    take(req) {
      const client = readClient(req);
      const bounds = boundsOn(client, perClient);
      const isFull = bounds.some(([name, most]) => (counts.get(name) ?? 0) >= most);
      if (!isFull) return give(bounds.map(([name]) => name));
      onRefused?.(client.bucket);
      return undefined;
    },
    words: `This address has ${perClient} open streams and sockets, and may have no more. Close one, or try again later.`,
  };
}

function boundsOn({ bucket, network, exempt, proxy }: Client, perClient: number): readonly [string, number][] {
  if (exempt || proxy || bucket === UNCOUNTED) return [];
  const own: [string, number] = [bucket, perClient];
  return network === undefined ? [own] : [own, [network, perClient * SERVER_LIMITS.networkShare]];
}

/**
 * Takes a place for the request of an answer where places are counted, else none; gives what frees it. Throws a refusal with
 * status 429 when its client has as many as it may, before anything was sent.
 */
export function takeLivePlace(res: ServerResponse): () => void {
  if (!(res instanceof Answer) || !res.live) return free;
  const leave = res.live.take(res.req);
  if (leave) return leave;
  res.setHeader('Retry-After', RETRY_SECONDS);
  throw new Refusal('too-many-requests', res.live.words);
}

const free = () => {};
