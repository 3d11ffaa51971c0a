// Moves all documents of a MongoDB database and their feed, writing them with their revisions and numbers.

import { bodyText, toKind } from '../index/kinds.ts';
import type { Change, Kind, StoredDocument } from '../store.ts';
import type { DocumentTransfer } from '../transfer.ts';
import { checkPrefix, type MongoSource, workOn } from './connection.ts';
import { openRegistry } from './declare.ts';
import type { Published } from './feed.ts';
import { listFields, type Row } from './rows.ts';

/** Takes the options of `mongoDocuments`. Throws ERR_CONFIG for an invalid URL or prefix. */
export function mongoTransfer(options: MongoSource & { readonly prefix?: string }): DocumentTransfer {
  const { prefix = 'twinline' } = options;
  checkPrefix(prefix);
  const { db, run, close } = workOn(options);
  const registry = openRegistry(db, prefix);
  const feed = () => db().collection<Published>(`${prefix}.changes`);

  return {
    kinds: () => run('read kinds', async () => Array.from((await registry.refresh()).values(), toKind)),
    insert: (kind, documents) =>
      run('insert documents', async () => {
        const { rows } = await registry.findKind(kind);
        await rows.insertMany(documents.map((document) => makeRow(kind, document)));
      }),
    remove: (kind, ids) =>
      run('remove documents', async () => {
        const { rows } = await registry.findKind(kind);
        await rows.deleteMany({ _id: { $in: [...ids] } });
      }),
    insertChanges: (changes) =>
      run('insert changes', async () => {
        await feed().insertMany(changes.map(makeEntry));
      }),
    removeChanges: (seqs) =>
      run('remove changes', async () => {
        await feed().deleteMany({ _id: { $in: [...seqs] } });
      }),
    close: () => close(),
  };
}

function makeRow(kind: Kind, { id, revision, body }: StoredDocument): Row {
  return { _id: id, v: revision, body: bodyText(kind.name, id, body), f: listFields(body), out: [] };
}

// The change is numbered already; writers never use this name.
function makeEntry({ seq, ...change }: Change): Published {
  return { _id: seq, x: `moved ${seq}`, ...change };
}
