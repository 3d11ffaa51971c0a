// Uploads that drip: whoever sends less than a least rate, or takes longer than a longest time, is told so and let go.

import { refuse } from '../../lib/domain/problems.ts';
import { SERVER_LIMITS } from '../config/limits.ts';

/** Milliseconds that only go forward. */
export type Stopwatch = () => number;

/**
 * The bytes as they come. Throws `too-slow` when its sender gave less than SERVER_LIMITS.bulkLeastBytes in SERVER_LIMITS.bulkRateMs
 * of waiting for it (our own work does not count), and after SERVER_LIMITS.bulkMs in all.
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
    if (came - begun > SERVER_LIMITS.bulkMs) throw refuse('too-slow', TOO_LONG);
    if (waited >= SERVER_LIMITS.bulkRateMs) {
      if (received < SERVER_LIMITS.bulkLeastBytes) throw refuse('too-slow', TOO_SLOW);
      [waited, received] = [0, 0];
    }
    yield chunk;
    asked = now();
  }
}

const TOO_SLOW = `An import sends at least ${SERVER_LIMITS.bulkLeastBytes} bytes in ${SERVER_LIMITS.bulkRateMs / 1_000} seconds. Send the rest in another one.`;
const TOO_LONG = `An import takes at most ${SERVER_LIMITS.bulkMs / 60_000} minutes. Send the rest in another one.`;
