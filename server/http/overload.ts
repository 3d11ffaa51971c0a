// Whether the server has more to do than it can: too many requests at once, or an event loop that comes too late.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { Log } from '../health/log.ts';

export interface Overload {
  /** True while new work is better turned away. */
  isOver(): boolean;
  /** Requests being worked on. */
  inFlight: number;
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

/** For the event loop of this process. */
export function overloadWatch(log: Log, limits: OverloadLimits = {}): Overload {
  const maxDelayMs = limits.loopDelayMs ?? SERVER_LIMITS.loopDelayMs;
  const maxInFlight = limits.requestsAtOnce ?? SERVER_LIMITS.requestsAtOnce;
  const maxWhenLate = limits.requestsWhenLate ?? SERVER_LIMITS.requestsWhenLate;
  let delayMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let delays: IntervalHistogram | undefined;
  const look = (seen: IntervalHistogram) => {
    // The histogram counts from one look at the clock to the next, so the pause between them is in it.
    delayMs = Math.max(0, seen.percentile(99) / 1e6 - RESOLUTION_MS);
    seen.reset();
    if (delayMs > maxDelayMs)
      log.warn({ loopDelayMs: Math.round(delayMs), inFlight: watch.inFlight }, 'the event loop is late; shedding load');
  };
  const watch: Overload = {
    inFlight: 0,
    isOver: () => watch.inFlight > (delayMs > maxDelayMs ? maxWhenLate : maxInFlight),
    get loopDelayMs() {
      return delayMs;
    },
    begin: () => {
      const seen = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      seen.enable();
      delays = seen;
      // Right after a stall this timer may come before the one that measures it; only after both is the delay known.
      timer = setInterval(() => setImmediate(look, seen), WINDOW_MS).unref();
    },
    stop: () => {
      clearInterval(timer);
      delays?.disable();
    },
  };
  return watch;
}
