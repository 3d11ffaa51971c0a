// One page of documents, for clients: what a store says of a cursor that it does not know, in words of the domain.

import { TwinlineError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { DocumentStore, JsonObject, Kind, Query, StoredDocument } from '../store/store.ts';
import { refuse } from './problems.ts';

/** As `documents.find`; throws `bad-cursor` for a cursor that is damaged or belongs to another query. */
export async function findPage<Body extends JsonObject>(
  documents: DocumentStore,
  kind: Kind,
  { cursor, ...query }: Omit<Query, 'cursor'> & { readonly cursor?: string | undefined },
): Promise<{ items: StoredDocument<Body>[]; next?: string }> {
  if (cursor === undefined) return documents.find<Body>(kind, query);
  try {
    return await documents.find<Body>(kind, { ...query, cursor });
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_INPUT') throw badCursor();
    throw error;
  }
}

/** Throws `bad-limit` unless a page may have so many items. */
export function requireLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMITS.pageSizeMax) return;
  throw refuse('bad-limit', `limit=${limit} is not a whole number from 1 to ${LIMITS.pageSizeMax}.`);
}

export function badCursor(): TwinlineError {
  return refuse(
    'bad-cursor',
    'The cursor is damaged or belongs to another query. Send `next` back with the query that gave it.',
  );
}
