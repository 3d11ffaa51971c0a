// What leaves on a connection: all frames of one turn of the event loop go out in one write.

import type { Socket } from 'node:net';
import { LIMITS } from '../../limits.ts';
import { ERROR, FRAME, FRAME_BYTES, HEAD_BYTES, type Trouble, trouble } from './codes.ts';

/** Room for some hundred calls, and for the longest frame. */
const PAGE_BYTES = 4 * FRAME_BYTES;

const DEAF = trouble('calm', 'the node does not read what it asks for');

export interface FrameHead {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly id: number;
}

/** Writes the nine bytes before the payload of a frame. */
export function writeHead(bytes: Buffer, at: number, { length, type, flags, id }: FrameHead): void {
  bytes.writeUInt32BE((length << 8) | type, at);
  bytes[at + 4] = flags;
  bytes.writeUInt32BE(id, at + 5);
}

export class Outbox {
  /** Where frames are written, from the place that {@link place} gives. */
  page = Buffer.allocUnsafeSlow(PAGE_BYTES);
  readonly #socket: Socket;
  #from = 0;
  #to = 0;
  #full: Buffer[] = [];
  #fullBytes = 0;
  #isDue = false;
  #replies = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Whether so much waits for the network that nothing should be added but what must be. */
  get isFull(): boolean {
    return this.#socket.writableLength + this.#fullBytes + this.#to - this.#from > LIMITS.grpcUnsentBytes;
  }

  /** Makes room for so many bytes, a frame at most; where they begin in `page`. */
  place(bytes: number): number {
    if (this.#to + bytes > PAGE_BYTES) this.#turn();
    return this.#to;
  }

  /** Says where what was written ends. */
  placed(end: number): void {
    this.#to = end;
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(flushLater, this);
  }

  /** A short frame: numbers of 32 bits as payload. */
  control(type: number, id: number, words: readonly number[]): void {
    const at = this.place(HEAD_BYTES + words.length * 4);
    writeHead(this.page, at, { length: words.length * 4, type, flags: 0, id });
    for (const [nth, word] of words.entries()) this.page.writeUInt32BE(word, at + HEAD_BYTES + nth * 4);
    this.placed(at + HEAD_BYTES + words.length * 4);
  }

  /** Any frame that carries these bytes. */
  frame(head: Omit<FrameHead, 'length'>, payload: Uint8Array): void {
    const at = this.place(HEAD_BYTES + payload.length);
    writeHead(this.page, at, { ...head, length: payload.length });
    this.page.set(payload, at + HEAD_BYTES);
    this.placed(at + HEAD_BYTES + payload.length);
  }

  /** A frame that the node asked for; trouble when many wait already, and it reads none. */
  reply(head: Omit<FrameHead, 'length'>, payload: Uint8Array): Trouble | undefined {
    this.#replies = this.isFull ? this.#replies + 1 : 0;
    this.frame(head, payload);
    return this.#replies > LIMITS.grpcRepliesWaiting ? DEAF : undefined;
  }

  reset(id: number, code: number): void {
    this.control(FRAME.reset, id, [code]);
  }

  goaway(code: number = ERROR.none): void {
    this.control(FRAME.goaway, 0, [0, code]);
  }

  /** Hands all that waits to the socket. */
  flush(): void {
    this.#isDue = false;
    const socket = this.#socket;
    if (!socket.writable) return;
    const last = this.page.subarray(this.#from, this.#to);
    this.#from = this.#to;
    if (!this.#full.length) {
      if (last.length) socket.write(last);
      return;
    }
    socket.cork();
    for (const page of this.#full) socket.write(page);
    if (last.length) socket.write(last);
    socket.uncork();
    this.#full = [];
    this.#fullBytes = 0;
  }

  /** Goes on with a new page; the old one belongs to the socket from now on. */
  #turn(): void {
    if (this.#to > this.#from) {
      this.#full.push(this.page.subarray(this.#from, this.#to));
      this.#fullBytes += this.#to - this.#from;
    }
    this.page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    this.#from = 0;
    this.#to = 0;
  }
}

function flushLater(outbox: Outbox): void {
  outbox.flush();
}
