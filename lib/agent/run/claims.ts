// Claims runs: those queued in this process behind another run, and those whose process has died. Also deletes expired logs,
// ended runs and deleted sessions.

import { settledTime } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { RunnerOptions } from '../options.ts';
import type { TurnSecrets } from '../responder.ts';
import { logName } from './frames.ts';
import type { Run } from './run.ts';

export interface QueueOptions extends Pick<RunnerOptions, 'runs' | 'clock' | 'onProblem'> {
  readonly drive: (run: Run, secrets: TurnSecrets) => void;
}

interface QueuedRun {
  readonly secrets: TurnSecrets;
  wake: () => void;
}

/** Runs accepted by this process while another run of their session was open. */
export function runQueue({ runs, clock, drive, onProblem }: QueueOptions) {
  const entries = new Map<string, QueuedRun>();
  const closed = new AbortController();

  async function claimInTurn(run: string, entry: QueuedRun): Promise<void> {
    while (entries.get(run) === entry && !closed.signal.aborted) {
      const over = new AbortController();
      entry.wake = () => over.abort('woken');
      try {
        const claim = await runs.claim(run);
        if (claim !== 'behind') entries.delete(run);
        if (typeof claim === 'object') return drive(claim, entry.secrets);
        if (claim !== 'behind') return;
      } catch (error) {
        onProblem(error);
      }
      await clock.wait(AGENT_LIMITS.runLookMs, over.signal);
    }
  }

  const wakeAll = () => {
    for (const entry of entries.values()) entry.wake();
  };
  return {
    /** Waits in the background until this or another process can claim the run. */
    add(run: string, secrets: TurnSecrets): void {
      const entry = { secrets, wake: () => {} };
      entries.set(run, entry);
      void claimInTurn(run, entry);
    },
    /** Tries to claim the run now; false when it is not queued here. */
    wake(run: string): boolean {
      entries.get(run)?.wake();
      return entries.has(run);
    },
    wakeAll,
    /** The secrets that came with a run queued here. */
    secrets: (run: string): TurnSecrets | undefined => entries.get(run)?.secrets,
    close(): void {
      closed.abort('closed');
      wakeAll();
      entries.clear();
    },
  };
}

export interface RecoveryOptions
  extends Pick<RunnerOptions, 'runs' | 'sessions' | 'transcript' | 'logs' | 'responder' | 'clock' | 'onProblem'> {
  /** Drives a claimed run without waiting for its end. */
  readonly drive: (run: Run) => void;
  /** How many more runs this process may drive. */
  readonly capacity: () => number;
}

export function recovery(options: RecoveryOptions) {
  const { runs, sessions, transcript, logs, responder, clock, drive, capacity, onProblem } = options;

  /** Claims and continues the run, unless another process holds it. */
  async function recover(id: string): Promise<void> {
    const claim = await runs.claim(id);
    if (typeof claim === 'object') drive(claim);
    // Queued behind another run: it is not its turn, or its own process is waiting for it.
    else if (claim === 'behind') await runs.postpone(id);
    else if (claim === 'gone') await remove(id);
  }

  async function remove(id: string): Promise<void> {
    await logs.remove(logName(id));
    await runs.remove(id);
  }

  /** Removes the leftovers of a deleted session, whose runs must have been aborted. */
  async function clear(session: string): Promise<void> {
    await transcript.clear(session);
    await responder.forget?.(session);
    const isOpen = (await runs.open(session)).length > 0;
    for (const id of isOpen ? [] : await runs.ofSession(session, COMMON_LIMITS.sweepBatch)) await remove(id);
  }

  async function clearTombstone(session: string): Promise<void> {
    if ((await runs.open(session)).length) return;
    await clear(session);
    if ((await runs.ofSession(session, 1)).length === 0) await sessions.forget(session);
  }

  const each = async (ids: readonly string[], work: (id: string) => Promise<void>) => {
    await Promise.all(ids.map((id) => work(id).catch(onProblem)));
    return ids.length;
  };

  return {
    recover,
    clear,
    /** Does all due work, up to `limit` of each kind; returns how much. @default COMMON_LIMITS.sweepBatch */
    async sweep(limit: number = COMMON_LIMITS.sweepBatch): Promise<number> {
      const places = Math.min(limit, capacity());
      const count = places > 0 ? await each(await runs.due(places), recover) : 0;
      const cleared = await each(await sessions.tombstones(limit), clearTombstone);
      return count + cleared + (await logs.sweep(settledTime(clock), limit));
    },
  };
}
