// Time as something that is passed in: the real clock, and a simulated one for tests.

/** Time as the engine takes it, in milliseconds: of the day, of a clock that never goes back, and to wait for. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC, for what is stored, answered or shared between processes. It may be set back or on. */
  now(): number;
  /** Milliseconds since a moment of this process, for durations inside it. It never jumps. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The time of this machine. */
export const systemClock: Clock = {
  now: Date.now,
  monotonic: performance.now.bind(performance),
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
/** Less is how clocks are kept right. */
const LEAST_JUMP_MS = 60_000;

/** By hour of `monotonic`: the least that the time of day was ahead of it. The oldest first. */
const looks = new WeakMap<Pick<Clock, 'now' | 'monotonic'>, { readonly hour: number; readonly ahead: number }[]>();

/**
 * The time of day, in whole milliseconds, that has passed by every look at this clock in the last 24 hours: what had expired by
 * then may be removed for good. A clock that is set on, by a minute or more, takes it along a day later; one that is set back at once. So what a
 * clock that runs ahead makes seem old is still there when the clock is right again. Look once before anything is kept.
 */
export function settledTime(clock: Pick<Clock, 'now' | 'monotonic'>): number {
  const elapsed = clock.monotonic();
  const hour = Math.floor(elapsed / HOUR_MS);
  const before = (looks.get(clock) ?? []).filter((look) => look.hour > hour - HOURS_WATCHED);
  const ahead = Math.min(clock.now() - elapsed, before.at(-1)?.hour === hour ? before.pop()!.ahead : Infinity);
  before.push({ hour, ahead });
  looks.set(clock, before);
  const settled = Math.floor(elapsed + Math.min(...before.map((look) => look.ahead)));
  const now = Math.floor(clock.now());
  return now - settled < LEAST_JUMP_MS ? now : settled;
}

/**
 * A clock that stands still until `advance` is called; waits resolve in order of their time.
 * @example
 * const clock = new SimulatedClock(0);
 * const waited = clock.wait(5_000);
 * await clock.advance(5_000);
 * await waited;
 * clock.now(); // → 5000
 */
export class SimulatedClock implements Clock {
  #elapsed = 0;
  /** The wall time at the start, with all jumps since. */
  #start: number;
  #waits: { at: number; wake: () => void }[] = [];

  constructor(start = 1_700_000_000_000) {
    this.#start = start;
  }

  now = (): number => this.#start + this.#elapsed;

  monotonic = (): number => this.#elapsed;

  /** Sets the wall time on by `ms`, or back when it is negative: waits and `monotonic` go on as before. */
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

  /** Milliseconds from now until each wait that is left ends, the shortest first. */
  pending(): number[] {
    return this.#waits.map(({ at }) => at - this.#elapsed);
  }

  /** Moves time forward by `ms` and lets everything that became due run, in order. */
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

/** Calls `work` every `ms` milliseconds, until the function that it returns is called. */
export function every(clock: Pick<Clock, 'wait'>, ms: number, work: () => void): () => void {
  const over = new AbortController();
  const { signal } = over;
  const goOn = async () => {
    for (await clock.wait(ms, signal); !signal.aborted; await clock.wait(ms, signal)) work();
  };
  void goOn();
  return () => over.abort();
}

const SLICE_MS = 10;

/** A function that waits for the next turn of the event loop, but only when 10 ms have passed since it last did. */
export function timeSlice(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < SLICE_MS) return;
    await new Promise(setImmediate);
    begun = performance.now();
  };
}

/** Few, for a store in this process does all of them before others have their turn. */
const WORK_AT_ONCE = 4;

/** Does `work` on a few of the items at a time, and `take` with each result, in order; others have their turn in between. */
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
