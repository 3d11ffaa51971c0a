// Whether stores serve those who use them: when they last failed one, and whether they take writes. A store that answers questions
// may refuse writes, as on a full disk.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { DocumentStore, SnapshotStore } from '../../lib/store/store.ts';
import { SERVER } from '../stores/key-mark.ts';
import type { Stores } from '../stores/stores.ts';
import type { Watched } from './health.ts';

export interface WatchedStores extends Stores {
  readonly watches: { readonly sessions: StoreWatch; readonly documents: StoreWatch };
}

/** What the uses of a store have told. */
export interface StoreWatch {
  /** Resolves when the store takes writes, as far as is known, and rejects when it refuses them. */
  takesWrites(): Promise<void>;
  /** When it last failed somebody, by `clock.monotonic`; undefined when it never did. */
  failedAt(): number | undefined;
}

/** At least these milliseconds lie between two trial writes. */
const PAUSE_MS = 1_000;
/** About as much as a session takes: where this fits, callers are served again. */
const TRIAL = 'x'.repeat(8_192);
const TRIAL_MS = 60_000;

interface WriteState extends StoreWatch {
  /** Runs a write and remembers how it went; `isWritten`: whether this result means that something was written. */
  note<T>(write: Promise<T>, isWritten: (result: T) => boolean): Promise<T>;
  /** The same read, whose failure is remembered. */
  noteRead<T>(read: () => T): T;
}

/** After a refused write, a store counts as refusing until a write succeeds: a caller's, or a trial when health is asked for. */
function writeState(clock: Clock, tryToWrite: () => Promise<void>): WriteState {
  let refused: { readonly error: unknown } | undefined;
  let trial: { readonly at: number; readonly done: Promise<void> } | undefined;
  let failedAt: number | undefined;

  const noteFailure = (error: unknown): void => {
    if (isOfStore(error)) failedAt = clock.monotonic();
  };

  async function carryOutTrial(): Promise<void> {
    await tryToWrite();
    refused = undefined;
  }

  return {
    async note(write, isWritten) {
      try {
        const result = await write;
        if (isWritten(result)) refused = undefined;
        return result;
      } catch (error) {
        if (isOfStore(error)) refused = { error };
        noteFailure(error);
        throw error;
      }
    },
    noteRead(read) {
      try {
        const answer = read();
        if (answer instanceof Promise) answer.catch(noteFailure);
        return answer;
      } catch (error) {
        noteFailure(error);
        throw error;
      }
    },
    failedAt: () => failedAt,
    async takesWrites() {
      if (!refused) return;
      const now = clock.monotonic();
      if (!trial || now - trial.at >= PAUSE_MS) {
        trial = { at: now, done: carryOutTrial() };
        // The client may have gone.
        trial.done.catch(() => {});
      }
      await trial.done;
      if (refused) throw refused.error;
    },
  };
}

// All else says something about what was to be written, not about the store.
const isOfStore = (error: unknown) =>
  error instanceof TwinlineError && (error.code === 'ERR_STORE' || error.code === 'ERR_TIMEOUT');

/** The same stores, watched. */
export function watchWrites({ snapshots, documents }: Stores, clock: Clock): WatchedStores {
  const sessions = writeState(clock, () => trySession(snapshots, clock));
  const papers = writeState(clock, () => tryDocument(documents));
  return {
    snapshots: {
      ...snapshots,
      load: (key) => sessions.noteRead(() => snapshots.load(key)),
      commit: (...args) => sessions.note(snapshots.commit(...args), ({ kind }) => kind === 'committed'),
      remove: (key) => sessions.note(snapshots.remove(key), (removed) => removed),
    },
    documents: {
      ...documents,
      get: (kind, id) => papers.noteRead(() => documents.get(kind, id)),
      find: (kind, query) => papers.noteRead(() => documents.find(kind, query)),
      insert: (...args) => papers.note(documents.insert(...args), ({ kind }) => kind === 'inserted'),
      replace: (...args) => papers.note(documents.replace(...args), ({ kind }) => kind === 'replaced'),
      remove: (...args) => papers.note(documents.remove(...args), (removed) => removed),
    },
    watches: { sessions, documents: papers },
  };
}

/** The stores as health asks them. */
export function listWatched({ snapshots, documents, watches }: WatchedStores): Watched[] {
  return [
    { keeps: 'sessions', kind: snapshots.name, ping: () => snapshots.ping(), ...watches.sessions },
    { keeps: 'documents', kind: documents.name, ping: () => documents.ping(), ...watches.documents },
  ];
}

// An ended session is in no list; should its removal fail, it expires.
async function trySession(snapshots: SnapshotStore, clock: Clock): Promise<void> {
  const key = `trial ${randomUUID()}`;
  const expiresAt = clock.now() + TRIAL_MS;
  const session = { record: TRIAL, turnKey: 'trial', reply: '', ended: true, expiresAt, dueAt: null };
  await snapshots.commit(key, 0, session);
  await snapshots.remove(key);
}

async function tryDocument(documents: DocumentStore): Promise<void> {
  const id = `trial ${randomUUID()}`;
  await documents.insert(SERVER, id, { text: TRIAL });
  await documents.remove(SERVER, id);
}
