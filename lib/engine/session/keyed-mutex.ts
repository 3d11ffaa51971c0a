// A keyed mutex: work of one key runs one after the other, in the order of the calls; different keys run concurrently.

import { TwinlineError } from '../../errors.ts';

export interface KeyedMutex {
  /** Runs `work` once everything that was called before for this key is done. Rejects with ERR_BUSY when too many wait. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The number of keys with running work. */
  size(): number;
}

const NOBODY = Promise.resolve();

/** At most `waitingMax` wait for one key; `what` names them to who is turned away, such as `requests of one session`. */
export function keyedMutex(waitingMax: number, what: string): KeyedMutex {
  const lines = new Map<string, { tail: Promise<unknown>; length: number }>();
  // Every turn of the engine passes here: one promise, and no async frame around the work.
  const run = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { tail: NOBODY, length: 0 };
    if (line.length >= waitingMax)
      return Promise.reject(
        new TwinlineError('ERR_BUSY', `${waitingMax} ${what} are waiting already; try again later.`),
      );
    if (!line.length++) lines.set(key, line);
    const turn = line.tail === NOBODY ? work() : line.tail.then(work);
    const leave = () => {
      if (!--line.length) lines.delete(key);
    };
    line.tail = turn.then(leave, leave);
    return turn;
  };
  return { run, size: () => lines.size };
}
