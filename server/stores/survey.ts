// The living sessions of a configuration, counted by format, flow and key; for those who only look.

import { existsSync } from 'node:fs';
import { RECORD_FORMAT, readRecordHead } from '../../lib/engine/session/record.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { IN_MEMORY } from '../config/data-dir.ts';
import type { Log } from '../telemetry/log.ts';
import { openFirst, SESSION_BACKENDS, type StoreConfig, sessionsIn } from './backends.ts';
import type { SealedCounts } from './sealed.ts';

const PAGE = 500;

/** How many, by name; none that is 0. */
export type Counts = Readonly<Record<string, number>>;

/** Living sessions. */
export interface SessionCounts {
  /** `Redis 7.0.15 redis://…`; undefined where there is nothing. */
  readonly sessionsIn: string | undefined;
  /** By the format of their record: a number, or `unreadable`. */
  readonly formats: Counts;
  /** By `<flow> version <version>`. */
  readonly flows: Counts;
  /** Those whose record a newer version has written, and those that nobody can read. */
  readonly newer: number;
  readonly unreadable: number;
  readonly sealed: SealedCounts;
}

/** Reads all living sessions. Throws ERR_CONFIG or ERR_STORE where they cannot be read. */
export async function surveySessions(config: StoreConfig, log: Log): Promise<SessionCounts> {
  const { redisUrl, dataDir } = config;
  // Opened, a store on disk that is not there would be made.
  const isThere = redisUrl !== undefined || (dataDir !== IN_MEMORY && existsSync(sessionsIn(dataDir)));
  if (!isThere) return { sessionsIn: undefined, formats: {}, flows: {}, newer: 0, unreadable: 0, sealed: {} };
  const { store, program, place, close } = await openFirst(SESSION_BACKENDS, config, { log });
  try {
    return { sessionsIn: `${program} ${place}`, ...(await countSessions(store)) };
  } finally {
    await close();
  }
}

async function countSessions(store: SnapshotStore): Promise<Omit<SessionCounts, 'sessionsIn'>> {
  const formats: Record<string, number> = {};
  const flows: Record<string, number> = {};
  const byKey: Record<string, number> = {};
  let [newer, unreadable] = [0, 0];
  const add = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const { keys, next } = await store.list({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const key of keys) {
      const record = await store.load(key);
      // It has ended meanwhile.
      if (!record) continue;
      const head = readRecordHead(record.record);
      add(formats, head ? String(head.format) : 'unreadable');
      if (!head) unreadable++;
      else add(flows, `${head.conversation} version ${head.version}`);
      if (head && head.format > RECORD_FORMAT) newer++;
      if (head?.kid !== undefined) add(byKey, head.kid);
    }
    cursor = next;
  }
  return { formats, flows, newer, unreadable, sealed: Object.keys(byKey).length ? { sessions: byKey } : {} };
}
