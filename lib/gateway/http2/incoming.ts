// What each kind of frame from the node does to a connection (RFC 9113, section 6), and when it may not come.

import { FLAG, FRAME, type Trouble, trouble, WINDOW_MAX } from './codes.ts';
import type { Connection } from './connection.ts';
import type { Frame } from './frame-reader.ts';
import { takeSettings } from './settings.ts';
import { HeadBlock, takeData, takeHead } from './streams/response.ts';

interface Kind {
  readonly on: 'stream' | 'connection' | 'either';
  /** Bytes of the payload, when there is one size. */
  readonly bytes?: number;
  /** How many frames it counts for when it is no part of an answer. @default 1 */
  readonly cost?: number;
  take(connection: Connection, frame: Frame): Trouble | undefined;
}

const PRIORITY_BYTES = 5;
/** The cost of a frame for which all streams are looked at. */
const ALL_STREAMS = 16;
const PADDING = trouble('protocol', 'a frame has more padding than room');
const SIZE = trouble('frameSize', 'a frame has a wrong size');

/** By the type of the frame. */
const KINDS: { readonly [type: number]: Kind } = {
  [FRAME.data]: {
    on: 'stream',
    take: (connection, frame) => {
      const bytes = frame.to - frame.from;
      // At once, and not when someone has taken them: a slow reader of one stream holds up no other.
      const due = connection.receive.take(bytes);
      if (due) connection.outbox.control(FRAME.window, 0, [due]);
      if (!unpad(frame)) return PADDING;
      return takeData(connection, frame, bytes);
    },
  },
  [FRAME.headers]: {
    on: 'stream',
    take: (connection, frame) => {
      if (!unpad(frame)) return PADDING;
      if (frame.flags & FLAG.priority) frame.from += PRIORITY_BYTES;
      if (frame.from > frame.to) return SIZE;
      if (frame.flags & FLAG.endHeaders) return takeHead(connection, frame);
      connection.block = new HeadBlock(frame);
      return undefined;
    },
  },
  [FRAME.continuation]: {
    on: 'stream',
    take: (connection, frame) => {
      const { block } = connection;
      if (!block) return trouble('protocol', 'the rest of a block of headers came without its beginning');
      if (!block.add(frame)) return trouble('calm', 'a block of headers has no end');
      if (!(frame.flags & FLAG.endHeaders)) return undefined;
      connection.block = undefined;
      return takeHead(connection, block.whole());
    },
  },
  // This side has no use for it.
  [FRAME.priority]: {
    on: 'stream',
    take: (connection, { id, from, to }) =>
      to - from === PRIORITY_BYTES ? undefined : connection.streams.refuse(id, 'frameSize'),
  },
  [FRAME.reset]: {
    on: 'stream',
    bytes: 4,
    take: ({ streams }, { id, bytes, from }) => streams.abandoned(id, bytes.readUInt32BE(from)),
  },
  [FRAME.settings]: {
    on: 'connection',
    cost: ALL_STREAMS,
    take: (connection, frame) => {
      if (frame.flags & FLAG.ack) return frame.from === frame.to ? undefined : SIZE;
      return takeSettings(connection.streams.settings, frame) ?? connection.settled();
    },
  },
  [FRAME.push]: { on: 'stream', take: () => trouble('protocol', 'the node pushes what nobody asked for') },
  [FRAME.ping]: {
    on: 'connection',
    bytes: 8,
    take: (connection, { flags, bytes, from, to }) => {
      if (flags & FLAG.ack) return connection.ponged();
      return connection.outbox.reply({ type: FRAME.ping, flags: FLAG.ack, id: 0 }, bytes.subarray(from, to));
    },
  },
  [FRAME.goaway]: {
    on: 'connection',
    cost: ALL_STREAMS,
    take: (connection, { bytes, from, to }) => {
      if (to - from < 8) return SIZE;
      return connection.leave(bytes.readUInt32BE(from) & WINDOW_MAX, bytes.readUInt32BE(from + 4));
    },
  },
  [FRAME.window]: {
    on: 'either',
    bytes: 4,
    take: (connection, { id, bytes, from }) => {
      const more = bytes.readUInt32BE(from) & WINDOW_MAX;
      const { streams } = connection;
      if (id === 0) return more ? streams.sender.widen(more) : trouble('protocol', 'a window grows by nothing');
      const stream = streams.get(id);
      if (!stream) return streams.begun(id);
      if (!more) return streams.refuse(id, 'protocol');
      return streams.sender.widenStream(stream, more) ? undefined : streams.refuse(id, 'flowControl');
    },
  },
};

/** Takes one frame; trouble ends the connection. */
export function takeFrame(connection: Connection, frame: Frame): Trouble | undefined {
  const { type, id, flags } = frame;
  if (connection.block && (type !== FRAME.continuation || id !== connection.block.id))
    return trouble('protocol', 'something came between the parts of a block of headers');
  if (!connection.isReady && (type !== FRAME.settings || flags & FLAG.ack))
    return trouble('protocol', 'the node did not begin with SETTINGS');
  const kind = KINDS[type];
  // Each is counted; a part of an answer to a call that runs ends the count.
  if (!connection.patience.bears(kind?.cost ?? 1, connection.streams.sender.isBlocked))
    return trouble('calm', 'the node sends too much that is no answer');
  // What nobody knows is left to who does.
  if (!kind) return undefined;
  if (id === 0 ? kind.on === 'stream' : kind.on === 'connection')
    return trouble('protocol', 'a frame names a stream where it must not, or none where it must');
  if (kind.bytes !== undefined && frame.to - frame.from !== kind.bytes) return SIZE;
  return kind.take(connection, frame);
}

/** Takes padding off the piece; false when there is more of it than bytes. */
function unpad(frame: Frame): boolean {
  if (!(frame.flags & FLAG.padded)) return true;
  if (frame.from === frame.to) return false;
  frame.to -= frame.bytes[frame.from++]!;
  return frame.from <= frame.to;
}
