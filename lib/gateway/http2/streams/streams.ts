// What happens to the streams of one connection: they wait, begin, are fed, and end in one of several ways.

import { GRPC, type Status } from '../../channel/channel.ts';
import * as statuses from '../../channel/statuses.ts';
import { ERROR, FRAME, type Trouble, trouble } from '../codes.ts';
import type { Head } from '../headers/head.ts';
import type { RequestHeads } from '../headers/request-head.ts';
import type { Outbox } from '../outbox.ts';
import type { Patience } from '../patience.ts';
import { Sender } from '../sender.ts';
import { firstSettings } from '../settings.ts';
import { StreamBook } from './book.ts';
import type { Stream } from './stream.ts';

export interface StreamsParts {
  readonly outbox: Outbox;
  readonly requestHeads: RequestHeads;
  readonly patience: Patience;
  /** Told when the last stream has ended, and when there are no numbers left. */
  empty(): void;
  spent(): void;
}

const CLOSED = trouble('streamClosed', 'something came on a stream after its end');
const IDLE = trouble('protocol', 'something came for a stream that was not begun');
const STREAM_CLOSED = Buffer.from([0, 0, 0, ERROR.streamClosed]);
const MALFORMED = statuses.made(GRPC.internal, 'The node broke the rules of HTTP/2.');
const TOO_LARGE = statuses.made(GRPC.resourceExhausted, 'The metadata of the call are larger than the node takes.');

export class Streams {
  readonly settings = firstSettings();
  readonly sender: Sender;
  readonly #book = new StreamBook();
  readonly #parts: StreamsParts;
  #saysNoTable = true;

  constructor(parts: StreamsParts) {
    this.#parts = parts;
    this.sender = new Sender(parts.outbox);
  }

  get isEmpty(): boolean {
    return this.#book.isEmpty;
  }

  /** The stream of this number, if it runs. */
  get(id: number): Stream | undefined {
    return this.#book.get(id);
  }

  /** Begins a stream, or lets it wait for its turn. */
  begin(stream: Stream): void {
    if (this.#book.waiting.size === 0 && this.#hasRoom) this.#open(stream);
    else this.#book.waiting.add(stream);
  }

  /** Begins those that wait, as far as there is room. */
  admit(): void {
    for (const stream of this.#book.waiting) {
      if (!this.#hasRoom) return;
      this.#book.waiting.delete(stream);
      this.#open(stream);
    }
  }

  /** The settings of the node have changed. */
  settled(): Trouble | undefined {
    // Its table may have become smaller.
    this.#saysNoTable = true;
    const { window } = this.settings;
    const found = window === this.sender.firstWindow ? undefined : this.sender.setFirstWindow(window, this.#book.all());
    if (!found) this.admit();
    return found;
  }

  /** Gives a stream up that its call needs no more. */
  cancel(stream: Stream): void {
    if (stream.isOver) return;
    if (stream.id) this.#parts.outbox.reset(stream.id, ERROR.cancel);
    this.#giveUp(stream);
  }

  /** The node ended a stream with what came last. */
  end(stream: Stream, trailers: Head | undefined): void {
    const isUnsent = stream.body.left > 0;
    // It needs no more of the request.
    if (isUnsent) this.#parts.outbox.reset(stream.id, ERROR.cancel);
    this.#forget(stream, isUnsent ? 'us' : undefined);
    stream.user.ended(trailers);
  }

  /** The node gave a stream up. */
  abandoned(id: number, code: number): Trouble | undefined {
    const stream = this.get(id);
    if (!stream) return this.begun(id);
    this.#forget(stream, 'node');
    stream.user.reset(code);
    return undefined;
  }

  /** Ends the stream of this number for an error of the node, if it runs. */
  refuse(id: number, code: keyof typeof ERROR, status: Status = MALFORMED): undefined {
    const stream = this.get(id);
    if (!stream) return;
    this.#parts.outbox.reset(id, ERROR[code]);
    this.#giveUp(stream);
    stream.user.broken(status);
  }

  /** Trouble unless a stream with this number was begun some time. */
  begun(id: number): Trouble | undefined {
    return this.#book.isIdle(id) ? IDLE : undefined;
  }

  /** A part of an answer came for a stream that does not run. */
  strange(id: number): Trouble | undefined {
    if (this.#book.isIdle(id)) return IDLE;
    const by = this.#book.brokenBy(id);
    if (!by) return CLOSED;
    return by === 'us' ? undefined : this.#parts.outbox.reply({ type: FRAME.reset, flags: 0, id }, STREAM_CLOSED);
  }

  /** Bytes of a stream were used up: sooner or later the node may send as many again. */
  taken(stream: Stream, bytes: number): void {
    if (stream.isOver) return;
    if (stream.isPaused) stream.held += bytes;
    else {
      const due = stream.receive.take(bytes);
      if (due) this.#parts.outbox.control(FRAME.window, stream.id, [due]);
    }
  }

  /** Lets the node send on, after it was held up. */
  resume(stream: Stream): void {
    stream.isPaused = false;
    const { held } = stream;
    stream.held = 0;
    this.taken(stream, held);
  }

  /** Drops all that wait, and those that run after number `last`, with which the node did nothing. */
  loseUntouched(last: number): void {
    const { waiting } = this.#book;
    const untouched = [...waiting, ...this.#book.all().filter(({ id }) => id > last)];
    // None takes the place of another.
    waiting.clear();
    for (const stream of untouched) this.#lose(stream, true);
  }

  /** Drops all. */
  loseAll(): void {
    this.loseUntouched(Number.POSITIVE_INFINITY);
    for (const stream of this.#book.all()) this.#lose(stream, false);
  }

  #giveUp(stream: Stream): void {
    if (stream.id) this.#parts.patience.excuse();
    this.#forget(stream, 'us');
  }

  #lose(stream: Stream, isUntouched: boolean): void {
    this.#forget(stream);
    stream.user.lost(isUntouched);
  }

  get #hasRoom(): boolean {
    const { running, isSpent } = this.#book;
    return running < this.settings.streams && !isSpent && !this.#parts.outbox.isFull;
  }

  #open(stream: Stream): void {
    this.#book.begin(stream);
    const options = { saysNoTable: this.#saysNoTable, listBytes: this.settings.listBytes };
    if (this.#parts.requestHeads.write(this.#parts.outbox, stream, options)) {
      this.#saysNoTable = false;
      this.sender.begin(stream);
    } else {
      this.#forget(stream);
      stream.user.broken(TOO_LARGE);
    }
    if (this.#book.isSpent) this.#parts.spent();
  }

  #forget(stream: Stream, brokenBy?: 'node' | 'us'): void {
    this.#book.end(stream, brokenBy);
    this.sender.forget(stream);
    if (this.#book.waiting.size) this.admit();
    if (this.#book.isEmpty) this.#parts.empty();
  }
}
