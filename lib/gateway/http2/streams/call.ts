// One gRPC call on an HTTP/2 connection: the request goes out whole, then headers, messages and trailers come in.

import type { ByteBudget } from '../../channel/byte-budget.ts';
import { type Call, GRPC, type Metadata, type Status, type StreamCall } from '../../channel/channel.ts';
import type { Sink, Source } from '../../channel/message-stream.ts';
import * as statuses from '../../channel/statuses.ts';
import { ERROR } from '../codes.ts';
import type { Connection } from '../connection.ts';
import type { Piece } from '../frame-reader.ts';
import type { Head } from '../headers/head.ts';
import type { Link } from '../link.ts';
import { HeldBytes } from './held-bytes.ts';
import { MessageReader, type MessageTrouble } from './messages.ts';
import { Stream, type StreamUser } from './stream.ts';

export interface CallPlace {
  readonly link: Link;
  readonly deadlineMs: number;
  readonly answerBytes: number;
  /** For the large messages of all calls. */
  readonly budget: ByteBudget;
}

const NONE: Metadata = [];
const ONCE = { once: true } as const;
const TRIES_MAX = 2;

/** Begins a call; `sink.end` is called once, and nothing after it. */
export function beginCall(call: Call | StreamCall, place: CallPlace, sink: Sink): Source {
  const begun = new RunningCall(call, place, sink);
  begun.begin();
  return begun;
}

class RunningCall implements StreamUser, Source {
  readonly path: string;
  readonly metadata: Metadata;
  readonly requests: readonly Uint8Array[];
  /** No message is taken; so it is when all is over. */
  isPaused = false;
  readonly #call: Call | StreamCall;
  readonly #place: CallPlace;
  readonly #sink: Sink;
  readonly #endsAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #abort: (() => void) | undefined;
  readonly #reader: MessageReader;
  #connection: Connection | undefined;
  #stream: Stream | undefined;
  #tries = 0;
  #isAnswered = false;
  #isOver = false;
  /** What came since the pause, and how the answer ends after it. */
  #held: HeldBytes | undefined;
  #ending: { readonly trailers: Head | undefined } | undefined;

  constructor(call: Call | StreamCall, place: CallPlace, sink: Sink) {
    const { deadlineMs = place.deadlineMs } = call;
    this.path = call.path;
    this.metadata = call.metadata ?? NONE;
    this.requests = 'request' in call ? [call.request] : call.requests;
    this.#call = call;
    this.#place = place;
    this.#sink = sink;
    this.#reader = new MessageReader({ maxBytes: place.answerBytes, budget: place.budget }, this);
    this.#endsAt = performance.now() + deadlineMs;
    this.#timer = setTimeout(expire, deadlineMs, this);
    if (call.signal) {
      this.#abort = () => this.cancel();
      call.signal.addEventListener('abort', this.#abort, ONCE);
    }
  }

  /** Sends the request on the connection that stands, or waits for one. */
  begin(): void {
    this.#tries++;
    const connection = this.#place.link.current();
    if (connection) this.#send(connection);
    else void this.#place.link.open().then((made) => this.#opened(made));
  }

  #opened(made: Connection | undefined): void {
    if (this.#isOver) return;
    if (made?.isOpen) this.#send(made);
    // It has ended already.
    else if (made) this.#again();
    else this.#finish(this.#place.link.health().state === 'closed' ? statuses.CLOSED : statuses.UNREACHABLE);
  }

  #send(connection: Connection): void {
    this.#connection = connection;
    this.#stream = new Stream(this);
    this.#stream.isPaused = this.isPaused;
    connection.streams.begin(this.#stream);
  }

  leftMs(): number {
    return this.#endsAt - performance.now();
  }

  head({ foreign, status, metadata }: Head): void {
    this.#isAnswered = true;
    if (foreign && !status) this.#stop(foreign);
    else this.#sink.headers(metadata);
  }

  data(piece: Piece): void {
    if (!this.#held) this.#read(piece);
    if (piece.from === piece.to || this.#isOver) return;
    this.#held ??= new HeldBytes(this.#place.budget);
    if (!this.#held.add(piece)) this.#stop(statuses.CROWDED);
  }

  #read(piece: Piece): void {
    const trouble = this.#reader.write(piece);
    if (trouble) this.#stop(messageStatus(trouble, this.#place.answerBytes));
  }

  message(bytes: Buffer): void {
    if (!this.#isOver) this.#sink.message(bytes);
  }

  ended(trailers: Head | undefined): void {
    if (this.#held) {
      // The node was in time; the reader takes what is held at his pace.
      clearTimeout(this.#timer);
      this.#ending = { trailers };
      return;
    }
    const { status = statuses.UNFINISHED, metadata = NONE } = trailers ?? {};
    if (!this.#isAnswered) this.#finish(trailers?.status ?? trailers?.foreign ?? statuses.NO_STATUS, metadata);
    else if (status.code === GRPC.ok && this.#reader.isAmid) this.#finish(statuses.UNFINISHED, metadata);
    else this.#finish(status, metadata);
  }

  broken(status: Status): void {
    this.#finish(status);
  }

  reset(code: number): void {
    // The node did not begin with it, says HTTP/2: it may be sent again.
    if (code === ERROR.refused && !this.#isAnswered) this.#again();
    else this.#finish(statuses.resetStatus(code));
  }

  lost(isUntouched: boolean): void {
    if (isUntouched) this.#again();
    else this.#finish(statuses.LOST);
  }

  pause(): void {
    this.isPaused = true;
    if (this.#stream) this.#stream.isPaused = true;
  }

  resume(): void {
    if (this.#isOver) return;
    this.isPaused = false;
    const held = this.#held;
    if (held) {
      this.#read(held);
      if (this.isPaused || this.#isOver) return;
      this.#dropHeld();
    }
    if (this.#ending) this.ended(this.#ending.trailers);
    else if (this.#stream) this.#connection?.streams.resume(this.#stream);
  }

  #dropHeld(): void {
    this.#held?.drop();
    this.#held = undefined;
  }

  cancel(): void {
    this.#stop(statuses.CANCELLED);
  }

  /** The deadline has passed. */
  expire(): void {
    if (this.#connection && !this.#isAnswered) this.#place.link.suspect(this.#connection);
    this.#stop(statuses.LATE);
  }

  #again(): void {
    if (this.#tries < TRIES_MAX) this.begin();
    else this.#finish(statuses.REFUSED);
  }

  #stop(why: Status): void {
    if (this.#isOver) return;
    this.#finish(why);
    if (this.#stream) this.#connection?.streams.cancel(this.#stream);
  }

  #finish(status: Status, trailers: Metadata = NONE): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.isPaused = true;
    this.#reader.drop();
    this.#dropHeld();
    clearTimeout(this.#timer);
    if (this.#abort) this.#call.signal?.removeEventListener('abort', this.#abort);
    this.#sink.end({ status, trailers });
  }
}

function expire(call: RunningCall): void {
  call.expire();
}

const BY_TROUBLE: Readonly<Record<Exclude<MessageTrouble, 'too large'>, Status>> = {
  compressed: statuses.made(GRPC.internal, 'The node compressed its answer, though it was told not to.'),
  malformed: statuses.made(GRPC.internal, 'The node sent a malformed frame.'),
  crowded: statuses.CROWDED,
};

function messageStatus(trouble: MessageTrouble, maxBytes: number): Status {
  return trouble === 'too large' ? statuses.tooLarge(maxBytes) : BY_TROUBLE[trouble];
}
