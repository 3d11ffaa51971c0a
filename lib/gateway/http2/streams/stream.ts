// One stream of HTTP/2: its number, its windows, and the call that it belongs to.

import { LIMITS } from '../../../limits.ts';
import type { Metadata, Status } from '../../channel/channel.ts';
import { ReceiveWindow } from '../flow.ts';
import type { Piece } from '../frame-reader.ts';
import type { Head } from '../headers/head.ts';
import { Body } from './body.ts';

/** The call behind a stream: what it asks, and what becomes of it. One of `ended`, `broken`, `reset`, `lost` is the last. */
export interface StreamUser {
  readonly path: string;
  readonly metadata: Metadata;
  readonly requests: readonly Uint8Array[];
  /** Milliseconds until its deadline. */
  leftMs(): number;
  head(head: Head): void;
  data(piece: Piece): void;
  /** The node ended the stream; `trailers` are its headers when nothing else came. */
  ended(trailers: Head | undefined): void;
  /** This side gave the stream up. */
  broken(status: Status): void;
  /** The node gave it up. */
  reset(code: number): void;
  /** The connection ended; whether the node surely did nothing with the request. */
  lost(isUntouched: boolean): void;
}

export class Stream {
  readonly user: StreamUser;
  readonly body: Body;
  readonly receive = new ReceiveWindow(LIMITS.grpcWindowBytes);
  /** 0 until it is its turn. */
  id = 0;
  /** Bytes that may be sent; less than none after the node made its windows smaller. */
  window = 0;
  hasHead = false;
  isOver = false;
  isPaused = false;
  /** Bytes that came while it was paused. */
  held = 0;

  constructor(user: StreamUser) {
    this.user = user;
    this.body = new Body(user.requests);
  }
}
