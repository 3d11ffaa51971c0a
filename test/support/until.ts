// Waits for what must happen. It has no deadline of its own: the runner ends a test in which nothing goes on, and says what it waited for.

import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 5;
const LAST_PAUSE_MS = 250;

const waits = new Set<{ readonly what: string }>();

/** Resolves with the first value of `look` that is neither false, undefined nor null. `what` names it for the report of a test that hangs. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<Exclude<T, false | undefined | null>> {
  const done = waitingFor(what);
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 1.3)) {
      const value = await look();
      if (value !== false && value !== undefined && value !== null)
        return value as Exclude<T, false | undefined | null>;
      await pause(pauseMs);
    }
  } finally {
    done();
  }
}

/** What is waited for now, to end the report of a test that hangs; '' for nothing. */
export function describeWaits(): string {
  return waits.size ? `; it waited for: ${[...waits].map(({ what }) => what).join(', ')}` : '';
}

/** Notes what a test waits for, until the function that it returns is called. */
export function waitingFor(what: string): () => void {
  const wait = { what };
  waits.add(wait);
  return () => waits.delete(wait);
}
