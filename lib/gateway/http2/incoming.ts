// Processes received frames (RFC 9113, section 6) and detects protocol errors.

import { channelStatus, GRPC } from '../channel/channel.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import type { FloodGuard } from './flow-control.ts';
import type { Frame, FrameWriter } from './frames.ts';
import type { HeaderDecoder } from './headers.ts';
import type { ByteRange } from './protocol.ts';
import { applySettings, FLAG, FRAME, MAX_WINDOW, type ProtocolError, protocolError } from './protocol.ts';
import type { ReceiveWindow } from './stream-table.ts';
import type { Streams } from './streams.ts';

/** The connection that receives the frames. */
export interface Receiver {
  readonly frames: FrameWriter;
  readonly streams: Streams;
  readonly headerDecoder: HeaderDecoder;
  readonly receiveWindow: ReceiveWindow;
  readonly floodGuard: FloodGuard;
  /** A header block whose CONTINUATION frames are incomplete. */
  headerBlock: HeaderBlock | undefined;
  /** Whether the node's settings have arrived. */
  readonly isReady: boolean;
  /** Applies and acknowledges the node's settings. */
  acknowledgeSettings(): ProtocolError | undefined;
  /**
   * The node accepts no more calls and has processed no stream above `last`. With an error code the connection ends
   * immediately.
   */
  receiveGoaway(last: number, code: number): ProtocolError | undefined;
  /** The node answered a ping. */
  receivePong(): undefined;
}

interface FrameRule {
  readonly on: 'stream' | 'connection' | 'either';
  /** Required payload size in bytes. @default any */
  readonly bytes?: number;
  /** Its weight in the {@link FloodGuard}. @default 1 */
  readonly cost?: number;
  receive(connection: Receiver, frame: Frame): ProtocolError | undefined;
}

const PRIORITY_BYTES = 5;
/** The cost of a frame that makes us visit all streams. */
const ALL_STREAMS = 16;
const BAD_PADDING = protocolError('protocol', 'a frame has more padding than payload');
const BAD_SIZE = protocolError('frameSize', 'a frame has a wrong size');

/** By frame type. */
const RULES: { readonly [type: number]: FrameRule } = {
  [FRAME.data]: {
    on: 'stream',
    receive: (connection, frame) => {
      const bytes = frame.to - frame.from;
      // Return the connection window immediately: a slow reader of one stream must not block the others.
      const increment = connection.receiveWindow.consume(bytes);
      if (increment) connection.frames.control(FRAME.window, 0, [increment]);
      if (!removePadding(frame)) return BAD_PADDING;
      return receiveData(connection, frame, bytes);
    },
  },
  [FRAME.headers]: {
    on: 'stream',
    receive: (connection, frame) => {
      if (!removePadding(frame)) return BAD_PADDING;
      if (frame.flags & FLAG.priority) frame.from += PRIORITY_BYTES;
      if (frame.from > frame.to) return BAD_SIZE;
      if (frame.flags & FLAG.endHeaders) return receiveHeaders(connection, frame);
      connection.headerBlock = new HeaderBlock(frame);
      return undefined;
    },
  },
  [FRAME.continuation]: {
    on: 'stream',
    receive: (connection, frame) => {
      const { headerBlock } = connection;
      if (!headerBlock) return protocolError('protocol', 'a CONTINUATION came without HEADERS');
      if (!headerBlock.add(frame)) return protocolError('calm', 'a header block has too many frames or bytes');
      if (!(frame.flags & FLAG.endHeaders)) return undefined;
      connection.headerBlock = undefined;
      return receiveHeaders(connection, headerBlock.join());
    },
  },
  // Only validated: we do not prioritise.
  [FRAME.priority]: {
    on: 'stream',
    receive: (connection, { id, from, to }) =>
      to - from === PRIORITY_BYTES ? undefined : connection.streams.abort(id, 'frameSize'),
  },
  [FRAME.reset]: {
    on: 'stream',
    bytes: 4,
    receive: ({ streams }, { id, bytes, from }) => streams.receiveReset(id, bytes.readUInt32BE(from)),
  },
  [FRAME.settings]: {
    on: 'connection',
    cost: ALL_STREAMS,
    receive: (connection, frame) => {
      if (frame.flags & FLAG.ack) return frame.from === frame.to ? undefined : BAD_SIZE;
      return applySettings(connection.streams.settings, frame) ?? connection.acknowledgeSettings();
    },
  },
  [FRAME.push]: {
    on: 'stream',
    receive: () => protocolError('protocol', 'a PUSH_PROMISE came, though push is off'),
  },
  [FRAME.ping]: {
    on: 'connection',
    bytes: 8,
    receive: (connection, { flags, bytes, from, to }) => {
      if (flags & FLAG.ack) return connection.receivePong();
      return connection.frames.reply({ type: FRAME.ping, flags: FLAG.ack, id: 0 }, bytes.subarray(from, to));
    },
  },
  [FRAME.goaway]: {
    on: 'connection',
    cost: ALL_STREAMS,
    receive: (connection, { bytes, from, to }) => {
      if (to - from < 8) return BAD_SIZE;
      return connection.receiveGoaway(bytes.readUInt32BE(from) & MAX_WINDOW, bytes.readUInt32BE(from + 4));
    },
  },
  [FRAME.window]: {
    on: 'either',
    bytes: 4,
    receive: (connection, { id, bytes, from }) => {
      const increment = bytes.readUInt32BE(from) & MAX_WINDOW;
      const { streams } = connection;
      if (id === 0)
        return increment
          ? streams.sender.addWindow(increment)
          : protocolError('protocol', 'a WINDOW_UPDATE of the connection has the increment 0');
      const stream = streams.get(id);
      if (!stream) return streams.checkStarted(id);
      if (!increment) return streams.abort(id, 'protocol');
      return streams.sender.addStreamWindow(stream, increment) ? undefined : streams.abort(id, 'flowControl');
    },
  },
};

