// The numbers of HTTP/2 (RFC 9113): kinds of frames, their flags, error codes, settings.

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

/** Bytes before the payload of a frame, and of the payload of one: what all must take, and this side never more. */
export const HEAD_BYTES = 9;
export const FRAME_BYTES = 16_384;

/** The window of a connection, and of a stream until settings say else; the largest there is. */
export const FIRST_WINDOW = 65_535;
export const WINDOW_MAX = 2_147_483_647;
/** The last number that a stream of this side can have. */
export const STREAM_MAX = 2_147_483_647;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Why a connection ends: the code for GOAWAY, and words for a log. */
export interface Trouble {
  readonly code: number;
  readonly why: string;
}

export function trouble(code: keyof typeof ERROR, why: string): Trouble {
  return { code: ERROR[code], why };
}
