// What a seed decides about its world: how many of everything, and which faults happen how often.

import { randomFrom } from './random.ts';

/** Probabilities: of a step (crash, pause, jump), of a store operation, of a message, of a service call. */
export type Faults = { readonly [name in keyof typeof WORST]: number };

export type Options = Faults & {
  readonly sessions: number;
  /** Inputs of each caller after the dial. */
  readonly turns: number;
  /** Processes on the one store. */
  readonly instances: number;
  /** 1: texts are only what was typed last, and messages are numbered; 0: texts hold the whole history. */
  readonly numbered: number;
};

const WORST = {
  /** A process stops where it stands; a new one takes its place. */
  crash: 0.025,
  /** A process stands still for a while, with whatever it has loaded, and then goes on. */
  pause: 0.02,
  /** The clock of one process jumps, by up to half a minute. */
  jump: 0.02,
  /** The store refuses and does nothing. */
  refuse: 0.08,
  /** The store does it, and the answer is an error. */
  lostAck: 0.1,
  slowStore: 0.06,
  lostRequest: 0.1,
  lostReply: 0.15,
  /** The same request goes to several processes at once. */
  duplicate: 0.5,
  /** A message overtakes others: it comes up to ten seconds late. */
  delay: 0.15,
  slowService: 0.4,
  /** The service does it, and the answer is an error. */
  lostService: 0.2,
} as const;

export const CALM: Faults = Object.fromEntries(Object.keys(WORST).map((name) => [name, 0])) as Faults;

const OFTEN = 0.6;

/** Every seed has some faults and not others: a fault that always happens hides those that come after it. */
export function expand(seed: number, changes: Partial<Options> = {}): Options {
  const random = randomFrom(seed ^ 0x5eed);
  const faults = Object.entries(WORST).map(([name, worst]) => {
    const rate = random.chance(OFTEN) ? Math.ceil(random.next() * worst * 1000) / 1000 : 0;
    return [name, rate] as const;
  });
  return {
    sessions: random.chance(0.25) ? 2 : 1,
    turns: 3 + random.below(3),
    instances: 2 + random.below(2),
    numbered: random.below(2),
    ...(Object.fromEntries(faults) as Faults),
    ...changes,
  };
}

const NAMES = Object.keys(expand(1));

/** Reads `name=value` pairs joined by commas; throws on unknown names and values. */
export function readChanges(text: string): Partial<Options> {
  const pairs = text.split(',').filter(Boolean);
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      if (!NAMES.includes(name) || value === '' || !(Number(value) >= 0))
        throw new Error(`Cannot set "${pair}"; names are ${NAMES.join(', ')}, values are numbers from 0.`);
      return [name, Number(value)];
    }),
  );
}
