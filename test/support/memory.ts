// How much memory the live objects of this process hold, in a way that is right on every version of Node.

import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Collections in a row that must free less than this: then what is left is held. */
const QUIET_BYTES = 65_536;
const QUIET_TIMES = 3;
const TIMES_MAX = 40;

/**
 * Bytes in the heap and in buffers outside of it that something refers to. One collection does not tell: buffers are freed
 * by a thread of their own, and finalizers, which let go of more, run between collections.
 */
export async function heldBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let quiet = 0, times = 0; quiet < QUIET_TIMES && times < TIMES_MAX; times++) {
    collectGarbage();
    await pause(5);
    const { heapUsed, external } = process.memoryUsage();
    quiet = least - (heapUsed + external) < QUIET_BYTES ? quiet + 1 : 0;
    least = Math.min(least, heapUsed + external);
  }
  return least;
}
