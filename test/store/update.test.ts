// `update`: one document is changed as a whole, whoever else changes it, and callers are told what became of it.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { update } from '../../lib/store/update.ts';
import { PERSON } from '../../lib/testing/documents/bench.ts';
import { refuses } from '../../lib/testing/sessions/bench.ts';

type Count = { readonly n: number };

async function place(): Promise<DocumentStore> {
  const documents = memoryDocuments();
  await documents.declare([PERSON]);
  return documents;
}

test('it writes what the change makes, leaves what the change leaves, and says when nothing is there', async () => {
  const documents = await place();
  assert.equal(await update<Count>(documents, PERSON, 'a', () => undefined), { kind: 'missing' });
  const made = await update<Count>(documents, PERSON, 'a', (body) => ({ n: (body?.n ?? 0) + 1 }));
  assert.equal(made, { kind: 'updated', document: { id: 'a', revision: 1, body: { n: 1 } } });
  const changed = await update<Count>(documents, PERSON, 'a', async (body) => ({ n: body!.n + 1 }));
  assert.equal(changed, { kind: 'updated', document: { id: 'a', revision: 2, body: { n: 2 } } });
  const left = await update<Count>(documents, PERSON, 'a', () => undefined);
  assert.equal(left, { kind: 'unchanged', document: { id: 'a', revision: 2, body: { n: 2 } } });
  assert.is(await documents.lastChange(), 2);
});

test('it gives up after as many conflicts as a turn may have', async () => {
  const documents = await place();
  await documents.insert(PERSON, 'a', { n: 0 });
  let tries = 0;
  const error = await refuses('ERR_CONFLICT', () =>
    update<Count>(documents, PERSON, 'a', async () => {
      tries++;
      const { revision } = (await documents.get(PERSON, 'a'))!;
      await documents.replace(PERSON, 'a', revision, { n: -tries });
      return { n: 1 };
    }),
  );
  assert.match(error.message, PERSON.name);
  assert.is(tries, COMMON_LIMITS.conflictsPerTurn);
  assert.equal((await documents.get<Count>(PERSON, 'a'))?.body, { n: -tries });
});

test('a unique value that another document has is refused at once, by the name of its index', async () => {
  const documents = await place();
  await documents.insert(PERSON, 'a', { phone: '+2541' });
  await documents.insert(PERSON, 'b', {});
  for (const id of ['b', 'c']) {
    const error = await refuses('ERR_EXISTS', () => update(documents, PERSON, id, () => ({ phone: '+2541' })));
    assert.match(error.message, '"phone"');
    assert.not.match(error.message, '2541');
  }
});

test.run();
