// The life cycle of a connection's streams: waiting, starting, receiving, and the ways to end.

import { channelStatus, GRPC, type Status } from '../channel/channel.ts';
import { type FloodGuard, Sender } from './flow-control.ts';
import type { FrameWriter } from './frames.ts';
import type { HeaderEncoder } from './headers.ts';
import { ERROR, FRAME, type Headers, initialSettings, type ProtocolError, protocolError } from './protocol.ts';
import { type Stream, StreamTable } from './stream-table.ts';

export interface StreamsOptions {
  readonly frames: FrameWriter;
  readonly headerEncoder: HeaderEncoder;
  readonly floodGuard: FloodGuard;
  /** Called when the last stream has ended. */
  onEmpty(): void;
  /** Called when no stream identifiers are left. */
  onExhausted(): void;
}

const CLOSED = protocolError('streamClosed', 'received a frame on a closed stream');
const IDLE = protocolError('protocol', 'received a frame on a stream that was never started');
const STREAM_CLOSED = Buffer.from([0, 0, 0, ERROR.streamClosed]);
const MALFORMED = channelStatus(GRPC.internal, 'The node violated the HTTP/2 protocol.');
const TOO_LARGE = channelStatus(GRPC.resourceExhausted, "The call's metadata exceeds the node's limit.");

export class Streams {
  readonly settings = initialSettings();
  readonly sender: Sender;
  readonly #table = new StreamTable();
  readonly #options: StreamsOptions;
  #resetsTable = true;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.sender = new Sender(options.frames);
  }

  get isEmpty(): boolean {
    return this.#table.isEmpty;
  }

  /** The running stream with this identifier. */
  get(id: number): Stream | undefined {
    return this.#table.get(id);
  }

  /** Starts a stream, or queues it until there is room. */
  start(stream: Stream): void {
    if (this.#table.waiting.size === 0 && this.#canStart) this.#open(stream);
    else this.#table.waiting.add(stream);
  }

  /** Starts waiting streams while there is room. */
  startWaiting(): void {
    for (const stream of this.#table.waiting) {
      if (!this.#canStart) return;
      this.#table.waiting.delete(stream);
      this.#open(stream);
    }
  }

  /** Applies changed settings of the node to the streams. */
  updateSettings(): ProtocolError | undefined {
    // The table size may have changed, which the next header block must acknowledge (RFC 7541, section 4.2).
    this.#resetsTable = true;
    const { window } = this.settings;
    const error =
      window === this.sender.initialWindow ? undefined : this.sender.setInitialWindow(window, this.#table.all());
    if (!error) this.startWaiting();
    return error;
  }

  /** Ends a stream that its call no longer needs. */
  cancel(stream: Stream): void {
    if (stream.isOver) return;
    if (stream.id) this.#options.frames.reset(stream.id, ERROR.cancel);
    this.#abandon(stream);
  }

  /** The node ended a stream. */
  finish(stream: Stream, trailers: Headers | undefined): void {
    const isUnsent = stream.body.left > 0;
    // The node does not need the rest of the request.
    if (isUnsent) this.#options.frames.reset(stream.id, ERROR.cancel);
    this.#remove(stream, isUnsent ? 'client' : undefined);
    stream.handler.onEnd(trailers);
  }

  /** The node sent RST_STREAM. */
  receiveReset(id: number, code: number): ProtocolError | undefined {
    const stream = this.get(id);
    if (!stream) return this.checkStarted(id);
    this.#remove(stream, 'node');
    stream.handler.onReset(code);
    return undefined;
  }

  /** Ends the stream with this id, if running, because of an error of the node. */
  abort(id: number, code: keyof typeof ERROR, status: Status = MALFORMED): undefined {
    const stream = this.get(id);
    if (!stream) return;
    this.#options.frames.reset(id, ERROR[code]);
    this.#abandon(stream);
    stream.handler.onFailure(status);
  }

  /** An error unless a stream with this id was ever started. */
  checkStarted(id: number): ProtocolError | undefined {
    return this.#table.isIdle(id) ? IDLE : undefined;
  }

  /** Handles DATA or HEADERS for a stream that is not running: ignored, answered with RST_STREAM, or an error. */
  checkClosed(id: number): ProtocolError | undefined {
    if (this.#table.isIdle(id)) return IDLE;
    const by = this.#table.findAborter(id);
    if (!by) return CLOSED;
    return by === 'client' ? undefined : this.#options.frames.reply({ type: FRAME.reset, flags: 0, id }, STREAM_CLOSED);
  }

  /** Counts a stream's consumed bytes, and returns them to its window unless it is paused. */
  consume(stream: Stream, bytes: number): void {
    if (stream.isOver) return;
    if (stream.isPaused) stream.heldBytes += bytes;
    else {
      const increment = stream.receiveWindow.consume(bytes);
      if (increment) this.#options.frames.control(FRAME.window, stream.id, [increment]);
    }
  }

  /** Resumes a paused stream. */
  resume(stream: Stream): void {
    stream.isPaused = false;
    const { heldBytes } = stream;
    stream.heldBytes = 0;
    this.consume(stream, heldBytes);
  }

  /** Drops waiting streams, and running ones above id `last`, which the node has not processed. */
  dropUnprocessed(last: number): void {
    const { waiting } = this.#table;
    const unprocessed = [...waiting, ...this.#table.all().filter(({ id }) => id > last)];
    // Clear first: otherwise removing a stream would start the next waiting one.
    waiting.clear();
    for (const stream of unprocessed) this.#drop(stream, true);
  }

  /** Drops all streams. */
  dropAll(): void {
    this.dropUnprocessed(Number.POSITIVE_INFINITY);
    for (const stream of this.#table.all()) this.#drop(stream, false);
  }

  #abandon(stream: Stream): void {
    if (stream.id) this.#options.floodGuard.addAllowance();
    this.#remove(stream, 'client');
  }

  #drop(stream: Stream, isUnprocessed: boolean): void {
    this.#remove(stream);
    stream.handler.onLost(isUnprocessed);
  }

  get #canStart(): boolean {
    const { running, isExhausted } = this.#table;
    return running < this.settings.streams && !isExhausted && !this.#options.frames.isFull;
  }

  #open(stream: Stream): void {
    this.#table.add(stream);
    const options = { resetsTable: this.#resetsTable, listBytes: this.settings.listBytes };
    if (this.#options.headerEncoder.write(this.#options.frames, stream, options)) {
      this.#resetsTable = false;
      this.sender.start(stream);
    } else {
      this.#remove(stream);
      stream.handler.onFailure(TOO_LARGE);
    }
    if (this.#table.isExhausted) this.#options.onExhausted();
  }

  #remove(stream: Stream, abortedBy?: 'node' | 'client'): void {
    this.#table.remove(stream, abortedBy);
    this.sender.remove(stream);
    if (this.#table.waiting.size) this.startWaiting();
    if (this.#table.isEmpty) this.#options.onEmpty();
  }
}
