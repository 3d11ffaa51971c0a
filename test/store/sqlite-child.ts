// A process of its own on the SQLite store, for sqlite-processes.test.ts; `process.argv` says the file and a name.

import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { PERSON } from '../../lib/testing/documents/bench.ts';

const [path = '', name = ''] = process.argv.slice(2);
const TURNS = 200;

const store = sqliteDocuments({ path });
await store.declare([PERSON]);
const claims = await Promise.all(
  Array.from({ length: TURNS }, (_, at) => store.insert(PERSON, `${name}${at}`, { phone: at })),
);
const turns = await Promise.all(Array.from({ length: TURNS }, (_, at) => increment(store, `counter${at % 3}`)));
process.send?.({
  claimed: claims.filter(({ kind }) => kind === 'inserted').length,
  conflicts: turns.reduce((sum, conflicts) => sum + conflicts, 0),
});
// Goes on until it is killed, and tells of every write once it is acknowledged.
for (let revision = 1; process.connected; revision++) {
  if (revision === 1) await store.insert(PERSON, name, { any: 1 });
  else await store.replace(PERSON, name, revision - 1, { any: revision });
  process.send?.(revision);
}

async function increment(on: DocumentStore, id: string): Promise<number> {
  for (let conflicts = 0; ; conflicts++) {
    const found = await on.get<{ n: number }>(PERSON, id);
    const n = (found?.body.n ?? 0) + 1;
    if (!found) {
      const inserted = await on.insert(PERSON, id, { n });
      if (inserted.kind === 'inserted') return conflicts;
    } else if ((await on.replace(PERSON, id, found.revision, { n })).kind === 'replaced') return conflicts;
  }
}
