// Recovery of runs after a crash: takes over runs whose lease expired, closes logs without an end, and removes expired
// runs and deleted sessions.

import type { Clock } from '../../clock.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import type { LogStore } from '../../store/log-store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { Responder, TurnSecrets } from '../responder.ts';
import type { Transcript } from '../session/message.ts';
import type { Sessions } from '../session/session.ts';
import { logOf } from './frames.ts';
import type { Run, Runs } from './run.ts';

export interface RecoveryOptions {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly transcript: Transcript;
  readonly logs: LogStore;
  readonly responder: Responder;
  readonly clock: Clock;
  /** Drives a run that was claimed; does not wait for its end. */
  readonly drive: (run: Run) => void;
  /** How many more runs this process may take. */
  readonly room: () => number;
  readonly onProblem: (error: unknown) => void;
}

export interface Recovery {
  /** Claims the run, unless another process holds it, and continues it. */
  recover(run: string): Promise<void>;
  /** Does what is due, up to `limit` of each sort; how much it did. @default SHARED_LIMITS.sweepBatch */
  sweep(limit?: number): Promise<number>;
  /** Removes what a deleted session has left. Its runs must have been aborted. */
  clear(session: string): Promise<void>;
}

export function recovery(options: RecoveryOptions): Recovery {
  const { runs, sessions, transcript, logs, responder, clock, drive, room, onProblem } = options;

  async function recover(id: string): Promise<void> {
    const claimed = await runs.claim(id);
    if (typeof claimed === 'object') drive(claimed);
    // In line behind another: its turn has not come, or its own process waits for it.
    else if (claimed === 'behind') await runs.postpone(id);
    else if (claimed === 'gone') await remove(id);
  }

  /** Nothing is left to do with it: its log is not kept any longer. */
  async function remove(id: string): Promise<void> {
    await logs.remove(logOf(id));
    await runs.remove(id);
  }

  async function clear(session: string): Promise<void> {
    await transcript.clear(session);
    await responder.forget?.(session);
    const isOpen = (await runs.open(session)).length > 0;
    for (const id of isOpen ? [] : await runs.ofSession(session, SHARED_LIMITS.sweepBatch)) await remove(id);
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
    async sweep(limit = SHARED_LIMITS.sweepBatch) {
      const places = Math.min(limit, room());
      const taken = places > 0 ? await each(await runs.due(places), recover) : 0;
      const cleared = await each(await sessions.tombstones(limit), clearTombstone);
      return taken + cleared + (await logs.sweep(clock.now(), limit));
    },
  };
}

export interface RunQueue {
  /** Waits in the background until the run can be claimed, by this process or another. */
  join(run: string, secrets: TurnSecrets): void;
  /** Looks now; false when this run does not wait here. */
  call(run: string): boolean;
  callAll(): void;
  /** What came with the request of a run that waits here. */
  secretsOf(run: string): TurnSecrets | undefined;
  close(): void;
}

export interface RunQueueOptions {
  readonly runs: Runs;
  readonly clock: Clock;
  readonly drive: (run: Run, secrets: TurnSecrets) => void;
  readonly onProblem: (error: unknown) => void;
}

interface Place {
  readonly secrets: TurnSecrets;
  wake: () => void;
}

export function runQueue({ runs, clock, drive, onProblem }: RunQueueOptions): RunQueue {
  const places = new Map<string, Place>();
  const closed = new AbortController();

  async function wait(run: string, place: Place): Promise<void> {
    while (places.get(run) === place && !closed.signal.aborted) {
      const over = new AbortController();
      place.wake = () => over.abort('called');
      try {
        const claimed = await runs.claim(run);
        if (claimed !== 'behind') places.delete(run);
        if (typeof claimed === 'object') return drive(claimed, place.secrets);
        if (claimed !== 'behind') return;
      } catch (error) {
        onProblem(error);
      }
      await clock.wait(AGENT_LIMITS.runLookMs, over.signal);
    }
  }

  return {
    join(run, secrets) {
      const place = { secrets, wake: () => {} };
      places.set(run, place);
      void wait(run, place);
    },
    call(run) {
      places.get(run)?.wake();
      return places.has(run);
    },
    callAll() {
      for (const place of places.values()) place.wake();
    },
    secretsOf: (run) => places.get(run)?.secrets,
    close() {
      closed.abort('closed');
      for (const place of places.values()) place.wake();
      places.clear();
    },
  };
}
