// A gRPC call on a connection: sends the request, receives headers, messages and trailers, and retries unprocessed requests.

import {
  answerTooLarge,
  CHANNEL_STATUS,
  type ChannelHealth,
  channelStatus,
  GRPC,
  type RpcCall,
  type Status,
  type StreamCall,
} from '../channel/channel.ts';
import type { ByteBudget, CallSource, Sink } from '../channel/message-stream.ts';
import type { Metadata } from '../channel/metadata.ts';
import type { Connection } from './connection.ts';
import { HeldBytes, type MessageError, type MessageHandler, MessageReader } from './messages.ts';
import type { ByteRange, Headers } from './protocol.ts';
import { ERROR } from './protocol.ts';
import { Stream, type StreamHandler } from './stream-table.ts';

/** Maintains one connection: connects on demand, pauses after failures, and detects dead connections with a ping. */
export interface Reconnector {
  /** The connection that accepts calls, or undefined: then use {@link connect}. */
  current(): Connection | undefined;
  /** Resolves with a connection, or with undefined after a failed attempt or during the pause that follows one. */
  connect(): Promise<Connection | undefined>;
  /** Tests a connection on which a call timed out: destroys it unless it answers a ping. */
  test(connection: Connection): void;
  health(): ChannelHealth;
  close(): Promise<void>;
}

export interface CallContext {
  readonly reconnector: Reconnector;
  readonly deadlineMs: number;
  readonly answerBytes: number;
  readonly budget: ByteBudget;
}

const NONE: Metadata = [];
const ONCE = { once: true } as const;
const TRIES_MAX = 2;

/** Starts a call; `sink.end` is called once, and nothing after it. */
export function startCall(call: RpcCall | StreamCall, context: CallContext, sink: Sink): CallSource {
  const running = new RunningCall(call, context, sink);
  running.start();
  return running;
}

class RunningCall implements StreamHandler, MessageHandler, CallSource {
  readonly path: string;
  readonly metadata: Metadata;
  readonly requests: readonly Uint8Array[];
  /** Whether no message is accepted; also true once the call is over. */
  isPaused = false;
  readonly #call: RpcCall | StreamCall;
  readonly #context: CallContext;
  readonly #sink: Sink;
  readonly #endsAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort: (() => void) | undefined;
  readonly #reader: MessageReader;
  #connection: Connection | undefined;
  #stream: Stream | undefined;
  #tries = 0;
  #isAnswered = false;
  #isOver = false;
  /** Bytes received while paused. */
  #held: HeldBytes | undefined;
  /** How the reply ends after the held bytes. */
  #ending: { readonly trailers: Headers | undefined } | undefined;

  constructor(call: RpcCall | StreamCall, context: CallContext, sink: Sink) {
    const { deadlineMs = context.deadlineMs } = call;
    this.path = call.path;
    this.metadata = call.metadata ?? NONE;
    this.requests = 'request' in call ? [call.request] : call.requests;
    this.#call = call;
    this.#context = context;
    this.#sink = sink;
    this.#reader = new MessageReader({ maxBytes: context.answerBytes, budget: context.budget }, this);
    this.#endsAt = performance.now() + deadlineMs;
    this.#timer = setTimeout(expire, deadlineMs, this);
    if (call.signal) {
      this.#onAbort = () => this.cancel();
      call.signal.addEventListener('abort', this.#onAbort, ONCE);
    }
  }

  /** Sends the request on the current connection, or waits for one. */
  start(): void {
    this.#tries++;
    const connection = this.#context.reconnector.current();
    if (connection) this.#send(connection);
    else void this.#context.reconnector.connect().then((connected) => this.#onConnect(connected));
  }

  #onConnect(connection: Connection | undefined): void {
    if (this.#isOver) return;
    if (connection?.isOpen) this.#send(connection);
    // The connection ended in the meantime.
    else if (connection) this.#retry();
    else
      this.#finish(
        this.#context.reconnector.health().state === 'closed' ? CHANNEL_STATUS.closed : CHANNEL_STATUS.unreachable,
      );
  }

  #send(connection: Connection): void {
    this.#connection = connection;
    this.#stream = new Stream(this);
    this.#stream.isPaused = this.isPaused;
    connection.streams.start(this.#stream);
  }

  readLeftMs(): number {
    return this.#endsAt - performance.now();
  }

