// A MongoDB server for tests: speaks the wire protocol on one side and calls the DocumentDB engine in PostgreSQL on the
// other. It has no authentication and no TLS, and listens on the loopback interface only.

import { createServer, type Server, type Socket } from 'node:net';
import { BSON } from 'mongodb';
import postgres, { type Row } from 'postgres';
import { COMMAND_NOT_FOUND, fault, faultOf, INTERNAL, type MongoFault, stateOf } from './codes.ts';
import { hello, STATEMENTS, type Statement } from './commands.ts';
import { type FirstPage, openCursors } from './cursors.ts';
import { listenLow } from './ports.ts';
import { type Membership, openTransactions } from './transactions.ts';
import { type Command, frames, readCommand, writeReply } from './wire.ts';

export interface BridgeOptions {
  /** The socket file of a PostgreSQL that has the documentdb extension. */
  readonly socket: string;
}

export interface Bridge {
  readonly port: number;
  /** `DocumentDB 1.0-0 on PostgreSQL 18.6` */
  readonly version: string;
  stop(): Promise<void>;
}

/** Connections to PostgreSQL: open transactions and some open cursors hold one each. */
const CONNECTIONS_MAX = 100;

const VERSION = `SELECT format('DocumentDB %s on PostgreSQL %s', extversion, split_part(current_setting('server_version'), ' ', 1))
  AS version FROM pg_extension WHERE extname = 'documentdb'`;

type Sql = ReturnType<typeof connect>;
type Reply = Buffer | BSON.Document;

/** One command with what is needed to route it. */
interface Request {
  readonly name: string;
  readonly command: BSON.Document;
  readonly wire: Command;
  readonly database: string;
  readonly session: string | undefined;
  readonly transaction: Membership | undefined;
}

function connect(path: string) {
  return postgres({
    path,
    user: 'twinline',
    database: 'postgres',
    max: CONNECTIONS_MAX,
    // A command must not wait behind another one that waits for a lock.
    max_pipeline: 1,
    fetch_types: false,
    onnotice: () => {},
  } as postgres.Options<Record<string, never>>);
}

/** Starts the bridge on a free port below the ephemeral range. */
export async function startBridge({ socket }: BridgeOptions): Promise<Bridge> {
  const sql = connect(socket);
  const [named] = await sql.unsafe(VERSION);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client.on('close', () => sockets.delete(client)));
    serve(client, answer);
  });
  const port = await listenLow(server);
  const answer = answers(sql, { address: `127.0.0.1:${port}`, version: named!.version });
  return { port, version: named!.version, stop: () => stop(server, sockets, sql) };
}

async function stop(server: Server, sockets: ReadonlySet<Socket>, sql: Sql): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  await closed;
  await sql.end({ timeout: 0 });
}

/** Answers the commands of one connection, one after another. */
function serve(client: Socket, answer: (wire: Command) => Promise<Reply>): void {
  const read = frames();
  let last = Promise.resolve();
  client.setNoDelay();
  client.on('error', () => client.destroy());
  client.on('data', (chunk: Buffer) => {
    try {
      for (const message of read(chunk)) {
        const wire = readCommand(message);
        last = last.then(async () => {
          const reply = await answer(wire);
          if (wire.wantsReply && !client.destroyed) client.write(writeReply(wire, reply));
        });
      }
    } catch {
      // As a server does with bytes that are no message: it hangs up.
      client.destroy();
    }
  });
}

