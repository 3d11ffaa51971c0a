// A store on which imports are tried: later lines see what earlier lines have written, and nothing reaches the real store.

import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, Kind, Query, ReplaceResult, StoredDocument } from '../../store/store.ts';
import { DOMAIN, JOURNAL, PROTOCOL } from '../kinds.ts';

// The unique names by which lines refer to each other.
const NAMED: readonly { readonly index: string; readonly field: string; readonly path: string }[] = [
  { index: 'alias', field: 'alsoKnownAs', path: 'alsoKnownAs[]' },
  { index: 'external', field: 'externalId', path: 'externalId' },
];

// Usual values of the fields of a new twin that later lines read: of a twin only differences from these are kept, of a
// protocol everything.
const USUAL: JsonObject = {
  status: 'Created',
  parent: null,
  externalId: null,
  provisionalSince: null,
  alsoKnownAs: [],
  subDomains: [],
  edges: [],
  journal: { at: 0, by: 'system', action: 'create', events: [] },
};
const ASKED = ['tenant', 'did', 'type', 'controllers', ...Object.keys(USUAL)].filter((field) => field !== 'journal');

interface Layer {
  get(kind: Kind, id: string): StoredDocument | undefined;
  /** By a unique name, as `namesIn` gives it. */
  findNamed(name: string): StoredDocument | undefined;
  put(kind: Kind, document: StoredDocument): void;
}

interface DocumentForm<Kept> {
  keep(kind: Kind, document: StoredDocument): Kept;
  show(form: Kept): StoredDocument;
}

const WHOLE: DocumentForm<StoredDocument> = { keep: (_kind, document) => document, show: (document) => document };
// As text, for there may be many.
const BRIEF: DocumentForm<string> = {
  keep: (kind, document) =>
    JSON.stringify(kind === PROTOCOL ? document : { ...document, body: makeStub(document.body) }),
  show: (text) => {
    const { body, ...rest } = JSON.parse(text) as StoredDocument;
    return { ...rest, body: { ...USUAL, ...body } };
  },
};

function layer<Kept>({ keep, show }: DocumentForm<Kept>): Layer {
  const documents = new Map<string, Kept>();
  const keys = new Map<string, string>();
  const at = (key: string) => {
    const form = documents.get(key);
    return form === undefined ? undefined : show(form);
  };
  return {
    get: (kind, id) => at(nameKey(kind, id)),
    findNamed: (name) => at(keys.get(name) ?? ''),
    put(kind, document) {
      const key = nameKey(kind, document.id);
      documents.set(key, keep(kind, document));
      for (const name of namesIn(kind, document.body)) keys.set(name, key);
    },
  };
}

/** Tries the lines of an import one by one, on a store that writes nothing. */
export function dryRun(base: DocumentStore) {
  const shared = layer(BRIEF);
  const earlier = new Map<string, number>();
  return {
    /**
     * A store for one line; `end` is called when the line was accepted, so that later lines see what it has made: of twins
     * those that they can name, which are all for lines of records.
     */
    line({ isRecord }: { readonly isRecord: boolean }): { readonly documents: DocumentStore; end(): void } {
      const own = layer(WHOLE);
      const writes: { kind: Kind; document: StoredDocument }[] = [];
      const put = (kind: Kind, document: StoredDocument) => {
        own.put(kind, document);
        writes.push({ kind, document });
      };
      return {
        documents: {
          ...layerDocuments(base, [own, shared], put),
          async count(kind, query) {
            const tried = kind === JOURNAL ? earlier.get(String(query?.where?.of)) : undefined;
            return (tried ?? 0) + (await base.count(kind, query));
          },
        },
        end() {
          for (const { kind, document } of writes) {
            const { of } = document.body;
            if (kind === JOURNAL) earlier.set(String(of), (earlier.get(String(of)) ?? 0) + 1);
            if (kind === PROTOCOL || (kind === DOMAIN && (isRecord || namesIn(kind, document.body).length > 0)))
              shared.put(kind, document);
          }
        },
      };
    },
  };
}

function layerDocuments(
  base: DocumentStore,
  layers: readonly Layer[],
  put: (kind: Kind, document: StoredDocument) => void,
): DocumentStore {
  const get = async <B extends JsonObject>(kind: Kind, id: string) => {
    const document = layers.map((layer) => layer.get(kind, id)).find((document) => document !== undefined);
    return (document as StoredDocument<B> | undefined) ?? base.get<B>(kind, id);
  };
  const find = async <B extends JsonObject>(kind: Kind, query: Query = {}) => {
    const name = nameAsked(kind, query);
    const document = name && layers.map((layer) => layer.findNamed(name)).find((document) => document !== undefined);
    return document ? { items: [document as StoredDocument<B>] } : base.find<B>(kind, query);
  };
  return {
    ...base,
    get,
    find,
    declare: async () => {},
    close: async () => {},
    remove: async () => true,
    async insert(kind, id, body) {
      if (await get(kind, id)) return { kind: 'exists' };
      for (const { index, field, path } of NAMED)
        for (const value of [body[field]].flat())
          if (typeof value === 'string' && kind.indexes[index]) {
            const where = { tenant: body.tenant as string, [path]: value };
            if ((await find(kind, { index, where, limit: 1 })).items.length) return { kind: 'exists', index };
          }
      put(kind, { id, revision: 1, body });
      return { kind: 'inserted', id, revision: 1, body };
    },
    async replace(kind, id, expected, body): Promise<ReplaceResult> {
      const revision = (await get(kind, id))?.revision ?? 0;
      if (revision !== expected) return { kind: 'conflict', revision };
      put(kind, { id, revision: revision + 1, body });
      return { kind: 'replaced', revision: revision + 1 };
    },
  };
}

function nameKey({ name }: Kind, id: string): string {
  return `${name}/${id}`;
}

function namesIn({ name, indexes }: Kind, body: JsonObject): string[] {
  return NAMED.filter(({ index }) => indexes[index]).flatMap(({ index, field }) =>
    [body[field]]
      .flat()
      .flatMap((value) => (typeof value === 'string' ? [`${name} ${index} ${body.tenant} ${value}`] : [])),
  );
}

function nameAsked({ name }: Kind, { index, where }: Query): string | undefined {
  const path = NAMED.find((one) => one.index === index)?.path;
  return path && where ? `${name} ${index} ${where.tenant} ${where[path]}` : undefined;
}

function makeStub(body: JsonObject): JsonObject {
  const differs = (field: string) => body[field] !== undefined && !isDeepStrictEqual(body[field], USUAL[field]);
  return Object.fromEntries(ASKED.filter(differs).map((field) => [field, body[field]!]));
}
