// HTTP/2 frames on a socket: the reader splits received bytes into frames, the writer batches outgoing frames.

import type { Socket } from 'node:net';
import { GATEWAY_LIMITS } from '../limits.ts';
import type { ByteRange } from './protocol.ts';
import { ERROR, FRAME, FRAME_BYTES, FRAME_HEADER_BYTES, type ProtocolError, protocolError } from './protocol.ts';

/** A received frame; its byte range is the payload. The reader reuses one object for all frames. */
export interface Frame extends ByteRange {
  type: number;
  flags: number;
  id: number;
}

const TOO_LONG = protocolError('frameSize', 'a frame is longer than SETTINGS_MAX_FRAME_SIZE');

/** Splits received bytes into frames. Copies only a frame that arrives in parts. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => ProtocolError | undefined;
  readonly #partial = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + FRAME_BYTES);
  #partialBytes = 0;
  readonly #frame: Frame = { type: 0, flags: 0, id: 0, bytes: this.#partial, from: 0, to: 0 };

  /** Calls `onFrame` for each frame until it returns an error. */
  constructor(onFrame: (frame: Frame) => ProtocolError | undefined) {
    this.#onFrame = onFrame;
  }

  /** Reads the first `length` bytes. Must not be called again after an error. */
  write(bytes: Buffer, length: number): ProtocolError | undefined {
    let at = 0;
    while (this.#partialBytes && at < length) {
      const end = Math.min(at + this.#bytesNeeded() - this.#partialBytes, length);
      this.#keep(bytes, at, end);
      at = end;
      const needed = this.#bytesNeeded();
      // Check as soon as the header is complete: the node may send nothing else.
      if (needed > FRAME_HEADER_BYTES + FRAME_BYTES) return TOO_LONG;
      if (this.#partialBytes < needed) continue;
      const whole = this.#partialBytes;
      this.#partialBytes = 0;
      const error = this.#emit(this.#partial, 0, whole);
      if (error) return error;
    }
    while (length - at >= FRAME_HEADER_BYTES) {
      const size = payloadBytes(bytes, at);
      if (size > FRAME_BYTES) return TOO_LONG;
      const end = at + FRAME_HEADER_BYTES + size;
      if (end > length) break;
      const error = this.#emit(bytes, at, end);
      if (error) return error;
      at = end;
    }
    this.#keep(bytes, at, length);
    return undefined;
  }

  /** Bytes until the frame header is complete, then until the frame is. */
  #bytesNeeded(): number {
    return this.#partialBytes < FRAME_HEADER_BYTES
      ? FRAME_HEADER_BYTES
      : FRAME_HEADER_BYTES + payloadBytes(this.#partial, 0);
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    if (from < to) this.#partialBytes += bytes.copy(this.#partial, this.#partialBytes, from, to);
  }

  #emit(bytes: Buffer, at: number, end: number): ProtocolError | undefined {
    const frame = this.#frame;
    frame.type = bytes[at + 3]!;
    frame.flags = bytes[at + 4]!;
    frame.id = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    frame.bytes = bytes;
    frame.from = at + FRAME_HEADER_BYTES;
    frame.to = end;
    return this.#onFrame(frame);
  }
}

function payloadBytes(bytes: Buffer, at: number): number {
  return bytes.readUIntBE(at, 3);
}

/** Bytes of an output page: room for some hundred small calls, and at least one frame of maximum size. */
const PAGE_BYTES = 4 * FRAME_BYTES;

const REPLIES_UNREAD = protocolError('calm', 'the node does not read the replies that it requests');

export interface FrameHeader {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly id: number;
}

/** Writes the 9 bytes of a frame header. */
export function writeFrameHeader(bytes: Buffer, at: number, { length, type, flags, id }: FrameHeader): void {
  bytes.writeUInt32BE((length << 8) | type, at);
  bytes[at + 4] = flags;
  bytes.writeUInt32BE(id, at + 5);
}

/** Batches the frames of one event-loop turn into one socket write. */
export class FrameWriter {
  /** The page being filled, from the offset returned by {@link reserve}. */
  page = Buffer.allocUnsafeSlow(PAGE_BYTES);
  readonly #socket: Socket;
  #from = 0;
  #to = 0;
  #fullPages: Buffer[] = [];
  #fullBytes = 0;
  #isScheduled = false;
  #replies = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Whether more than GATEWAY_LIMITS.grpcUnsentBytes are unsent: then only replies and control frames may be added. */
  get isFull(): boolean {
    return this.#socket.writableLength + this.#fullBytes + this.#to - this.#from > GATEWAY_LIMITS.grpcUnsentBytes;
  }

  /** Makes room for `bytes`, at most one frame of maximum size; returns the offset in `page`. */
  reserve(bytes: number): number {
    if (this.#to + bytes > PAGE_BYTES) this.#startPage();
    return this.#to;
  }

  /** Adds what was written to `page` up to offset `end`. */
  commit(end: number): void {
    this.#to = end;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(flushLater, this);
  }

  /** Adds a frame whose payload is a few 32-bit numbers. */
  control(type: number, id: number, words: readonly number[]): void {
    const at = this.reserve(FRAME_HEADER_BYTES + words.length * 4);
    writeFrameHeader(this.page, at, { length: words.length * 4, type, flags: 0, id });
    for (const [nth, word] of words.entries()) this.page.writeUInt32BE(word, at + FRAME_HEADER_BYTES + nth * 4);
    this.commit(at + FRAME_HEADER_BYTES + words.length * 4);
  }

  /** Adds a frame with this payload. */
  frame(header: Omit<FrameHeader, 'length'>, payload: Uint8Array): void {
    const at = this.reserve(FRAME_HEADER_BYTES + payload.length);
    writeFrameHeader(this.page, at, { ...header, length: payload.length });
    this.page.set(payload, at + FRAME_HEADER_BYTES);
    this.commit(at + FRAME_HEADER_BYTES + payload.length);
  }

  /** Adds a reply to a frame of the node; an error when the node leaves too many replies unread. */
  reply(header: Omit<FrameHeader, 'length'>, payload: Uint8Array): ProtocolError | undefined {
    this.#replies = this.isFull ? this.#replies + 1 : 0;
    this.frame(header, payload);
    return this.#replies > GATEWAY_LIMITS.grpcRepliesWaiting ? REPLIES_UNREAD : undefined;
  }

  reset(id: number, code: number): void {
    this.control(FRAME.reset, id, [code]);
  }

  goaway(code: number = ERROR.none): void {
    this.control(FRAME.goaway, 0, [0, code]);
  }

  /** Writes all batched frames to the socket. */
  flush(): void {
    this.#isScheduled = false;
    const socket = this.#socket;
    if (!socket.writable) return;
    const last = this.page.subarray(this.#from, this.#to);
    this.#from = this.#to;
    if (!this.#fullPages.length) {
      if (last.length) socket.write(last);
      return;
    }
    socket.cork();
    for (const page of this.#fullPages) socket.write(page);
    if (last.length) socket.write(last);
    socket.uncork();
    this.#fullPages = [];
    this.#fullBytes = 0;
  }

  /** Starts a new page; the socket now owns the old one. */
  #startPage(): void {
    if (this.#to > this.#from) {
      this.#fullPages.push(this.page.subarray(this.#from, this.#to));
      this.#fullBytes += this.#to - this.#from;
    }
    this.page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    this.#from = 0;
    this.#to = 0;
  }
}

function flushLater(writer: FrameWriter): void {
  writer.flush();
}
