// One simulated process: an engine of its own whose store, clock and services answer only while it is alive.

import type { Clock } from '../../lib/clock.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import { type TurnResult, takeTurn, wakeSession } from '../../lib/engine/session/turn.ts';
import { type Keyring, parseKeyring } from '../../lib/keyring.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { type DialRules, readDial } from '../../lib/ussd/dial.ts';
import type { UssdRequest } from '../../lib/ussd/request.ts';
import { type Ledger, reachServices } from './ledger.ts';
import { conversation } from './machine.ts';
import { type Faulty, reachStore } from './store.ts';
import type { Owner, World } from './world.ts';

export interface Instance extends Owner {
  readonly name: string;
  /** How far its clock is wrong, in milliseconds. */
  skew: number;
  /** Called when it crashes. */
  readonly onCrash: (() => void)[];
  crash(): void;
  take(request: UssdRequest): Promise<TurnResult>;
  /** One round of the sweeper. */
  sweep(): Promise<void>;
}

export interface Shared extends Faulty {
  readonly store: SnapshotStore;
  readonly ledger: Ledger;
  /** Without seals a broken store may change what is inside of records. */
  readonly isSealed: boolean;
}

const DEADLINE_MS = 2_500;
/** Far beyond the end of every simulation, for what expires is not lost. */
const TTL_SECONDS = 864_000;
const SWEPT_AT_ONCE = 16;

export const KEYRING = remembered(parseKeyring('00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210'));
const RULES: DialRules = {
  flow: conversation.id,
  keys: [KEYRING.subkey('turn-key/v1')!],
  unknownSession: 'end',
  markSim: () => '',
};

export const keyOf = (session: string) => `ussd:simulated:${session}`;

export function startInstance(name: string, shared: Shared): Instance {
  const { world } = shared;
  const self: Instance = {
    name,
    isAlive: true,
    pausedUntil: 0,
    skew: 0,
    onCrash: [],
    crash: () => {
      self.isAlive = false;
      for (const tell of self.onCrash) tell();
    },
    take: (request) => {
      const { turnKey, decide } = readDial(request, RULES);
      const key = keyOf(request.sessionId);
      return takeTurn(engine, { key, decide, deadlineMs: DEADLINE_MS, ...(turnKey !== undefined && { turnKey }) });
    },
    sweep: async () => {
      const due = await engine.store.due(engine.clock.now(), SWEPT_AT_ONCE);
      await Promise.allSettled(due.map((key) => wakeSession(engine, key)));
    },
  };
  const engine = createEngine({
    store: reachStore(shared.store, shared, self),
    clock: clockOf(world, self),
    services: reachServices(shared.ledger, shared, self),
    conversations: [conversation],
    ttlSeconds: TTL_SECONDS,
    ...(shared.isSealed && { keyring: KEYRING }),
  });
  return self;
}

// Waiting is monotone: only `now` jumps.
function clockOf(world: World, self: Instance): Clock {
  return {
    now: () => world.now() + self.skew,
    monotonic: world.now,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const cancel = world.after(Math.max(0, ms), resolve, self);
        signal?.addEventListener('abort', () => {
          cancel();
          resolve();
        });
      }),
  };
}

// A key that is always the same object is prepared only once.
function remembered(keyring: Keyring): Keyring {
  const known = new Map<string, Buffer | undefined>();
  return {
    ...keyring,
    subkey: (purpose, id = keyring.active) => {
      const name = `${purpose} ${id}`;
      if (!known.has(name)) known.set(name, keyring.subkey(purpose, id));
      return known.get(name);
    },
  };
}
