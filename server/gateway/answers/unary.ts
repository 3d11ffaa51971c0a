// Unary calls: answered from the cache, by joining a running call, or by the node. The reply becomes JSON; large ones in a
// thread, so that they do not block the event loop.

import type { IncomingMessage } from 'node:http';
import fresh from 'fresh';
import type { TwinlineError } from '../../../lib/errors.ts';
import { CHANNEL_STATUS, Stop, type StopSignal } from '../../../lib/gateway/channel/channel.ts';
import {
  type AnswerCache,
  type BuiltType,
  type CacheOptions,
  type CacheResult,
  type Effort,
  earlyTrailers,
  entityTag,
  type GuardedChannel,
  HEIGHT,
  type HttpAnswer,
  type Metadata,
  type RpcAnswer,
  readHttpBody,
  type TypeSource,
  toHeaders,
  toTrailers,
  type UnknownTypes,
} from '../../../lib/gateway/index.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { Exchange } from '../../http/fast-path.ts';
import type { Catalog, GatewayRoute } from '../catalog.ts';
import type { GatewayCounts } from '../counts.ts';
import type { NodeRequest } from '../request.ts';
import type { LargeReplies, ReplyWait, WrittenReply } from './large-replies.ts';
import { type GatewayResponse, sendResponse } from './response.ts';

/** The parts of the gateway's service. */
export interface Service {
  readonly catalog: Catalog;
  readonly channel: GuardedChannel;
  readonly cache: AnswerCache<CachedResponse>;
  readonly renderer: Renderer;
  /** Resolves undeclared types inside an Any. */
  readonly types: TypeSource;
  readonly counts: GatewayCounts;
}

/** A complete response that can be sent to several clients. */
export interface CachedResponse extends GatewayResponse {
  readonly body: Buffer;
  readonly headers: readonly string[];
  readonly trailers: Readonly<Record<string, string>>;
  /** Whether the body is final: no unknown type in it may become known shortly. */
  readonly isFinal: boolean;
  /** Undefined for an error. */
  readonly tag: string | undefined;
  /** The height of the node's reply. */
  readonly height: string | undefined;
}

/** How the cache treats such responses. */
export const CACHE_RULES: Pick<CacheOptions<CachedResponse>, 'countBytes' | 'isKept' | 'readHeight'> = {
  countBytes: ({ body, headers, trailers }) => {
    const texts = [...headers, ...Object.values(trailers)];
    return texts.reduce((sum, text) => sum + text.length, body.length);
  },
  isKept: ({ tag, isFinal }) => tag !== undefined && isFinal,
  readHeight: ({ height }) => height,
};

/** Calls the node, or joins a running call, and responds. Rejects when the reply is malformed. */
export async function answerUnary(
  exchange: Exchange,
  route: GatewayRoute,
  { request, service }: { request: NodeRequest; service: Service },
): Promise<void> {
  const { res } = exchange;
  const caller = new Stop();
  const leave = () => caller.abort();
  res.once('close', leave);
  const waiting = { deadlineMs: request.deadlineMs, signal: caller };
  const load = (signal: StopSignal) => callNode(route, request, { service, signal });
  try {
    const result: CacheResult<CachedResponse> = route.isShared
      ? await service.cache.answer(cacheKey(route, request), waiting, load)
      : { kind: 'answer', answer: await load(caller), from: 'node' };
    sendResult(exchange, result, service);
  } finally {
    res.off('close', leave);
  }
}

// A call with its own deadline is not shared: the deadline would end it for all waiters, and the node receives it.
function cacheKey(
  { grpcPath }: GatewayRoute,
  { message, metadata, deadlineMs, isHasty }: NodeRequest,
): Parameters<AnswerCache<CachedResponse>['answer']>[0] {
  const height = metadata.find(([name]) => name === HEIGHT)?.[1] as string | undefined;
  const forwarded = height === undefined ? metadata : metadata.filter(([name]) => name !== HEIGHT);
  return { path: grpcPath, request: message, height, forwarded, ...(isHasty && { apart: String(deadlineMs) }) };
}

async function callNode(
  route: GatewayRoute,
  { message, metadata, deadlineMs }: NodeRequest,
  { service, signal }: { readonly service: Service; readonly signal: StopSignal },
): Promise<CachedResponse> {
  const { back } = service.catalog;
  const startedAt = performance.now();
  const answer = await service.channel.unary({ path: route.grpcPath, request: message, metadata, deadlineMs, signal });
  const tookMs = performance.now() - startedAt;
  service.counts.countCall(tookMs);
  const early = answer.trailers.length ? [...answer.headers, ...earlyTrailers(answer.trailers, back)] : answer.headers;
  const replyHeaders = toHeaders(early, back);
  const trailers = toTrailers(answer.trailers, back);
  const waiting = { deadlineMs: deadlineMs - tookMs, signal };
  if (answer.status.code !== 0)
    return { ...(await makeFailedResponse(answer, { service, waiting, given: replyHeaders })), trailers };
  const { body, type, tag, isFinal } = await renderBody({ route, bytes: answer.bytes }, service, waiting);
  // Clients may keep the body but must revalidate it.
  const own = ['ETag', tag, 'Cache-Control', 'no-cache', ...(type ? RAW : [])];
  const headers = [...own, ...Object.entries(replyHeaders).flat()];
  return { http: 200, body, ...(type && { type }), headers, trailers, isFinal, tag, height: replyHeaders[HEIGHT] };
}

