// Lets others go on while much is computed: a pause after each few milliseconds.

import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 10;

/** A function that waits for the next turn of the event loop, but only when 10 ms have passed since it last did. */
export function timeSlice(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < SLICE_MS) return;
    await setImmediate();
    begun = performance.now();
  };
}
