// One command as the bridge routes it: whose it is, what it belongs to, and what its SQL takes.

import { BSON } from 'mongodb';
import type { Statement } from './commands.ts';
import type { Membership } from './transactions.ts';
import type { Command } from './wire.ts';

export interface Request {
  /** In lower case. */
  readonly name: string;
  readonly command: BSON.Document;
  readonly wire: Command;
  readonly database: string;
  readonly session: string | undefined;
  readonly transaction: Membership | undefined;
}

export function readRequest(wire: Command): Request {
  const command = BSON.deserialize(wire.body, { useBigInt64: true });
  const session: string | undefined = command.lsid && sessionKey(command.lsid);
  const inTransaction = command.autocommit === false && session !== undefined;
  const starts = command.startTransaction === true;
  return {
    name: (Object.keys(command)[0] ?? '').toLowerCase(),
    command,
    wire,
    database: command.$db ?? 'admin',
    session,
    transaction: inTransaction ? { session, number: command.txnNumber, starts } : undefined,
  };
}

export function sessionKey({ id }: BSON.Document): string {
  return id.toString('hex');
}

/** How many single writes a write command holds, in a document sequence or in its body. */
export function writesIn({ wire, command }: Request): number {
  return wire.sequenceLength || (command.documents ?? command.updates ?? command.deletes ?? []).length;
}

const TAKE: Record<Statement['takes'][number], (request: Request) => string | Buffer | null> = {
  database: ({ database }) => database,
  body: ({ wire }) => wire.body,
  sequence: ({ wire }) => wire.sequence ?? null,
  retry: retryId,
  collection: ({ command }) => String(Object.values(command)[0]),
};

export function parameters(request: Request, statement: Statement): (string | Buffer | null)[] {
  return statement.takes.map((what) => TAKE[what](request));
}

/**
 * The engine remembers a single write by this text and answers a retried one with the first outcome instead of writing
 * twice. Of a batch of several writes it remembers nothing, so a retried batch is written again: its inserts answer 11000
 * and its `$inc` count twice, where MongoDB would remember.
 */
function retryId({ session, command, transaction }: Request): string | null {
  const retryable = session !== undefined && command.txnNumber !== undefined && !transaction;
  return retryable ? `${session}:${command.txnNumber}` : null;
}
