// What a search of twins reads: what it finds, and hardly more, however many others there are.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { isRefusal } from '../../lib/domain/problems.ts';
import { registry } from '../../lib/domain/registry.ts';
import type { ListQuery } from '../../lib/domain/twin/list.ts';
import { indexTerms } from '../../lib/domain/twin/terms.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { ALICE, COOKING, openBench } from './registry-bench.ts';

const test = suite('search of twins');

const OTHERS = 600;

/** A registry with many twins that nobody looks for, and what a search in it finds and reads. */
async function open() {
  const clock = new SimulatedClock();
  const inner = memoryDocuments({ clock });
  let rows = 0;
  const documents: DocumentStore = {
    ...inner,
    find: async (kind, query) => {
      const page = await inner.find(kind, query);
      if (kind.name === 'domain') rows += page.items.length;
      return page as never;
    },
  };
  await documents.declare(DOMAIN_KINDS);
  const twins = registry({ documents, clock });
  await twins.protocols.create(ALICE, {
    type: 'Protocol',
    alsoKnownAs: COOKING,
    properties: { place: 'string', stoves: 'number', tags: 'array', rare: 'number' },
  });
  const make = async (name: string, properties: JsonObject = {}, more: JsonObject = {}) => {
    await clock.advance(1_000);
    return twins.create(ALICE, { body: { type: 'Project', class: COOKING, metadata: { name }, properties, ...more } });
  };
  for (let at = 0; at < OTHERS; at++)
    await make(
      `House number ${at}`,
      { place: `Place ${at % 50}`, stoves: at },
      { type: at % 2 ? 'Device' : 'Project' },
    );
  const search = async (query: ListQuery) => {
    rows = 0;
    const { items } = await twins.list(ALICE, { limit: 25, sort: '-created', ...query });
    return { names: items.map(({ body }) => body.metadata.name), rows };
  };
  return { make, search, twins };
}

const at = open();

test('words are found by their beginnings, in any case and without accents, and only what fits is read', async () => {
  const { make, search } = await at;
  await make('Élan Stoves of Mukuni', {}, { externalId: 'KOB/7731' });
  await make('Stovepipes, Mongu');
  for (const text of ['STOVES', 'stoves mukuni', 'elan', 'ÉLAN sto', '7731', 'kob 77'])
    assert.equal((await search({ text })).names, ['Élan Stoves of Mukuni'], text);
  const both = await search({ text: 'stove' });
  assert.equal(both, { names: ['Stovepipes, Mongu', 'Élan Stoves of Mukuni'], rows: 2 });
  assert.equal(await search({ text: 'toves' }), { names: [], rows: 0 }, 'not from the middle of a word');
  const long = 'abcdefghijklmnopqrstuvwxyz';
  await make(`${long}one`);
  await make(`${long}two`);
  assert.equal(await search({ text: `${long}t` }), { names: [`${long}two`], rows: 2 }, 'what follows is compared');
});

test('type, status and values of properties are read from an index, and comparisons from those that have the property', async () => {
  const { make, search } = await at;
  await make('Rare one', { rare: 7, place: 'Kabwe', tags: ['red', 'green'] }, { type: 'Oracle' });
  assert.equal(await search({ filter: 'eq(properties.place,"Kabwe")' }), { names: ['Rare one'], rows: 1 });
  assert.equal(await search({ filter: 'eq(properties.tags,"green")' }), { names: ['Rare one'], rows: 1 });
  assert.equal(await search({ filter: 'gt(properties.rare,5)' }), { names: ['Rare one'], rows: 1 });
  assert.equal(await search({ filter: 'and(eq(type,"Oracle"),exists(properties.rare))' }), {
    names: ['Rare one'],
    rows: 1,
  });
  assert.equal(await search({ type: 'Oracle' }), { names: ['Rare one'], rows: 1 });
  assert.equal(await search({ status: 'Verified' }), { names: [], rows: 0 });
  const place = await search({ filter: 'eq(properties.place,"Place 3")', type: 'Device' });
  assert.is(place.names.length, OTHERS / 50);
  assert.is(place.rows, OTHERS / 50);
  assert.equal(await search({ text: 'rare', status: 'Verified' }), { names: [], rows: 0 });
  const last = await search({ text: `house number ${OTHERS - 1}` });
  assert.equal(last, { names: [`House number ${OTHERS - 1}`], rows: 1 }, 'by the rarest of the words');
});

test('pages of a filter of many properties go on where they were, though another of them has become the rarest', async () => {
  const { twins } = await at;
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
  const protocol = 'did:ixo:protocol/many';
  const properties = Object.fromEntries(names.map((name) => [name, 'number']));
  await twins.protocols.create(ALICE, { type: 'Protocol', alsoKnownAs: protocol, properties });
  const make = (own: readonly string[]) => {
    const values = Object.fromEntries(own.map((name) => [name, 1]));
    return twins.create(ALICE, { body: { type: 'Project', class: protocol, properties: values } });
  };
  const all = [await make(names), await make(names)].map(({ id }) => id);
  await make(names.slice(0, -1));
  const query = { filter: `and(${names.map((name) => `exists(properties.${name})`)})`, limit: 1 };
  const first = await twins.list(ALICE, query);
  for (let more = 0; more < 2; more++) await make(names.slice(-1));
  const second = await twins.list(ALICE, { ...query, cursor: first.next! });
  assert.equal([...first.items, ...second.items].map(({ id }) => id).sort(), all.sort());
});

