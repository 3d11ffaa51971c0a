// What moving all of a store needs of it, beside its contract: run with functions that open the store and its transfer on one place.

import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Change, DocumentStore, SnapshotStore, StoredDocument } from '../../lib/store/store.ts';
import type { DocumentTransfer, KeyedSession, SessionTransfer } from '../../lib/store/transfer.ts';
import type { Where } from '../../lib/testing/bench.ts';
import { PERSON, PLAIN } from '../../lib/testing/documents/bench.ts';
import { refuses, session } from '../../lib/testing/sessions/bench.ts';
import { withFolder } from '../support/process.ts';
import { suite } from '../support/suites.ts';

export interface OpenBeside<Store, Transfer> {
  readonly store: Store;
  readonly transfer: Transfer;
}
type Opens<Opened> = (where: Where) => Opened | Promise<Opened>;

function run<Opened extends OpenBeside<{ close(): Promise<void> }, { close(): Promise<void> }>>(
  name: string,
  open: Opens<Opened>,
  promises: { readonly [promise: string]: (opened: Opened, clock: SimulatedClock) => Promise<void> },
): void {
  const test = suite(name);
  for (const [promise, keep] of Object.entries(promises))
    test(promise, () =>
      withFolder(async (folder) => {
        const clock = new SimulatedClock();
        const opened = await open({ folder, clock });
        try {
          await keep(opened, clock);
        } finally {
          await opened.transfer.close();
          await opened.store.close();
        }
      }),
    );
  test.run();
}

/** All sessions, in pages of two, by key. */
async function scanAll(transfer: SessionTransfer): Promise<KeyedSession[]> {
  const all: KeyedSession[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await transfer.scan(2, cursor);
    assert.ok(page.items.length <= 2);
    all.push(...page.items);
    cursor = page.next;
  }
  return all.sort((a, b) => (a.key < b.key ? -1 : 1));
}

export function sessionTransferContract(name: string, open: Opens<OpenBeside<SnapshotStore, SessionTransfer>>): void {
  run(`transfer of sessions ${name}`, open, {
    'a scan has each session once, also ended ones, with its revision, and none that has expired': async (
      { store, transfer },
      clock,
    ) => {
      for (let at = 0; at < 7; at++) {
        const next = session(clock, { ended: at % 2 === 0, dueAt: at % 3 ? null : clock.now() + at });
        for (let revision = 0; revision <= at; revision++) await store.commit(`k${at}`, revision, next);
      }
      await store.commit('gone', 0, session(clock, { expiresAt: clock.now() + 1 }));
      await clock.advance(2);
      const all = await scanAll(transfer);
      assert.equal(
        all.map(({ key, session: { revision } }) => [key, revision]),
        Array.from({ length: 7 }, (_, at) => [`k${at}`, at + 1]),
      );
      for (const { key, session: found } of all) assert.equal(await store.load(key), found);
      await refuses('ERR_INPUT', () => transfer.scan(0));
    },
    'an inserted session is as it was in every way of the contract, and its next commit counts on': async (
      { store, transfer },
      clock,
    ) => {
      const [due, at] = [clock.now() + 5, clock.now() + 100];
      const texts = { record: '{"é":"😀\\u0000"}', turnKey: 'é', reply: 'CON é,\n1' };
      const living = { ...session(clock, { ...texts, dueAt: due, expiresAt: at }), revision: 41 };
      const ended = { ...session(clock, { ended: true }), revision: 3 };
      assert.is(await transfer.insert('é living', living), true);
      assert.is(await transfer.insert('ended', ended), true);
      assert.equal(await store.load('é living'), living);
      assert.equal(await store.load('ended'), ended);
      assert.equal(await store.list(), { keys: ['é living'] });
      assert.equal(await store.due(due, 10), ['é living']);
      assert.is(await transfer.insert('ended', { ...ended, revision: 9 }), false);
      assert.equal((await store.load('ended'))?.revision, 3);
      const { revision, ...next } = living;
      assert.equal(await store.commit('é living', 40, next), { kind: 'conflict', revision });
      assert.equal(await store.commit('é living', 41, next), { kind: 'committed', revision: 42 });
      await clock.advance(100);
      assert.is(await store.load('é living'), undefined);
      assert.is(await store.sweep(clock.now(), 10), 1);
      assert.equal(
        (await scanAll(transfer)).map(({ key }) => key),
        ['ended'],
      );
    },
    'nobody else is told of where there is nobody': async ({ transfer }) => assert.equal(await transfer.others(), []),
  });
}

