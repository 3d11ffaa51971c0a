// The marks of a move: in stores that are being filled one keeps servers out, and in documents that were filled another one tells from
// where. They belong to their store, and are never moved.

import { TwinlineError } from '../../lib/errors.ts';
import { LAST_MOMENT } from '../../lib/given.ts';
import type { DocumentStore, SnapshotStore } from '../../lib/store/store.ts';
import type { DocumentTransfer } from '../../lib/store/transfer.ts';
import { SERVER } from './key-mark.ts';

/** Beside the mark of the PIN key. */
const UNDER_WAY = 'move';
const DONE = 'moved';
/** No door begins a session under this key. */
const SESSION_KEY = 'server:move';

export type MoveMark = {
  /** Program and place of the store that is moved. */
  readonly from: string;
  /** When it was begun, or done. */
  readonly at: string;
};

/** Whether it is the key of a mark and no session. */
export const isMarkKey = (key: string): boolean => key === SESSION_KEY;
/** Whether it is the id of a mark among the documents of the kind `server`. */
export const isMarkId = (id: string): boolean => id === UNDER_WAY || id === DONE;

/** The mark of one store that is, or was, filled by a move. */
export interface MoveMarks {
  /** The move that has been begun and has not ended. */
  underWay(): Promise<MoveMark | undefined>;
  /** The move that has filled it. */
  done(): Promise<MoveMark | undefined>;
  begin(mark: MoveMark): Promise<void>;
  finish(mark: MoveMark): Promise<void>;
}

/** Of a store of sessions: an ended session, which no list shows. */
export function sessionMarks(store: Pick<SnapshotStore, 'load' | 'commit'>): MoveMarks {
  const read = async (state: string) => {
    const record = await store.load(SESSION_KEY);
    return record?.turnKey === state ? (JSON.parse(record.record) as MoveMark) : undefined;
  };
  const write = async (state: string, mark: MoveMark) => {
    const revision = (await store.load(SESSION_KEY))?.revision ?? 0;
    const fixed = { reply: '', ended: true, expiresAt: LAST_MOMENT, dueAt: null };
    const { kind } = await store.commit(SESSION_KEY, revision, {
      ...fixed,
      turnKey: state,
      record: JSON.stringify(mark),
    });
    if (kind === 'conflict')
      throw new TwinlineError('ERR_CONFLICT', 'Another move writes into the same store of sessions.');
  };
  return {
    underWay: () => read(UNDER_WAY),
    done: () => read(DONE),
    begin: (mark) => write(UNDER_WAY, mark),
    finish: (mark) => write(DONE, mark),
  };
}

/** Of a store of documents; no change of the feed tells of them. Declare the kind `server` before they are written. */
export function documentMarks(
  store: Pick<DocumentStore, 'get'>,
  transfer: Pick<DocumentTransfer, 'insert' | 'remove'>,
): MoveMarks {
  const write = (id: string, body: MoveMark) => transfer.insert(SERVER, [{ id, revision: 1, body }]);
  return {
    underWay: () => readMark(store, UNDER_WAY),
    done: () => readMark(store, DONE),
    begin: (mark) => write(UNDER_WAY, mark),
    async finish(mark) {
      await transfer.remove(SERVER, [DONE]);
      await write(DONE, mark);
      await transfer.remove(SERVER, [UNDER_WAY]);
    },
  };
}

// Where no server has ever begun, the kind is not declared.
async function readMark(store: Pick<DocumentStore, 'get'>, id: string): Promise<MoveMark | undefined> {
  const document = await store.get<MoveMark>(SERVER, id).catch((error: unknown) => {
    if (error instanceof TwinlineError && error.code === 'ERR_INPUT') return undefined;
    throw error;
  });
  return document?.body;
}

/** The move that has filled these documents, if one has. */
export function readMoved(store: Pick<DocumentStore, 'get'>): Promise<MoveMark | undefined> {
  return readMark(store, DONE);
}

/** Throws ERR_CONFIG where a move has been begun and has not ended: half of the data is no data to serve. */
export async function refuseHalfMoved(stores: {
  readonly documents: Pick<DocumentStore, 'get'>;
  readonly snapshots: Pick<SnapshotStore, 'load' | 'commit'>;
}): Promise<void> {
  const mark = (await readMark(stores.documents, UNDER_WAY)) ?? (await sessionMarks(stores.snapshots).underWay());
  if (!mark) return;
  throw new TwinlineError(
    'ERR_CONFIG',
    `A move from ${mark.from} into these stores was begun at ${mark.at} and has not ended. Run twinline move again, to its end; or empty the stores.`,
  );
}
