// Whether the server has more to do than it can: an event loop that comes too late, or requests that have waited too long.

import type { IncomingMessage } from 'node:http';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { Log } from '../../health/log.ts';

export interface Overload {
  /** True where this request is better turned away. */
  isOver(req: IncomingMessage): boolean;
  /** Requests being worked on. */
  inFlight: number;
  /** How many of them there may be now; others wait. */
  readonly most: number;
  /** Requests that waited too long: they are turned away. */
  readonly overdue: WeakSet<IncomingMessage>;
  /** Tells that requests wait because `most` are being worked on. */
  isFull: boolean;
  /** How late the event loop came in the last second: 99th percentile in milliseconds. */
  readonly loopDelayMs: number;
  /** Watches the event loop from now on: nobody waits for a server that only starts, however busy it is. */
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
  const look = (seen: IntervalHistogram) => {
    // The histogram counts from one look at the clock to the next, so the pause between them is in it.
    delayMs = Math.max(0, seen.percentile(99) / 1e6 - RESOLUTION_MS);
    seen.reset();
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
    overdue: new WeakSet(),
    isOver: (req) => watch.inFlight > (delayMs > maxDelayMs ? maxWhenLate : maxInFlight) || watch.overdue.has(req),
    get most() {
      return most;
    },
    get loopDelayMs() {
      return delayMs;
    },
    begin: () => {
      const seen = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      seen.enable();
      delays = seen;
      lookedAt = performance.now();
      // Right after a stall this timer may come before the one that measures it; only after both is the delay known.
      timers.push(setInterval(() => setImmediate(look, seen), WINDOW_MS).unref(), setInterval(adjust, LOOK_MS).unref());
    },
    stop: () => {
      for (const timer of timers) clearInterval(timer);
      delays?.disable();
    },
  };
  return watch;
}
