// The end of the feed is one question to the store, however many changes there are.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endOfFeed, eventsAfter } from '../../lib/domain/feed/feed.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore, Kind } from '../../lib/store/store.ts';

const OTHER: Kind = { name: 'other', indexes: {} };

test('the end of the feed takes one call, and nothing that was there comes after it', async () => {
  const base = memoryDocuments();
  await base.declare([OTHER]);
  const asked: string[] = [];
  const documents: DocumentStore = {
    ...base,
    changes: (...given) => {
      asked.push('changes');
      return base.changes(...given);
    },
    lastChange: () => {
      asked.push('lastChange');
      return base.lastChange();
    },
  };
  for (const count of [0, 1, 1_000]) {
    for (let at = 0; at < count; at++) await base.insert(OTHER, `${count}-${at}`, {});
    asked.length = 0;
    const end = await endOfFeed(documents);
    assert.equal(asked, ['lastChange']);
    const page = await eventsAfter(documents, end, 10);
    assert.is(page.atEnd, true);
    assert.is(page.upTo, end);
  }
});

test.run();
