// Walks through all documents of a query.

import type { JsonObject } from '../json/json.ts';
import type { DocumentStore, Kind, Query, StoredDocument } from './store.ts';

/** All documents of a query, page by page. */
export async function* findPages<Body extends JsonObject>(
  documents: Pick<DocumentStore, 'find'>,
  kind: Kind,
  query: Query,
): AsyncGenerator<readonly StoredDocument<Body>[]> {
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await documents.find<Body>(kind, { ...query, ...(cursor !== undefined && { cursor }) });
    yield page.items;
    cursor = page.next;
  }
}
