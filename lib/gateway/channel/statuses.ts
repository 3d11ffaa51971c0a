// The statuses that a channel makes itself, and those that it reads from what the node sent.

import { GATEWAY_LIMITS } from '../limits.ts';
import { type Answer, type Call, GRPC, type Status, type StreamCall } from './channel.ts';
import { findMetadataProblem } from './metadata.ts';

/** A status of the channel. Its message names no address, since clients read it. */
export function channelStatus(code: number, message: string): Status {
  return { code, message, from: 'channel' };
}

/** The answer to a call that was not made. */
export function failedAnswer(status: Status): Answer {
  return { status, bytes: NOTHING, headers: [], trailers: [] };
}

const NOTHING = Buffer.alloc(0);

export const UNREACHABLE = channelStatus(GRPC.unavailable, 'The node cannot be reached.');
export const LOST = channelStatus(GRPC.unavailable, 'The connection to the node was lost.');
export const CLOSED = channelStatus(GRPC.unavailable, 'The connection to the node was closed.');
export const LATE = channelStatus(GRPC.deadlineExceeded, 'The deadline passed before the node had answered.');
export const CANCELLED = channelStatus(GRPC.cancelled, 'The call was cancelled.');
export const UNFINISHED = channelStatus(GRPC.internal, 'The node ended the call without a status.');
export const REFUSED = channelStatus(GRPC.unavailable, 'The node refused the call.');
export const FULL = channelStatus(GRPC.unavailable, 'Too many calls to the node are running.');
export const CROWDED = channelStatus(
  GRPC.unavailable,
  'Too many large answers of the node are on their way. Ask again later, or for smaller pages.',
);
export const LIMIT_EXCEEDED = channelStatus(GRPC.resourceExhausted, 'The node or its answer exceeds a limit.');
export const NO_STATUS = channelStatus(GRPC.unknown, 'The node answered with headers only, and no status.');
export const NO_MESSAGE = channelStatus(GRPC.internal, 'The node said OK but sent no message.');
export const MESSAGES = channelStatus(GRPC.internal, 'The node sent more than one message.');

export function answerTooLarge(maxBytes: number): Status {
  return channelStatus(GRPC.resourceExhausted, `The answer of the node is larger than ${maxBytes} bytes.`);
}

/** Why a call is not begun at all, or undefined. */
export function checkCall(call: Call | StreamCall): Status | undefined {
  if (call.signal?.aborted) return CANCELLED;
  if (call.deadlineMs !== undefined && call.deadlineMs <= 0) return LATE;
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
