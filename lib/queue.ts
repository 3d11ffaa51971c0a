// Bounded queues: limited concurrency and backlog; everything beyond is refused with ERR_BUSY.

import { TwinlineError } from './errors.ts';

/** Runs `work` in its turn; rejects with ERR_BUSY when the backlog is full. */
export type Queue = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A queue with `workers` running and `waiting` in the backlog; `what` names the work in errors, such as `PIN checks`.
 */
export function boundedQueue({ workers, waiting, what }: { workers: number; waiting: number; what: string }): Queue {
  let free = workers;
  const line: (() => void)[] = [];
  const leave = () => {
    const next = line.shift();
    // Hand the slot over instead of freeing it, so that a newcomer cannot overtake the backlog.
    if (next) next();
    else free++;
  };
  return async (work) => {
    if (free > 0) free--;
    else if (line.length < waiting) await new Promise<void>((go) => line.push(go));
    else {
      const message = `${workers} ${what} are running and ${waiting} more are waiting; this one was refused. Try again in a moment.`;
      throw new TwinlineError('ERR_BUSY', message);
    }
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

export interface KeyedMutex {
  /** Runs `work` after all earlier work for this key; different keys run concurrently. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Called by running work of this key: lets other work run until `wait` settles, then continues behind it. */
  pause<T>(key: string, wait: Promise<T>): Promise<T>;
  /** The number of keys with running or paused work. */
  size(): number;
}

interface Line {
  /** Running, paused and waiting work. */
  length: number;
  isBusy: boolean;
  readonly waiters: (() => void)[];
}

/** One worker per key; `what` names the work in errors, such as `requests of one session`. */
export function keyedMutex(waiting: number, what: string): KeyedMutex {
  const lines = new Map<string, Line>();

  function leave(line: Line): void {
    const next = line.waiters.shift();
    // Hand the line over instead of freeing it, so that a newcomer cannot overtake the backlog.
    if (next) next();
    else line.isBusy = false;
  }

  function enter(line: Line): Promise<void> | undefined {
    if (line.isBusy) return new Promise((resolve) => line.waiters.push(resolve));
    line.isBusy = true;
    return undefined;
  }

  return {
    // On the hot path of every turn: one promise where nobody waits, and no async frame around the work.
    run(key, work) {
      const line = lines.get(key) ?? { length: 0, isBusy: false, waiters: [] };
      if (line.length >= waiting)
        return Promise.reject(
          new TwinlineError('ERR_BUSY', `${waiting} ${what} are already waiting; try again later.`),
        );
      if (!line.length++) lines.set(key, line);
      const entrance = enter(line);
      const result = entrance ? entrance.then(work) : work();
      const end = () => {
        if (!--line.length) lines.delete(key);
        leave(line);
      };
      result.then(end, end);
      return result;
    },
    async pause(key, wait) {
      const line = lines.get(key)!;
      leave(line);
      try {
        return await wait;
      } finally {
        await enter(line);
      }
    },
    size: () => lines.size,
  };
}
