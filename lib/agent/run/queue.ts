// The queue of runs that this process accepted while another run of their session was open: each starts when it can.

import type { Clock } from '../../clock.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { TurnSecrets } from '../responder.ts';
import type { Run, Runs } from './run.ts';

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
