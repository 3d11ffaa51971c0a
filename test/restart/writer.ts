// A process that is killed: opens both embedded stores, looks for everything that was acknowledged, and writes on.
// `process.argv` says the folder and the name that its keys begin with.

import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { type Acknowledged, bodyOf, DOCUMENTS, KIND, SESSIONS, type Task, type Told, textOf } from './messages.ts';

const [folder = '', lane = ''] = process.argv.slice(2);
const FAR = 8.64e15;
const PAGE = 500;

const snapshots = lmdbSnapshots({ path: join(folder, 'sessions') });
const documents = sqliteDocuments({ path: join(folder, 'documents.db') });

process.on('disconnect', () => process.exit());
process.once('message', (task: Task) => {
  work(task).catch((error) =>
    tell({ kind: 'broken', what: `${lane}: ${error instanceof Error ? error.stack : error}` }),
  );
});

async function work(task: Task): Promise<void> {
  await documents.declare([KIND]);
  const sessionsAt = await checkSessions(task.sessions);
  const documentsAt = await checkDocuments(task.documents);
  const after = await checkChanges(task.after, documentsAt);
  await tell({ kind: 'checked', sessions: sessionsAt, documents: documentsAt, after });
  await Promise.all([
    ...Object.entries(sessionsAt).map(([key, revision]) => writeSession(key, revision)),
    ...Object.entries(documentsAt).map(([id, revision]) => writeDocument(id, revision)),
  ]);
}

// Of each name one write was under way: it may be there or not, and nothing else may.
function expect(name: string, found: number, acknowledged: number): void {
  if (found < acknowledged || found > acknowledged + 1)
    throw new Error(`${name} is at revision ${found}, but ${acknowledged} was acknowledged`);
}

function same(name: string, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected))
    throw new Error(
      `${name} is torn: ${JSON.stringify(found)?.slice(0, 200)} instead of ${JSON.stringify(expected).slice(0, 200)}`,
    );
}

async function checkSessions(acknowledged: Acknowledged): Promise<Acknowledged> {
  const due = new Set(await snapshots.due(FAR - 1, 10_000));
  const found = Array.from({ length: SESSIONS }, async (_, at) => {
    const key = `${lane}/s${at}`;
    const stored = await snapshots.load(key);
    const revision = stored?.revision ?? 0;
    expect(key, revision, acknowledged[key] ?? 0);
    if (stored) same(key, stored, { ...sessionOf(key, revision), revision });
    same(`the due entry of ${key}`, due.has(key), revision % 2 === 1);
    return [key, revision] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

async function checkDocuments(acknowledged: Acknowledged): Promise<Acknowledged> {
  const found = Array.from({ length: DOCUMENTS }, async (_, at) => {
    const id = `${lane}/d${at}`;
    const stored = await documents.get(KIND, id);
    const revision = stored?.revision ?? 0;
    expect(id, revision, acknowledged[id] ?? 0);
    if (!stored) return [id, revision] as const;
    same(id, stored, { id, revision, body: bodyOf(id, revision) });
    const { items } = await documents.find(KIND, { index: 'revision', where: { revision }, limit: 100 });
    same(`the index entry of ${id}`, items.find((item) => item.id === id)?.revision, revision);
    return [id, revision] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

// The feed tells of every revision of this lane's documents, one after the other, up to the one that is stored.
async function checkChanges(from: number, stored: Acknowledged): Promise<number> {
  const last = new Map<string, number>();
  let after = from;
  for (;;) {
    const page = await documents.changes(after, PAGE);
    for (const { seq, id, revision } of page) {
      if (seq <= after) throw new Error(`change ${seq} follows change ${after}`);
      after = seq;
      const before = last.get(id);
      if (before !== undefined && revision !== before + 1)
        throw new Error(`the feed tells of revision ${revision} of ${id} after ${before}`);
      last.set(id, revision);
    }
    if (page.length < PAGE) break;
  }
  for (const [id, revision] of Object.entries(stored))
    if (last.has(id)) same(`the last change of ${id}`, last.get(id), revision);
  return after;
}

function sessionOf(key: string, revision: number) {
  const dueAt = revision % 2 === 1 ? FAR - 2 : null;
  return {
    record: textOf(key, revision),
    turnKey: `t${revision}`,
    reply: `r${revision}`,
    ended: false,
    expiresAt: FAR,
    dueAt,
  };
}

async function writeSession(key: string, from: number): Promise<never> {
  for (let revision = from; ; revision++) {
    const result = await snapshots.commit(key, revision, sessionOf(key, revision + 1));
    same(`a commit of ${key}`, result, { kind: 'committed', revision: revision + 1 });
    await tell({ kind: 'session', name: key, revision: revision + 1 });
  }
}

async function writeDocument(id: string, from: number): Promise<never> {
  for (let revision = from; ; revision++) {
    if (revision === 0) await documents.insert(KIND, id, bodyOf(id, 1));
    else await documents.replace(KIND, id, revision, bodyOf(id, revision + 1));
    await tell({ kind: 'document', name: id, revision: revision + 1 });
  }
}

// Resolves when the message has left this process: only then does the next write of the same name begin.
function tell(what: Told): Promise<unknown> {
  return new Promise((resolve) => process.send!(what, undefined, undefined, resolve));
}
