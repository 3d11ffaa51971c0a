// Clocks are passed in: the system clock, and a simulated one for tests.

/** A source of time in milliseconds: wall clock, monotonic clock, and timers. */
export interface Clock {
  /**
   * Milliseconds since 1970-01-01 UTC, for values that are stored, sent or shared between processes. May jump either
   * way.
   */
  now(): number;
  /** Milliseconds since an arbitrary moment, for durations within this process. Never jumps. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of this machine. Globals are looked up on each call, so a test runner's fake timers apply. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};

const HOUR_MS = 3_600_000;
const HOURS_WATCHED = 25;
/** Smaller differences are ordinary clock corrections. */
const LEAST_JUMP_MS = 60_000;

/** Per hour of `monotonic`, oldest first: the smallest lead of the wall clock over it. */
const looks = new WeakMap<Pick<Clock, 'now' | 'monotonic'>, { readonly hour: number; readonly ahead: number }[]>();

/**
 * The wall-clock time, in whole milliseconds, that every reading of this clock in the last 24 hours has agreed on;
 * whatever expired by then may be deleted for good. If the clock jumps ahead by a minute or more, this time follows a
 * day later; if it jumps back, at once. So data that only looks old because the clock runs ahead survives until the
 * clock is corrected. Read it once before storing anything.
 */
export function settledTime(clock: Pick<Clock, 'now' | 'monotonic'>): number {
  const elapsed = clock.monotonic();
  const hour = Math.floor(elapsed / HOUR_MS);
  const recent = (looks.get(clock) ?? []).filter((look) => look.hour > hour - HOURS_WATCHED);
  const ahead = Math.min(clock.now() - elapsed, recent.at(-1)?.hour === hour ? recent.pop()!.ahead : Infinity);
  recent.push({ hour, ahead });
  looks.set(clock, recent);
  const settled = Math.floor(elapsed + Math.min(...recent.map((look) => look.ahead)));
  const now = Math.floor(clock.now());
  return now - settled < LEAST_JUMP_MS ? now : settled;
}

/**
 * A clock that stands still until `advance` is called; waits resolve in the order of their due times.
 * @example
 * const clock = new SimulatedClock(0);
 * const waited = clock.wait(5_000);
 * await clock.advance(5_000);
 * await waited;
 * clock.now(); // → 5000
 */
export class SimulatedClock implements Clock {
  #elapsed = 0;
  /** Wall-clock time at the start, plus all jumps since. */
  #start: number;
  #waits: { at: number; wake: () => void }[] = [];

  constructor(start = 1_700_000_000_000) {
    this.#start = start;
  }

  now = (): number => this.#start + this.#elapsed;

  monotonic = (): number => this.#elapsed;

  /** Moves the wall clock by `ms`, back if negative; waits and `monotonic` are unaffected. */
  jump(ms: number): void {
    this.#start += ms;
  }

  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || ms <= 0) return resolve();
      const wake = () => {
        this.#waits = this.#waits.filter((other) => other !== entry);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const entry = { at: this.#elapsed + ms, wake };
      const at = this.#waits.findIndex((other) => other.at > entry.at);
      this.#waits.splice(at < 0 ? this.#waits.length : at, 0, entry);
      signal?.addEventListener('abort', wake);
    });
  }

  /** Milliseconds until each pending wait is due, shortest first. */
  pending(): number[] {
    return this.#waits.map(({ at }) => at - this.#elapsed);
  }

  /** Moves time forward by `ms`, running everything that becomes due, in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      const next = this.#waits[0];
      if (!next || next.at > end) break;
      this.#waits.shift();
      this.#elapsed = next.at;
      next.wake();
      await new Promise(setImmediate);
    }
    this.#elapsed = end;
    await new Promise(setImmediate);
  }
}

/** Calls `work` every `ms` milliseconds; returns a function that stops it. */
export function every(clock: Pick<Clock, 'wait'>, ms: number, work: () => void): () => void {
  const over = new AbortController();
  const { signal } = over;
  const goOn = async () => {
    for (await clock.wait(ms, signal); !signal.aborted; await clock.wait(ms, signal)) work();
  };
  void goOn();
  return () => over.abort('over');
}

const SLICE_MS = 10;

/** Returns a function that yields to the event loop, but only once 10 ms have passed since it last did. */
export function timeSlice(): () => Promise<void> {
  let start = performance.now();
  return async () => {
    if (performance.now() - start < SLICE_MS) return;
    await new Promise(setImmediate);
    start = performance.now();
  };
}

/** Small, because an in-process store finishes all of them before the event loop turns. */
const WORK_AT_ONCE = 4;

/**
 * Runs `work` on a few items at a time and passes each result to `take` in order, yielding to the event loop in
 * between.
 */
export async function inTurns<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  take: (result: R, item: T) => void,
): Promise<void> {
  const pause = timeSlice();
  for (let at = 0; at < items.length; at += WORK_AT_ONCE) {
    const some = items.slice(at, at + WORK_AT_ONCE);
    for (const [nth, result] of (await Promise.all(some.map(work))).entries()) take(result, some[nth]!);
    await pause();
  }
}
