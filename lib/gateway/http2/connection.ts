// One connection of HTTP/2 as a client: its first words, what it hears, and how it comes to its end.

import type { Socket } from 'node:net';
import { LIMITS } from '../../limits.ts';
import { ERROR, FIRST_WINDOW, FLAG, FRAME, PREFACE, STREAM_MAX, type Trouble, trouble } from './codes.ts';
import type { Hearing } from './dial.ts';
import { ReceiveWindow } from './flow.ts';
import { FrameReader } from './frame-reader.ts';
import type { Heads } from './headers/head.ts';
import type { RequestHeads } from './headers/request-head.ts';
import { takeFrame } from './incoming.ts';
import { Outbox } from './outbox.ts';
import { Patience } from './patience.ts';
import { ownSettings } from './settings.ts';
import type { HeadBlock } from './streams/response.ts';
import { Streams } from './streams/streams.ts';

export interface ConnectionUser {
  /** The settings of the node have come: calls may begin. */
  ready(): void;
  /** From now on it takes no calls; may be told again. `why` for logs, if it failed. */
  leaving(why: string | undefined): void;
  /** It is no more. */
  closed(): void;
}

export interface ConnectionParts {
  readonly user: ConnectionUser;
  /** Both are shared by the connections of a channel. */
  readonly heads: Heads;
  readonly requestHeads: RequestHeads;
  /** Makes its socket. */
  dial(hearing: Hearing): Socket;
}

const NOTHING = Buffer.alloc(0);
const PING = Buffer.alloc(8);

export class Connection {
  readonly outbox: Outbox;
  readonly streams: Streams;
  readonly heads: Heads;
  readonly receive = new ReceiveWindow(LIMITS.grpcConnectionWindowBytes);
  readonly patience = new Patience();
  /** A block of headers of which a part has come. */
  block: HeadBlock | undefined;
  /** Whether the settings of the node have come. */
  isReady = false;
  readonly #socket: Socket;
  readonly #user: ConnectionUser;
  readonly #reader = new FrameReader((frame) => takeFrame(this, frame));
  #isLeaving = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ user, heads, requestHeads, dial }: ConnectionParts) {
    const socket = dial({ stands: () => this.#greet(), heard: (bytes, length) => this.#hear(bytes, length) });
    this.#socket = socket;
    this.#user = user;
    this.heads = heads;
    this.outbox = new Outbox(socket);
    this.streams = new Streams({
      outbox: this.outbox,
      requestHeads,
      patience: this.patience,
      empty: () => this.#endIfEmpty(),
      spent: () => void this.leave(STREAM_MAX, ERROR.none),
    });
    socket.on('drain', () => {
      this.streams.sender.resume();
      this.streams.admit();
    });
    socket.on('error', (error) => this.#lost(error.message));
    socket.once('close', () => {
      this.#lost(undefined);
      clearTimeout(this.#timer);
      user.closed();
    });
  }

  /** Whether it takes calls. */
  get isOpen(): boolean {
    return this.isReady && !this.#isLeaving;
  }

  /** The settings of the node were read. */
  settled(): Trouble | undefined {
    const found = this.streams.settled();
    const unheard = this.outbox.reply({ type: FRAME.settings, flags: FLAG.ack, id: 0 }, NOTHING);
    if (!this.isReady) {
      this.isReady = true;
      this.#user.ready();
    }
    return found ?? unheard;
  }

  /** The node takes no more calls, and did nothing with streams after `last`; with a code, it ends at once. */
  leave(last: number, code: number): Trouble | undefined {
    const why = code ? `GOAWAY with code ${code}` : undefined;
    this.#leave(why);
    this.streams.loseUntouched(last);
    this.#endIfEmpty();
    return why === undefined ? undefined : trouble('none', why);
  }

  /** Asks for a sign of life, and cuts the connection when none comes within `ms`. */
  probe(ms: number): void {
    if (this.#isOver) return;
    this.outbox.frame({ type: FRAME.ping, flags: 0, id: 0 }, PING);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.cut(`no answer to a ping within ${ms} ms`), ms);
  }

  /** The answer to {@link probe}. */
  ponged(): undefined {
    if (!this.#isOver) clearTimeout(this.#timer);
  }

  /** Takes no more calls, lets those that there are end for a while, and resolves when it is closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.cut(undefined), this.isReady ? LIMITS.grpcCloseMs : 0);
      this.#socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      this.#leave(undefined);
      if (this.isReady) this.#endIfEmpty();
    });
  }

  /** Ends at once, with all calls. */
  cut(why: string | undefined): void {
    this.#lost(why);
    this.#socket.destroy();
  }

  #greet(): void {
    this.#socket.write(PREFACE);
    this.outbox.frame({ type: FRAME.settings, flags: 0, id: 0 }, ownSettings());
    this.outbox.control(FRAME.window, 0, [LIMITS.grpcConnectionWindowBytes - FIRST_WINDOW]);
  }

  #hear(bytes: Buffer, length: number): void {
    const found = this.#isOver ? undefined : this.#reader.write(bytes, length);
    if (!found) return;
    this.#goodbye(found.code);
    this.#lost(found.why);
  }

  #leave(why: string | undefined): void {
    this.#isLeaving = true;
    this.#user.leaving(why);
  }

  #lost(why: string | undefined): void {
    this.#isOver = true;
    this.#leave(why);
    this.streams.loseAll();
  }

  #endIfEmpty(): void {
    if (this.#isLeaving && this.streams.isEmpty) this.#goodbye(ERROR.none);
  }

  /** The last words; the node is to hang up, and gets a while to do so. */
  #goodbye(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.outbox.goaway(code);
    this.outbox.flush();
    this.#socket.end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.destroy(), LIMITS.grpcGoodbyeMs);
  }
}