// Backends differ in the code: some are told by their database.
async function rejects(work: Promise<void>): Promise<void> {
  assert.ok(
    (await work.then(
      () => undefined,
      (error: unknown) => error,
    )) instanceof TwinlineError,
  );
}

const DOCUMENTS: readonly StoredDocument[] = [
  { id: 'é', revision: 12, body: { phone: '+1', city: 'Ə', age: 3, tags: ['x', 'y'], names: ['n'] } },
  { id: 'a', revision: 1, body: { phone: null, any: '$gt', home: { city: 'c', street: 's' }, '': { b: [1.5, null] } } },
];
const CHANGES: readonly Change[] = [
  { seq: 3, kind: 'Person', id: 'é', revision: 11, at: 5 },
  { seq: 9, kind: 'gone', id: 'x', revision: 0, at: 6 },
  { seq: 10, kind: 'Person', id: 'é', revision: 12, at: 6 },
];

export function documentTransferContract(name: string, open: Opens<OpenBeside<DocumentStore, DocumentTransfer>>): void {
  const declared: Opens<OpenBeside<DocumentStore, DocumentTransfer>> = async (where) => {
    const opened = await open(where);
    await opened.store.declare([PERSON, PLAIN]);
    return opened;
  };
  run(`transfer of documents ${name}`, declared, {
    'kinds are told with their indexes as they were declared': async ({ transfer }) => {
      const found = await transfer.kinds();
      const full = ({ indexes }: typeof PERSON) =>
        Object.entries(indexes)
          .map(([index, { fields, unique = false }]) => [index, fields, unique])
          .sort();
      assert.equal(found.map(({ name: kind }) => kind).sort(), ['Person', 'person']);
      assert.equal(full(found.find(({ name: kind }) => kind === 'Person')!), full(PERSON));
    },
    'inserted documents have their revisions, are found by their indexes, and leave no change': async ({
      store,
      transfer,
    }) => {
      await transfer.insert(PERSON, DOCUMENTS);
      for (const document of DOCUMENTS) assert.equal(await store.get(PERSON, document.id), document);
      assert.equal((await store.find(PERSON)).items, DOCUMENTS.toReversed());
      assert.equal((await store.find(PERSON, { index: 'tags', where: { city: 'Ə', 'tags[]': 'y' } })).items, [
        DOCUMENTS[0],
      ]);
      assert.is(await store.lastChange(), 0);
      await rejects(transfer.insert(PERSON, [DOCUMENTS[0]!]));
      assert.equal(await store.insert(PERSON, 'b', { phone: '+1' }), { kind: 'exists', index: 'phone' });
      assert.equal(await store.replace(PERSON, 'é', 12, { phone: '+2' }), { kind: 'replaced', revision: 13 });
      await transfer.remove(PERSON, ['é', 'nobody']);
      assert.equal((await store.insert(PERSON, 'é', { phone: '+2' })).kind, 'inserted');
    },
    'entries of the feed keep their numbers, and the next change comes after them': async ({ store, transfer }) => {
      await transfer.insert(PERSON, DOCUMENTS);
      await transfer.insertChanges(CHANGES);
      assert.equal(await store.changes(0, 10), CHANGES);
      assert.is(await store.lastChange(), 10);
      await rejects(transfer.insertChanges([CHANGES[1]!]));
      await store.insert(PERSON, 'b', {});
      assert.equal(
        (await store.changes(9, 10)).map(({ seq, id, revision }) => [seq, id, revision]),
        [
          [10, 'é', 12],
          [11, 'b', 1],
        ],
      );
      await transfer.removeChanges([3, 11]);
      assert.equal(await store.changes(0, 10), CHANGES.slice(1));
    },
  });
}
