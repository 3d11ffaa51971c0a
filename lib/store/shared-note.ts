// Small things that instances count together, such as the sessions of a phone: a text under a key of the session store, changed
// at the revision that was read. It counts as ended, so that no list of sessions has it, and is forgotten when it is not changed for a while.

import type { Clock } from '../clock.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { Json } from '../json/json.ts';
import type { SnapshotStore } from './store.ts';

export interface SharedNotes {
  /**
   * Writes what `change` makes of the note, which is undefined where there is none, and gives what was written. Begins with the
   * guess that there is none: a write is enough then. Calls `change` anew for each revision; throws ERR_CONFLICT after
   * COMMON_LIMITS.conflictsPerTurn tries, and ERR_STORE.
   */
  change<T extends Json>(key: string, change: (note: T | undefined) => T): Promise<T>;
  /** The note; undefined where there is none. Rejects with ERR_STORE. */
  read<T extends Json>(key: string): Promise<T | undefined>;
}

export interface SharedNotesOptions {
  readonly store: Pick<SnapshotStore, 'load' | 'commit'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds after its last change until a note is forgotten. */
  readonly keepMs: number;
}

export function sharedNotes({ store, clock, keepMs }: SharedNotesOptions): SharedNotes {
  return {
    async read<T extends Json>(key: string) {
      const entry = await store.load(key);
      return entry && (JSON.parse(entry.record) as T);
    },
    async change<T extends Json>(key: string, change: (note: T | undefined) => T): Promise<T> {
      let last: { readonly revision: number; readonly noted: T | undefined } = { revision: 0, noted: undefined };
      for (let tries = 0; tries < COMMON_LIMITS.conflictsPerTurn; tries++) {
        const next = change(last.noted);
        const result = await store.commit(key, last.revision, {
          ...{ record: JSON.stringify(next), turnKey: 'note', reply: '', ended: true, dueAt: null },
          expiresAt: clock.now() + keepMs,
        });
        if (result.kind === 'committed') return next;
        const entry = await store.load(key);
        last = { revision: entry?.revision ?? 0, noted: entry && (JSON.parse(entry.record) as T) };
      }
      throw new TwinlineError(
        'ERR_CONFLICT',
        `Other instances wrote a shared note first ${COMMON_LIMITS.conflictsPerTurn} times in a row. It is counted by this one alone.`,
      );
    },
  };
}
