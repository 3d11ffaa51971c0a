// Runs that this process claims: those that it queued behind another run, and those whose process has died. Removes what has
// expired: logs, ended runs, deleted sessions.

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

/** The queue of runs that this process has accepted while another run of their session was open. */
export function runQueue({ runs, clock, drive, onProblem }: QueueOptions) {
  const queued = new Map<string, QueuedRun>();
  const closed = new AbortController();

  async function claimInTurn(run: string, entry: QueuedRun): Promise<void> {
    while (queued.get(run) === entry && !closed.signal.aborted) {
      const over = new AbortController();
      entry.wake = () => over.abort('woken');
      try {
        const claimed = await runs.claim(run);
        if (claimed !== 'behind') queued.delete(run);
        if (typeof claimed === 'object') return drive(claimed, entry.secrets);
        if (claimed !== 'behind') return;
      } catch (error) {
        onProblem(error);
      }
      await clock.wait(AGENT_LIMITS.runLookMs, over.signal);
    }
  }

  const wakeAll = () => {
    for (const entry of queued.values()) entry.wake();
  };
  return {
    /** Waits in the background until the run can be claimed, by this process or another. */
    add(run: string, secrets: TurnSecrets): void {
      const entry = { secrets, wake: () => {} };
      queued.set(run, entry);
      void claimInTurn(run, entry);
    },
    /** Tries to claim the run now; false when it is not queued here. */
    wake(run: string): boolean {
      queued.get(run)?.wake();
      return queued.has(run);
    },
    wakeAll,
    /** What came with the request of a run that is queued here. */
    secrets: (run: string): TurnSecrets | undefined => queued.get(run)?.secrets,
    close(): void {
      closed.abort('closed');
      wakeAll();
      queued.clear();
    },
  };
}

export interface RecoveryOptions
  extends Pick<RunnerOptions, 'runs' | 'sessions' | 'transcript' | 'logs' | 'responder' | 'clock' | 'onProblem'> {
  /** Drives a run that was claimed; does not wait for its end. */
  readonly drive: (run: Run) => void;
  /** How many more runs this process may take. */
  readonly capacity: () => number;
}

export function recovery(options: RecoveryOptions) {
  const { runs, sessions, transcript, logs, responder, clock, drive, capacity, onProblem } = options;

  /** Claims the run, unless another process holds it, and continues it. */
  async function recover(id: string): Promise<void> {
    const claimed = await runs.claim(id);
    if (typeof claimed === 'object') drive(claimed);
    // Queued behind another run: its turn has not come, or its own process waits for it.
    else if (claimed === 'behind') await runs.postpone(id);
    else if (claimed === 'gone') await remove(id);
  }

  async function remove(id: string): Promise<void> {
    await logs.remove(logName(id));
    await runs.remove(id);
  }

  /** Removes what a deleted session has left. Its runs must have been aborted. */
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
    /** Does what is due, up to `limit` of each kind; how much it did. @default COMMON_LIMITS.sweepBatch */
    async sweep(limit: number = COMMON_LIMITS.sweepBatch): Promise<number> {
      const places = Math.min(limit, capacity());
      const taken = places > 0 ? await each(await runs.due(places), recover) : 0;
      const cleared = await each(await sessions.tombstones(limit), clearTombstone);
      return taken + cleared + (await logs.sweep(settledTime(clock), limit));
    },
  };
}
