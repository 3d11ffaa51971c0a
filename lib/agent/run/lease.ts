// The lease of a run driven by this process: renewed until released, and watched for results and aborts from other processes.

import { TwinlineError } from '../../errors.ts';
import { retryUntilAborted } from '../../retry.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { RunnerOptions } from '../options.ts';
import type { Run } from './run.ts';

/** Why a responder must stop. */
export type StopReason = 'aborted' | 'timeout' | 'closing' | 'lost';

export type HeldRun = ReturnType<typeof holdRun>;

/** Holds a claimed run and renews its lease. */
export function holdRun(first: Run, { runs, clock, onProblem }: Pick<RunnerOptions, 'runs' | 'clock' | 'onProblem'>) {
  const { stop, lost, halt, notify, waitForChange } = runSignals(clock);
  const released = new AbortController();
  const end = clock.monotonic() + AGENT_LIMITS.runMs;
  // The stored lease uses the wall clock, which may jump; how long it is ours is measured with the monotonic clock.
  let heldUntil = clock.monotonic() + AGENT_LIMITS.runLeaseMs;
  let run = first;

  function see(next: Run | undefined): void {
    if (released.signal.aborted) return;
    if (!next || next.context.fence !== first.context.fence) {
      halt('lost');
      return;
    }
    if (next.revision > run.revision) run = next;
    if (run.context.abortRequested) halt('aborted');
    notify();
  }

  async function renew(): Promise<void> {
    while (!released.signal.aborted && !lost.signal.aborted) {
      await clock.wait(AGENT_LIMITS.runRenewMs, released.signal);
      if (released.signal.aborted) return;
      if (clock.monotonic() >= end) halt('timeout');
      try {
        const begun = clock.monotonic();
        see(await runs.renew(run));
        heldUntil = begun + AGENT_LIMITS.runLeaseMs;
      } catch (error) {
        onProblem(error);
        // While the store is down we cannot know whether the lease is still ours; once expired, treat it as lost.
        if (clock.monotonic() >= heldUntil) halt('lost');
      }
    }
  }

  if (first.context.abortRequested) halt('aborted');
  void renew();

  return {
    /** The run as last read or written. */
    get run() {
      return run;
    },
    /** Aborts with a {@link StopReason}. */
    get stop(): AbortSignal {
      return stop.signal;
    },
    /** Aborts when another process has, or may have, the run: nothing may be written any more. */
    get lost(): AbortSignal {
      return lost.signal;
    },
    /** Takes the run returned by a write; undefined means that it is lost. */
    see,
    /** Stops the responder but keeps holding the run. */
    halt,
    /** Rereads the document after a change by another process. */
    reload: () => void runs.get(first.id).then(see, onProblem),
    /** Waits for the result of a call; after `ms` milliseconds the call fails. Undefined when the run stops. */
    async result(call: string, ms: number) {
      const find = () => run.context.calls.find(({ id }) => id === call)?.result;
      const until = clock.monotonic() + ms;
      while (!find() && !stop.signal.aborted && clock.monotonic() < until)
        await waitForChange(until - clock.monotonic());
      if (find() || stop.signal.aborted) return find();
      // The first write wins: an answer may have been stored at the same moment.
      const timedOut = await runs.answer(first.id, call, { ok: false, error: 'timeout', timedOut: true });
      see(timedOut ?? (await runs.get(first.id)));
      return find();
    },
    /** Retries work that the store refuses for now, as long as the run is held. */
    retry: <T>(work: () => Promise<T>): Promise<T> => retryUntilAborted({ clock, signal: lost.signal }, work),
    /** Stops renewing the lease. */
    release: () => released.abort('released'),
  };
}

/** Why a run stops, and that something about it has changed. */
function runSignals(clock: RunnerOptions['clock']) {
  const stop = new AbortController();
  const lost = new AbortController();
  let changed = new AbortController();
  const notify = () => {
    const previous = changed;
    changed = new AbortController();
    previous.abort('changed');
  };
  return {
    stop,
    lost,
    notify,
    halt(reason: StopReason): void {
      if (reason === 'lost') lost.abort('lost');
      stop.abort(reason);
      notify();
    },
    /** Waits for the next change, so many milliseconds at most. */
    waitForChange: (ms: number) => clock.wait(ms, changed.signal),
  };
}

export function lostRunError(run: string): TwinlineError {
  return new TwinlineError('ERR_CONFLICT', `This process no longer holds run ${run}. Another process continues it.`);
}
