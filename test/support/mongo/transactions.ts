// Transactions of MongoDB sessions, each on a PostgreSQL connection of its own.

import type { ReservedSql, Sql } from 'postgres';
import { fault, type MongoFault, NO_SUCH_TRANSACTION } from './codes.ts';

/** The transaction a command belongs to. */
export interface Membership {
  readonly session: string;
  readonly number: bigint;
  readonly starts: boolean;
}

interface Known {
  readonly number: bigint;
  state: 'open' | 'committed' | 'aborted';
  readonly connection: ReservedSql;
}

export interface Transactions {
  /** The connection to run a command of the transaction on. */
  connection(of: Membership): Promise<ReservedSql | MongoFault>;
  /** Commits; a second commit of the same transaction succeeds, as the driver sends it after a lost reply. */
  commit(of: Membership): Promise<MongoFault | undefined>;
  /** Rolls back; a transaction that is not open is left alone. */
  abort(of: Membership): Promise<void>;
  /** Rolls back what the sessions have open. */
  end(sessions: readonly string[]): Promise<void>;
}

/** A connection for one user alone. postgres.js gives one that is open at once; one that it opens for this it may never give. */
export async function reserve(sql: Sql): Promise<ReservedSql> {
  await sql.unsafe('SELECT 1');
  return sql.reserve();
}

export function openTransactions(sql: Sql): Transactions {
  const bySession = new Map<string, Known>();

  const find = ({ session, number }: Membership) => {
    const known = bySession.get(session);
    return known?.number === number ? known : undefined;
  };

  async function finish(known: Known, state: 'committed' | 'aborted'): Promise<void> {
    known.state = state;
    try {
      await known.connection.unsafe(state === 'committed' ? 'COMMIT' : 'ROLLBACK');
    } finally {
      known.connection.release();
    }
  }

  async function abortKnown(known: Known | undefined): Promise<void> {
    // A connection that PostgreSQL has closed meanwhile has rolled back already.
    if (known?.state === 'open') await finish(known, 'aborted').catch(() => {});
  }

  async function begin(of: Membership): Promise<ReservedSql> {
    await abortKnown(bySession.get(of.session));
    const connection = await reserve(sql);
    bySession.set(of.session, { number: of.number, state: 'open', connection });
    // MongoDB's transactions read one snapshot and fail on a write conflict; so does this level.
    await connection.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ');
    return connection;
  }

  return {
    async connection(of) {
      const known = find(of);
      if (known?.state === 'open') return known.connection;
      if (of.starts && !known) return begin(of);
      return fault(NO_SUCH_TRANSACTION, `transaction ${of.number} is ${known?.state ?? 'not known'}`, true);
    },
    async commit(of) {
      const known = find(of);
      if (known?.state === 'open') await finish(known, 'committed');
      if (known?.state === 'committed') return undefined;
      return fault(NO_SUCH_TRANSACTION, `transaction ${of.number} is ${known?.state ?? 'not known'}`, true);
    },
    abort: (of) => abortKnown(find(of)),
    async end(sessions) {
      for (const session of sessions) {
        await abortKnown(bySession.get(session));
        bySession.delete(session);
      }
    },
  };
}
