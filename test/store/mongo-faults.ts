// What the MongoDB stores promise when the way to the server fails: errors, no lost and no double change.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectMongo, type MongoConnection, mongoDocuments, mongoSnapshots } from '../../lib/store/mongo/index.ts';
import type { Change, DocumentStore } from '../../lib/store/store.ts';
import { PERSON, PLAIN } from '../../lib/testing/documents/bench.ts';
import { refuses, session } from '../../lib/testing/sessions/bench.ts';
import { type Fault, type FaultProxy, faultProxy, PASS } from '../support/fault-proxy.ts';
import { numbersFrom } from '../support/random.ts';
import { until } from '../support/until.ts';
import type { MongoBench } from './mongo-bench.ts';

const ANSWER_MS = 400;

export function mongoFaults({ url, prefixOf }: MongoBench): void {
  const test = suite('MongoDB behind a bad network');
  let proxy: FaultProxy;
  let far: MongoConnection;
  let made = 0;
  let prefix = '';

  test.before.each(async () => {
    const { hostname, port, pathname } = new URL(url);
    proxy = await faultProxy({ port: Number(port) });
    const through = `mongodb://${hostname}:${proxy.port}${pathname}?directConnection=true`;
    far = connectMongo({ url: through, answerMs: ANSWER_MS, connectMs: ANSWER_MS });
    prefix = await prefixOf(`faults${made++}`);
  });
  test.after.each(async () => {
    await far.close();
    await proxy.close();
  });

  const away: Record<string, Fault> = {
    refuses: { kind: 'refuse' },
    'is silent': { kind: 'freeze' },
    'cuts off': { kind: 'reset' },
  };
  for (const [what, fault] of Object.entries(away))
    test(`a server that ${what} is told as ERR_STORE, and used again when it is back`, async () => {
      const documents = mongoDocuments({ connection: far, prefix });
      const sessions = mongoSnapshots({ connection: far, prefix });
      await documents.declare([PERSON, PLAIN]);
      await documents.insert(PERSON, 'a', {});
      await sessions.commit('a', 0, session({ now: Date.now }));
      await proxy.set(fault);
      const calls: (() => unknown)[] = [
        () => documents.get(PERSON, 'a'),
        () => documents.insert(PERSON, 'b', {}),
        () => documents.find(PERSON),
        () => documents.changes(0, 10),
        () => documents.ping(),
        () => sessions.load('a'),
        () => sessions.commit('a', 1, session({ now: Date.now })),
        () => far.ping(),
      ];
      const refused = () => Promise.all(calls.map((call) => refuses('ERR_STORE', call)));
      const errors = await refused();
      for (const { message } of errors) assert.match(message, far.name);
      await proxy.set(PASS);
      await persistently(() => documents.ping());
      assert.is((await persistently(() => documents.get(PERSON, 'a')))?.revision, 1);
      assert.ok(await persistently(async () => sessions.load('a')));
      await documents.close();
      await sessions.close();
    });

  test('a write whose answer was lost is not done twice', async () => {
    const store = mongoDocuments({ connection: far, prefix });
    await store.declare([PERSON, PLAIN]);
    await store.insert(PERSON, 'a', { any: 0 });
    for (let revision = 1; revision < 6; revision++) {
      await proxy.set({ kind: 'lose-reply', to: /findAndModify.*documents\.Person/s, after: 'close' });
      const replacing = store.replace(PERSON, 'a', revision, { any: revision });
      while (proxy.lost === 0) await new Promise(setImmediate);
      await proxy.set(PASS);
      const result = await replacing.catch((error: { code: string }) => error.code);
      if (result !== 'ERR_STORE') assert.equal(result, { kind: 'replaced', revision: revision + 1 });
      assert.is((await persistently(() => store.get(PERSON, 'a')))?.revision, revision + 1);
    }
    const revisions = (await persistently(() => store.changes(0, 100))).map(({ revision }) => revision);
    assert.equal(revisions, [1, 2, 3, 4, 5, 6]);
    await store.close();
  });

  test('whatever is cut off where, each write is one change, in order, and a reader misses none', async () => {
    const near = mongoDocuments({ url, prefix });
    await near.declare([PERSON, PLAIN]);
    const stores = [0, 1, 2].map(() => mongoDocuments({ connection: far, prefix }));
    const random = numbersFrom(Number(process.env.TEST_SEED ?? 1));
    let ends = false;
    let isQuiet = false;
    const read: Change[] = [];
    const reading = (async () => {
      for (let last = false; ; last = isQuiet) {
        const page = await near.changes(read.at(-1)?.seq ?? 0, 50);
        read.push(...page);
        if (last && page.length === 0) return;
      }
    })();
    const acknowledged = stores.map(() => 0);
    const writing = stores.map((store, at) =>
      churn(store, `w${at}`, { isOver: () => ends, acknowledge: () => acknowledged[at]!++ }),
    );
    for (let round = 0; round < 12 || acknowledged.some((count) => count < 10); round++) {
      await new Promise((resolve) => setTimeout(resolve, 20 + random() * 120));
      const faults: Fault[] = [
        { kind: 'reset' },
        { kind: 'lose-reply', to: /\.changes/, after: 'close' },
        { kind: 'lose-reply', to: /documents/, after: 'close' },
        { kind: 'refuse' },
      ];
      await proxy.set(faults[Math.floor(random() * faults.length)]!);
      await new Promise((resolve) => setTimeout(resolve, 10 + random() * 60));
      await proxy.set(PASS);
    }
    ends = true;
    await Promise.all(writing);
    for (const store of stores) await store.close();
    isQuiet = true;
    await reading;
    const all = await near.changes(0, 100_000);
    assert.equal(read, all);
    assert.equal(
      all.map(({ seq }) => seq),
      all.map((_, at) => at + 1),
    );
    for (const [at, told] of acknowledged.entries()) {
      assert.ok(told >= 10, `${told} writes of ${at} acknowledged`);
      const revisions = all.filter(({ id }) => id === `w${at}`).map(({ revision }) => revision);
      // An insert, replaces one by one, a removal, and over again.
      for (const [place, revision] of revisions.entries())
        assert.ok(revision === 0 || revision === (revisions[place - 1] ?? 0) + 1, `${revisions}`);
      const found = await near.get(PERSON, `w${at}`);
      assert.is(revisions.at(-1) ?? 0, found?.revision ?? 0);
      assert.ok(revisions.length >= told, `${revisions.length} changes, ${told} acknowledged`);
    }
    await near.close();
  });

  test.run();
}

// Inserts, replaces and removes one document, again and again; tells of every write that was acknowledged.
async function churn(store: DocumentStore, id: string, told: { isOver(): boolean; acknowledge(): void }) {
  for (let at = 0; !told.isOver(); at++)
    try {
      if (await write(store, id)) told.acknowledge();
      if (at % 5 === 0) await store.changes(0, 1_000);
    } catch (error) {
      assert.is((error as { code: string }).code, 'ERR_STORE', String(error));
    }
}

async function write(store: DocumentStore, id: string): Promise<boolean> {
  const found = await store.get(PERSON, id);
  const body = { phone: id, any: found?.revision ?? 0 };
  if (!found) return (await store.insert(PERSON, id, body)).kind === 'inserted';
  if (found.revision > 6) return store.remove(PERSON, id, found.revision);
  return (await store.replace(PERSON, id, found.revision, body)).kind === 'replaced';
}

// What is refused just after a fault, while the driver looks for the server again.
async function persistently<T>(call: () => Promise<T>): Promise<T> {
  const { value } = await until('the server to be found again', () =>
    call().then(
      (value) => ({ value }),
      () => undefined,
    ),
  );
  return value;
}
