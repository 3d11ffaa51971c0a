// Sends the bodies of requests, as far as the windows of the node and the network allow.

import { FIRST_WINDOW, FLAG, FRAME, FRAME_BYTES, HEAD_BYTES, type Trouble, trouble, WINDOW_MAX } from './codes.ts';
import { type Outbox, writeHead } from './outbox.ts';
import type { Stream } from './stream.ts';

const OVERFLOW = trouble('flowControl', 'a window of the node became too large');

export class Sender {
  readonly #outbox: Outbox;
  readonly #blocked = new Set<Stream>();
  #window = FIRST_WINDOW;
  #firstWindow = FIRST_WINDOW;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Whether a body waits for the node to make room. */
  get isBlocked(): boolean {
    return this.#blocked.size > 0;
  }

  /** Begins with the body of a stream, which has just got its number. */
  begin(stream: Stream): void {
    stream.window = this.#firstWindow;
    this.#send(stream);
  }

  forget(stream: Stream): void {
    this.#blocked.delete(stream);
  }

  /** Goes on with all bodies, a frame of each in turn. */
  resume(): void {
    let isMoving = true;
    while (isMoving) {
      isMoving = false;
      for (const stream of this.#blocked) if (this.#frame(stream)) isMoving = true;
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
    if (this.#blocked.has(stream)) this.#send(stream);
    return true;
  }

  /** The windows of all streams change with the setting of the first one. */
  setFirstWindow(bytes: number, streams: Iterable<Stream>): Trouble | undefined {
    const more = bytes - this.#firstWindow;
    this.#firstWindow = bytes;
    for (const stream of streams) {
      stream.window += more;
      if (stream.window > WINDOW_MAX) return OVERFLOW;
    }
    this.resume();
    return undefined;
  }

  #send(stream: Stream): void {
    while (this.#frame(stream));
    if (stream.body.left) this.#blocked.add(stream);
  }

  /** Sends one frame, if it may and there is one. */
  #frame(stream: Stream): boolean {
    const { body, id } = stream;
    const length = Math.min(body.left, stream.window, this.#window, FRAME_BYTES);
    if (length <= 0 || this.#outbox.isFull) return false;
    const flags = length === body.left ? FLAG.endStream : 0;
    const at = this.#outbox.place(HEAD_BYTES + length);
    const { page } = this.#outbox;
    writeHead(page, at, { length, type: FRAME.data, flags, id });
    body.write(page, at + HEAD_BYTES, length);
    this.#outbox.placed(at + HEAD_BYTES + length);
    stream.window -= length;
    this.#window -= length;
    if (!body.left) this.#blocked.delete(stream);
    return true;
  }
}
