// The interface of a channel to the node: calls with raw bytes, a deadline and metadata, answered by a status. Also the
// statuses that channels generate, and parsing of statuses from the node.

import { TwinlineError } from '../../errors.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { findMetadataProblem, type Metadata } from './metadata.ts';

/** The gRPC codes that channels use themselves; a node may send any number. */
export const GRPC = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** How a call ended. */
export interface Status {
  /** 0 to 16, or whatever the node sent. */
  readonly code: number;
  /** At most LIMITS.grpcMessageChars characters. Verbatim from the node; from the channel it contains no address. */
  readonly message: string;
  /** Which side reported it. */
  readonly from: 'node' | 'channel';
}

interface AnyCall {
  /** `/package.Service/Method` */
  readonly path: string;
  /** Sent to the node. Names reserved by gRPC (`grpc-…`, `te`, `host`, …) are refused. @default none */
  readonly metadata?: Metadata;
  /** Timeout of the call in milliseconds; sent to the node as its deadline. @default the channel's */
  readonly deadlineMs?: number;
  /** Ends the call with CANCELLED, at the node too. */
  readonly signal?: StopSignal;
}

/** A unary call of a node. */
export interface RpcCall extends AnyCall {
  /** The request message, without the gRPC frame; at most LIMITS.grpcRequestBytes. */
  readonly request: Uint8Array;
}

/** A streaming call of a node. */
export interface StreamCall extends AnyCall {
  /** One message, or all messages for a client-streaming method. */
  readonly requests: readonly Uint8Array[];
}

/** The result of a unary call. */
export interface RpcAnswer {
  readonly status: Status;
  /** The reply message; empty unless the code is 0. */
  readonly bytes: Buffer;
  /** Metadata sent before the message, and after it. */
  readonly headers: Metadata;
  readonly trailers: Metadata;
}

/** The end of a message stream. */
export type StreamEnd = Pick<RpcAnswer, 'status' | 'trailers'>;

/** The messages of a streaming reply, read one by one. */
export interface MessageStream {
  /** Resolves with the metadata before the first message, empty if there is none. Never rejects. */
  readonly headers: Promise<Metadata>;
  /**
   * The messages, iterable once; ends with the stream, whatever its status. Back pressure reaches the node; leaving the loop
   * cancels the call. Iterate even after an abort: until then, large pending messages count against the channel's budget.
   * Never throws.
   */
  readonly messages: AsyncIterable<Buffer>;
  /** Resolves when the stream is over and its last message has been read, or the reader has left. Never rejects. */
  readonly end: Promise<StreamEnd>;
}

export interface ChannelHealth {
  /** `idle`: no call yet, or the last connection was released; `failing`: the last connection attempt failed. */
  readonly state: 'idle' | 'connecting' | 'ready' | 'failing' | 'closed';
  /** Why the last attempt or connection failed, for logs; may contain addresses. */
  readonly trouble?: string;
}

/**
 * A connection to one node. Connects on the first call and reconnects after a loss; a failed attempt is followed by a growing
 * pause, during which calls fail immediately with UNAVAILABLE. A request that the node may have seen is never sent twice.
 */
export interface Channel {
  /** `host:port` */
  readonly name: string;
  /** Never rejects: failures are statuses. */
  unary(call: RpcCall): Promise<RpcAnswer>;
  /** A call answered by any number of messages. */
  stream(call: StreamCall): MessageStream;
  health(): ChannelHealth;
  /** Connects if needed; resolves to whether the connection is up within `ms` milliseconds. Never rejects. */
  ready(ms: number): Promise<boolean>;
  /** Refuses new calls, lets running ones finish for LIMITS.grpcCloseMs and cancels the rest. Idempotent. */
  close(): Promise<void>;
}

/** The address of a node, and limits. */
export interface ChannelOptions {
  /** `host:port`; an IPv6 address in brackets. */
  readonly upstream: string;
  /** `true`: TLS with Node's CA certificates; `ca`: with these, in PEM. @default false: plain HTTP/2 */
  readonly tls?: boolean | { readonly ca: string | Buffer };
  /** @default LIMITS.grpcDeadlineMs */
  readonly deadlineMs?: number;
  /** Bytes of a message from the node, decompressed; a larger one is RESOURCE_EXHAUSTED. @default LIMITS.grpcAnswerBytes */
  readonly answerBytes?: number;
  /**
   * Bytes of messages over 64 KB buffered for all calls together, until they are complete or read; calls that exceed it end
   * with UNAVAILABLE.
   * @default LIMITS.grpcHeldBytes
   */
  readonly heldBytes?: number;
  /** @default LIMITS.grpcConnectMs */
  readonly connectMs?: number;
  /** Milliseconds that a silent connection may take to answer a ping. @default LIMITS.grpcPingMs */
  readonly pingMs?: number;
  /** First and longest pause in milliseconds. @default LIMITS.grpcBackoffMs, LIMITS.grpcBackoffMaxMs */
  readonly backoffMs?: number;
  readonly backoffMaxMs?: number;
}

/** Throws ERR_CONFIG unless it is `host:port`. */
export function checkUpstream(upstream: string): void {
  const [, port] = /^(?:[\w.-]+|\[[0-9a-f:.]+\]):(\d{1,5})$/i.exec(upstream) ?? [];
  if (Number(port) > 0 && Number(port) < 65_536) return;
  throw new TwinlineError(
    'ERR_CONFIG',
    `The address of the node, ${JSON.stringify(upstream.slice(0, 200))}, is not host:port. Write it as node.example:9090.`,
  );
}

