// Stores that a program gives to a server: whether they have all that their contracts ask for. Whether they keep it, their tests
// say: twinline/testing has the suites.

import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import type { LogStore } from '../../lib/store/log-store.ts';
import type { DocumentStore, Durability, SnapshotStore } from '../../lib/store/store.ts';

/** Each in the place of the one that the configuration names; the server does not close them. */
export interface GivenStores {
  /** Sessions. With REDIS_URL, instances share all but the sessions in Redis. */
  readonly snapshots?: SnapshotStore;
  /** Accounts, twins, plugins and all else that is no session. Not together with MONGODB_URL. */
  readonly documents?: DocumentStore;
  /** The frames of runs of the agent. */
  readonly logs?: LogStore;
}

const DURABILITIES: readonly Durability[] = ['memory', 'process-crash', 'power-loss', 'replicated'];

const COMMON = ['ping', 'close'] as const;
const METHODS = {
  snapshots: ['load', 'commit', 'remove', 'list', 'due', 'sweep', ...COMMON],
  documents: ['declare', 'insert', 'get', 'replace', 'remove', 'find', 'count', 'changes', 'lastChange', ...COMMON],
  logs: ['open', 'append', 'state', 'read', 'follow', 'trim', 'expireAt', 'remove', 'sweep', ...COMMON],
} as const satisfies {
  readonly snapshots: readonly (keyof SnapshotStore)[];
  readonly documents: readonly (keyof DocumentStore)[];
  readonly logs: readonly (keyof LogStore)[];
};

/**
 * The same stores as plain objects, which may be spread, whatever classes they had; the server cannot close them. Throws ERR_CONFIG
 * with everything that they lack, one problem per line.
 */
export function checkGivenStores(stores: GivenStores): GivenStores {
  const problems = Object.entries(stores).flatMap(([place, store]) =>
    store === undefined ? [] : findFlaws(place, store as object),
  );
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  const bound = Object.entries(stores).flatMap(([place, store]) =>
    store === undefined ? [] : [[place, bindMethods(store, METHODS[place as keyof GivenStores])]],
  );
  return Object.fromEntries(bound) as GivenStores;
}

/** Asks each of them for a sign of life. Throws ERR_STORE with all that give none, one per line. */
export async function pingGivenStores(stores: GivenStores): Promise<void> {
  const results = await Promise.allSettled(Object.values(stores).map((store: LogStore) => store.ping()));
  const problems = Object.keys(stores).flatMap((place, at) => {
    const result = results[at]!;
    return result.status === 'fulfilled' ? [] : [`stores.${place} does not answer: ${sayWhy(result.reason)}`];
  });
  if (problems.length) throw new TwinlineError('ERR_STORE', problems.join('\n'));
}

const sayWhy = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason));

function findFlaws(place: string, store: object): string[] {
  const methods: readonly string[] | undefined = METHODS[place as keyof GivenStores];
  if (methods === undefined)
    return [`stores: there is none called ${JSON.stringify(place)}.${suggest(place, Object.keys(METHODS))}`];
  const { name, durability, ...rest } = store as Partial<SnapshotStore>;
  const missing = methods.filter((method) => typeof (store as Record<string, unknown>)[method] !== 'function');
  return [
    ...(typeof name === 'string' && name !== '' ? [] : [`stores.${place} has no name.`]),
    ...(DURABILITIES.includes(durability as Durability)
      ? []
      : [`stores.${place} has a wrong durability: it must be one of ${DURABILITIES.join(', ')}.`]),
    ...missing.map((method) => `stores.${place} has no method "${method}".${suggest(method, Object.keys(rest))}`),
  ];
}

function bindMethods(store: SnapshotStore | DocumentStore | LogStore, methods: readonly string[]): object {
  const { name, durability } = store;
  const all = store as unknown as Record<string, (...args: unknown[]) => unknown>;
  const bound = Object.fromEntries(methods.map((method) => [method, (...args: unknown[]) => all[method]!(...args)]));
  return { name, durability, ...bound, close: async () => {} };
}
