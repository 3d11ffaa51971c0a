// A bounded waiting line in front of slow work: so many at a time, so many waiting, the rest refused at once.

import { TwinlineError } from '../errors.ts';

/** Runs `work` as soon as a place is free; rejects with ERR_BUSY when too many wait already. */
export type Queue = <T>(work: () => Promise<T>) => Promise<T>;

export function boundedQueue({ workers, waiting }: { workers: number; waiting: number }): Queue {
  let free = workers;
  const line: (() => void)[] = [];
  const leave = () => {
    const next = line.shift();
    // The place is handed over, not freed: a newcomer must not slip in before the one who waited.
    if (next) next();
    else free++;
  };
  return async (work) => {
    if (free > 0) free--;
    else if (line.length < waiting) await new Promise<void>((go) => line.push(go));
    else
      throw new TwinlineError(
        'ERR_BUSY',
        `${workers} PIN checks are running and ${waiting} more wait; this one was refused. Try again in a moment.`,
      );
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