function answers(sql: Sql, { address, version }: { address: string; version: string }) {
  const cursors = openCursors(sql);
  const transactions = openTransactions(sql);

  const OWN: Readonly<Record<string, (request: Request) => Promise<Reply | MongoFault>>> = {
    hello: async () => hello(address),
    ismaster: async () => hello(address),
    ping: async () => ({ ok: 1 }),
    buildinfo: async () => ({ version: '7.0.0', versionArray: [7, 0, 0, 0], engine: version, ok: 1 }),
    getmore: ({ database, command, wire }) => cursors.more(database, command.getMore, wire.body),
    killcursors: ({ command }) => cursors.kill(command.cursors),
    endsessions: ({ command }) => endSessions(command.endSessions),
    committransaction: async ({ transaction }) =>
      (transaction && (await transactions.commit(transaction))) ?? { ok: 1 },
    aborttransaction: async ({ transaction }) => {
      if (transaction) await transactions.abort(transaction);
      return { ok: 1 };
    },
  };

  async function endSessions(ids: readonly BSON.Document[]): Promise<Reply> {
    const sessions = ids.map(sessionKey);
    await cursors.end(sessions);
    await transactions.end(sessions);
    return { ok: 1 };
  }

  async function run(request: Request): Promise<Reply | MongoFault> {
    const own = OWN[request.name];
    if (own) return own(request);
    const statement = STATEMENTS[request.name];
    if (!statement) return fault(COMMAND_NOT_FOUND, `no such command: '${request.name}'`);
    if (request.transaction) {
      const connection = await transactions.connection(request.transaction);
      if ('code' in connection) return connection;
      return execute(request, statement, connection);
    }
    return execute(request, statement, statement.shape === 'cursor' ? await sql.reserve() : sql);
  }

  async function execute(request: Request, statement: Statement, on: Sql | postgres.ReservedSql) {
    const inTransaction = request.transaction !== undefined;
    let row: Row | undefined;
    try {
      [row] = await on.unsafe(statement.sql, parameters(request, statement));
    } catch (error) {
      if (statement.shape === 'cursor' && !inTransaction) (on as postgres.ReservedSql).release();
      throw error;
    }
    if (statement.shape === 'cursor')
      return cursors.opened(row as FirstPage & Row, {
        connection: on as postgres.ReservedSql,
        session: request.session,
        inTransaction,
      });
    if (statement.shape === 'write' && !row!.success) return writeErrors(row!.reply, inTransaction);
    return (row?.reply as Buffer | undefined) ?? { ok: 1 };
  }

  return async (wire: Command): Promise<Reply> => {
    const request = readRequest(wire);
    const reply = await run(request).catch((error) => thrown(error, request.transaction !== undefined));
    const failed = !Buffer.isBuffer(reply) && ('code' in reply || 'writeErrors' in reply);
    // MongoDB aborts a transaction at its first error.
    if (failed && request.transaction) await transactions.abort(request.transaction);
    return 'code' in reply ? { ok: 0, ...reply } : reply;
  };
}

function readRequest(wire: Command): Request {
  const command = BSON.deserialize(wire.body, { useBigInt64: true });
  const session = command.lsid && sessionKey(command.lsid);
  const transaction =
    command.autocommit === false
      ? { session, number: command.txnNumber, starts: command.startTransaction === true }
      : undefined;
  return {
    name: (Object.keys(command)[0] ?? '').toLowerCase(),
    command,
    wire,
    database: command.$db ?? 'admin',
    session,
    transaction,
  };
}

function sessionKey({ id }: BSON.Document): string {
  return id.toString('hex');
}

const TAKE: Record<Statement['takes'][number], (request: Request) => string | Buffer | null> = {
  database: ({ database }) => database,
  body: ({ wire }) => wire.body,
  sequence: ({ wire }) => wire.sequence ?? null,
  retry: retryId,
  collection: ({ command }) => String(Object.values(command)[0]),
};

function parameters(request: Request, statement: Statement) {
  return statement.takes.map((what) => TAKE[what](request));
}

/**
 * The engine remembers a write by this text and answers a retried one with the first outcome instead of writing twice.
 * It does so for one statement; of a batch it forgets, and a retried batch is written again: inserts answer 11000 then,
 * `$inc` counts twice. MongoDB would remember batches too.
 */
function retryId({ session, command, transaction }: Request): string | null {
  return session === undefined || command.txnNumber === undefined || transaction
    ? null
    : `${session}:${command.txnNumber}`;
}

/** The engine's errors of single statements, with MongoDB's codes; one that concerns the whole command comes alone. */
function writeErrors(reply: Buffer, inTransaction: boolean): BSON.Document | MongoFault {
  const document = BSON.deserialize(reply);
  const errors: BSON.Document[] = (document.writeErrors ?? []).map((error: BSON.Document) => ({
    ...error,
    ...faultOf(stateOf(error.code), error.errmsg, inTransaction),
  }));
  const whole = errors.find(({ code, errorLabels }) => errorLabels || code === INTERNAL[0]);
  return whole
    ? fault([whole.code, whole.codeName], whole.errmsg, inTransaction)
    : { ...document, writeErrors: errors };
}

function thrown(error: unknown, inTransaction: boolean): MongoFault {
  if (error instanceof postgres.PostgresError) return faultOf(error.code, error.message, inTransaction);
  return fault(INTERNAL, error instanceof Error ? error.message : String(error));
}
