// The lease of a run that this process drives: renewed until it is released, and watched for results and aborts that others write.

import { TwinlineError } from '../../errors.ts';
import { retryUntilAborted } from '../../retry.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { RunnerOptions } from '../options.ts';
import type { Run } from './run.ts';

/** Why a responder is to stop. */
export type StopReason = 'aborted' | 'timeout' | 'closing' | 'lost';

export type HeldRun = ReturnType<typeof holdRun>;

/** Holds a run that this process has claimed, and renews its lease. */
export function holdRun(first: Run, { runs, clock, onProblem }: Pick<RunnerOptions, 'runs' | 'clock' | 'onProblem'>) {
  const stop = new AbortController();
  const lost = new AbortController();
  const released = new AbortController();
  const end = clock.monotonic() + AGENT_LIMITS.runMs;
  // The stored lease is by the wall, which may jump; how long it is ours is measured here.
  let heldUntil = clock.monotonic() + AGENT_LIMITS.runLeaseMs;
  let run = first;
  let changed = new AbortController();

  const notify = () => {
    const before = changed;
    changed = new AbortController();
    before.abort('changed');
  };
  const halt = (reason: StopReason) => {
    if (reason === 'lost') lost.abort('lost');
    stop.abort(reason);
    notify();
  };

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
        const asked = clock.monotonic();
        see(await runs.renew(run));
        heldUntil = asked + AGENT_LIMITS.runLeaseMs;
      } catch (error) {
        onProblem(error);
        // Without the store it is unknown whether the lease is still ours; it counts as lost once it has expired.
        if (clock.monotonic() >= heldUntil) halt('lost');
      }
    }
  }

  if (first.context.abortRequested) halt('aborted');
  void renew();

  return {
    /** As it was last read or written. */
    get run() {
      return run;
    },
    /** Aborts with a {@link StopReason}. */
    get stop(): AbortSignal {
      return stop.signal;
    },
    /** Aborts when another process has the run, or may have it: nothing may be written any more. */
    get lost(): AbortSignal {
      return lost.signal;
    },
    /** Takes the run as a write has returned it; undefined: it is lost. */
    see,
    /** Stops the responder; the run itself is still held. */
    halt,
    /** Reads the document again: another process has changed it. */
    reload: () => void runs.get(first.id).then(see, onProblem),
    /** The result of a call, once there is one; after `ms` milliseconds the call fails. Undefined when the run stops. */
    async result(call: string, ms: number) {
      const find = () => run.context.calls.find(({ id }) => id === call)?.result;
      const until = clock.monotonic() + ms;
      while (!find() && !stop.signal.aborted && clock.monotonic() < until)
        await clock.wait(until - clock.monotonic(), changed.signal);
      if (find() || stop.signal.aborted) return find();
      // The first write wins: the answer may have been stored at the same moment.
      const timedOut = await runs.answer(first.id, call, { ok: false, error: 'timeout', timedOut: true });
      see(timedOut ?? (await runs.get(first.id)));
      return find();
    },
    /** Retries what a store refuses for the moment, as long as the run is held. */
    retry: <T>(work: () => Promise<T>): Promise<T> => retryUntilAborted({ clock, signal: lost.signal }, work),
    /** Ends the renewals. */
    release: () => released.abort('released'),
  };
}

export function lostRunError(run: string): TwinlineError {
  return new TwinlineError(
    'ERR_CONFLICT',
    `Run ${run} is no longer held by this process. Another one goes on with it.`,
  );
}
