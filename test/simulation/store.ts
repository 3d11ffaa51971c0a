// The store of the simulation: the plainest thing that keeps the contract, and the fault layer before any store.

import { TwinlineError } from '../../lib/errors.ts';
import type { SessionCommit, SnapshotStore, StoredSession } from '../../lib/store/store.ts';
import type { Watch } from './checker.ts';
import type { Faults } from './options.ts';
import type { Tally } from './tally.ts';
import type { Owner, World } from './world.ts';

/** Makes the store that all processes share; `now` is the store's clock. */
export type Backend = (now: () => number) => SnapshotStore;

/** A map with a compare-and-set. */
export const plainStore: Backend = (now) => {
  const sessions = new Map<string, StoredSession>();
  const living = (key: string) => {
    const found = sessions.get(key);
    return found && found.expiresAt > now() ? found : undefined;
  };
  const keys = () => [...sessions.keys()].filter((key) => living(key)).sort();
  return {
    name: 'simulated',
    durability: 'replicated',
    load: living,
    commit: async (key, expected, next) => {
      const revision = living(key)?.revision ?? 0;
      if (revision !== expected) return { kind: 'conflict', revision };
      sessions.set(key, { ...next, revision: expected + 1 });
      return { kind: 'committed', revision: expected + 1 };
    },
    remove: async (key) => sessions.delete(key),
    list: async () => ({ keys: keys().filter((key) => !living(key)!.ended) }),
    due: async (at, limit) => {
      const due = keys().filter((key) => (living(key)!.dueAt ?? Infinity) <= at);
      return due.sort((a, b) => living(a)!.dueAt! - living(b)!.dueAt!).slice(0, limit);
    },
    sweep: async () => 0,
    ping: async () => {},
    close: async () => {},
  };
};

export interface Faulty {
  readonly world: World;
  readonly tally: Tally;
  readonly watch: Watch;
  readonly faults: () => Faults;
}

/** The store as one process reaches it: every operation takes time, may be refused, or done and not acknowledged. */
export function reachStore(
  store: SnapshotStore,
  { world, tally, watch, faults }: Faulty,
  self: Owner & { name: string },
) {
  const { random } = world;
  const latency = () => {
    if (!random.chance(faults().slowStore)) return 1 + random.below(12);
    tally.slow++;
    return 200 + random.below(6_000);
  };
  const refusal = () => new TwinlineError('ERR_STORE', 'The simulated store refused.');

  // What is on its way when its process crashes may still arrive.
  const arrives = () => {
    if (self.isAlive) return true;
    const still = random.chance(0.5);
    if (still) tally.ghosts++;
    return still;
  };

  const isListening = () => self.isAlive && self.pausedUntil <= world.now();

  const commit = (key: string, expected: number, next: SessionCommit) =>
    new Promise<Awaited<ReturnType<SnapshotStore['commit']>>>((resolve, reject) => {
      if (random.chance(faults().refuse)) {
        tally.refusals++;
        world.note(key, `${self.name}: the store refuses a commit`);
        world.after(latency(), () => reject(refusal()), self);
        return;
      }
      world.after(latency(), async () => {
        if (!arrives()) return;
        const result = await store.commit(key, expected, next);
        world.note(
          key,
          `${self.name}: commit at ${expected}: ${result.kind} ${result.revision} "${next.reply}" ${next.record}`,
        );
        if (result.kind === 'conflict') tally.conflicts++;
        else watch.committed({ key, expected, revision: result.revision, next });
        if (random.chance(faults().lostAck)) {
          tally.lostAcks++;
          world.note(key, `${self.name}: the acknowledgement is lost`);
          world.after(latency(), () => reject(refusal()), self);
        } else if (isListening() && random.chance(0.5)) resolve(result);
        else world.after(latency(), () => resolve(result), self);
      });
    });

  const read = <T>(key: string, work: () => Promise<T> | T) =>
    new Promise<T>((resolve, reject) => {
      if (random.chance(faults().refuse)) {
        tally.refusals++;
        world.after(latency(), () => reject(refusal()), self);
        return;
      }
      world.after(latency(), async () => {
        if (!self.isAlive) return;
        const found = await work();
        world.note(key, `${self.name}: reads`);
        if (isListening() && random.chance(0.6)) resolve(found);
        else world.after(latency(), () => resolve(found), self);
      });
    });

  return {
    ...store,
    load: (key: string) => read(key, () => store.load(key)),
    due: (now: number, limit: number) => read('', () => store.due(now, limit)),
    commit,
  };
}
