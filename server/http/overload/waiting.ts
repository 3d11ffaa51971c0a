// Requests that wait until the server comes to them. Without that, all that arrived in one turn of the event loop would be worked
// on in it, and whatever comes next, a probe of its health too, would wait for all of them. While a request waits, its client
// sends no other one on its connection, and nothing but its headers was read: waiting costs less than a refusal, which
// only makes room for the next request.

import type { IncomingMessage } from 'node:http';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { Answer, Listener } from '../answer.ts';
import type { Overload } from './watch.ts';

export interface WaitingRequests {
  /** Begins a request now, or when the server comes to it. */
  readonly enter: Listener;
  /** Tells that a request was answered: another one may begin. */
  left(): void;
}

export interface WaitingOptions {
  readonly overload: Pick<Overload, 'inFlight' | 'most' | 'isFull' | 'overdue'>;
  readonly begin: Listener;
}

interface WaitingRequest {
  readonly req: IncomingMessage;
  readonly res: Answer;
  readonly since: number;
}

/** Milliseconds of one turn of the event loop in which arriving requests are begun: in each turn, Node takes one new connection. */
const TURN_MS = 4;
/** Of those that wait, so many begin in one turn: with 8 a store's batches are small, with 32 a probe of health waits for too long. */
const PER_TURN = 16;
const LOOK_MS = 20;

/** First come, first served. One that waited for `SERVER_LIMITS.requestWaitMs` is marked as overdue and begun, to be refused. */
export function waitingRequests({ overload, begin }: WaitingOptions): WaitingRequests {
  const waiting = new RequestQueue();
  // Refused at a slow pace: else clients that ask again at once would leave no time for anything but refusals.
  const overdue = new RequestQueue();
  let timer: NodeJS.Timeout | undefined;
  let turnBegan = 0;
  let isPlanned = false;

  const isGone = ({ req, res }: WaitingRequest) => res.destroyed || req.socket.destroyed;

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    turnBegan = performance.now();
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    isPlanned = false;
    sortOut(performance.now());
    for (let count = 0; count < PER_TURN && waiting.size > 0 && overload.inFlight < overload.most; count++) {
      const next = waiting.take();
      if (!isGone(next)) begin(next.req, next.res);
    }
    if (waiting.size === 0) return;
    if (overload.inFlight < overload.most) plan();
    else overload.isFull = true;
  }

  function sortOut(now: number): void {
    while (waiting.size > 0 && now - waiting.first.since >= SERVER_LIMITS.requestWaitMs) overdue.add(waiting.take());
  }

  function look(): void {
    sortOut(performance.now());
    for (let count = 0; count < SERVER_LIMITS.refusalsPerLook && overdue.size > 0; ) {
      const next = overdue.take();
      if (isGone(next)) continue;
      count++;
      overload.overdue.add(next.req);
      begin(next.req, next.res);
    }
    if (waiting.size > 0) plan();
    else if (overdue.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  return {
    enter: (req, res) => {
      const now = performance.now();
      if (!isPlanned) plan();
      if (waiting.size === 0 && overload.inFlight < overload.most && now - turnBegan < TURN_MS) return begin(req, res);
      waiting.add({ req, res, since: now });
      timer ??= setInterval(look, LOOK_MS).unref();
    },
    left: () => {
      if (waiting.size > 0) plan();
    },
  };
}

/** What was added first is taken first. */
class RequestQueue {
  #items: (WaitingRequest | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Of one that is not empty. */
  get first(): WaitingRequest {
    return this.#items[this.#head]!;
  }

  add(one: WaitingRequest): void {
    this.#items.push(one);
  }

  take(): WaitingRequest {
    const one = this.first;
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length || this.#head === COMPACT) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return one;
  }
}

const COMPACT = 4_096;
