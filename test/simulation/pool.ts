// Many seeds in several processes: each takes the next stretch when it is done with one.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { builtFile } from '../support/build.ts';
import { killed } from '../support/process.ts';
import type { Options } from './options.ts';
import { addTo, newTally, type Tally } from './tally.ts';

export interface Stretch {
  readonly from: number;
  readonly count: number;
  /** The name of the store. */
  readonly store: string;
  readonly changes: Partial<Options>;
}

/** What became of a stretch of seeds. */
export interface Sum {
  readonly tally: Tally;
  /** Seeds with violations. */
  readonly failed: readonly number[];
  /** Of all traces, whatever the order of the seeds. */
  readonly hash: number;
}

export interface PoolOptions {
  readonly processes: number;
  readonly onProgress?: (done: Sum) => void;
}

const STRETCH = 250;

/** Simulates all seeds; `onProgress` hears of every stretch. */
export async function simulateInPool(whole: Stretch, { processes, onProgress }: PoolOptions): Promise<Sum> {
  // Built code takes two thirds of the time.
  const program = await builtFile('test/simulation/worker.ts');
  let from = whole.from;
  const end = whole.from + whole.count;
  const tally = newTally();
  const failed: number[] = [];
  let hash = 0;
  const work = async () => {
    const worker = fork(program, { execArgv: [] });
    try {
      while (from < end) {
        const stretch = { ...whole, from, count: Math.min(STRETCH, end - from) };
        from += stretch.count;
        const done = await ask(worker, stretch);
        addTo(tally, done.tally);
        failed.push(...done.failed);
        hash = (hash + done.hash) >>> 0;
        onProgress?.({ tally, failed, hash });
      }
    } finally {
      await killed(worker);
    }
  };
  const enough = Math.ceil(whole.count / STRETCH);
  await Promise.all(Array.from({ length: Math.min(processes, enough) }, work));
  return { tally, failed: failed.sort((a, b) => a - b), hash };
}

async function ask(worker: ChildProcess, stretch: Stretch): Promise<Sum> {
  const ended = new AbortController();
  const { signal } = ended;
  worker.send(stretch);
  const gone = once(worker, 'exit', { signal }).then(([code]) => {
    throw new Error(
      `A simulating process ended with ${code} within seeds ${stretch.from} to ${stretch.from + stretch.count}.`,
    );
  });
  gone.catch(() => {});
  try {
    const [done] = await Promise.race([once(worker, 'message', { signal }), gone]);
    return done as Sum;
  } finally {
    ended.abort();
  }
}
