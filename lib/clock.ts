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

/** The time of this machine. It is read at each call, so that fake timers of test runners move all of it. */
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
