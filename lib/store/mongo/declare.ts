// Declaring kinds in MongoDB: one instance at a time, all of a declaration or nothing of it, while others go on writing.

import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { systemClock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { indexesOf } from '../index/kinds.ts';
import { STORE_LIMITS } from '../limits.ts';
import type { Kind } from '../store.ts';
import { build, claimName, keyName, takeDown } from './build.ts';
import { announced, isSatisfied, published, type Wanted, withoutBuilding } from './draft.ts';
import { isDuplicate } from './errors.ts';
import type { KindEntry, Registered, Registry } from './registry.ts';

interface Lease {
  readonly _id: 'lease';
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** After this without a sign of life another instance may declare; the registry's compare-and-set keeps both safe. */
const LEASE_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/** As {@link DocumentStore.declare}. */
export async function declareKinds(kinds: readonly Kind[], at: { db: Db; prefix: string; registry: Registry }) {
  const wanted = kinds.map((kind): Wanted => ({ name: kind.name, indexes: indexesOf(kind) }));
  if (isSatisfied((await at.registry.read()).kinds, wanted)) return void (await at.registry.refresh());
  await underLease(at, async (goOn) => {
    const changes = at.db.collection(`${at.prefix}.changes`);
    await changes.createIndexes([{ key: { x: 1 }, name: 'once', unique: true }]);
    await declareAlone(at.registry, wanted, goOn);
  });
}

async function declareAlone(registry: Registry, wanted: readonly Wanted[], goOn: () => Promise<void>): Promise<void> {
  const before = await registry.read();
  if (isSatisfied(before.kinds, wanted)) return void (await registry.refresh());
  const draft = await registry.swap(before, announced(before.kinds, wanted));
  const fresh = draft.kinds.filter(({ indexes, declared }) => !declared || indexes.some(isBuilding));
  try {
    for (const kind of fresh) await build({ kind, rows: registry.rowsOf(kind), goOn });
  } catch (error) {
    await giveUp(registry, draft, fresh).catch(() => {});
    throw error;
  }
  const { kinds } = await registry.swap(draft, published(draft.kinds, systemClock.now()));
  for (const kind of kinds.filter(({ name }) => fresh.some((one) => one.name === name))) await tidy(registry, kind);
}

async function giveUp(registry: Registry, draft: Registered, fresh: readonly KindEntry[]): Promise<void> {
  await registry.swap(draft, withoutBuilding(draft.kinds));
  for (const kind of fresh) {
    const doomed = kind.indexes.filter(isBuilding).flatMap((index) => [keyName(index), claimName(index)]);
    await takeDown(registry.rowsOf(kind), (name) => doomed.includes(name));
  }
}

// A retired index is read for a while, but claims nothing; what is not in the registry any more is of no use.
async function tidy(registry: Registry, kind: KindEntry): Promise<void> {
  const keys = kind.indexes.map(keyName);
  const claims = kind.indexes.filter(({ state, unique }) => unique && state !== 'retired').map(claimName);
  const kept = new Set([...keys, ...claims]);
  await takeDown(registry.rowsOf(kind), (name) => /^(key|claim) /.test(name) && !kept.has(name));
}

function isBuilding({ state }: { readonly state: string }): boolean {
  return state === 'building';
}

async function underLease(at: { db: Db; prefix: string }, work: (goOn: () => Promise<void>) => Promise<void>) {
  const leases = at.db.collection<Lease>(`${at.prefix}.registry`);
  const owner = randomUUID();
  const extended = () => ({ $set: { owner, until: systemClock.now() + LEASE_MS } });

  async function take(): Promise<boolean> {
    try {
      const free = { _id: 'lease', until: { $lte: systemClock.now() } } as const;
      await leases.updateOne(free, extended(), { upsert: true });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  for (const giveUpAt = performance.now() + STORE_LIMITS.mongoDeclareMs; !(await take()); ) {
    if (performance.now() > giveUpAt)
      throw new TwinlineError(
        'ERR_STORE',
        'MongoDB: another instance has been declaring kinds for too long. Try again.',
      );
    await systemClock.wait(LOOK_AGAIN_MS);
  }
  try {
    await work(async () => {
      const { matchedCount } = await leases.updateOne({ _id: 'lease', owner }, extended());
      if (!matchedCount)
        throw new TwinlineError(
          'ERR_STORE',
          'MongoDB: this declaration was too slow; another one began. Declare again.',
        );
    });
  } finally {
    await leases.updateOne({ _id: 'lease', owner }, { $set: { until: 0 } }).catch(() => {});
  }
}
