// One answer for one question: from the cache, from a call that runs already, or from the node; then as HTTP.

import type { IncomingMessage } from 'node:http';
import fresh from 'fresh';
import {
  type Answer,
  type AnswerCache,
  type CacheResult,
  entityTag,
  HEIGHT,
  type HttpAnswer,
  headersOf,
  type Metadata,
} from '../../lib/gateway/index.ts';
import * as statuses from '../../lib/gateway/statuses.ts';
import { createStop, type StopSignal } from '../../lib/gateway/stop.ts';
import type { Plan } from './catalog.ts';
import type { Exchange } from './exchange.ts';
import { reply } from './reply.ts';
import type { Asked } from './request.ts';
import type { Service } from './service.ts';

/** An answer that is ready to be sent, also to several. */
export interface Rendered {
  readonly http: number;
  readonly body: Buffer;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Undefined for an error. */
  readonly tag: string | undefined;
  /** The height that the node told. */
  readonly height: string | undefined;
}

/** What a cache asks about answers of this kind. */
export const RENDERED = {
  bytesOf: ({ body }: Rendered) => body.length,
  isKept: ({ tag }: Rendered) => tag !== undefined,
  heightOf: ({ height }: Rendered) => height,
};

/** Asks the node, or those who have asked already, and answers. Rejects when the answer cannot be read. */
export async function answerUnary(
  exchange: Exchange,
  plan: Plan,
  { asked, service }: { asked: Asked; service: Service },
): Promise<void> {
  const { res } = exchange;
  const left = createStop();
  const leave = () => left.abort();
  res.once('close', leave);
  const { deadlineMs } = asked;
  const waiting = { deadlineMs, signal: left };
  const load = (signal: StopSignal) => ask(plan, asked, { service, signal });
  try {
    const result = plan.isShared
      ? await service.cache.answer(keyOf(plan, asked), waiting, load)
      : ({ kind: 'answer', answer: await load(left), from: 'node' } as const);
    send(exchange, result, service);
  } finally {
    res.off('close', leave);
  }
}

// Calls with a deadline of their own run apart: it ends them for all who wait, and the node is told of it.
function keyOf(
  { path }: Plan,
  { request, metadata, deadlineMs, isHasty }: Asked,
): Parameters<AnswerCache<Rendered>['answer']>[0] {
  let height: string | undefined;
  for (const [name, value] of metadata) if (name === HEIGHT) height = String(value);
  const forwarded = height === undefined ? metadata : metadata.filter(([name]) => name !== HEIGHT);
  return { path, request, height, forwarded, ...(isHasty && { apart: String(deadlineMs) }) };
}

interface Asking {
  readonly service: Service;
  readonly signal: StopSignal;
}

async function ask(plan: Plan, asked: Asked, { service, signal }: Asking): Promise<Rendered> {
  const { request, metadata, deadlineMs } = asked;
  const begun = performance.now();
  const answer = await service.channel.unary({ path: plan.path, request, metadata, deadlineMs, signal });
  service.counts.called(performance.now() - begun);
  const headers = headersOf(
    answer.trailers.length ? [...answer.headers, ...answer.trailers] : answer.headers,
    service.catalog.settings.forwardHeaders,
  );
  if (answer.status.code !== 0) return failed(answer, { service, headers });
  const written = service.renderer.render(plan, answer.bytes, { deadlineMs, signal });
  const { json: body, tag } = Buffer.isBuffer(written) ? { json: written, tag: entityTag(written) } : await written;
  // Whoever keeps it asks whether it is still true.
  const list = ['ETag', tag, 'Cache-Control', 'no-cache', ...Object.entries(headers).flat()];
  return { http: 200, body, headers: list, tag, height: headers[HEIGHT] };
}

function failed(
  { status, trailers }: Answer,
  { service, headers }: { service: Service; headers: Record<string, string> },
): Rendered {
  const answer = service.catalog.answers.ofStatus(status, detailsIn(trailers));
  const { retryMs } = service.channel.breaker();
  if (retryMs > 0) headers['retry-after'] = String(Math.ceil(retryMs / 1_000));
  return ready(answer, Object.entries(headers).flat());
}

function ready({ http, body }: HttpAnswer, headers: readonly string[] = []): Rendered {
  return { http, body: Buffer.from(body), headers, tag: undefined, height: undefined };
}

/** The value of `grpc-status-details-bin`. */
export function detailsIn(trailers: Metadata): Uint8Array | undefined {
  const value = trailers.find(([name]) => name === 'grpc-status-details-bin')?.[1];
  return typeof value === 'string' ? undefined : value;
}

const ENDS = { late: statuses.LATE, left: statuses.CANCELLED, full: statuses.FULL } as const;

function send(exchange: Exchange, result: CacheResult<Rendered>, { catalog }: Service): void {
  const { http, body, headers, tag } =
    result.kind === 'answer' ? result.answer : ready(catalog.answers.ofStatus(ENDS[result.kind]));
  if (tag !== undefined && isFresh(exchange.req, tag)) reply(exchange, { http: 304, headers });
  else reply(exchange, { http, body, headers });
}

function isFresh({ headers, method }: IncomingMessage, etag: string): boolean {
  return headers['if-none-match'] !== undefined && (method === 'GET' || method === 'HEAD') && fresh(headers, { etag });
}
