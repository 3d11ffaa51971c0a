// The settings of both sides of a connection: what this side tells the node, and what it takes from it.

import { LIMITS } from '../../limits.ts';
import { FIRST_WINDOW, FRAME_BYTES, SETTING, type Trouble, trouble, WINDOW_MAX } from './codes.ts';
import type { Piece } from './frame-reader.ts';

/** Bytes of one setting. */
const ENTRY_BYTES = 6;
const FRAME_BYTES_MAX = 16_777_215;

/** What the node wants of calls. */
export interface NodeSettings {
  /** Streams at the same time. */
  streams: number;
  /** Bytes of a list of headers. */
  listBytes: number;
  /** The window with which each stream begins. */
  window: number;
}

/** What holds until the node says else. */
export function firstSettings(): NodeSettings {
  return { streams: LIMITS.grpcStreamsAtOnce, listBytes: Number.POSITIVE_INFINITY, window: FIRST_WINDOW };
}

/** No pushes, no table for headers, and the windows and lists of LIMITS. */
export function ownSettings(): Buffer {
  const own = [
    [SETTING.tableBytes, 0],
    [SETTING.push, 0],
    [SETTING.window, LIMITS.grpcWindowBytes],
    [SETTING.listBytes, LIMITS.grpcMetadataBytes],
  ] as const;
  const bytes = Buffer.allocUnsafe(own.length * ENTRY_BYTES);
  for (const [nth, [name, value]] of own.entries()) {
    bytes.writeUInt16BE(name, nth * ENTRY_BYTES);
    bytes.writeUInt32BE(value, nth * ENTRY_BYTES + 2);
  }
  return bytes;
}

const TAKE: { readonly [name: number]: (settings: NodeSettings, value: number) => Trouble | undefined } = {
  [SETTING.push]: (_settings, value) => (value === 0 ? undefined : trouble('protocol', 'the node wants to push')),
  [SETTING.streams]: (settings, value) => {
    settings.streams = Math.min(value, LIMITS.grpcStreamsAtOnce);
    return undefined;
  },
  [SETTING.window]: (settings, value) => {
    settings.window = value;
    return value <= WINDOW_MAX ? undefined : trouble('flowControl', 'the node asks for too large a window');
  },
  [SETTING.frameBytes]: (_settings, value) =>
    value >= FRAME_BYTES && value <= FRAME_BYTES_MAX
      ? undefined
      : trouble('protocol', 'the node asks for frames of an impossible size'),
  [SETTING.listBytes]: (settings, value) => {
    settings.listBytes = value;
    return undefined;
  },
};

/** Takes over what the payload of a SETTINGS frame says. Frames of the node's size are never filled beyond the least one. */
export function takeSettings(settings: NodeSettings, { bytes, from, to }: Piece): Trouble | undefined {
  if ((to - from) % ENTRY_BYTES) return trouble('frameSize', 'a SETTINGS frame has a wrong size');
  for (let at = from; at < to; at += ENTRY_BYTES) {
    const found = TAKE[bytes.readUInt16BE(at)]?.(settings, bytes.readUInt32BE(at + 2));
    if (found) return found;
  }
  return undefined;
}
