// The loop that fires timers nobody waits for, and throws away sessions that are over.

import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from '../lib/engine/engine.ts';
import { wakeSession } from '../lib/engine/turn.ts';
import { LIMITS } from '../lib/limits.ts';

export interface Sweeper {
  /** Resolves when the round that is running has ended, or after a second; no other begins. */
  stop(): Promise<void>;
}

const PAUSE_MS = 1_000;
const AT_ONCE = 16;

/** Sweeps every second, give or take a fifth so that instances do not march in step. Rounds never overlap. */
export function startSweeper(engine: Engine, onProblem: (error: unknown) => void): Sweeper {
  let stopped = false;
  let round: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const plan = (ms: number) => {
    timer = setTimeout(() => {
      round = sweepOnce(engine, onProblem).then((more) => {
        if (!stopped) plan(more ? 0 : PAUSE_MS * (0.9 + Math.random() / 5));
      });
    }, ms).unref();
  };
  plan(PAUSE_MS * Math.random());
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      // A store that hangs must not hold up the end.
      const ended = new AbortController();
      await Promise.race([round, pause(PAUSE_MS, undefined, { signal: ended.signal })]);
      ended.abort();
    },
  };
}

/** One round: true when there is more to do at once. Never rejects. */
async function sweepOnce(engine: Engine, onProblem: (error: unknown) => void): Promise<boolean> {
  const { store, clock } = engine;
  try {
    const due = await store.due(clock.now(), LIMITS.sweepBatch);
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const wakes = due.slice(at, at + AT_ONCE).map((key) => wakeSession(engine, key));
      for (const result of await Promise.allSettled(wakes)) if (result.status === 'rejected') onProblem(result.reason);
    }
    return (await store.sweep(clock.now(), LIMITS.sweepBatch)) === LIMITS.sweepBatch;
  } catch (error) {
    onProblem(error);
    return false;
  }
}
