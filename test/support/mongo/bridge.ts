// A MongoDB server for tests: speaks the wire protocol on one side and calls the DocumentDB engine in PostgreSQL on the
// other. It has no authentication and no TLS, and listens on the loopback interface only.

import { createServer, type Server, type Socket } from 'node:net';
import postgres, { type Options, type Sql } from 'postgres';
import { listenLow } from '../ports.ts';
import { answers, type Reply } from './answers.ts';
import { type Command, frames, readCommand, writeReply } from './wire.ts';

export interface Bridge {
  readonly port: number;
  /** `DocumentDB 1.0-0 on PostgreSQL 18.6` */
  readonly version: string;
  stop(): Promise<void>;
}

/** Connections to PostgreSQL: open transactions and some open cursors hold one each. */
const CONNECTIONS_MAX = 100;

const VERSION = `SELECT format('DocumentDB %s on PostgreSQL %s',
    extversion, split_part(current_setting('server_version'), ' ', 1)) AS version
  FROM pg_extension WHERE extname = 'documentdb'`;

/**
 * Starts the bridge on a free port, or on the one that an earlier one had, to a PostgreSQL that has the extension and
 * listens on the socket file `path`.
 */
export async function startBridge(path: string, had?: number): Promise<Bridge> {
  const sql = postgres({
    path,
    user: 'twinline',
    database: 'postgres',
    max: CONNECTIONS_MAX,
    // A command must not wait behind another one that waits for a lock. The option is in the code and not in the types.
    max_pipeline: 1,
    fetch_types: false,
    onnotice: () => {},
  } as Options<Record<string, never>>);
  const [{ version } = { version: '' }] = await sql.unsafe(VERSION);
  const sockets = new Set<Socket>();
  const server = createServer();
  const port = await listenLow(server, had);
  const answer = answers(sql, { address: `127.0.0.1:${port}`, version });
  server.on('connection', (client) => {
    sockets.add(client.on('close', () => sockets.delete(client)));
    serve(client, answer);
  });
  return { port, version, stop: () => stop(server, sockets, sql) };
}

async function stop(server: Server, sockets: ReadonlySet<Socket>, sql: Sql): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Who is let in at this very moment would ask a database that is gone, and wait.
  server.removeAllListeners('connection').on('connection', (late) => late.destroy());
  for (const socket of sockets) socket.destroy();
  await closed;
  await sql.end({ timeout: 0 });
}

/** Answers the commands of one connection, one after another. */
function serve(client: Socket, answer: (wire: Command) => Promise<Reply>): void {
  const read = frames();
  let last = Promise.resolve();
  const take = async (message: Buffer) => {
    const wire = readCommand(message);
    const reply = await answer(wire);
    if (wire.wantsReply && !client.destroyed) client.write(writeReply(wire, reply));
  };
  // As a server does with bytes that are no message: it hangs up.
  const hangUp = () => client.destroy();
  client.setNoDelay();
  client.on('error', hangUp);
  client.on('data', (chunk: Buffer) => {
    try {
      for (const message of read(chunk)) last = last.then(() => take(message)).catch(hangUp) as Promise<void>;
    } catch {
      hangUp();
    }
  });
}