  onHeaders({ foreign, status, metadata }: Headers): void {
    this.#isAnswered = true;
    if (foreign && !status) this.#abort(foreign);
    else this.#sink.headers(metadata);
  }

  onData(data: ByteRange): void {
    if (!this.#held) this.#read(data);
    if (data.from === data.to || this.#isOver) return;
    this.#held ??= new HeldBytes(this.#context.budget);
    if (!this.#held.add(data)) this.#abort(CHANNEL_STATUS.crowded);
  }

  #read(data: ByteRange): void {
    const error = this.#reader.write(data);
    if (error) this.#abort(messageStatus(error, this.#context.answerBytes));
  }

  onMessage(bytes: Buffer): void {
    if (!this.#isOver) this.#sink.message(bytes);
  }

  onEnd(trailers: Headers | undefined): void {
    if (this.#held) {
      // The node answered in time: the deadline does not apply to whoever reads the held messages.
      clearTimeout(this.#timer);
      this.#ending = { trailers };
      return;
    }
    const { status = CHANNEL_STATUS.unfinished, metadata = NONE } = trailers ?? {};
    if (!this.#isAnswered) this.#finish(trailers?.status ?? trailers?.foreign ?? CHANNEL_STATUS.noStatus, metadata);
    else if (status.code === GRPC.ok && this.#reader.isPartial) this.#finish(CHANNEL_STATUS.unfinished, metadata);
    else this.#finish(status, metadata);
  }

  onFailure(status: Status): void {
    this.#finish(status);
  }

  onReset(code: number): void {
    // REFUSED_STREAM: the node has not processed the request, so it may be sent again (RFC 9113, section 8.7).
    if (code === ERROR.refused && !this.#isAnswered) this.#retry();
    else this.#finish(resetStatus(code));
  }

  onLost(isUnprocessed: boolean): void {
    if (isUnprocessed) this.#retry();
    else this.#finish(CHANNEL_STATUS.lost);
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
      this.#releaseHeld();
    }
    if (this.#ending) this.onEnd(this.#ending.trailers);
    else if (this.#stream) this.#connection?.streams.resume(this.#stream);
  }

  #releaseHeld(): void {
    this.#held?.release();
    this.#held = undefined;
  }

  cancel(): void {
    this.#abort(CHANNEL_STATUS.cancelled);
  }

  /** The deadline has passed. */
  expire(): void {
    if (this.#connection && !this.#isAnswered) this.#context.reconnector.test(this.#connection);
    this.#abort(CHANNEL_STATUS.late);
  }

  #retry(): void {
    if (this.#tries < TRIES_MAX) this.start();
    else this.#finish(CHANNEL_STATUS.refused);
  }

  #abort(status: Status): void {
    if (this.#isOver) return;
    this.#finish(status);
    if (this.#stream) this.#connection?.streams.cancel(this.#stream);
  }

  #finish(status: Status, trailers: Metadata = NONE): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.isPaused = true;
    this.#reader.release();
    this.#releaseHeld();
    clearTimeout(this.#timer);
    if (this.#onAbort) this.#call.signal?.removeEventListener('abort', this.#onAbort);
    this.#sink.end({ status, trailers });
  }
}

function expire(call: RunningCall): void {
  call.expire();
}

const BY_MESSAGE_ERROR: Readonly<Record<Exclude<MessageError, 'too large'>, Status>> = {
  compressed: channelStatus(GRPC.internal, 'The node compressed its reply, although the request forbids it.'),
  malformed: channelStatus(GRPC.internal, 'The node sent a malformed frame.'),
  crowded: CHANNEL_STATUS.crowded,
};

function messageStatus(error: MessageError, maxBytes: number): Status {
  return error === 'too large' ? answerTooLarge(maxBytes) : BY_MESSAGE_ERROR[error];
}

const BY_RESET: { readonly [code: number]: Status } = {
  [ERROR.none]: CHANNEL_STATUS.unfinished,
  [ERROR.refused]: CHANNEL_STATUS.refused,
  [ERROR.cancel]: channelStatus(GRPC.cancelled, 'The node cancelled the call.'),
  [ERROR.calm]: CHANNEL_STATUS.limitExceeded,
  [ERROR.security]: channelStatus(GRPC.permissionDenied, 'The node asks for a more secure connection.'),
};

/** The status for the error code of RST_STREAM. */
function resetStatus(code: number): Status {
  return BY_RESET[code] ?? channelStatus(GRPC.internal, `The node reset the call with code ${code}.`);
}
