// Flow control (RFC 9113, section 5.2): the receive windows of this client, and sending within the windows of the node.

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

/** The receive window of a stream or of a connection, in bytes. */
export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  #consumed = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** Counts received bytes; false when the node sent more than the window allows. */
  receive(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Counts consumed bytes; returns the increment for WINDOW_UPDATE: at least half a window, or 0 for none yet. */
  consume(bytes: number): number {
    this.#consumed += bytes;
    if (this.#consumed * 2 < this.#size) return 0;
    const increment = this.#consumed;
    this.#consumed = 0;
    this.#left += increment;
    return increment;
  }
}

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
