// An HTTP/2 stream with its receive window, and the table of a connection's streams: running, waiting and recently aborted.

import { LRUCache } from 'lru-cache';
import { growing } from '../../common-limits.ts';
import type { Status } from '../channel/channel.ts';
import type { Metadata } from '../channel/metadata.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { RequestBody } from './messages.ts';
import type { ByteRange, Headers } from './protocol.ts';
import { MAX_STREAM_ID } from './protocol.ts';

/** The receive window of a stream or of a connection, in bytes. */
export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  #consumed = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** Counts received bytes; false when the node exceeds the window. */
  receive(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Counts consumed bytes; returns the WINDOW_UPDATE increment: at least half a window, or 0 for none yet. */
  consume(bytes: number): number {
    this.#consumed += bytes;
    if (this.#consumed * 2 < this.#size) return 0;
    const increment = this.#consumed;
    this.#consumed = 0;
    this.#left += increment;
    return increment;
  }
}

/** The call behind a stream. Exactly one of `onEnd`, `onFailure`, `onReset`, `onLost` is called, and it is the last. */
export interface StreamHandler {
  readonly path: string;
  readonly metadata: Metadata;
  readonly requests: readonly Uint8Array[];
  /** Milliseconds until the deadline. */
  readLeftMs(): number;
  onHeaders(headers: Headers): void;
  onData(data: ByteRange): void;
  /** The node ended the stream. `trailers` are its only headers if none came before. */
  onEnd(trailers: Headers | undefined): void;
  /** We ended the stream because of an error. */
  onFailure(status: Status): void;
  /** The node sent RST_STREAM. */
  onReset(code: number): void;
  /** The connection ended. `isUnprocessed`: the node has certainly not processed the request. */
  onLost(isUnprocessed: boolean): void;
}

export class Stream {
  readonly handler: StreamHandler;
  readonly body: RequestBody;
  readonly receiveWindow = new ReceiveWindow(GATEWAY_LIMITS.grpcWindowBytes);
  /** 0 while waiting. */
  id = 0;
  /** Bytes that may be sent; negative after the node reduced its initial window. */
  window = 0;
  hasHeaders = false;
  isOver = false;
  isPaused = false;
  /** Bytes received while paused and not yet returned to the window. */
  heldBytes = 0;

  constructor(handler: StreamHandler) {
    this.handler = handler;
    this.body = new RequestBody(handler.requests);
  }
}

/** Who ended a stream early. */
type Aborter = 'node' | 'client';

export class StreamTable {
  /** Streams waiting for a free id or for the node's limit, in order. */
  readonly waiting = new Set<Stream>();
  /**
   * Running streams, each in the slot of its id. Not a Map: after growing, its table keeps references to deleted entries,
   * which would delay garbage collection of half of all calls.
   */
  readonly #slots: (Stream | undefined)[] = new Array(GATEWAY_LIMITS.grpcStreamsAtOnce).fill(undefined);
  /** The last GATEWAY_LIMITS.grpcBrokenKept aborted streams. */
  readonly #aborted = new LRUCache<number, Aborter>(growing(GATEWAY_LIMITS.grpcBrokenKept));
  #running = 0;
  #nextId = 1;

  get running(): number {
    return this.#running;
  }

  /** Whether ids are used up, except those that may have to be skipped. */
  get isExhausted(): boolean {
    return this.#nextId > MAX_STREAM_ID - 2 * GATEWAY_LIMITS.grpcStreamsAtOnce;
  }

  get isEmpty(): boolean {
    return this.#running === 0 && this.waiting.size === 0;
  }

  /** The running stream with this id. */
  get(id: number): Stream | undefined {
    const stream = this.#slots[slotIndex(id)];
    return stream?.id === id ? stream : undefined;
  }

  /** All running streams. */
  all(): Stream[] {
    return this.#slots.filter((stream) => stream !== undefined);
  }

  /** Assigns a stream's id; there must be a free slot. Ids whose slot is taken are skipped. */
  add(stream: Stream): void {
    while (this.#slots[slotIndex(this.#nextId)]) this.#nextId += 2;
    stream.id = this.#nextId;
    this.#nextId += 2;
    this.#slots[slotIndex(stream.id)] = stream;
    this.#running++;
  }

  /** Removes a stream; `abortedBy` if it ended early. */
  remove(stream: Stream, abortedBy?: Aborter): void {
    stream.isOver = true;
    if (stream.id) {
      this.#slots[slotIndex(stream.id)] = undefined;
      this.#running--;
    } else this.waiting.delete(stream);
    if (abortedBy && stream.id) this.#aborted.set(stream.id, abortedBy);
  }

  /** Whether no stream with this id was ever started. Even ids belong to the node, which starts none. */
  isIdle(id: number): boolean {
    return id % 2 === 0 || id >= this.#nextId;
  }

  /** Who aborted a stream; undefined when it ended normally or long ago. */
  findAborter(id: number): Aborter | undefined {
    return this.#aborted.peek(id);
  }
}

function slotIndex(id: number): number {
  return ((id - 1) / 2) % GATEWAY_LIMITS.grpcStreamsAtOnce;
}
