// What the promises of a DocumentStore are shown with: a store, kinds, a clock that stands still, and short words.

import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, Kind, Query } from '../../store/store.ts';
import { type Bench, type Open, type Promises, withBench } from '../bench.ts';

export type OpenDocuments = Open<DocumentStore>;
/** PERSON and PLAIN are declared. */
export type DocumentPromises = Promises<DocumentStore>;

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

export function withDocuments(
  open: OpenDocuments,
  keep: (bench: Bench<DocumentStore>) => Promise<void>,
): Promise<void> {
  const declared = async (store: DocumentStore) => {
    await store.declare([PERSON, PLAIN]);
    return store;
  };
  return withBench(open, async ({ store, clock, again }) =>
    keep({ store: await declared(store), clock, again: async () => declared(await again()) }),
  );
}

/** Inserts documents by id. */
export async function insertAll(store: DocumentStore, kind: Kind, bodies: Record<string, JsonObject>): Promise<void> {
  for (const [id, body] of Object.entries(bodies)) await store.insert(kind, id, body);
}

/** The ids that a query finds, on one page. */
export async function findIds(store: DocumentStore, query: Query = {}, kind: Kind = PERSON): Promise<string[]> {
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
