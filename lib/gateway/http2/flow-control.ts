// Limits on both sides: request bodies within the node's flow-control windows (RFC 9113, section 5.2), and frames from the
// node that carry no reply.

import { GATEWAY_LIMITS } from '../limits.ts';
import { type FrameWriter, writeFrameHeader } from './frames.ts';
import {
  FLAG,
  FRAME,
  FRAME_BYTES,
  FRAME_HEADER_BYTES,
  INITIAL_WINDOW,
  MAX_WINDOW,
  type ProtocolError,
  protocolError,
} from './protocol.ts';
import type { Stream } from './stream-table.ts';

const OVERFLOW = protocolError('flowControl', 'the node raised a window above 2^31 - 1 bytes');

/** Sends request bodies as far as the node's windows and the socket allow. */
export class Sender {
  /** The window of new streams, in bytes. */
  initialWindow = INITIAL_WINDOW;
  readonly #frames: FrameWriter;
  /** Streams with unsent bytes that wait for the connection, and those that wait for their own window. */
  readonly #ready = new Set<Stream>();
  readonly #blocked = new Set<Stream>();
  #window = INITIAL_WINDOW;

  constructor(frames: FrameWriter) {
    this.#frames = frames;
  }

  /** Whether a request body is waiting for a window. */
  get isBlocked(): boolean {
    return this.#ready.size > 0 || this.#blocked.size > 0;
  }

  /** Starts sending the body of a stream that has just got its id. */
  start(stream: Stream): void {
    stream.window = this.initialWindow;
    if (stream.body.left) this.#send(stream);
  }

  remove(stream: Stream): void {
    this.#ready.delete(stream);
    this.#blocked.delete(stream);
  }

  /** Continues all bodies round-robin, one frame each. Streams waiting for their own window cost nothing. */
  resume(): void {
    // A stream that can send more moves to the end of the set, where this loop reaches it again.
    for (const stream of this.#ready) {
      if (!this.#canSend) return;
      this.#sendFrame(stream);
      this.#enqueue(stream);
    }
  }

  /** Raises the connection window. */
  addWindow(bytes: number): ProtocolError | undefined {
    this.#window += bytes;
    if (this.#window > MAX_WINDOW) return OVERFLOW;
    this.resume();
    return undefined;
  }

  /** Raises a stream's window; false when it exceeds the maximum. */
  addStreamWindow(stream: Stream, bytes: number): boolean {
    stream.window += bytes;
    if (stream.window > MAX_WINDOW) return false;
    if (this.#blocked.has(stream)) this.#send(stream);
    return true;
  }

  /** Applies SETTINGS_INITIAL_WINDOW_SIZE, which also adjusts the windows of running streams. */
  setInitialWindow(bytes: number, streams: Iterable<Stream>): ProtocolError | undefined {
    const more = bytes - this.initialWindow;
    this.initialWindow = bytes;
    for (const stream of streams) {
      stream.window += more;
      if (stream.window > MAX_WINDOW) return OVERFLOW;
      if (stream.body.left) this.#enqueue(stream);
    }
    this.resume();
    return undefined;
  }

  #send(stream: Stream): void {
    while (stream.body.left && stream.window > 0 && this.#canSend) this.#sendFrame(stream);
    this.#enqueue(stream);
  }

  /** Moves a stream to the set that matches its window and body. */
  #enqueue(stream: Stream): void {
    this.remove(stream);
    if (stream.body.left) (stream.window > 0 ? this.#ready : this.#blocked).add(stream);
  }

  get #canSend(): boolean {
    return this.#window > 0 && !this.#frames.isFull;
  }

  /** Sends one frame of a stream that has bytes and a window, when the connection can send. */
  #sendFrame(stream: Stream): void {
    const { body, id } = stream;
    const length = Math.min(body.left, stream.window, this.#window, FRAME_BYTES);
    const flags = length === body.left ? FLAG.endStream : 0;
    const at = this.#frames.reserve(FRAME_HEADER_BYTES + length);
    const { page } = this.#frames;
    writeFrameHeader(page, at, { length, type: FRAME.data, flags, id });
    body.write(page, at + FRAME_HEADER_BYTES, length);
    this.#frames.commit(at + FRAME_HEADER_BYTES + length);
    stream.window -= length;
    this.#window -= length;
  }
}

/** The largest allowance: that of as many cancelled calls as can run concurrently. */
const ALLOWANCE_MAX = GATEWAY_LIMITS.grpcExcusedFrames * GATEWAY_LIMITS.grpcStreamsAtOnce;

/** Limits frames that carry no reply, with which a node could keep this process busy. */
export class FloodGuard {
  #count = 0;
  #startedAt = 0;

  /** Part of a reply arrived for a running call: restarts the count. */
  recordAnswer(): void {
    if (this.#count > 0) this.#count = 0;
  }

  /** We cancelled a call: the next GATEWAY_LIMITS.grpcExcusedFrames are not counted, because they may belong to it. */
  addAllowance(): void {
    this.#count = Math.max(this.#count - GATEWAY_LIMITS.grpcExcusedFrames, -ALLOWANCE_MAX);
  }

  /**
   * Counts a frame as `cost` frames; false when there are too many within GATEWAY_LIMITS.grpcIdleMs. While a request waits
   * for a window (`isBlocked`) the limit is higher, because the node has a reason to send WINDOW_UPDATE.
   */
  allow(cost: number, isBlocked: boolean): boolean {
    this.#count += cost;
    if (this.#count <= (isBlocked ? GATEWAY_LIMITS.grpcIdleFramesBlocked : GATEWAY_LIMITS.grpcIdleFrames)) return true;
    const now = performance.now();
    const isSlow = now - this.#startedAt > GATEWAY_LIMITS.grpcIdleMs;
    this.#startedAt = now;
    this.#count = 0;
    return isSlow;
  }
}
