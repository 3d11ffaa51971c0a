// A client-side HTTP/2 connection: preface and settings, received bytes, ping, and graceful or abrupt end.

import type { Socket } from 'node:net';
import { GATEWAY_LIMITS } from '../limits.ts';
import { FloodGuard } from './flow-control.ts';
import { FrameReader, FrameWriter } from './frames.ts';
import type { HeaderDecoder, HeaderEncoder } from './headers.ts';
import { type HeaderBlock, type Receiver, receiveFrame } from './incoming.ts';
import {
  ERROR,
  encodeSettings,
  FLAG,
  FRAME,
  INITIAL_WINDOW,
  MAX_STREAM_ID,
  PREFACE,
  type ProtocolError,
  protocolError,
} from './protocol.ts';
import { ReceiveWindow } from './stream-table.ts';
import { Streams } from './streams.ts';

export interface ConnectionHandler {
  /** The node's settings have arrived: calls may start. */
  onReady(): void;
  /** No more calls are accepted; may be called repeatedly. `why` is the reason of a failure, for logs. */
  onLeaving(why: string | undefined): void;
  /** The socket is closed. */
  onClosed(): void;
}

/** A connection's view of its socket. */
export interface SocketHandler {
  onConnect(): void;
  /** The first `length` bytes are new; they are valid until this returns. */
  onBytes(bytes: Buffer, length: number): void;
}

export interface ConnectionOptions {
  readonly handler: ConnectionHandler;
  /** Both are shared by all connections of a channel. */
  readonly headerDecoder: HeaderDecoder;
  readonly headerEncoder: HeaderEncoder;
  /** Opens the socket. */
  dial(handler: SocketHandler): Socket;
}

const NOTHING = Buffer.alloc(0);
const PING = Buffer.alloc(8);

export class Connection implements Receiver {
  readonly frames: FrameWriter;
  readonly streams: Streams;
  readonly headerDecoder: HeaderDecoder;
  readonly receiveWindow = new ReceiveWindow(GATEWAY_LIMITS.grpcConnectionWindowBytes);
  readonly floodGuard = new FloodGuard();
  headerBlock: HeaderBlock | undefined;
  isReady = false;
  readonly #socket: Socket;
  readonly #handler: ConnectionHandler;
  readonly #reader = new FrameReader((frame) => receiveFrame(this, frame));
  #isLeaving = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ handler, headerDecoder, headerEncoder, dial }: ConnectionOptions) {
    const socket = dial({
      onConnect: () => this.#sendPreface(),
      onBytes: (bytes, length) => this.#receive(bytes, length),
    });
    this.#socket = socket;
    this.#handler = handler;
    this.headerDecoder = headerDecoder;
    this.frames = new FrameWriter(socket);
    this.streams = new Streams({
      frames: this.frames,
      headerEncoder,
      floodGuard: this.floodGuard,
      onEmpty: () => this.#closeIfEmpty(),
      onExhausted: () => void this.receiveGoaway(MAX_STREAM_ID, ERROR.none),
    });
    socket.on('drain', () => {
      this.streams.sender.resume();
      this.streams.startWaiting();
    });
    socket.on('error', (error) => this.#fail(error.message));
    socket.once('close', () => {
      this.#fail(undefined);
      clearTimeout(this.#timer);
      handler.onClosed();
    });
  }

  /** Whether it accepts calls. */
  get isOpen(): boolean {
    return this.isReady && !this.#isLeaving;
  }

  acknowledgeSettings(): ProtocolError | undefined {
    // Acknowledge first: what the settings allow must not reach the node before it knows that they apply.
    const unread = this.frames.reply({ type: FRAME.settings, flags: FLAG.ack, id: 0 }, NOTHING);
    const error = this.streams.updateSettings();
    if (!this.isReady) {
      this.isReady = true;
      this.#handler.onReady();
    }
    return error ?? unread;
  }

  receiveGoaway(last: number, code: number): ProtocolError | undefined {
    const why = code ? `GOAWAY with code ${code}` : undefined;
    this.#leave(why);
    this.streams.dropUnprocessed(last);
    this.#closeIfEmpty();
    return why === undefined ? undefined : protocolError('none', why);
  }

  /** Sends a ping, and destroys the connection if there is no answer within `ms`. */
  ping(ms: number): void {
    if (this.#isOver) return;
    this.frames.frame({ type: FRAME.ping, flags: 0, id: 0 }, PING);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.destroy(`no answer to a ping within ${ms} ms`), ms);
  }

  /** The answer to {@link ping}. */
  receivePong(): undefined {
    if (!this.#isOver) clearTimeout(this.#timer);
  }

  /** Refuses new calls, lets running ones end within GATEWAY_LIMITS.grpcCloseMs, and resolves when the socket is closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.destroy(undefined), this.isReady ? GATEWAY_LIMITS.grpcCloseMs : 0);
      this.#socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      this.#leave(undefined);
      if (this.isReady) this.#closeIfEmpty();
    });
  }

  /** Ends immediately, with all calls. */
  destroy(why: string | undefined): void {
    this.#fail(why);
    this.#socket.destroy();
  }

  #sendPreface(): void {
    this.#socket.write(PREFACE);
    this.frames.frame({ type: FRAME.settings, flags: 0, id: 0 }, encodeSettings());
    this.frames.control(FRAME.window, 0, [GATEWAY_LIMITS.grpcConnectionWindowBytes - INITIAL_WINDOW]);
  }

  #receive(bytes: Buffer, length: number): void {
    const error = this.#isOver ? undefined : this.#reader.write(bytes, length);
    if (!error) return;
    this.#sendGoaway(error.code);
    this.#fail(error.why);
  }

  #leave(why: string | undefined): void {
    this.#isLeaving = true;
    this.#handler.onLeaving(why);
  }

  #fail(why: string | undefined): void {
    this.#isOver = true;
    this.#leave(why);
    this.streams.dropAll();
  }

  #closeIfEmpty(): void {
    if (this.#isLeaving && this.streams.isEmpty) this.#sendGoaway(ERROR.none);
  }

  /** Sends GOAWAY and ends the socket; destroys it unless the node closes it within GATEWAY_LIMITS.grpcGoodbyeMs. */
  #sendGoaway(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.frames.goaway(code);
    this.frames.flush();
    this.#socket.end();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.destroy(), GATEWAY_LIMITS.grpcGoodbyeMs);
  }
}