test('a graph reads some twins at a time, and no more of those that point at others than a list looks at', async () => {
  const inner = memoryDocuments();
  const running = { now: 0, most: 0 };
  let padding = '';
  const documents: DocumentStore = {
    ...inner,
    find: async (kind, query) => {
      running.most = Math.max(running.most, ++running.now);
      const page = await inner.find(kind, query);
      await new Promise(setImmediate);
      running.now--;
      const items = page.items.map(({ body, ...rest }) => ({ ...rest, body: { ...body, padding } }));
      return { ...page, items } as never;
    },
  };
  const { make, registry: twins } = await openBench(documents);
  const { id: did } = await make('Project');
  for (let at = 0; at < 40; at++) await make('Project', { relationships: { peer: did } });
  const query = { did, depth: 2, direction: 'in', relation: 'peer' } as const;
  running.most = 0;
  const whole = await twins.graph(ALICE, query);
  assert.equal([whole.nodes.length, whole.truncated], [41, false]);
  assert.ok(running.most <= 16, `${running.most} reads at a time`);
  padding = 'x'.repeat(DOMAIN_LIMITS.listScanBytes / 20);
  const cut = await twins.graph(ALICE, query);
  assert.ok(cut.nodes.length < 41 && cut.truncated, `${cut.nodes.length} twins`);
});

test('a graph reads so many bytes of the twins that it leads to, and shows so many edges', async () => {
  const { make, registry: twins } = await openBench();
  const linked = async (count: number, body: JsonObject) => {
    const ids: string[] = [];
    for (let at = 0; at < count; at++) ids.push((await make('Project', body)).id);
    return ids;
  };
  const large = await linked(28, { metadata: { padding: 'x'.repeat(DOMAIN_LIMITS.listScanBytes / 23) } });
  const { id: did } = await make('Project', { relationships: { peer: large } });
  const cut = await twins.graph(ALICE, { did, relation: 'peer' });
  const known = cut.nodes.filter(({ type }) => type !== undefined).length;
  assert.ok(cut.truncated && cut.nodes.length === 29 && known > 20 && known < 29, `${known} were read`);
  const linkedEntity = Array.from({ length: 250 }, (_, at) => ({
    relationship: 'knows',
    id: `did:x:${at}`,
    type: 'a',
  }));
  const hubs = await linked(DOMAIN_LIMITS.graphEdges / 250 + 1, { linkedEntity });
  const { id: root } = await make('Project', { relationships: { peer: hubs } });
  const wide = await twins.graph(ALICE, { did: root, depth: 2 });
  assert.equal([wide.edges.length, wide.truncated], [DOMAIN_LIMITS.graphEdges, true]);
});

test('a page of a filter ends when it has compared enough, others have their turn, and the next pages tell the rest', async () => {
  const { make, registry: twins } = await openBench();
  const made: string[] = [];
  for (let at = 0; at < 8; at++) made.push((await make('Project', { metadata: { x: `${'a'.repeat(400_000)}b` } })).id);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const listed: string[] = [];
  let pages = 0;
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined, pages++) {
    const filter = `like(metadata.x,"*${'a'.repeat(100)}b")`;
    const page = await twins.list(ALICE, { filter, limit: 100, ...(cursor !== undefined && { cursor }) });
    listed.push(...page.items.map(({ id }) => id));
    cursor = page.next;
  }
  isOver = true;
  assert.equal(listed.sort(), [...made].sort());
  assert.ok(pages > 2 && pages < 8 && turns > pages, JSON.stringify({ pages, turns }));
  const filter = `or(${Array.from({ length: 8 }, () => `like(metadata.x,"*${'a'.repeat(200)}c")`).join()})`;
  const refusal = await twins.list(ALICE, { filter }).catch((error: Error) => error);
  assert.ok(isRefusal(refusal, 'bad-filter'), String(refusal));
  assert.match(refusal.message, 'The filter compares too much in did:ixo:entity:');
});

test('what has changed is found by what it is now', async () => {
  const { make, search, twins } = await at;
  const { id, revision } = await make('Former name', { place: 'Chipata' });
  const patch = {
    type: 'merge',
    patch: { metadata: { name: 'Later name' }, properties: { place: 'Solwezi' } },
  } as const;
  await twins.patch(ALICE, { did: id, expected: revision, patch });
  assert.equal((await search({ text: 'former' })).names, []);
  assert.equal((await search({ text: 'later' })).names, ['Later name']);
  assert.equal((await search({ filter: 'eq(properties.place,"Chipata")' })).names, []);
  assert.equal((await search({ filter: 'eq(properties.place,"Solwezi")' })).names, ['Later name']);
});

test('a twin with more values than are indexed is found all the same', async () => {
  const { make, search } = await at;
  const tags = Array.from({ length: DOMAIN_LIMITS.valueTermsPerTwin + 10 }, (_, index) => `tag ${index}`);
  await make('Many tags', { tags });
  for (const tag of [tags[0], tags.at(-1)])
    assert.equal((await search({ filter: `eq(properties.tags,"${tag}")` })).names, ['Many tags']);
  assert.equal((await search({ filter: 'eq(properties.place,"Kabwe")' })).names, ['Rare one']);
});

test('terms are few and well-formed, whatever a name is', () => {
  const name = `${'\u{1f525}'.repeat(700)} ${'x'.repeat(5_000)} ${'ab '.repeat(2_000)}`;
  const { found } = indexTerms({
    metadata: { name },
    externalId: null,
    properties: { ['\u{1f600}'.repeat(90)]: name },
  });
  assert.ok(found.length < 400, `${found.length}`);
  for (const term of found) {
    assert.ok(term.length <= 270, term);
    assert.is(Buffer.from(term).toString(), term);
  }
});

test.run();
