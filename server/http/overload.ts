// Whether the server has more to do than it can: an event loop that comes too late, or requests that have waited too long; and how
// requests wait until the server comes to them. Without that, all that arrived in one turn of the event loop would be worked on in
// it, and all that comes next, a probe of its health too, would wait for all of them. While a request waits, its client sends no
// other one on its connection, and nothing but its headers was read: waiting costs less than a refusal, which only makes room for
// the next request.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { Log } from '../telemetry/log.ts';

export interface Overload {
  /** True where this request is better turned away. */
  isOver(req: IncomingMessage): boolean;
  /** Requests being worked on. */
  inFlight: number;
  /** How many of them there may be now; others wait. */
  readonly most: number;
  /** Requests that waited too long: they are turned away. */
  readonly overdue: WeakSet<IncomingMessage>;
  /** Milliseconds that a request may wait. */
  readonly waitMs: number;
  /** Tells that requests wait because `most` are being worked on. */
  isFull: boolean;
  /** How late the event loop came in the last second: 99th percentile in milliseconds. */
  readonly loopDelayMs: number;
  /** Watches the event loop from now on: a server that only starts has no clients yet, however busy it is. */
  begin(): void;
  stop(): void;
}

export interface OverloadLimits {
  /** @default SERVER_LIMITS.requestsAtOnce */
  readonly requestsAtOnce?: number;
  /** @default SERVER_LIMITS.requestsWhenLate */
  readonly requestsWhenLate?: number;
  /** @default SERVER_LIMITS.loopDelayMs */
  readonly loopDelayMs?: number;
  /** @default SERVER_LIMITS.requestWaitMs */
  readonly requestWaitMs?: number;
}

const RESOLUTION_MS = 20;
const WINDOW_MS = 1_000;
/** How often it is decided how many requests may be worked on. */
const LOOK_MS = 20;
/** From here on, fewer requests are worked on at once: what each of them adds to a turn of the event loop, health waits for. */
const LONG_TURN_MS = 20;

/** For the event loop of this process. */
export function overloadWatch(log: Log, limits: OverloadLimits = {}): Overload {
  const maxDelayMs = limits.loopDelayMs ?? SERVER_LIMITS.loopDelayMs;
  const maxInFlight = limits.requestsAtOnce ?? SERVER_LIMITS.requestsAtOnce;
  const maxWhenLate = limits.requestsWhenLate ?? SERVER_LIMITS.requestsWhenLate;
  const least = Math.min(maxInFlight, SERVER_LIMITS.requestsWhenLate);
  const timers: NodeJS.Timeout[] = [];
  let delayMs = 0;
  let delays: IntervalHistogram | undefined;
  let most = maxInFlight;
  let lookedAt = 0;
  const look = (histogram: IntervalHistogram) => {
    // The histogram counts from one look at the clock to the next, so the pause between them is in it.
    delayMs = Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS);
    histogram.reset();
    if (delayMs > maxDelayMs)
      log.warn({ loopDelayMs: Math.round(delayMs), inFlight: watch.inFlight }, 'the event loop is late; shedding load');
  };
  // Down as far as a turn was too long, up by an eighth: as many as keep the processor busy, and not more.
  const adjust = () => {
    const now = performance.now();
    const share = (LOOK_MS + LONG_TURN_MS) / (now - lookedAt);
    lookedAt = now;
    if (share < 1) most = Math.max(least, Math.floor(Math.min(most, watch.inFlight) * share));
    else if (watch.isFull) most = Math.min(maxInFlight, most + Math.ceil(most / 8));
    watch.isFull = false;
  };
  const watch: Overload = {
    inFlight: 0,
    isFull: false,
    waitMs: limits.requestWaitMs ?? SERVER_LIMITS.requestWaitMs,
    overdue: new WeakSet(),
    isOver: (req) => watch.inFlight > (delayMs > maxDelayMs ? maxWhenLate : maxInFlight) || watch.overdue.has(req),
    get most() {
      return most;
    },
    get loopDelayMs() {
      return delayMs;
    },
    begin: () => {
      const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      histogram.enable();
      delays = histogram;
      lookedAt = performance.now();
      // Right after a stall this timer may come before the one that measures it; only after both is the delay known.
      timers.push(
        setInterval(() => setImmediate(look, histogram), WINDOW_MS).unref(),
        setInterval(adjust, LOOK_MS).unref(),
      );
    },
    stop: () => {
      for (const timer of timers) clearInterval(timer);
      delays?.disable();
    },
  };
  return watch;
}

/** Answers requests. */
type Begin<Response> = (req: IncomingMessage, res: Response) => void;

export interface WaitingRequests<Response> {
  /** Begins a request now, or when the server comes to it. */
  readonly enter: Begin<Response>;
  /** Tells that a request was answered: another one may begin. */
  left(): void;
}

export interface WaitingOptions<Response> {
  readonly overload: Pick<Overload, 'inFlight' | 'most' | 'isFull' | 'overdue' | 'waitMs'>;
  readonly begin: Begin<Response>;
}

interface WaitingRequest<Response> {
  readonly req: IncomingMessage;
  readonly res: Response;
  readonly since: number;
}

/** Milliseconds of one turn of the event loop in which arriving requests are begun: in each turn, Node takes one new connection. */
const TURN_MS = 4;
/** Of those that wait, so many begin in one turn: with 8 a store's batches are small, with 32 a probe of health waits for too long. */
const PER_TURN = 16;
const WAITING_LOOK_MS = 20;

/** First come, first served. One that waited for `overload.waitMs` is marked as overdue and begun, to be refused. */
export function waitingRequests<Response extends ServerResponse>({
  overload,
  begin,
}: WaitingOptions<Response>): WaitingRequests<Response> {
  const waiting = new RequestQueue<WaitingRequest<Response>>();
  // Refused at a slow pace: else clients that ask again at once would leave no time for anything but refusals.
  const overdue = new RequestQueue<WaitingRequest<Response>>();
  let timer: NodeJS.Timeout | undefined;
  let turnBegan = 0;
  let isPlanned = false;

  const isGone = ({ res }: WaitingRequest<Response>) => res.destroyed;

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
    while (waiting.size > 0 && now - waiting.first.since >= overload.waitMs) overdue.add(waiting.take());
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
      timer ??= setInterval(look, WAITING_LOOK_MS).unref();
    },
    left: () => {
      if (waiting.size > 0) plan();
    },
  };
}

/** What was added first is taken first. */
class RequestQueue<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** Of one that is not empty. */
  get first(): Item {
    return this.#items[this.#head]!;
  }

  add(one: Item): void {
    this.#items.push(one);
  }

  take(): Item {
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