/** The part of an AbortSignal that a call uses. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A StopSignal and its switch. A request needs two, and Node's AbortController costs as much as matching a path. */
export class Stop implements StopSignal {
  aborted = false;
  #listeners: (() => void)[] = [];

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** Calls all listeners, once. */
  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}

/** A status of the channel. Clients see the message, so it contains no address. */
export function channelStatus(code: number, message: string): Status {
  return { code, message, from: 'channel' };
}

/** The reply to a call that was not made. */
export function makeFailedAnswer(status: Status): RpcAnswer {
  return { status, bytes: NOTHING, headers: [], trailers: [] };
}

const NOTHING = Buffer.alloc(0);

/** Statuses generated by a channel. */
export const CHANNEL_STATUS = {
  unreachable: channelStatus(GRPC.unavailable, 'The node is unreachable.'),
  lost: channelStatus(GRPC.unavailable, 'The connection to the node was lost.'),
  closed: channelStatus(GRPC.unavailable, 'The connection to the node was closed.'),
  late: channelStatus(GRPC.deadlineExceeded, 'The deadline passed before the node answered.'),
  cancelled: channelStatus(GRPC.cancelled, 'The call was cancelled.'),
  unfinished: channelStatus(GRPC.internal, 'The node ended the call without a status.'),
  refused: channelStatus(GRPC.unavailable, 'The node refused the call.'),
  full: channelStatus(GRPC.unavailable, 'Too many calls to the node are running.'),
  crowded: channelStatus(
    GRPC.unavailable,
    'Too many large replies from the node are in flight. Try again later, or request smaller pages.',
  ),
  limitExceeded: channelStatus(GRPC.resourceExhausted, 'The node or its reply exceeds a limit.'),
  foreign: channelStatus(GRPC.unknown, 'The node did not answer with gRPC.'),
  noStatus: channelStatus(GRPC.unknown, 'The node answered with headers only, and no status.'),
  noMessage: channelStatus(GRPC.internal, 'The node returned OK but sent no message.'),
  messages: channelStatus(GRPC.internal, 'The node sent more than one message.'),
} as const;

export function answerTooLarge(maxBytes: number): Status {
  return channelStatus(GRPC.resourceExhausted, `The node's reply is larger than ${maxBytes} bytes.`);
}

/** Why a call must not be sent, or undefined. */
export function checkCall(call: RpcCall | StreamCall): Status | undefined {
  if (call.signal?.aborted) return CHANNEL_STATUS.cancelled;
  if (call.deadlineMs !== undefined && call.deadlineMs <= 0) return CHANNEL_STATUS.late;
  const problem = call.metadata && findMetadataProblem(call.metadata);
  if (problem) return channelStatus(GRPC.invalidArgument, `The call was not sent: ${problem}.`);
  const bytes = 'request' in call ? call.request.length : Math.max(...call.requests.map(({ length }) => length));
  if (bytes <= GATEWAY_LIMITS.grpcRequestBytes) return undefined;
  return channelStatus(GRPC.resourceExhausted, `The request is larger than ${GATEWAY_LIMITS.grpcRequestBytes} bytes.`);
}

/** The status in trailers or trailers-only headers; undefined when there is none. */
export function readStatus(trailers: ReadonlyMap<string, string>): Status | undefined {
  const code = trailers.get('grpc-status');
  if (code === undefined) return undefined;
  if (!/^\d{1,5}$/.test(code)) return channelStatus(GRPC.unknown, 'The node sent a malformed status.');
  return { code: Number(code), message: decodeMessage(trailers.get('grpc-message') ?? ''), from: 'node' };
}

function decodeMessage(message: string): string {
  const cut = message.slice(0, GATEWAY_LIMITS.grpcMessageChars * 3);
  try {
    return decodeURIComponent(cut).slice(0, GATEWAY_LIMITS.grpcMessageChars);
  } catch {
    return cut.slice(0, GATEWAY_LIMITS.grpcMessageChars);
  }
}

const BY_HTTP: { readonly [status: number]: number } = {
  400: GRPC.internal,
  401: GRPC.unauthenticated,
  403: GRPC.permissionDenied,
  404: GRPC.unimplemented,
  429: GRPC.unavailable,
  502: GRPC.unavailable,
  503: GRPC.unavailable,
  504: GRPC.unavailable,
};

/** The status for non-gRPC headers; undefined for gRPC ones. */
export function findHttpStatus(headers: ReadonlyMap<string, string>): Status | undefined {
  const http = Number(headers.get(':status'));
  if (http !== 200) return channelStatus(BY_HTTP[http] ?? GRPC.unknown, `The node answered with HTTP status ${http}.`);
  return isGrpc(headers.get('content-type')) ? undefined : CHANNEL_STATUS.foreign;
}

export function isGrpc(contentType = ''): boolean {
  return /^application\/grpc($|[+;])/.test(contentType);
}

const TIMEOUT_DIGITS = 99_999_999;

/** Formats milliseconds as `grpc-timeout`: at most eight digits and a unit. */
export function formatTimeout(ms: number): string {
  return ms <= TIMEOUT_DIGITS ? `${Math.ceil(ms)}m` : `${Math.min(Math.ceil(ms / 1_000), TIMEOUT_DIGITS)}S`;
}
