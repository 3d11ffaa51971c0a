// Finding twins: one by DID, alias or external id within a tenant, if it is visible; the pages of a query; foreign names.

import { timeSlice } from '../clock.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { JsonObject } from '../json/json.ts';
import type { DocumentStore, Kind, Query, StoredDocument } from '../store/store.ts';
import type { Caller } from './caller.ts';
import { isDid } from './did/did.ts';
import { DOMAIN, PROTOCOL } from './kinds.ts';
import { DOMAIN_LIMITS } from './limits.ts';
import { refuse } from './problems.ts';
import type { Domain, StoredDomain } from './twin/record.ts';

/** What is about to be read: one domain by its DID, everything of a tenant, or everything. */
export type VoteScope = { readonly domain: string } | { readonly tenant: string } | 'all';

/**
 * Lets every vote in the scope that is over take effect on its domain; whether there was one. Rejects with an error
 * that may be tried again when that cannot be done now: then the domains do not say what they are.
 */
export type SettleVotes = (scope: VoteScope) => Promise<boolean>;

/** For deployments without votes. */
export const NO_VOTES: SettleVotes = async () => false;

/** A twin of the tenant by DID or alias; undefined when there is none, or it is not visible yet. */
export async function findDomain(
  documents: DocumentStore,
  tenant: string,
  reference: string,
): Promise<Domain | undefined> {
  const own = isDid(reference) && mayBeId(reference) ? await documents.get<StoredDomain>(DOMAIN, reference) : undefined;
  const found = own?.body.tenant === tenant ? own : await byAlias(documents, tenant, reference);
  return found && (await isVisible(documents, found)) ? found : undefined;
}

/** Where domains are read as their votes have left them. */
export interface ReadDeps {
  readonly documents: DocumentStore;
  readonly settleVotes: SettleVotes;
}

/** As {@link findDomain}, after every vote about it that is over has taken effect. */
export async function findSettled(
  { documents, settleVotes }: ReadDeps,
  tenant: string,
  reference: string,
): Promise<Domain | undefined> {
  const found = await findDomain(documents, tenant, reference);
  return found && (await settleVotes({ domain: found.id })) ? findDomain(documents, tenant, found.id) : found;
}

/** Whether this may be the id of a document: it is not empty, and not too long. */
export function mayBeId(text: string): boolean {
  return text !== '' && text.length <= COMMON_LIMITS.keyChars;
}

async function byAlias(documents: DocumentStore, tenant: string, alias: string): Promise<Domain | undefined> {
  const where = { tenant, 'alsoKnownAs[]': alias };
  return (await documents.find<StoredDomain>(DOMAIN, { index: 'alias', where, limit: 1 })).items[0];
}

/** A part that was written before its parent counts from the moment that the parent names it, and counts itself. */
export async function isVisible(documents: DocumentStore, { body }: Domain): Promise<boolean> {
  if (body.provisionalSince === null || body.leaving || body.parent === null) return true;
  const parent = await documents.get<StoredDomain>(DOMAIN, body.parent);
  if (!parent?.body.subDomains.some(({ did }) => did === body.did)) return false;
  return isVisible(documents, parent);
}

/** The twin; throws `not-found`, or `gone` when it was deactivated. */
export async function requireDomain(documents: DocumentStore, { tenant }: Caller, reference: string): Promise<Domain> {
  return requireActive(await findDomain(documents, tenant, reference), reference);
}

/** As {@link requireDomain}, after every vote about it that is over has taken effect. */
export async function requireSettled(
  reading: ReadDeps,
  { tenant }: Pick<Caller, 'tenant'>,
  reference: string,
): Promise<Domain> {
  return requireActive(await findSettled(reading, tenant, reference), reference);
}

/** The twin; throws `not-found` when there is none. */
export function requireFound<D extends Domain>(found: D | undefined, reference: string): D {
  if (found) return found;
  throw refuse('not-found', `There is no domain ${JSON.stringify(reference)}.`);
}

function requireActive(twin: Domain | undefined, reference: string): Domain {
  const found = requireFound(twin, reference);
  if (found.body.status !== 'Deactivated') return found;
  throw refuse('gone', `${found.body.did} was deactivated. Its history stays readable.`);
}

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
 * As `documents.find`, but a page of large documents ends after about DOMAIN_LIMITS.pageBytes and has a next one; throws
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
    const mean = items.length ? size / items.length : DOMAIN_LIMITS.pageBytes / FIRST_CHUNK;
    const wanted = Math.max(1, Math.floor((DOMAIN_LIMITS.pageBytes - size) / (mean + 1)));
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
    if (items.length >= limit || size >= DOMAIN_LIMITS.pageBytes) return { items, size, next: page.next };
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
    if (error instanceof TwinlineError && error.code === 'ERR_INPUT') throw cursorError();
    throw error;
  }
}

/** All documents of a query, one page after the other. */
export async function* findPages<Body extends JsonObject>(
  documents: DocumentStore,
  kind: Kind,
  query: Query & { readonly limit: number },
): AsyncGenerator<readonly StoredDocument<Body>[]> {
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await documents.find<Body>(kind, { ...query, ...(cursor !== undefined && { cursor }) });
    yield page.items;
    cursor = page.next;
  }
}

/** Throws `bad-limit` unless a page may have so many items. */
export function requireLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= COMMON_LIMITS.pageSizeMax) return;
  throw refuse('bad-limit', `limit=${limit} is not a whole number from 1 to ${COMMON_LIMITS.pageSizeMax}.`);
}

export function cursorError(): TwinlineError {
  return refuse(
    'bad-cursor',
    'The cursor is damaged or belongs to another query. Send `next` back with the query that gave it.',
  );
}

export interface Names {
  /** Of the record that has, or gets, the names. */
  readonly did: string;
  readonly names: readonly string[];
  /** Names that it has already: they are not looked at again. @default none */
  readonly before?: readonly string[];
}

/**
 * Throws `already-exists`, with each field, when a new name is the DID of another twin or protocol of any tenant. A DID
 * that is made later is never one of these names, because it is made at random.
 */
export async function refuseForeignDids(documents: DocumentStore, { did, names, before = [] }: Names): Promise<void> {
  const isForeign = async (name: string) => {
    if (name === did || before.includes(name) || !isDid(name) || !mayBeId(name)) return false;
    return [await documents.get(DOMAIN, name), await documents.get(PROTOCOL, name)].some(
      (found) => found !== undefined,
    );
  };
  const foreign = await Promise.all(names.map(isForeign));
  const details = names.flatMap((name, at) =>
    foreign[at] ? [{ field: `/alsoKnownAs/${at}`, error: `is the DID of another record here, ${name}` }] : [],
  );
  if (!details.length) return;
  throw refuse('already-exists', 'A name in alsoKnownAs is the DID of another record here. Use other names.', {
    details,
  });
}