/** A raw body from the node must not act as a page of this server. */
export const RAW: readonly string[] = ['Content-Security-Policy', 'sandbox'];

async function renderBody(reply: NodeReply, service: Service, waiting: ReplyWait) {
  if (reply.route.isRaw) {
    const { type, data } = readHttpBody(reply.bytes);
    return { body: data, type, tag: entityTag(data), isFinal: true };
  }
  const { value, isFinal } = await renderReply(reply, service, waiting);
  return { body: value.json, type: undefined, tag: value.tag ?? entityTag(value.json), isFinal };
}

async function makeFailedResponse(
  { status, headers, trailers }: RpcAnswer,
  { service, waiting, given: replyHeaders }: { service: Service; waiting: ReplyWait; given: Record<string, string> },
): Promise<CachedResponse> {
  const answer = await describeStatus({ status, trailers }, service, waiting);
  const { retryMs } = service.channel.breaker();
  if (retryMs > 0) replyHeaders['retry-after'] = String(Math.ceil(retryMs / 1_000));
  return readyResponse(answer, [
    ...challengeHeaders(answer, [...headers, ...trailers]),
    ...Object.entries(replyHeaders).flat(),
  ]);
}

/** The response to a failed call, with the details from `grpc-status-details-bin`. */
export async function describeStatus(
  { status, trailers }: Pick<RpcAnswer, 'status' | 'trailers'>,
  { catalog, types }: Pick<Service, 'catalog' | 'types'>,
  waiting: ReplyWait,
): Promise<HttpAnswer> {
  const details = trailers.find(([name]) => name === 'grpc-status-details-bin')?.[1];
  if (details === undefined || typeof details === 'string') return catalog.answers.ofStatus(status);
  return (await types.make((unknown) => catalog.answers.ofStatus(status, details, unknown), waiting)).value;
}

const CHALLENGE = /^[\w!#$%&'*+.^`|~-]+( [\x20-\x7e]+)?$/;

/** RFC 9110: a 401 needs a challenge, taken from the node if it sent one. Alternating names and values. */
export function challengeHeaders({ http }: HttpAnswer, metadata: Metadata): readonly string[] {
  if (http !== 401) return [];
  const own = metadata.find(([name]) => name === 'www-authenticate')?.[1];
  return ['WWW-Authenticate', typeof own === 'string' && CHALLENGE.test(own) ? own : 'Bearer realm="node"'];
}

function readyResponse({ http, body }: HttpAnswer, headers: readonly string[] = []): CachedResponse {
  return { http, body: Buffer.from(body), headers, trailers: {}, isFinal: true, tag: undefined, height: undefined };
}

const NO_ANSWER = { late: CHANNEL_STATUS.late, left: CHANNEL_STATUS.cancelled, full: CHANNEL_STATUS.full } as const;

function sendResult(exchange: Exchange, result: CacheResult<CachedResponse>, { catalog }: Service): void {
  const isAnswer = result.kind === 'answer';
  const response = isAnswer ? result.answer : readyResponse(catalog.answers.ofStatus(NO_ANSWER[result.kind]));
  const { tag, headers } = response;
  const isKnown = tag !== undefined && isFresh(exchange.req, tag);
  sendResponse(exchange, isKnown ? { http: 304, headers } : response);
}

function isFresh({ headers, method }: IncomingMessage, etag: string): boolean {
  return headers['if-none-match'] !== undefined && (method === 'GET' || method === 'HEAD') && fresh(headers, { etag });
}

/** A message from the node and its route. */
interface NodeReply {
  readonly route: GatewayRoute;
  readonly bytes: Uint8Array;
}

export interface Renderer {
  /**
   * Converts a reply to JSON: synchronously, or in a thread if it is or becomes large. The thread takes the bytes; {@link
   * WrittenReply.bytes} returns them if it met unknown types. Fails like a JsonWriter and {@link LargeReplies.write}.
   */
  render(reply: NodeReply, unknown: UnknownTypes, waiting: ReplyWait): Buffer | Promise<WrittenReply>;
  close(): Promise<void>;
}

const BRIEF: Effort = {
  jsonBytes: SERVER_LIMITS.gatewayBriefJsonBytes,
  orderBytes: SERVER_LIMITS.gatewayBriefOrderBytes,
};

export function createRenderer(large: LargeReplies): Renderer {
  return {
    render: ({ route, bytes }, unknown, waiting) => {
      if (bytes.length <= SERVER_LIMITS.gatewayBriefBytes)
        try {
          return route.write(bytes, { most: BRIEF, unknown });
        } catch (error) {
          if ((error as TwinlineError).reason !== 'too-large') throw error;
        }
      return large.write({ type: route.output.typeName, only: route.responseBody || undefined, bytes }, waiting);
    },
    close: large.close,
  };
}

/**
 * Converts a reply to JSON, and again after the node could be asked for types inside it. `tag` is present if a thread has
 * computed it. Rejects like {@link Renderer.render}.
 */
export function renderReply(
  reply: NodeReply,
  { types, renderer }: Pick<Service, 'types' | 'renderer'>,
  waiting: ReplyWait,
): Promise<BuiltType<{ readonly json: Buffer; readonly tag?: string }>> {
  let { bytes } = reply;
  return types.make((unknown) => {
    const rendered = renderer.render({ route: reply.route, bytes }, unknown, waiting);
    if (Buffer.isBuffer(rendered)) return { json: rendered };
    return rendered.then((message) => {
      for (const name of message.unknown) unknown.add(name);
      bytes = message.bytes ?? bytes;
      return message;
    });
  }, waiting);
}
