// All sessions of an LMDB folder, to be moved: read with those that have ended, written with their revisions.

import { mkdirSync } from 'node:fs';
import { systemClock } from '../../clock.ts';
import { checkKey, checkLimit, requireGiven } from '../../given.ts';
import type { KeyedSession, SessionTransfer } from '../transfer.ts';
import type { LmdbOptions } from './options.ts';
import {
  decodeSession,
  encodeSession,
  openEnvironment,
  openTables,
  readExpiresAt,
  timeKey,
  watchFailures,
} from './tables.ts';

/** Opens the folder `path`, which is made when it is missing; throws ERR_STORE. */
export function lmdbTransfer({ path, clock = systemClock }: LmdbOptions): SessionTransfer {
  requireGiven('open LMDB', { path }, { path: 'text' });
  const { gate, root, sessions, places, timers } = openTables(path);
  const { guarded } = watchFailures(path);

  return {
    scan: (limit, cursor = '') =>
      guarded('scan', async () => {
        checkLimit(limit);
        sessions.resetReadTxn();
        const items: KeyedSession[] = [];
        let [last, seen] = ['', 0];
        for (const { key, value: place } of places.getRange({ start: cursor, exclusiveStart: true, limit })) {
          [last, seen] = [key, seen + 1];
          const entry = sessions.getEntry(place);
          if (entry && readExpiresAt(entry.value) > clock.now())
            items.push({ key, session: decodeSession(entry.value, entry.version!) });
        }
        return seen < limit ? { items } : { items, next: last };
      }),

    insert: (key, session) =>
      guarded('insert', async () => {
        checkKey(key);
        const { revision, expiresAt, dueAt } = session;
        // By chance, as for a session that begins: see `create` of the store.
        const base = Math.floor(Math.random() * 2 ** 48);
        const place = timeKey(expiresAt, key);
        const changes = () => {
          void places.put(key, place);
          void sessions.put(place, encodeSession(session, { base, filed: expiresAt }), base + revision);
          if (dueAt !== null) void timers.put(timeKey(dueAt, key), '');
        };
        return gate.run(() => places.ifNoExists(key, changes));
      }),

    others: () =>
      guarded('look for other processes', async () => {
        // Of processes that died, LMDB knows that they did.
        root.readerCheck();
        const pids = [...root.readerList().matchAll(/^\s*(\d+) /gm)].map(([, pid]) => Number(pid));
        return [...new Set(pids)].filter((pid) => pid !== process.pid).map((pid) => `process ${pid}`);
      }),

    async close() {
      await root.close();
      gate.close();
    },
  };
}

/**
 * Copies the environment in the folder `path` into the new folder `target`, while processes write to it: one transaction, with
 * everything that was committed before the call, and without free pages. Throws ERR_STORE.
 */
export async function copyLmdb(path: string, target: string): Promise<void> {
  const { gate, root } = openEnvironment(path, () => ({}));
  try {
    await watchFailures(path).guarded('copy', async () => {
      mkdirSync(target, { mode: 0o700 });
      await root.backup(target, true);
    });
  } finally {
    await root.close();
    gate.close();
  }
}
