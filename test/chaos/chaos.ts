// One scenario from its first turn to its tally: callers, faults, and what must be true in the end.

import { setTimeout as pause } from 'node:timers/promises';
import { randomFrom } from '../simulation/random.ts';
import { startBalancer } from '../support/balancer.ts';
import { newCrowd } from './crowd.ts';
import type { DialogueName } from './dialogues.ts';
import { createGateway } from './gateway.ts';
import type { Ground } from './ground.ts';
import { roundOf, type Scenario, type World } from './scenarios.ts';
import { votesOf } from './stores.ts';
import { newTally, type Tally } from './tally.ts';

export interface ChaosOptions {
  readonly scenario: Scenario;
  /** Whether callers have taken turns enough; each of them still ends its dialogue. */
  readonly isOver: (tally: Tally) => boolean;
  readonly seed: number;
  /** Callers at the same time. @default 24 */
  readonly callers?: number;
  /** Milliseconds that a caller takes to read a screen. @default 0 */
  readonly thinkMs?: number;
  readonly onProgress?: (tally: Tally) => void;
}

export interface Outcome {
  readonly tally: Tally;
  /** What was seen of each breach, the first ones. */
  readonly breaches: readonly string[];
  /** What the instances have logged last, and what Redis has. */
  readonly logged: readonly string[];
}

/** What callers do, one after the other: mostly what needs no PIN, which costs most of the time. */
const MIX: readonly DialogueName[] = [
  ...(['counting', 'reading', 'counting', 'buying', 'counting'] as const),
  ...(['reading', 'counting', 'reading', 'counting', 'reading'] as const),
];
const PROGRESS_MS = 500;
/** Milliseconds until the gateway gives up a copy: half as much again as instances give themselves. */
const TIMEOUT_MS = 12_000;

/** Lets the scenario happen on a ground of its store. */
export async function chaos(ground: Ground, options: ChaosOptions): Promise<Outcome> {
  const { scenario, seed, callers = 24 } = options;
  const { fleet, place, mongo } = ground;
  const random = randomFrom(seed);
  const tally = newTally();
  const balancer = scenario.isBalanced ? await startBalancer(fleet.urls) : undefined;
  const urls = () => (balancer ? [balancer.url] : fleet.urls());
  const gateway = createGateway({ urls, random, tally, timeoutMs: TIMEOUT_MS });
  const crowd = newCrowd(ground, { gateway, scenario, tally, mix: MIX, thinkMs: options.thinkMs ?? 0 });
  let unnoted: readonly string[] = [];
  const timer = setInterval(() => options.onProgress?.(tally), PROGRESS_MS);
  try {
    const isOver = () => options.isOver(tally);
    const world = { fleet, place, mongo, random, tally, isOver, turnsLater: turnsLater(tally, isOver) };
    let isQuiet = false;
    const faults = untilOver(scenario, world).finally(() => {
      isQuiet = true;
    });
    const calls = Array.from({ length: callers }, (_, at) => crowd.call(at, () => isOver() && isQuiet));
    const deeds = scenario.hasOfficials && ground.officials.work(() => isOver() && isQuiet, random);
    for (const one of await Promise.allSettled([faults, deeds, ...calls]))
      if (one.status === 'rejected') throw one.reason;
    // Whether all is there is asked when all who keep it are.
    await fleet.ready();
    await crowd.checkAccounts();
    unnoted = await ground.officials.check();
    tally.unnoted = unnoted.length;
  } finally {
    clearInterval(timer);
    gateway.close();
    await balancer?.close();
  }
  const said = fleet.printed().split('\n');
  const logged = [...said.filter((line) => line[0] === '{').slice(-LINES), ...votesOf(place).slice(-LINES)];
  return { tally, breaches: [...crowd.breaches, ...unnoted], logged };
}

async function untilOver(scenario: Scenario, world: World): Promise<void> {
  do await roundOf(scenario, world);
  while (!world.isOver());
}

const LOOK_MS = 10;
const LINES = 30;

const turnsLater = (tally: Tally, isOver: () => boolean) => async (count: number) => {
  for (const end = tally.turns + count; tally.turns < end && !isOver(); ) await pause(LOOK_MS);
};
