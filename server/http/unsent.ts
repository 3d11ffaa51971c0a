// Large answers that clients have not taken yet: how many bytes may wait in memory, in all and for one client.

import type { ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { SERVER_LIMITS } from '../config/limits.ts';
import { Refusal } from './errors.ts';
import { Answer, type UnsentBytes } from './guard.ts';
import type { Client, ReadClient } from './middleware/client.ts';

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
