// What the promises of a DocumentStore are shown with: a store, kinds, a clock that stands still, and short words.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SimulatedClock } from '../../lib/clock.ts';
import type { DocumentStore, JsonObject, Kind, Query } from '../../lib/store/store.ts';

/** Where a store is opened: the same folder means the same data, another folder other data. */
export interface Where {
  readonly folder: string;
  readonly clock: SimulatedClock;
}

/** Opens the store under test, again and again. */
export type OpenDocuments = (where: Where) => DocumentStore | Promise<DocumentStore>;

/** A new store for one promise; PERSON and PLAIN are declared. */
export interface DocumentBench {
  readonly store: DocumentStore;
  readonly clock: SimulatedClock;
  /** Another store on the same data, with the same kinds declared. */
  again(): Promise<DocumentStore>;
}

/** Sentence → what shows that it is kept. */
export type DocumentPromises = { readonly [sentence: string]: (bench: DocumentBench) => Promise<void> };

export const PERSON: Kind = {
  name: 'Person',
  indexes: {
    phone: { fields: ['phone'], unique: true },
    place: { fields: ['home.city', 'home.street'], unique: true },
    age: { fields: ['city', 'age'] },
    any: { fields: ['any'] },
    three: { fields: ['a', 'b', 'c'] },
    tags: { fields: ['city', 'tags[]', 'age'] },
    names: { fields: ['names[]'], unique: true },
  },
};

/** Differs from the other kind only in case, and has no index. */
export const PLAIN: Kind = { name: 'person', indexes: {} };

/** Opens a store in a new folder and cleans up behind `keep`, whatever it did. */
export async function withDocuments(open: OpenDocuments, keep: (bench: DocumentBench) => Promise<void>): Promise<void> {
  const where = { folder: mkdtempSync(join(tmpdir(), 'twinline-store-')), clock: new SimulatedClock() };
  const opened: DocumentStore[] = [];
  const again = async () => {
    const store = await open(where);
    opened.push(store);
    await store.declare([PERSON, PLAIN]);
    return store;
  };
  try {
    await keep({ store: await again(), clock: where.clock, again });
  } finally {
    for (const store of opened) await store.close();
    rmSync(where.folder, { recursive: true, force: true });
  }
}

/** Inserts documents by id. */
export async function insertAll(store: DocumentStore, kind: Kind, bodies: Record<string, JsonObject>): Promise<void> {
  for (const [id, body] of Object.entries(bodies)) await store.insert(kind, id, body);
}

/** The ids that a query finds, on one page. */
export async function idsOf(store: DocumentStore, query: Query = {}, kind: Kind = PERSON): Promise<string[]> {
  return (await store.find(kind, query)).items.map(({ id }) => id);
}

/** The ids that a query finds, page by page; `between` acts after each page. */
export async function walk(
  store: DocumentStore,
  query: Query,
  between: (page: string[]) => Promise<void> = async () => {},
): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await store.find(PERSON, { ...query, ...(cursor !== undefined && { cursor }) });
    const ids = page.items.map(({ id }) => id);
    seen.push(...ids);
    cursor = page.next;
    await between(ids);
  }
  return seen;
}
