// What the bridge answers to a command: its own few words, or what the engine says.

import { BSON } from 'mongodb';
import postgres, { type ReservedSql, type Sql } from 'postgres';
import { COMMAND_NOT_FOUND, fault, faultOf, INTERNAL, type MongoFault, stateOf, WRITE_CONFLICT } from './codes.ts';
import { hello, STATEMENTS, type Statement } from './commands.ts';
import { type FirstPage, openCursors } from './cursors.ts';
import { parameters, type Request, readRequest, sessionKey, writesIn } from './request.ts';
import { openTransactions, reserve } from './transactions.ts';
import type { Command } from './wire.ts';

/** BSON as the engine made it, or a document of the bridge's own. */
export type Reply = Buffer | BSON.Document;
type Outcome = Reply | MongoFault;

/** How often a write is run again that another one has locked out. */
const CONFLICTS_MAX = 50;

/** Returns the function that answers one command; it never throws. */
export function answers(sql: Sql, { address, version }: { address: string; version: string }) {
  const cursors = openCursors(sql);
  const transactions = openTransactions(sql);

  const OWN: Readonly<Record<string, (request: Request) => Promise<Outcome>>> = {
    hello: async () => hello(address),
    ismaster: async () => hello(address),
    ping: async () => ({ ok: 1 }),
    buildinfo: async () => ({ version: '7.0.0', versionArray: [7, 0, 0, 0], engine: version, ok: 1 }),
    getmore: ({ database, command, wire }) => cursors.more(database, command.getMore, wire.body),
    killcursors: ({ command }) => cursors.kill(command.cursors),
    endsessions: ({ command }) => endSessions(command.endSessions.map(sessionKey)),
    committransaction: async ({ transaction }) =>
      (transaction && (await transactions.commit(transaction))) ?? { ok: 1 },
    aborttransaction: async ({ transaction }) => {
      if (transaction) await transactions.abort(transaction);
      return { ok: 1 };
    },
  };

  async function endSessions(sessions: readonly string[]): Promise<Reply> {
    await cursors.end(sessions);
    await transactions.end(sessions);
    return { ok: 1 };
  }

  async function run(request: Request): Promise<Outcome> {
    const own = OWN[request.name];
    if (own) return own(request);
    const statement = STATEMENTS[request.name];
    if (!statement) return fault(COMMAND_NOT_FOUND, `no such command: '${request.name}'`);
    if (request.transaction) {
      const connection = await transactions.connection(request.transaction);
      if ('code' in connection) return connection;
      return statement.shape === 'cursor' ? page(request, statement, connection) : row(request, statement, connection);
    }
    if (statement.shape === 'cursor') return page(request, statement, await reserve(sql));
    return writesIn(request) > 1 ? row(request, statement.batch ?? statement, sql) : untilFree(request, statement);
  }

  // A cursor may have to stay on its connection, so it gets one of its own.
  async function page(request: Request, statement: Statement, connection: ReservedSql): Promise<Reply> {
    const place = { connection, session: request.session, inTransaction: request.transaction !== undefined };
    try {
      const [first] = await connection.unsafe(statement.sql, parameters(request, statement));
      return cursors.opened(first as unknown as FirstPage, place);
    } catch (error) {
      if (!place.inTransaction) connection.release();
      throw error;
    }
  }

  async function row(request: Request, statement: Statement, on: Sql | ReservedSql): Promise<Outcome> {
    const inTransaction = request.transaction !== undefined;
    try {
      const [found] = await on.unsafe(statement.sql, parameters(request, statement));
      if (statement.shape === 'plain') return { ok: 1 };
      const reply = bytes(found!.p_result);
      return found!.p_success === false ? withCodes(reply, inTransaction) : reply;
    } catch (error) {
      return thrown(error, inTransaction);
    }
  }

  // MongoDB's server runs a single write again that another one has got in the way of; the engine leaves it to its caller.
  async function untilFree(request: Request, statement: Statement): Promise<Outcome> {
    for (let conflicts = 0; ; conflicts += 1) {
      const outcome = await row(request, statement, sql);
      if (conflicts === CONFLICTS_MAX || !('code' in outcome) || outcome.code !== WRITE_CONFLICT[0]) return outcome;
    }
  }

  return async (wire: Command): Promise<Reply> => {
    const request = readRequest(wire);
    const outcome = await run(request).catch((error) => thrown(error, request.transaction !== undefined));
    const failed = 'code' in outcome || 'writeErrors' in outcome;
    // MongoDB aborts a transaction at its first error.
    if (failed && request.transaction) await transactions.abort(request.transaction);
    return 'code' in outcome ? { ok: 0, ...outcome } : outcome;
  };
}

const BSON_AS_TEXT = 'BSONHEX';

/** A procedure's result cannot be cast to bytes in SQL and comes in the engine's notation. */
function bytes(value: Buffer | string): Buffer {
  return typeof value === 'string' ? Buffer.from(value.slice(BSON_AS_TEXT.length), 'hex') : value;
}

/** The engine's errors of single writes, with MongoDB's codes; one that concerns the whole command comes alone. */
function withCodes(reply: Buffer, inTransaction: boolean): BSON.Document | MongoFault {
  const document = BSON.deserialize(reply);
  const errors: (BSON.Document & MongoFault)[] = (document.writeErrors ?? []).map((error: BSON.Document) => ({
    ...error,
    ...faultOf(stateOf(error.code), error.errmsg, inTransaction),
  }));
  const whole = errors.find(({ code }) => code === INTERNAL[0] || code === WRITE_CONFLICT[0]);
  return whole
    ? fault([whole.code, whole.codeName], whole.errmsg, inTransaction)
    : { ...document, writeErrors: errors };
}

function thrown(error: unknown, inTransaction: boolean): MongoFault {
  if (error instanceof postgres.PostgresError) return faultOf(error.code, error.message, inTransaction);
  return fault(INTERNAL, error instanceof Error ? error.message : String(error));
}
