// Trying again what a store refuses for the moment, for as long as somebody wants it.

import type { Clock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';

/** Gives what `work` gives; rejects with what may not be tried again, and with everything once the signal has aborted. */
export async function patiently<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  for (let pause = 50; ; pause = Math.min(pause * 2, 1_000)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TwinlineError && error.retry) || signal.aborted) throw error;
    }
    await clock.wait(pause, signal);
  }
}