/** Handles one frame; an error ends the connection. */
export function receiveFrame(connection: Receiver, frame: Frame): ProtocolError | undefined {
  const { type, id, flags } = frame;
  if (connection.headerBlock && (type !== FRAME.continuation || id !== connection.headerBlock.id))
    return protocolError('protocol', 'another frame came within a header block');
  if (!connection.isReady && (type !== FRAME.settings || flags & FLAG.ack))
    return protocolError('protocol', 'the node did not start with SETTINGS');
  const rule = RULES[type];
  if (!connection.floodGuard.allow(rule?.cost ?? 1, connection.streams.sender.isBlocked))
    return protocolError('calm', 'the node sends too many frames that carry no reply');
  // Unknown frame types must be ignored (RFC 9113, section 4.1).
  if (!rule) return undefined;
  if (id === 0 ? rule.on === 'stream' : rule.on === 'connection')
    return protocolError('protocol', 'a frame names a stream where it must not, or none where it must');
  if (rule.bytes !== undefined && frame.to - frame.from !== rule.bytes) return BAD_SIZE;
  return rule.receive(connection, frame);
}

/** Removes padding from the payload; false when there is more padding than payload. */
function removePadding(frame: Frame): boolean {
  if (!(frame.flags & FLAG.padded)) return true;
  if (frame.from === frame.to) return false;
  frame.to -= frame.bytes[frame.from++]!;
  return frame.from <= frame.to;
}

/** A complete header block of one stream. */
export interface CompleteBlock extends ByteRange {
  readonly id: number;
  /** The flags of the HEADERS frame. */
  readonly flags: number;
}

/** Joins a header block split over several frames. One above GATEWAY_LIMITS.grpcMetadataBytes is read but not kept. */
export class HeaderBlock {
  readonly id: number;
  readonly #flags: number;
  #parts: Buffer[] = [];
  #frames = 0;
  #bytes = 0;

  constructor(first: Frame) {
    this.id = first.id;
    this.#flags = first.flags;
    this.add(first);
  }

  /** False beyond GATEWAY_LIMITS.grpcHeadFrames or GATEWAY_LIMITS.grpcHeadBytes. */
  add({ bytes, from, to }: ByteRange): boolean {
    this.#frames++;
    this.#bytes += to - from;
    if (this.#bytes <= GATEWAY_LIMITS.grpcMetadataBytes) this.#parts.push(Buffer.from(bytes.subarray(from, to)));
    return this.#frames <= GATEWAY_LIMITS.grpcHeadFrames && this.#bytes <= GATEWAY_LIMITS.grpcHeadBytes;
  }

  /** The block with its full length, even if its bytes were not kept: the decoder then refuses it as too large. */
  join(): CompleteBlock {
    return { id: this.id, flags: this.#flags, bytes: Buffer.concat(this.#parts), from: 0, to: this.#bytes };
  }
}

/** Processes a DATA payload; `bytes` is its flow-control size, including padding. */
function receiveData(connection: Receiver, frame: Frame, bytes: number): ProtocolError | undefined {
  const { streams } = connection;
  const stream = streams.get(frame.id);
  if (!stream) return streams.checkClosed(frame.id);
  if (!stream.receiveWindow.receive(bytes)) return streams.abort(frame.id, 'flowControl');
  if (!stream.hasHeaders) return streams.abort(frame.id, 'protocol');
  // Padding alone carries no reply.
  if (frame.from < frame.to) connection.floodGuard.recordAnswer();
  stream.handler.onData(frame);
  if (stream.isOver) return undefined;
  if (frame.flags & FLAG.endStream) streams.finish(stream, undefined);
  else streams.consume(stream, bytes);
  return undefined;
}

/** Processes a complete header block: interim headers, headers or trailers. */
function receiveHeaders(connection: Receiver, block: CompleteBlock): ProtocolError | undefined {
  const { id } = block;
  const { streams } = connection;
  const stream = streams.get(id);
  if (!stream) return streams.checkClosed(id);
  const headers = connection.headerDecoder.decode(block);
  if (headers === 'undecodable') return protocolError('compression', 'a header block cannot be decoded');
  if (headers === 'too large') return streams.abort(id, 'cancel', TOO_LARGE);
  const isEnd = (block.flags & FLAG.endStream) !== 0;
  if (headers === 'malformed' || !isExpected(headers.http, { isFirst: !stream.hasHeaders, isEnd }))
    return streams.abort(id, 'protocol');
  // Interim responses (1xx) are ignored.
  if (headers.http && headers.http < 200) return undefined;
  connection.floodGuard.recordAnswer();
  stream.hasHeaders ||= !isEnd;
  if (isEnd) streams.finish(stream, headers);
  else stream.handler.onHeaders(headers);
  return undefined;
}

const TOO_LARGE = channelStatus(
  GRPC.resourceExhausted,
  `The node's metadata exceeds ${GATEWAY_LIMITS.grpcMetadataBytes} bytes.`,
);

/** Whether headers with this HTTP status are valid now: headers have one, trailers have none, and 1xx never ends a stream. */
function isExpected(http: number, { isFirst, isEnd }: { readonly isFirst: boolean; readonly isEnd: boolean }): boolean {
  if (!isFirst) return http === 0 && isEnd;
  return http >= 200 || (http >= 100 && http !== SWITCHING_PROTOCOLS && !isEnd);
}

const SWITCHING_PROTOCOLS = 101;
