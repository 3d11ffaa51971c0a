// Work in line: for one key one after the other, in the order of the calls; for different keys at the same time.

import { TwinlineError } from '../errors.ts';

export interface Line {
  /** Runs `work` once everything that was called before for this key is done. Throws ERR_BUSY when too many wait. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Keys that somebody works on. */
  size(): number;
}

/** At most `waitingMax` wait for one key. */
export function workLine(waitingMax: number): Line {
  const lines = new Map<string, { tail: Promise<unknown>; length: number }>();
  return {
    run: async (key, work) => {
      const line = lines.get(key) ?? { tail: Promise.resolve(), length: 0 };
      if (line.length >= waitingMax)
        throw new TwinlineError(
          'ERR_BUSY',
          `${waitingMax} requests for one thing are waiting already; try again later.`,
        );
      lines.set(key, line);
      const turn = line.length ? line.tail.then(work) : work();
      line.tail = turn.catch(() => {});
      line.length++;
      try {
        return await turn;
      } finally {
        line.length--;
        if (!line.length) lines.delete(key);
      }
    },
    size: () => lines.size,
  };
}
