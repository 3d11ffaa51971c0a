// What the gateway needs of a connection to the node: calls with raw bytes, a deadline and metadata, answered by a status; the
// statuses that a channel makes itself, and those that it reads from what the node sent.

import { TwinlineError } from '../../errors.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { findMetadataProblem, type Metadata } from './metadata.ts';

/** The codes of gRPC that a channel itself answers with; a node may send any number. */
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
  /** 0 to 16, or what the node sent. */
  readonly code: number;
  /** At most LIMITS.grpcMessageChars characters. From the node as it was sent; from the channel it names no address. */
  readonly message: string;
  /** Who says so. */
  readonly from: 'node' | 'channel';
}

interface AnyCall {
  /** `/package.Service/Method` */
  readonly path: string;
  /** Sent to the node. Names that gRPC keeps for itself (`grpc-…`, `te`, `host`, …) are refused. @default none */
  readonly metadata?: Metadata;
  /** Milliseconds that the call may take; sent to the node as its deadline. @default the channel's */
  readonly deadlineMs?: number;
  /** Ends the call with CANCELLED, also at the node. */
  readonly signal?: StopSignal;
}

/** A unary call of a node. */
export interface RpcCall extends AnyCall {
  /** The request message, without the frame of gRPC; at most LIMITS.grpcRequestBytes. */
  readonly request: Uint8Array;
}

/** A streaming call of a node. */
export interface StreamCall extends AnyCall {
  /** One message, or for a method that takes a stream all of them. */
  readonly requests: readonly Uint8Array[];
}

/** What a unary call gave. */
export interface RpcAnswer {
  readonly status: Status;
  /** The answer message; empty unless the code is 0. */
  readonly bytes: Buffer;
  /** What the node sent before the message, and after it. */
  readonly headers: Metadata;
  readonly trailers: Metadata;
}

/** The end of a stream of messages. */
export type StreamEnd = Pick<RpcAnswer, 'status' | 'trailers'>;

/** The messages of a streaming answer, read one by one. */
export interface MessageStream {
  /** Resolves with what the node sent before the first message, empty when it sent nothing. Never rejects. */
  readonly headers: Promise<Metadata>;
  /**
   * The messages, once; ends with the stream, with any status. Who takes no message slows the node down. Leaving the
   * loop cancels the call. Read them also after an abort: large ones that wait count for the channel until then. Never throws.
   */
  readonly messages: AsyncIterable<Buffer>;
  /** Resolves when the stream is over and its last message has come to the reader, or the reader has left. Never rejects. */
  readonly end: Promise<StreamEnd>;
}

export interface ChannelHealth {
  /** `idle`: there was no call yet, or the last connection was given back; `failing`: the last attempt to connect failed. */
  readonly state: 'idle' | 'connecting' | 'ready' | 'failing' | 'closed';
  /** Why the last attempt or connection failed, for logs; names addresses. */
  readonly trouble?: string;
}

/**
 * One node. Connects with the first call, and again after a connection was lost: an attempt that failed is followed by a
 * growing pause, in which calls fail with UNAVAILABLE at once. Nothing that the node may have seen is sent twice.
 */
export interface Channel {
  /** `host:port` */
  readonly name: string;
  /** Never rejects: what fails is a status. */
  unary(call: RpcCall): Promise<RpcAnswer>;
  /** A call that is answered by any number of messages. */
  stream(call: StreamCall): MessageStream;
  health(): ChannelHealth;
  /** Connects if needed; whether a connection stands within `ms` milliseconds. Never rejects. */
  ready(ms: number): Promise<boolean>;
  /** Takes no more calls, lets running ones end for LIMITS.grpcCloseMs, cuts the rest. Again: harmless. */
  close(): Promise<void>;
}

/** Where a channel leads, and its limits. */
export interface ChannelOptions {
  /** `host:port`; an IPv6 address in brackets. */
  readonly upstream: string;
  /** `true`: TLS with the authorities that Node knows; `ca`: with these, in PEM. @default false: plain HTTP/2 */
  readonly tls?: boolean | { readonly ca: string | Buffer };
  /** @default LIMITS.grpcDeadlineMs */
  readonly deadlineMs?: number;
  /** Bytes of one message from the node, unpacked; more is RESOURCE_EXHAUSTED. @default LIMITS.grpcAnswerBytes */
  readonly answerBytes?: number;
  /**
   * Bytes of messages beyond 64 KB that are held for all calls together, until they are whole or their reader has taken
   * them; calls for which there is no room end with UNAVAILABLE. @default LIMITS.grpcHeldBytes
   */
  readonly heldBytes?: number;
  /** @default LIMITS.grpcConnectMs */
  readonly connectMs?: number;
  /** Milliseconds that a connection which seems dead may take to answer a ping. @default LIMITS.grpcPingMs */
  readonly pingMs?: number;
  /** Milliseconds of the first pause, and of the longest. @default LIMITS.grpcBackoffMs, LIMITS.grpcBackoffMaxMs */
  readonly backoffMs?: number;
  readonly backoffMaxMs?: number;
}

