// How long something took, on a machine that does other things as well.

const TICK_MS = 20;
const LATE_MOST_MS = 1_000;

interface Timed<T> {
  readonly result: T;
  /** Milliseconds without those by which timers of this process came late, at most one second of them: for "no longer than". */
  readonly ms: number;
  /** Milliseconds by the clock: for "at least". */
  readonly clockMs: number;
}

/** What `work` gives, and how long it took. That this process had to wait for the processor is no fault of what it measures. */
export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
  const begun = performance.now();
  const lateness = watchLateness();
  try {
    const result = await work();
    const clockMs = performance.now() - begun;
    return { result, ms: Math.max(0, clockMs - lateness.ms()), clockMs };
  } finally {
    lateness.end();
  }
}

/** Milliseconds of the processor that this process took for `work`, which does not wait. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function watchLateness(): { ms: () => number; end: () => void } {
  let [at, late] = [performance.now(), 0];
  const look = () => {
    late += Math.max(0, performance.now() - at - TICK_MS);
    at = performance.now();
  };
  const ticking = setInterval(look, TICK_MS);
  return {
    ms: () => {
      look();
      return Math.min(late, LATE_MOST_MS);
    },
    end: () => clearInterval(ticking),
  };
}
