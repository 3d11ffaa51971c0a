// Which SQL function of the engine answers which MongoDB command. No logic of a database lives here: arguments go in as
// BSON, results come out as BSON.

import type { BSON } from 'mongodb';

/** What comes back: a row with `p_result` (and `p_success`, when writes can fail one by one), a first page, or nothing. */
type Shape = 'document' | 'cursor' | 'plain';

export interface Statement {
  readonly shape: Shape;
  readonly sql: string;
  /** What the statement takes, in the order of `$1`, `$2` … */
  readonly takes: readonly ('database' | 'body' | 'sequence' | 'retry' | 'collection')[];
  /** What runs instead for several writes outside of a transaction. */
  readonly batch?: Statement;
}

const DOCUMENT = '$2::bytea::documentdb_core.bson';

function cursor(name: string): Statement {
  return {
    shape: 'cursor',
    sql: `SELECT cursorpage::bytea AS reply, continuation::bytea AS continuation, persistconnection AS pinned, cursorid AS id
      FROM documentdb_api.${name}_cursor_first_page($1, ${DOCUMENT})`,
    takes: ['database', 'body'],
  };
}

function write(name: string, batch?: Statement): Statement {
  return {
    shape: 'document',
    sql: `SELECT p_result::bytea AS p_result, p_success
      FROM documentdb_api.${name}($1, ${DOCUMENT}, $3::bytea::documentdb_core.bsonsequence, $4)`,
    takes: ['database', 'body', 'sequence', 'retry'],
    ...(batch && { batch }),
  };
}

// Commits in between, as MongoDB does: two batches that meet in opposite order must not lock each other out.
function batch(name: string): Statement {
  return {
    shape: 'document',
    sql: `CALL documentdb_api.${name}_bulk($1, ${DOCUMENT}, $3::bytea::documentdb_core.bsonsequence, NULL)`,
    takes: ['database', 'body', 'sequence'],
  };
}

function document(expression: string, takes: Statement['takes'] = ['database', 'body']): Statement {
  return { shape: 'document', sql: `SELECT (${expression})::bytea AS p_result`, takes };
}

function plain(sql: string, takes: Statement['takes']): Statement {
  return { shape: 'plain', sql, takes };
}

/** By the command's name in lower case, as MongoDB compares them. */
export const STATEMENTS: Readonly<Record<string, Statement>> = {
  find: cursor('find'),
  aggregate: cursor('aggregate'),
  listcollections: cursor('list_collections'),
  listindexes: cursor('list_indexes'),
  insert: write('insert', batch('insert')),
  update: write('update', batch('update')),
  delete: write('delete'),
  findandmodify: {
    shape: 'document',
    sql: `SELECT p_result::bytea AS p_result, p_success FROM documentdb_api.find_and_modify($1, ${DOCUMENT}, $3)`,
    takes: ['database', 'body', 'retry'],
  },
  count: document(`SELECT document FROM documentdb_api.count_query($1, ${DOCUMENT})`),
  distinct: document(`SELECT document FROM documentdb_api.distinct_query($1, ${DOCUMENT})`),
  create: document(`documentdb_api.create_collection_view($1, ${DOCUMENT})`),
  collmod: document(`documentdb_api.coll_mod($1, $3, ${DOCUMENT})`, ['database', 'body', 'collection']),
  collstats: document('documentdb_api.coll_stats($1, $2)', ['database', 'collection']),
  dbstats: document('documentdb_api.db_stats($1)', ['database']),
  listdatabases: document('documentdb_api.list_databases($1::bytea::documentdb_core.bson)', ['body']),
  renamecollection: document('documentdb_api.rename_collection($1::bytea::documentdb_core.bson)', ['body']),
  validate: document(`SELECT document FROM documentdb_api.validate($1, ${DOCUMENT})`),
  // The engine's createIndexes builds in the background and its caller polls, two seconds at least. This one is the
  // engine's own too: it holds writers up and is done when it returns, as MongoDB's is on an empty collection.
  createindexes: document(
    `WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(1)),
      made AS MATERIALIZED (SELECT documentdb_api.create_collection($1, $3) FROM turn)
      SELECT documentdb_api_internal.create_indexes_non_concurrently($1, ${DOCUMENT}, true) FROM made`,
    ['database', 'body', 'collection'],
  ),
  dropindexes: plain(`CALL documentdb_api.drop_indexes($1, ${DOCUMENT})`, ['database', 'body']),
  // MongoDB 7 drops what is not there without an error, and so do these.
  drop: plain('SELECT documentdb_api.drop_collection($1, $2)', ['database', 'collection']),
  dropdatabase: plain('SELECT documentdb_api.drop_database($1)', ['database']),
};

/** The next page of a cursor; its parameters are database, getMore and continuation. */
export const GET_MORE = `SELECT cursorpage::bytea AS reply, continuation::bytea AS continuation
  FROM documentdb_api.cursor_get_more($1, ${DOCUMENT}, $3::bytea::documentdb_core.bson)`;

export const KILL_CURSORS = 'SELECT documentdb_api_internal.delete_cursors($1::text::bigint[])';

/** What hello answers: a replica set of one, so that the driver offers sessions, retries and transactions. */
export function hello(address: string): BSON.Document {
  return {
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    secondary: false,
    setName: 'twinline',
    setVersion: 1,
    hosts: [address],
    primary: address,
    me: address,
    maxBsonObjectSize: 16 * 1024 * 1024,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 25_000,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    // MongoDB 7.0
    maxWireVersion: 21,
    readOnly: false,
    ok: 1,
  };
}
