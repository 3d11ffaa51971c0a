// The mark of the PIN key in a shared store: instances with other keys would end each other's sessions, so they do not
// start.
//
// A key is changed in three steps, each on all instances before the next: the new key behind the old one, the new key
// first, the old key gone. From the second step on, an instance that only knows the old key does not start any more.

import type { Keyring } from '../../lib/keyring.ts';
import { canary, checkCanary } from '../../lib/sealing.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import type { DocumentStore, Kind } from '../../lib/store/store.ts';

/** Where one mark is kept. Writes are atomic: of several that write at once, one succeeds. */
export interface MarkPlace {
  /** What its key opens, in the words of an error. */
  readonly what: string;
  read(): Promise<KeptMark | undefined>;
  /** False when another was first. */
  insert(text: string): Promise<boolean>;
}

export interface KeptMark {
  readonly text: string;
  /** False when it has changed since it was read. */
  replace(text: string): Promise<boolean>;
}

/**
 * Makes sure that what is stored was sealed with a key of this keyring, and that the mark names its active key. Throws
 * ERR_CONFIG with the ids of both when it was not.
 */
export async function agreeOnKey(place: MarkPlace, keyring: Keyring): Promise<void> {
  // Not `update` of the store: the mark may be in Redis, and other processes write it once each, so this ends.
  for (;;) {
    const mark = await place.read();
    if (!mark) {
      // Another process may have been first: then its word counts.
      if (await place.insert(canary(keyring))) return;
      continue;
    }
    if (checkCanary(keyring, mark.text, place.what) === 'current') return;
    if (await mark.replace(canary(keyring))) return;
  }
}

/** What the server keeps for itself. */
export const SERVER: Kind = { name: 'server', indexes: {} };
const MARK = 'pin-key-canary';

/** Among documents; declares what it needs. */
export async function documentMark(documents: DocumentStore): Promise<MarkPlace> {
  await documents.declare([SERVER]);
  return {
    what: 'PINs',
    async read() {
      const document = await documents.get<{ readonly text: string }>(SERVER, MARK);
      if (!document) return undefined;
      const replace = async (text: string) =>
        (await documents.replace(SERVER, MARK, document.revision, { text })).kind === 'replaced';
      return { text: document.body.text, replace };
    },
    insert: async (text) => (await documents.insert(SERVER, MARK, { text })).kind === 'inserted',
  };
}

/** The name of the mark in Redis. */
export const REDIS_MARK = 'twinline:pin-key-canary';
const REPLACE = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[2])
  return 1`;

/** In Redis, where sessions are. */
export function redisMark(redis: Pick<RedisConnection, 'run' | 'script'>): MarkPlace {
  const swap = redis.script(REPLACE, 1);
  return {
    what: 'sessions',
    async read() {
      const text = await redis.run('read the mark of the PIN key', (client) => client.get(REDIS_MARK));
      if (text === null) return undefined;
      const replace = async (next: string) =>
        (await redis.run('change the mark of the PIN key', () => swap(REDIS_MARK, text, next))) === 1;
      return { text, replace };
    },
    insert: async (text) =>
      (await redis.run('write the mark of the PIN key', (client) => client.set(REDIS_MARK, text, 'NX'))) === 'OK',
  };
}
