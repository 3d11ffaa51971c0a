// The background loop: does due work and deletes expired data.

import { type Clock, settledTime } from '../../lib/clock.ts';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import type { Engine } from '../../lib/engine/engine.ts';
import type { StoredMemories } from '../../lib/engine/memory/documents.ts';
import { wakeSession } from '../../lib/engine/session/turn.ts';

export interface Sweeper {
  /** Starts no more rounds; resolves when the current one has ended, or after a second. */
  stop(): Promise<void>;
}

const PAUSE_MS = 1_000;
const AT_ONCE = 16;

/** One round of background work; true when there is more to do at once. Reports problems with single items. */
export type Round = (onProblem: (error: unknown) => void) => Promise<boolean>;

export interface SweeperOptions {
  readonly clock: Clock;
  readonly onProblem: (error: unknown) => void;
}

/** Works every second, with jitter so that instances do not run in step. Rounds never overlap. */
export function startSweeper(rounds: readonly Round[], { clock, onProblem }: SweeperOptions): Sweeper {
  const stopped = new AbortController();
  const { signal } = stopped;
  let running: Promise<unknown> = Promise.resolve();
  const work = async () => {
    for (let ms = PAUSE_MS * Math.random(); !signal.aborted; ) {
      await clock.wait(ms, signal);
      if (signal.aborted) return;
      const round = workOnce(rounds, onProblem);
      running = round;
      ms = (await round) ? 0 : PAUSE_MS * (0.9 + Math.random() / 5);
    }
  };
  void work();
  return {
    stop: async () => {
      stopped.abort();
      // A hanging store must not block shutdown.
      const ended = new AbortController();
      await Promise.race([running, clock.wait(PAUSE_MS, ended.signal)]);
      ended.abort();
    },
  };
}

// Never rejects; a failing round does not affect the others.
async function workOnce(rounds: readonly Round[], onProblem: (error: unknown) => void): Promise<boolean> {
  const results = await Promise.allSettled(rounds.map((round) => round(onProblem)));
  for (const result of results) if (result.status === 'rejected') onProblem(result.reason);
  return results.some((result) => result.status === 'fulfilled' && result.value);
}

/** Calls `warn` when the clock was set forward, with the milliseconds it is ahead of {@link settledTime}. */
export function watchClock(clock: Clock, warn: (aheadMs: number) => void): Round {
  let warned = 0;
  return async () => {
    const ahead = clock.now() - settledTime(clock);
    // Small differences are normal clock adjustments.
    if (ahead - warned >= 60_000) warn(ahead);
    warned = ahead;
    return false;
  };
}

/** Fires due timers of sessions without a waiting request, and deletes expired sessions. */
export function sweepSessions(engine: Engine): Round {
  const { store, clock } = engine;
  let first: string | undefined;
  return async (onProblem) => {
    const due = await store.due(clock.now(), COMMON_LIMITS.sweepBatch);
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const wakes = due.slice(at, at + AT_ONCE).map((key) => wakeSession(engine, key));
      for (const result of await Promise.allSettled(wakes)) if (result.status === 'rejected') onProblem(result.reason);
    }
    const swept = await store.sweep(settledTime(clock), COMMON_LIMITS.sweepBatch);
    // If the earliest timer is the same again, no progress was made: wait for the next round.
    const more = due.length === COMMON_LIMITS.sweepBatch && due[0] !== first;
    first = due[0];
    return more || swept === COMMON_LIMITS.sweepBatch;
  };
}

/** Deletes what flows keep of callers once all of it has had its time. */
export function sweepMemories(memory: Pick<StoredMemories, 'sweep'>, clock: Clock): Round {
  const { sweepBatch } = COMMON_LIMITS;
  return async () => (await memory.sweep(settledTime(clock), sweepBatch)) === sweepBatch;
}
