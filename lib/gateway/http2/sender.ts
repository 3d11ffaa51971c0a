// Sends the bodies of requests, as far as the windows of the node and the network allow.

import { FIRST_WINDOW, FLAG, FRAME, FRAME_BYTES, HEAD_BYTES, type Trouble, trouble, WINDOW_MAX } from './codes.ts';
import { type Outbox, writeHead } from './outbox.ts';
import type { Stream } from './streams/stream.ts';

const OVERFLOW = trouble('flowControl', 'a window of the node became too large');

export class Sender {
  /** The window with which streams begin. */
  firstWindow = FIRST_WINDOW;
  readonly #outbox: Outbox;
  /** Streams with a body that is not sent: those that wait for the connection, and for a window of their own. */
  readonly #ready = new Set<Stream>();
  readonly #starved = new Set<Stream>();
  #window = FIRST_WINDOW;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Whether a body waits for the node to make room. */
  get isBlocked(): boolean {
    return this.#ready.size > 0 || this.#starved.size > 0;
  }

  /** Begins with the body of a stream, which has just got its number. */
  begin(stream: Stream): void {
    stream.window = this.firstWindow;
    if (stream.body.left) this.#send(stream);
  }

  forget(stream: Stream): void {
    this.#ready.delete(stream);
    this.#starved.delete(stream);
  }

  /** Goes on with all bodies, a frame of each in turn. Costs nothing for those that cannot move. */
  resume(): void {
    // One that can move again is put behind the others, where the loop comes to it once more.
    for (const stream of this.#ready) {
      if (!this.#mayFlow) return;
      this.#frame(stream);
      this.#place(stream);
    }
  }

  widen(bytes: number): Trouble | undefined {
    this.#window += bytes;
    if (this.#window > WINDOW_MAX) return OVERFLOW;
    this.resume();
    return undefined;
  }

  /** Whether the window is one still. */
  widenStream(stream: Stream, bytes: number): boolean {
    stream.window += bytes;
    if (stream.window > WINDOW_MAX) return false;
    if (this.#starved.has(stream)) this.#send(stream);
    return true;
  }

  /** The windows of all streams change with the setting of the first one. */
  setFirstWindow(bytes: number, streams: Iterable<Stream>): Trouble | undefined {
    const more = bytes - this.firstWindow;
    this.firstWindow = bytes;
    for (const stream of streams) {
      stream.window += more;
      if (stream.window > WINDOW_MAX) return OVERFLOW;
      if (stream.body.left) this.#place(stream);
    }
    this.resume();
    return undefined;
  }

  #send(stream: Stream): void {
    while (stream.body.left && stream.window > 0 && this.#mayFlow) this.#frame(stream);
    this.#place(stream);
  }

  /** Puts a stream where it belongs after its window or its body changed. */
  #place(stream: Stream): void {
    this.forget(stream);
    if (stream.body.left) (stream.window > 0 ? this.#ready : this.#starved).add(stream);
  }

  /** Whether the connection takes bytes at all. */
  get #mayFlow(): boolean {
    return this.#window > 0 && !this.#outbox.isFull;
  }

  /** Sends one frame: the stream has bytes and a window, and the connection takes them. */
  #frame(stream: Stream): void {
    const { body, id } = stream;
    const length = Math.min(body.left, stream.window, this.#window, FRAME_BYTES);
    const flags = length === body.left ? FLAG.endStream : 0;
    const at = this.#outbox.place(HEAD_BYTES + length);
    const { page } = this.#outbox;
    writeHead(page, at, { length, type: FRAME.data, flags, id });
    body.write(page, at + HEAD_BYTES, length);
    this.#outbox.placed(at + HEAD_BYTES + length);
    stream.window -= length;
    this.#window -= length;
  }
}
