// Open cursors: where each one stands, and the connection that some of them live on.

import type { BSON } from 'mongodb';
import type { ReservedSql, Sql } from 'postgres';
import { CURSOR_NOT_FOUND, fault, type MongoFault } from './codes.ts';
import { GET_MORE, KILL_CURSORS } from './commands.ts';

interface Open {
  readonly session: string | undefined;
  readonly continuation: Buffer;
  /** The connection that holds the engine's state; undefined when the continuation says it all. */
  readonly pinned: ReservedSql | undefined;
  /** False when the connection belongs to a transaction, which gives it back. */
  readonly owned: boolean;
}

/** The row that a first page comes in. */
export interface FirstPage {
  readonly reply: Buffer;
  readonly continuation: Buffer | null;
  readonly pinned: boolean;
  readonly id: string;
}

interface Place {
  readonly connection: ReservedSql;
  readonly session: string | undefined;
  /** A connection of a transaction stays with it. */
  readonly inTransaction: boolean;
}

export interface Cursors {
  /** Keeps what the next page needs and gives the connection back unless the cursor lives on it. */
  opened(page: FirstPage, place: Place): Buffer;
  more(database: string, id: bigint, body: Buffer): Promise<Buffer | MongoFault>;
  kill(ids: readonly bigint[]): Promise<BSON.Document>;
  /** Closes the cursors of the sessions. */
  end(sessions: readonly string[]): Promise<void>;
}

export function openCursors(sql: Sql): Cursors {
  const open = new Map<bigint, Open>();

  function close(id: bigint): void {
    const cursor = open.get(id);
    open.delete(id);
    if (cursor?.owned) cursor.pinned?.release();
  }

  async function kill(ids: readonly bigint[]): Promise<BSON.Document> {
    const cursorsKilled = ids.filter((id) => open.has(id));
    for (const id of cursorsKilled) {
      await (open.get(id)!.pinned ?? sql).unsafe(KILL_CURSORS, [`{${id}}`]);
      close(id);
    }
    const cursorsNotFound = ids.filter((id) => !cursorsKilled.includes(id));
    return { cursorsKilled, cursorsNotFound, cursorsAlive: [], cursorsUnknown: [], ok: 1 };
  }

  return {
    opened({ reply, continuation, pinned, id }, { connection, session, inTransaction }) {
      const lives = continuation !== null && pinned;
      if (continuation) {
        open.set(BigInt(id), {
          session,
          continuation,
          pinned: lives || inTransaction ? connection : undefined,
          owned: lives && !inTransaction,
        });
      }
      if (!lives && !inTransaction) connection.release();
      return reply;
    },

    async more(database, id, body) {
      const cursor = open.get(id);
      if (!cursor) return fault(CURSOR_NOT_FOUND, `cursor ${id} is not open`);
      const rows = await (cursor.pinned ?? sql).unsafe(GET_MORE, [database, body, cursor.continuation]);
      const { reply, continuation } = rows[0] as unknown as Pick<FirstPage, 'reply' | 'continuation'>;
      if (continuation) open.set(id, { ...cursor, continuation });
      else close(id);
      return reply;
    },

    kill,

    async end(sessions) {
      await kill([...open].filter(([, { session }]) => session && sessions.includes(session)).map(([id]) => id));
    },
  };
}
