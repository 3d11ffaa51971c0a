// A process of its own on the MongoDB stores, for mongo-processes.ts; `process.argv` says URL, prefix and a name.

import { mongoDocuments } from '../../lib/store/mongo/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { PERSON } from '../../lib/testing/documents/bench.ts';

const [url = '', prefix = '', name = ''] = process.argv.slice(2);
const TURNS = 60;

const store = mongoDocuments({ url, prefix });
await store.declare([PERSON]);
const claims = await Promise.all(
  Array.from({ length: TURNS }, (_, at) => store.insert(PERSON, `${name}${at}`, { phone: at })),
);
await Promise.all(Array.from({ length: TURNS }, (_, at) => increment(store, `counter${at % 3}`)));
process.send?.({ claimed: claims.filter(({ kind }) => kind === 'inserted').length });
// Goes on until it is killed, relays as it goes, and tells of every write once it is acknowledged.
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
