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
  /** For work of this key that runs: others run until `wait` has settled, then it goes on behind them. */
  pause<T>(key: string, wait: Promise<T>): Promise<T>;
  /** The number of keys with running work. */
  size(): number;
}

const FREE = Promise.resolve();

interface Line {
  /** Resolves when the last one that stands here lets others run. */
  tail: Promise<void>;
  length: number;
  /** Lets the one behind the one that runs run. */
  open(): void;
}

/** Stands at the end of a line: when `before` resolves it may run, and `open` lets the one behind it run. */
function stand(line: Line): { readonly before: Promise<void>; readonly open: () => void } {
  const before = line.tail;
  let open!: () => void;
  line.tail = new Promise((resolve) => {
    open = resolve;
  });
  return { before, open };
}

/** One worker per key; `what` names the work in errors, such as `requests of one session`. */
export function keyedMutex(waiting: number, what: string): KeyedMutex {
  const lines = new Map<string, Line>();
  // On the hot path of every turn: two promises, and no async frame around the work.
  const run = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { tail: FREE, length: 0, open: () => {} };
    if (line.length >= waiting)
      return Promise.reject(new TwinlineError('ERR_BUSY', `${waiting} ${what} are already waiting; try again later.`));
    if (!line.length++) lines.set(key, line);
    const { before, open } = stand(line);
    const begin = () => {
      line.open = open;
      return work();
    };
    const turn = before === FREE ? begin() : before.then(begin);
    const leave = () => {
      if (!--line.length) lines.delete(key);
      line.open();
    };
    turn.then(leave, leave);
    return turn;
  };
  const pause = async <T>(key: string, wait: Promise<T>): Promise<T> => {
    const line = lines.get(key)!;
    line.open();
    try {
      return await wait;
    } finally {
      const { before, open } = stand(line);
      await before;
      line.open = open;
    }
  };
  return { run, pause, size: () => lines.size };
}
