// One answer for one question: from the cache, from a call that runs already, or from the node; then as HTTP.

import type { IncomingMessage } from 'node:http';
import fresh from 'fresh';
import { Stop, type StopSignal } from '../../../lib/gateway/channel/channel.ts';
import * as statuses from '../../../lib/gateway/channel/statuses.ts';
import {
  type Answer,
  type AnswerCache,
  type CacheResult,
  earlyTrailers,
  entityTag,
  HEIGHT,
  type HttpAnswer,
  headersOf,
  type Metadata,
  readHttpBody,
  trailersOf,
} from '../../../lib/gateway/index.ts';
import type { Plan } from '../catalog.ts';
import type { Exchange } from '../front.ts';
import type { Asked } from '../request.ts';
import type { Service } from '../service.ts';
import type { Waiting } from './large-replies.ts';
import { type Reply, renderReply } from './renderer.ts';
import { reply } from './reply.ts';

/** An answer that is ready to be sent, also to several. */
export interface Rendered {
  readonly http: number;
  readonly body: Buffer;
  /** Of the body, where it is not JSON. */
  readonly type?: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly trailers: Readonly<Record<string, string>>;
  /** The body says all that can be said: no type inside it may be known a moment later. */
  readonly isFinal: boolean;
  /** Undefined for an error. */
  readonly tag: string | undefined;
  /** The height that the node told. */
  readonly height: string | undefined;
}

/** What a cache asks about answers of this kind. */
export const RENDERED = {
  bytesOf: ({ body, headers, trailers }: Rendered) =>
    body.length + lengthOf(headers) + lengthOf(Object.values(trailers)),
  isKept: ({ tag, isFinal }: Rendered) => tag !== undefined && isFinal,
  heightOf: ({ height }: Rendered) => height,
};

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** Asks the node, or those who have asked already, and answers. Rejects when the answer cannot be read. */
export async function answerUnary(
  exchange: Exchange,
  plan: Plan,
  { asked, service }: { asked: Asked; service: Service },
): Promise<void> {
  const { res } = exchange;
  const left = new Stop();
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
  const height = metadata.find(([name]) => name === HEIGHT)?.[1] as string | undefined;
  const forwarded = height === undefined ? metadata : metadata.filter(([name]) => name !== HEIGHT);
  return { path, request, height, forwarded, ...(isHasty && { apart: String(deadlineMs) }) };
}

interface Asking {
  readonly service: Service;
  readonly signal: StopSignal;
}

async function ask(plan: Plan, asked: Asked, { service, signal }: Asking): Promise<Rendered> {
  const { request, metadata, deadlineMs } = asked;
  const { back } = service.catalog;
  const begun = performance.now();
  const answer = await service.channel.unary({ path: plan.path, request, metadata, deadlineMs, signal });
  const tookMs = performance.now() - begun;
  service.counts.called(tookMs);
  const early = answer.trailers.length ? [...answer.headers, ...earlyTrailers(answer.trailers, back)] : answer.headers;
  const told = { headers: headersOf(early, back), trailers: trailersOf(answer.trailers, back) };
  const waiting = { deadlineMs: deadlineMs - tookMs, signal };
  if (answer.status.code !== 0) return failed(answer, { service, waiting, told });
  const { body, type, tag, isFinal } = await bodyOf({ plan, bytes: answer.bytes }, service, waiting);
  // Whoever keeps it asks whether it is still true.
  const headers = [
    'ETag',
    tag,
    'Cache-Control',
    'no-cache',
    ...(type ? RAW : []),
    ...Object.entries(told.headers).flat(),
  ];
  const { trailers } = told;
  return { http: 200, body, ...(type && { type }), headers, trailers, isFinal, tag, height: told.headers[HEIGHT] };
}

/** What comes from the node as a body of its own must not act as a page of this server. */
export const RAW: readonly string[] = ['Content-Security-Policy', 'sandbox'];

async function bodyOf(reply: Reply, service: Service, waiting: Waiting) {
  if (reply.plan.isRaw) {
    const { type, data } = readHttpBody(reply.bytes);
    return { body: data, type, tag: entityTag(data), isFinal: true };
  }
  const { value, isFinal } = await renderReply(reply, service, waiting);
  return { body: value.json, type: undefined, tag: value.tag ?? entityTag(value.json), isFinal };
}

interface Failure {
  readonly service: Service;
  readonly waiting: Waiting;
  readonly told: Pick<Rendered, 'trailers'> & { readonly headers: Record<string, string> };
}

async function failed({ status, headers, trailers }: Answer, { service, waiting, told }: Failure): Promise<Rendered> {
  const answer = await statusAnswer({ status, trailers }, service, waiting);
  const { retryMs } = service.channel.breaker();
  if (retryMs > 0) told.headers['retry-after'] = String(Math.ceil(retryMs / 1_000));
  const list = [...challengeFor(answer, [...headers, ...trailers]), ...Object.entries(told.headers).flat()];
  return { ...ready(answer, list), trailers: told.trailers };
}

/** The answer to a call that did not end well, with its details. */
export async function statusAnswer(
  { status, trailers }: Pick<Answer, 'status' | 'trailers'>,
  { catalog, types }: Pick<Service, 'catalog' | 'types'>,
  waiting: Waiting,
): Promise<HttpAnswer> {
  const details = detailsIn(trailers);
  if (!details) return catalog.answers.ofStatus(status);
  return (await types.make((unknown) => catalog.answers.ofStatus(status, details, unknown), waiting)).value;
}

const CHALLENGE = /^[\w!#$%&'*+.^`|~-]+( [\x20-\x7e]+)?$/;

/** RFC 9110: whoever gets 401 is told how to come in, by the node if it says so. Names and values in turn. */
export function challengeFor({ http }: HttpAnswer, metadata: Metadata): readonly string[] {
  if (http !== 401) return [];
  const own = metadata.find(([name]) => name === 'www-authenticate')?.[1];
  return ['WWW-Authenticate', typeof own === 'string' && CHALLENGE.test(own) ? own : 'Bearer realm="node"'];
}

function ready({ http, body }: HttpAnswer, headers: readonly string[] = []): Rendered {
  return { http, body: Buffer.from(body), headers, trailers: {}, isFinal: true, tag: undefined, height: undefined };
}

/** The value of `grpc-status-details-bin`. */
function detailsIn(trailers: Metadata): Uint8Array | undefined {
  const value = trailers.find(([name]) => name === 'grpc-status-details-bin')?.[1];
  return typeof value === 'string' ? undefined : value;
}

const ENDS = { late: statuses.LATE, left: statuses.CANCELLED, full: statuses.FULL } as const;

function send(exchange: Exchange, result: CacheResult<Rendered>, { catalog }: Service): void {
  const { tag, ...answer } =
    result.kind === 'answer' ? result.answer : ready(catalog.answers.ofStatus(ENDS[result.kind]));
  if (tag !== undefined && isFresh(exchange.req, tag)) reply(exchange, { http: 304, headers: answer.headers });
  else reply(exchange, answer);
}

function isFresh({ headers, method }: IncomingMessage, etag: string): boolean {
  return headers['if-none-match'] !== undefined && (method === 'GET' || method === 'HEAD') && fresh(headers, { etag });
}
