// How much each side may send: the bodies of requests, within the windows of the node (RFC 9113, section 5.2); and frames of the
// node that are no part of an answer.

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

/** Sends the bodies of requests, as far as the windows of the node and the socket allow. */
export class Sender {
  /** The window of new streams, in bytes. */
  initialWindow = INITIAL_WINDOW;
  readonly #frames: FrameWriter;
  /** Streams with unsent bytes: those that wait for the connection, and those that wait for their own window. */
  readonly #ready = new Set<Stream>();
  readonly #blocked = new Set<Stream>();
  #window = INITIAL_WINDOW;

  constructor(frames: FrameWriter) {
    this.#frames = frames;
  }

  /** Whether the body of a request waits for a window. */
  get isBlocked(): boolean {
    return this.#ready.size > 0 || this.#blocked.size > 0;
  }

  /** Starts to send the body of a stream that has just got its identifier. */
  start(stream: Stream): void {
    stream.window = this.initialWindow;
    if (stream.body.left) this.#send(stream);
  }

  remove(stream: Stream): void {
    this.#ready.delete(stream);
    this.#blocked.delete(stream);
  }

  /** Continues with all bodies, one frame of each in turn. Streams that wait for their own window cost nothing. */
  resume(): void {
    // A stream that can send more is added at the end of the set, where this loop reaches it again.
    for (const stream of this.#ready) {
      if (!this.#canSend) return;
      this.#sendFrame(stream);
      this.#enqueue(stream);
    }
  }

  /** Raises the window of the connection. */
  addWindow(bytes: number): ProtocolError | undefined {
    this.#window += bytes;
    if (this.#window > MAX_WINDOW) return OVERFLOW;
    this.resume();
    return undefined;
  }

  /** Raises the window of a stream; false when it exceeds the maximum. */
  addStreamWindow(stream: Stream, bytes: number): boolean {
    stream.window += bytes;
    if (stream.window > MAX_WINDOW) return false;
    if (this.#blocked.has(stream)) this.#send(stream);
    return true;
  }

  /** Applies SETTINGS_INITIAL_WINDOW_SIZE, which also changes the windows of the running streams by the difference. */
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

  /** Moves a stream to the set where it belongs after its window or its body changed. */
  #enqueue(stream: Stream): void {
    this.remove(stream);
    if (stream.body.left) (stream.window > 0 ? this.#ready : this.#blocked).add(stream);
  }

  get #canSend(): boolean {
    return this.#window > 0 && !this.#frames.isFull;
  }

  /** Sends one frame of a stream that has bytes and a window, on a connection that can send. */
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

/** The largest allowance: that of as many cancelled calls as can run at the same time. */
const ALLOWANCE_MAX = GATEWAY_LIMITS.grpcExcusedFrames * GATEWAY_LIMITS.grpcStreamsAtOnce;

/** Limits the frames that are no part of an answer: a node could keep this process busy with them. */
export class FloodGuard {
  #count = 0;
  #startedAt = 0;

  /** A part of an answer came for a running call: the count begins anew. */
  recordAnswer(): void {
    if (this.#count > 0) this.#count = 0;
  }

  /** This client cancelled a call: GATEWAY_LIMITS.grpcExcusedFrames that the node may have sent for it are not counted. */
  addAllowance(): void {
    this.#count = Math.max(this.#count - GATEWAY_LIMITS.grpcExcusedFrames, -ALLOWANCE_MAX);
  }

  /**
   * Counts a frame as `cost` frames; false when there are too many within GATEWAY_LIMITS.grpcIdleMs. While a request waits for a
   * window (`isBlocked`) the limit is higher, since the node then has a reason to send WINDOW_UPDATE.
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
