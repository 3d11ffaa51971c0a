// A process of its own on a document store, for contract/document-processes.ts; `process.argv` says where, a name and how many turns.

import { mongoDocuments } from '../../lib/store/mongo/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { PERSON } from '../../lib/testing/documents/bench.ts';

const [place = '', name = '', count = '', prefix = ''] = process.argv.slice(2);

process.send?.('opening');
const store = place.startsWith('mongodb') ? mongoDocuments({ url: place, prefix }) : sqliteDocuments({ path: place });
await store.declare([PERSON]);
const turns = Array.from({ length: Number(count) }, (_, at) => at);
const claims = await Promise.all(turns.map((at) => store.insert(PERSON, `${name}${at}`, { phone: at })));
await Promise.all(turns.map((at) => increment(store, `counter${at % 3}`)));
process.send?.({ claimed: claims.filter(({ kind }) => kind === 'inserted').length });
// Goes on until it is killed, reads the feed as it goes, and tells of every write once it is acknowledged.
for (let revision = 1; process.connected; revision++) {
  if (revision === 1) await store.insert(PERSON, name, { any: 1 });
  else await store.replace(PERSON, name, revision - 1, { any: revision });
  process.send?.(revision);
  void store.changes(0, 100_000).catch(() => {});
}

async function increment(on: DocumentStore, id: string): Promise<void> {
  for (;;) {
    const found = await on.get<{ n: number }>(PERSON, id);
    const n = (found?.body.n ?? 0) + 1;
    if (!found) {
      const inserted = await on.insert(PERSON, id, { n });
      if (inserted.kind === 'inserted') return;
    } else if ((await on.replace(PERSON, id, found.revision, { n })).kind === 'replaced') return;
  }
}
