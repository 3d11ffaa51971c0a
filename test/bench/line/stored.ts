// Sessions that lie in a store while others are served.

import { join } from 'node:path';
import { lmdbSnapshots } from '../../../lib/store/lmdb/index.ts';

/** About what the record of a session of the shipped menu takes. */
const RECORD = JSON.stringify({ r: 1, f: 'main', v: 1, h: 'x'.repeat(16), d: 'x'.repeat(220), c: 'x'.repeat(180) });
const REPLY = 'Welcome to Twinline\n1. Know more\n2. Account\n*. Exit';
const AT_ONCE = 4_000;
const HOUR_MS = 3_600_000;

/** Writes so many living sessions into the store of a server whose DATA_DIR is `folder`. */
export async function storeSessions(folder: string, count: number): Promise<void> {
  const store = lmdbSnapshots({ path: join(folder, 'sessions') });
  for (let at = 0; at < count; at += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, more) => store.commit(...session(at + more))),
    );
  await store.close();
}

function session(at: number) {
  const turnKey = String(at).padStart(16, '-');
  const next = { record: RECORD, turnKey, reply: REPLY, ended: false, expiresAt: Date.now() + HOUR_MS, dueAt: null };
  return [`ussd:twinline:stored-${at}`, 0, next] as const;
}