/** Throws ERR_CONFIG for what is not `host:port`. */
export function checkUpstream(upstream: string): void {
  const [, port] = /^(?:[\w.-]+|\[[0-9a-f:.]+\]):(\d{1,5})$/i.exec(upstream) ?? [];
  if (Number(port) > 0 && Number(port) < 65_536) return;
  throw new TwinlineError(
    'ERR_CONFIG',
    `The address of the node, ${JSON.stringify(upstream.slice(0, 200))}, is not host:port. Write it as node.example:9090.`,
  );
}

/** What a call listens to; an AbortSignal is one. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A StopSignal with its switch: each request has two of them, and an AbortController of Node costs as much as matching a path. */
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

/** A status of the channel. Its message names no address, since clients read it. */
export function channelStatus(code: number, message: string): Status {
  return { code, message, from: 'channel' };
}

/** The answer to a call that was not made. */
export function makeFailedAnswer(status: Status): RpcAnswer {
  return { status, bytes: NOTHING, headers: [], trailers: [] };
}

const NOTHING = Buffer.alloc(0);

/** The statuses that a channel makes itself, by what happened. */
export const CHANNEL_STATUS = {
  unreachable: channelStatus(GRPC.unavailable, 'The node cannot be reached.'),
  lost: channelStatus(GRPC.unavailable, 'The connection to the node was lost.'),
  closed: channelStatus(GRPC.unavailable, 'The connection to the node was closed.'),
  late: channelStatus(GRPC.deadlineExceeded, 'The deadline passed before the node had answered.'),
  cancelled: channelStatus(GRPC.cancelled, 'The call was cancelled.'),
  unfinished: channelStatus(GRPC.internal, 'The node ended the call without a status.'),
  refused: channelStatus(GRPC.unavailable, 'The node refused the call.'),
  full: channelStatus(GRPC.unavailable, 'Too many calls to the node are running.'),
  crowded: channelStatus(
    GRPC.unavailable,
    'Too many large answers of the node are on their way. Ask again later, or for smaller pages.',
  ),
  limitExceeded: channelStatus(GRPC.resourceExhausted, 'The node or its answer exceeds a limit.'),
  noStatus: channelStatus(GRPC.unknown, 'The node answered with headers only, and no status.'),
  noMessage: channelStatus(GRPC.internal, 'The node said OK but sent no message.'),
  messages: channelStatus(GRPC.internal, 'The node sent more than one message.'),
} as const;

export function answerTooLarge(maxBytes: number): Status {
  return channelStatus(GRPC.resourceExhausted, `The answer of the node is larger than ${maxBytes} bytes.`);
}

/** Why a call is not begun at all, or undefined. */
export function checkCall(call: RpcCall | StreamCall): Status | undefined {
  if (call.signal?.aborted) return CHANNEL_STATUS.cancelled;
  if (call.deadlineMs !== undefined && call.deadlineMs <= 0) return CHANNEL_STATUS.late;
  const problem = call.metadata && findMetadataProblem(call.metadata);
  if (problem) return channelStatus(GRPC.invalidArgument, `The call was not sent: ${problem}.`);
  const bytes = 'request' in call ? call.request.length : Math.max(...call.requests.map(({ length }) => length));
  if (bytes <= GATEWAY_LIMITS.grpcRequestBytes) return undefined;
  return channelStatus(GRPC.resourceExhausted, `The request is larger than ${GATEWAY_LIMITS.grpcRequestBytes} bytes.`);
}

/** The status in trailers, or in headers that are all that came; undefined when there is none. */
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

/** What headers that are not those of gRPC mean, or undefined when they are. */
export function findHttpStatus(headers: ReadonlyMap<string, string>): Status | undefined {
  const http = Number(headers.get(':status'));
  if (http !== 200) return channelStatus(BY_HTTP[http] ?? GRPC.unknown, `The node answered with HTTP status ${http}.`);
  if (/^application\/grpc($|[+;])/.test(headers.get('content-type') ?? '')) return undefined;
  return channelStatus(GRPC.unknown, 'The node answered with something else than gRPC.');
}

const TIMEOUT_DIGITS = 99_999_999;

/** The value of `grpc-timeout` for milliseconds: at most eight digits and a unit. */
export function formatTimeout(ms: number): string {
  return ms <= TIMEOUT_DIGITS ? `${Math.ceil(ms)}m` : `${Math.min(Math.ceil(ms / 1_000), TIMEOUT_DIGITS)}S`;
}
