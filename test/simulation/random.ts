// Numbers that a seed decides, and nothing else.

import { numbersFrom } from '../support/random.ts';

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number in [0, end). */
  below(end: number): number;
  chance(probability: number): boolean;
}

/** mulberry32 behind one round of mixing, so that neighbouring seeds have nothing in common. */
export function randomFrom(seed: number): Random {
  const state = Math.imul(seed ^ (seed >>> 16) ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(seed, 0xc2b2ae35);
  const next = numbersFrom(state);
  const below = (end: number) => Math.floor(next() * end);
  // Without a draw where the answer is known: a calm world costs nothing.
  const chance = (probability: number) => probability > 0 && next() < probability;
  return { next, below, chance };
}
