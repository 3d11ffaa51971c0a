// Uploads that drip: whoever sends less than a least rate, or takes longer than a longest time, is told so and let go.

import { refuse } from '../../lib/domain/problems.ts';
import { LIMITS } from '../../lib/limits.ts';

/** Milliseconds that only go forward. */
export type Stopwatch = () => number;

/**
 * The bytes as they come. Throws `too-slow` when its sender gave less than LIMITS.bulkLeastBytes in LIMITS.bulkRateMs
 * of waiting for it (our own work does not count), and after LIMITS.bulkMs in all.
 */
export async function* readSteadily(
  bytes: AsyncIterable<Uint8Array>,
  now: Stopwatch = () => performance.now(),
): AsyncGenerator<Uint8Array> {
  const begun = now();
  let [waited, received] = [0, 0];
  let asked = now();
  for await (const chunk of bytes) {
    const came = now();
    waited += came - asked;
    received += chunk.length;
    if (came - begun > LIMITS.bulkMs) throw refuse('too-slow', TOO_LONG);
    if (waited >= LIMITS.bulkRateMs) {
      if (received < LIMITS.bulkLeastBytes) throw refuse('too-slow', TOO_SLOW);
      [waited, received] = [0, 0];
    }
    yield chunk;
    asked = now();
  }
}

const TOO_SLOW = `An import sends at least ${LIMITS.bulkLeastBytes} bytes in ${LIMITS.bulkRateMs / 1_000} seconds. Send the rest in another one.`;
const TOO_LONG = `An import takes at most ${LIMITS.bulkMs / 60_000} minutes. Send the rest in another one.`;
