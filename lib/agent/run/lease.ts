// The lease of a run that this process drives: renews it, and notices answers and stops that others write into its document.

import type { CallResult } from '../../../machines/agent-stream.ts';
import type { Clock } from '../../clock.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { Run, Runs } from './run.ts';

/** Why a responder is to stop. */
export type StopReason = 'aborted' | 'timeout' | 'closing' | 'lost';

export interface HeldRun {
  /** As it was when it was last seen. */
  readonly run: Run;
  /** Aborts with a {@link StopReason}. */
  readonly stop: AbortSignal;
  /** Another process has the run, or may have: nothing is to be written any more. */
  readonly lost: AbortSignal;
  /** Takes the run as a write of its own gave it back; undefined: it is lost. */
  see(run: Run | undefined): void;
  /** Somebody has changed the document: reads it again. */
  look(): void;
  /** Stops the responder; the run itself is still held. */
  halt(reason: StopReason): void;
  /** The result of a call, once there is one; after `ms` milliseconds it has failed. Undefined when the run stops. */
  result(call: string, ms: number): Promise<CallResult | undefined>;
  /** Renews no more. */
  letGo(): void;
}

export interface LeaseOptions {
  readonly runs: Runs;
  readonly clock: Clock;
  readonly onProblem: (error: unknown) => void;
}

export function holdRun(first: Run, { runs, clock, onProblem }: LeaseOptions): HeldRun {
  const stop = new AbortController();
  const lost = new AbortController();
  const released = new AbortController();
  const waiters = new Set<() => void>();
  const end = clock.now() + AGENT_LIMITS.runMs;
  let run = first;

  const rouse = () => {
    for (const wake of [...waiters]) wake();
  };
  const halt = (reason: StopReason) => {
    if (reason === 'lost') lost.abort('lost');
    stop.abort(reason);
    rouse();
  };

  function see(next: Run | undefined): void {
    if (released.signal.aborted) return;
    if (!next || next.context.fence !== first.context.fence) {
      halt('lost');
      return;
    }
    if (next.revision > run.revision) run = next;
    if (run.context.abortRequested) halt('aborted');
    rouse();
  }

  async function renew(): Promise<void> {
    while (!released.signal.aborted && !lost.signal.aborted) {
      await clock.wait(AGENT_LIMITS.runRenewMs, released.signal);
      if (released.signal.aborted) return;
      if (clock.now() >= end) halt('timeout');
      try {
        see(await runs.renew(run));
      } catch (error) {
        onProblem(error);
        // Without the store it is unknown whether the lease is still ours; it counts as lost once it has expired.
        if (clock.now() >= run.context.leaseUntil) halt('lost');
      }
    }
  }

  if (first.context.abortRequested) halt('aborted');
  void renew();

  return {
    get run() {
      return run;
    },
    stop: stop.signal,
    lost: lost.signal,
    see,
    halt,
    look: () => void runs.get(first.id).then(see, onProblem),
    async result(call, ms) {
      const found = () => run.context.calls.find(({ id }) => id === call)?.result;
      const until = clock.now() + ms;
      while (!found() && !stop.signal.aborted && clock.now() < until) await changed(until - clock.now());
      if (found() || stop.signal.aborted) return found();
      // The first write wins: the answer may have been stored at the same moment.
      see(
        (await runs.answer(first.id, call, { ok: false, error: 'timeout', timedOut: true })) ??
          (await runs.get(first.id)),
      );
      return found();
    },
    letGo: () => released.abort('released'),
  };

  async function changed(ms: number): Promise<void> {
    const over = new AbortController();
    const wake = () => over.abort('changed');
    waiters.add(wake);
    await clock.wait(ms, over.signal);
    waiters.delete(wake);
  }
}
