// Documents of every kind, and the feed of their changes, from one store into another one: as they are, with their revisions and
// numbers.

import type { Change, DocumentStore, Kind, StoredDocument } from '../../lib/store/store.ts';
import type { DocumentTransfer } from '../../lib/store/transfer.ts';
import { SERVER } from '../stores/key-mark.ts';
import { isMarkId } from '../stores/move-mark.ts';
import type { Lists } from './aligned.ts';

/** One side of a move. */
export interface DocumentSide {
  readonly store: DocumentStore;
  readonly transfer: DocumentTransfer;
}

const PAGE = 64;
const CHANGES_PAGE = 500;

/** The kinds of both sides by name; all that the source has are declared in the target. */
export async function declareKinds(source: DocumentSide, target: DocumentSide): Promise<Kind[]> {
  const [own, there] = await Promise.all([source.transfer.kinds(), target.transfer.kinds()]);
  await target.store.declare([SERVER, ...own]);
  return [...new Map([...there, ...own].map((kind) => [kind.name, kind])).values()].sort(byName);
}

const byName = (a: Kind, b: Kind) => (a.name < b.name ? -1 : 1);

/** The documents of one kind. The marks of moves are left out: each belongs to its own store. */
export async function documentLists(
  kind: Kind,
  source: DocumentSide,
  target: DocumentSide,
): Promise<Lists<StoredDocument>> {
  const isKnown = (await source.transfer.kinds()).some(({ name }) => name === kind.name);
  return {
    source: () => (isKnown ? listDocuments(source.store, kind) : nothing()),
    target: () => listDocuments(target.store, kind),
    compare: (a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)),
    text: ({ id, revision, body }) => JSON.stringify([id, revision, body]),
    insert: (documents) => target.transfer.insert(kind, documents),
    remove: (documents) =>
      target.transfer.remove(
        kind,
        documents.map(({ id }) => id),
      ),
  };
}

async function* nothing(): AsyncGenerator<never> {}

/** All documents of a kind but the marks of moves, by id. */
export async function* listDocuments(store: Pick<DocumentStore, 'find'>, kind: Kind): AsyncGenerator<StoredDocument> {
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await store.find(kind, { limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const document of page.items) if (kind.name !== SERVER.name || !isMarkId(document.id)) yield document;
    cursor = page.next;
  }
}

/** The feed, by number. */
export function changeLists(source: DocumentSide, target: DocumentSide): Lists<Change> {
  return {
    source: () => listChanges(source.store),
    target: () => listChanges(target.store),
    compare: (a, b) => a.seq - b.seq,
    text: ({ seq, kind, id, revision, at }) => JSON.stringify([seq, kind, id, revision, at]),
    insert: (changes) => target.transfer.insertChanges(changes),
    remove: (changes) => target.transfer.removeChanges(changes.map(({ seq }) => seq)),
  };
}

async function* listChanges(store: DocumentStore): AsyncGenerator<Change> {
  for (let after = 0; ; ) {
    const page = await store.changes(after, CHANGES_PAGE);
    yield* page;
    if (page.length < CHANGES_PAGE) return;
    after = page.at(-1)!.seq;
  }
}
