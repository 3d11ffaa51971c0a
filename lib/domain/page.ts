// One page of documents, for clients: what a store says of a cursor that it does not know, in words of the domain.

import { TwinlineError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { DocumentStore, JsonObject, Kind, Query, StoredDocument } from '../store/store.ts';
import { refuse } from './problems.ts';
import { timeSlice } from './time-slice.ts';

export interface PageQuery extends Omit<Query, 'cursor'> {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface FoundPage<Body extends JsonObject> {
  readonly items: StoredDocument<Body>[];
  readonly next?: string;
  /** Characters of the JSON of all items. */
  readonly size: number;
}

const FIRST_CHUNK = 8;

/**
 * As `documents.find`, but a page of large documents ends after about LIMITS.pageBytes and has a next one; throws
 * `bad-cursor` for a cursor that is damaged or belongs to another query.
 */
export async function findPage<Body extends JsonObject>(
  documents: DocumentStore,
  kind: Kind,
  { cursor, limit, ...query }: PageQuery,
): Promise<FoundPage<Body>> {
  const items: StoredDocument<Body>[] = [];
  const pause = timeSlice();
  let size = 0;
  for (let next = cursor; ; ) {
    const mean = items.length ? size / items.length : LIMITS.pageBytes / FIRST_CHUNK;
    const wanted = Math.max(1, Math.floor((LIMITS.pageBytes - size) / (mean + 1)));
    const page = await findChunk<Body>(documents, kind, {
      ...query,
      limit: Math.min(wanted, limit - items.length),
      cursor: next,
    });
    for (const item of page.items) {
      items.push(item);
      size += JSON.stringify(item.body).length;
    }
    if (page.next === undefined) return { items, size };
    if (items.length >= limit || size >= LIMITS.pageBytes) return { items, size, next: page.next };
    next = page.next;
    // A store in this process answers without letting go of it.
    await pause();
  }
}

async function findChunk<Body extends JsonObject>(
  documents: DocumentStore,
  kind: Kind,
  { cursor, ...query }: PageQuery,
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
