// What is done to the instances and their stores while callers walk.

import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../simulation/random.ts';
import type { MongoServer } from '../support/mongo-server.ts';
import type { Excuse } from './caller.ts';
import type { Fleet } from './fleet.ts';
import { empty, failOver, type Place, rejoin, type STORES } from './stores.ts';
import { BREACHES, type Breach, type Tally } from './tally.ts';

/** What faults are done to. */
export interface World {
  readonly fleet: Fleet;
  readonly place: Place;
  readonly mongo: MongoServer;
  readonly random: Random;
  readonly tally: Tally;
  /** Resolves when callers have taken so many turns from now on, or all of them. */
  turnsLater(count: number): Promise<void>;
  /** All turns that were asked for are taken. */
  isOver(): boolean;
}

export interface Scenario {
  /** A row of the table. */
  readonly name: string;
  readonly store: keyof typeof STORES;
  /** Operators and voters work beside the callers, which costs the stores more than they do. */
  readonly hasOfficials?: true;
  /** Through a load balancer that asks for readiness, instead of to the instances themselves. */
  readonly isBalanced?: true;
  /** What may end a dialogue early here. */
  readonly allows: readonly (Excuse | Breach | 'retries')[];
  /** Turns before the first round of faults and after each. */
  readonly everyTurns: number;
  /** One round of faults; rounds follow each other until all turns are taken. */
  readonly fault?: (world: World) => Promise<void>;
}

const DOWN_MS = 300;

/**
 * An outage of Redis is heard as END Service temporarily unavailable, and the gateway asks again. When Redis stores that a
 * call is about to be made and the word of it is lost, nobody makes the call; one that holds a PIN, which is not stored,
 * is told as trouble then.
 */
const OUTAGE = ['retries', 'troubles'] as const;

export const SCENARIOS: { readonly [id: string]: Scenario } = {
  calm: { name: 'no faults', store: 'one', everyTurns: 100, allows: [] },
  instances: {
    name: 'instances killed with kill -9 and started again',
    store: 'one',
    hasOfficials: true,
    everyTurns: 60,
    // A call that holds a PIN is not made a second time by another process: its input is gone with the first.
    allows: ['retries', 'troubles'],
    fault: async ({ fleet, random, tally }) => {
      const at = random.below(fleet.size);
      await fleet.kill(at);
      tally.faults++;
      await pause(random.below(DOWN_MS));
      await fleet.start(at);
    },
  },
  cluster: {
    name: 'Redis Cluster, 3 + 3: a master killed',
    store: 'cluster',
    everyTurns: 150,
    allows: OUTAGE,
    fault: masterDies,
  },
  sentinel: {
    name: 'Redis with 3 Sentinels: the master killed',
    store: 'sentinel',
    everyTurns: 150,
    allows: OUTAGE,
    fault: masterDies,
  },
  always: {
    name: 'Redis, appendfsync always: killed',
    store: 'always',
    hasOfficials: true,
    everyTurns: 150,
    allows: OUTAGE,
    fault: redisDies,
  },
  everysec: {
    name: 'Redis, appendfsync everysec: killed',
    store: 'everysec',
    everyTurns: 150,
    // What Redis had not written when it died.
    allows: [...OUTAGE, 'restarts', 'lost', 'mismatched'],
    fault: redisDies,
  },
  rolling: {
    name: 'instances replaced one after another (SIGTERM), behind a load balancer',
    store: 'one',
    everyTurns: 60,
    isBalanced: true,
    allows: [],
    fault: async ({ fleet, tally }) => {
      for (let at = 0; at < fleet.size; at++) {
        const code = await fleet.end(at);
        if (code !== 0) throw new Error(`the instance ended with ${code}:\n${fleet.printed()}`);
        tally.faults++;
        await fleet.start(at);
      }
    },
  },
  documents: {
    name: 'MongoDB killed and started again',
    store: 'one',
    everyTurns: 150,
    // PINs are checked against the documents.
    allows: ['troubles'],
    fault: async ({ mongo, tally }) => {
      await mongo.restart?.();
      tally.faults++;
    },
  },
  emptied: {
    name: 'Redis emptied',
    store: 'one',
    everyTurns: 180,
    // Dials in progress are gone.
    allows: ['restarts'],
    fault: async ({ place, tally }) => {
      await empty(place);
      tally.faults++;
    },
  },
};

/** What was broken and may not be in this scenario. */
export function breachesOf({ allows }: Scenario, tally: Tally): number {
  const kept = [...BREACHES, 'retries'] as const;
  return kept.filter((name) => !allows.includes(name)).reduce((sum, name) => sum + tally[name], 0);
}

export const roundOf = async (scenario: Scenario, world: World): Promise<void> => {
  await world.turnsLater(scenario.everyTurns);
  await scenario.fault?.(world);
};

async function masterDies({ place, random, tally, isOver }: World): Promise<void> {
  const dead = await failOver(place, random);
  tally.faults++;
  if (!isOver()) await rejoin(place, dead);
}

async function redisDies({ place, tally }: World): Promise<void> {
  await place.nodes[0]!.kill();
  tally.faults++;
  await pause(DOWN_MS);
  await place.nodes[0]!.restart();
}
