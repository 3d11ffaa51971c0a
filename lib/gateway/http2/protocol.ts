// HTTP/2 constants (RFC 9113), protocol errors, and the SETTINGS of both sides.

import type { Status } from '../channel/channel.ts';
import type { Metadata } from '../channel/metadata.ts';
import { GATEWAY_LIMITS } from '../limits.ts';

/** Bytes `from` to `to` (exclusive) of a borrowed buffer: copy them to keep them. */
export interface ByteRange {
  bytes: Buffer;
  from: number;
  to: number;
}

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

export const ERROR = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  calm: 11,
  security: 12,
} as const;

export const SETTING = { tableBytes: 1, push: 2, streams: 3, window: 4, frameBytes: 5, listBytes: 6 } as const;

/** Size of a frame header in bytes. */
export const FRAME_HEADER_BYTES = 9;
/** The maximum frame payload that every endpoint accepts. We neither send nor accept more. */
export const FRAME_BYTES = 16_384;

/** Initial flow-control window of a connection, and of a stream until SETTINGS change it, in bytes. */
export const INITIAL_WINDOW = 65_535;
export const MAX_WINDOW = 2_147_483_647;
/** The highest stream id of a client. */
export const MAX_STREAM_ID = 2_147_483_647;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** A connection error: the GOAWAY code and the reason for the log. Returned instead of thrown, because frames are a hot path. */
export interface ProtocolError {
  readonly code: number;
  readonly why: string;
}

export function protocolError(code: keyof typeof ERROR, why: string): ProtocolError {
  return { code: ERROR[code], why };
}

/** Bytes of one setting: identifier (2) and value (4). */
const SETTING_BYTES = 6;
const FRAME_BYTES_MAX = 16_777_215;

/** The node's settings that limit what we send. */
export interface NodeSettings {
  /** Concurrent streams. */
  streams: number;
  /** Bytes of a header list, as counted by SETTINGS_MAX_HEADER_LIST_SIZE. */
  listBytes: number;
  /** Initial window of each stream, in bytes. */
  window: number;
}

/** The settings that apply until the node sends its own. */
export function initialSettings(): NodeSettings {
  return { streams: GATEWAY_LIMITS.grpcStreamsAtOnce, listBytes: Number.POSITIVE_INFINITY, window: INITIAL_WINDOW };
}

/** Our SETTINGS payload: no server push, no dynamic table, and the window and header list size of LIMITS. */
export function encodeSettings(): Buffer {
  const own = [
    [SETTING.tableBytes, 0],
    [SETTING.push, 0],
    [SETTING.window, GATEWAY_LIMITS.grpcWindowBytes],
    [SETTING.listBytes, GATEWAY_LIMITS.grpcMetadataBytes],
  ] as const;
  const bytes = Buffer.allocUnsafe(own.length * SETTING_BYTES);
  for (const [nth, [name, value]] of own.entries()) {
    bytes.writeUInt16BE(name, nth * SETTING_BYTES);
    bytes.writeUInt32BE(value, nth * SETTING_BYTES + 2);
  }
  return bytes;
}

const APPLY: { readonly [name: number]: (settings: NodeSettings, value: number) => ProtocolError | undefined } = {
  [SETTING.push]: (_settings, value) =>
    value === 0 ? undefined : protocolError('protocol', 'the node set ENABLE_PUSH, which only a client may do'),
  [SETTING.streams]: (settings, value) => {
    settings.streams = Math.min(value, GATEWAY_LIMITS.grpcStreamsAtOnce);
    return undefined;
  },
  [SETTING.window]: (settings, value) => {
    settings.window = value;
    return value <= MAX_WINDOW
      ? undefined
      : protocolError('flowControl', 'the node set an initial window above 2^31 - 1 bytes');
  },
  [SETTING.frameBytes]: (_settings, value) =>
    value >= FRAME_BYTES && value <= FRAME_BYTES_MAX
      ? undefined
      : protocolError('protocol', 'the node set a maximum frame size outside the range of RFC 9113'),
  [SETTING.listBytes]: (settings, value) => {
    settings.listBytes = value;
    return undefined;
  },
};

/**
 * Applies a SETTINGS payload; unknown settings are ignored. The maximum frame size is only validated, because we never send
 * frames larger than the smallest maximum.
 */
export function applySettings(settings: NodeSettings, { bytes, from, to }: ByteRange): ProtocolError | undefined {
  if ((to - from) % SETTING_BYTES) return protocolError('frameSize', 'a SETTINGS frame has a wrong size');
  for (let at = from; at < to; at += SETTING_BYTES) {
    const error = APPLY[bytes.readUInt16BE(at)]?.(settings, bytes.readUInt32BE(at + 2));
    if (error) return error;
  }
  return undefined;
}

/** Headers or trailers of a reply. */
export interface Headers {
  /** The HTTP status; 0 in trailers. */
  readonly http: number;
  readonly metadata: Metadata;
  /** The gRPC status, if any. */
  readonly status: Status | undefined;
  /** If these are not headers of a gRPC reply: the status that explains why. */
  readonly foreign: Status | undefined;
}
