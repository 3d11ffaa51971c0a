// What reading the feed costs the store, however many changes and readers there are.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { endOfFeed, eventsAfter, feed } from '../../lib/domain/feed/feed.ts';
import { DOMAIN, DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
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

test('a hundred who read everything from the beginning, or from somewhere, cost the store one reading', async () => {
  const base = memoryDocuments();
  await base.declare(DOMAIN_KINDS);
  for (let n = 0; n < 1_000; n++) {
    const journal = { at: n, by: 'x', action: 'create', events: [{ type: 'domain.created', data: { n } }] };
    await base.insert(DOMAIN, `d${n}`, { tenant: `t${n % 100}`, journal });
  }
  let pages = 0;
  const documents: DocumentStore = {
    ...base,
    changes: (...given) => {
      pages++;
      return base.changes(...given);
    },
  };
  const events = feed({ documents, clock: new SimulatedClock(), pollMs: Number.MAX_SAFE_INTEGER });
  const readers = Array.from({ length: 100 }, async (_, tenant) => {
    const end = new AbortController();
    const seen: unknown[] = [];
    const after = tenant % 2 ? 0 : 16 * 37 + 15;
    for await (const { data } of events.follow(`t${tenant}`, { after, signal: end.signal })) {
      seen.push(data.n);
      if (data.n === 900 + tenant) end.abort();
    }
    const all = Array.from({ length: 10 }, (_, at) => tenant + at * 100);
    assert.equal(seen, tenant % 2 ? all : all.filter((n) => n >= 37));
  });
  await Promise.all(readers);
  events.close();
  assert.ok(pages < 16, `${pages} pages`);
});

test('what another process writes is told at the next look', async () => {
  const [clock, documents] = [new SimulatedClock(), memoryDocuments()];
  await documents.declare(DOMAIN_KINDS);
  const events = feed({ documents, clock, pollMs: 10 });
  const following = events.follow('t', { after: 0, signal: new AbortController().signal })[Symbol.asyncIterator]();
  const next = following.next();
  await clock.advance(10);
  const journal = { at: 1, by: 'x', action: 'create', events: [{ type: 'domain.created', data: { n: 1 } }] };
  await documents.insert(DOMAIN, 'd', { tenant: 't', journal });
  await clock.advance(10);
  assert.equal((await next).value!.data, { n: 1 });
  events.close();
});

test.run();
