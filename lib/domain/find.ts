// Lookups of twins: by DID or alias within a tenant, page by page, and names that belong to other records.

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

/** The scope of a read: one domain by DID, one tenant, or everything. */
export type VoteScope = { readonly domain: string } | { readonly tenant: string } | 'all';

/**
 * Applies every closed vote in the scope to its domain; resolves to whether there was one. Rejects with a retryable error
 * when that fails, because the stored domains are stale then.
 */
export type SettleVotes = (scope: VoteScope) => Promise<boolean>;

/** For deployments without votes. */
export const NO_VOTES: SettleVotes = async () => false;

/** The tenant's twin with this DID or alias; undefined when it does not exist or is not visible yet. */
export async function findDomain(
  documents: DocumentStore,
  tenant: string,
  reference: string,
): Promise<Domain | undefined> {
  const own = isDid(reference) && mayBeId(reference) ? await documents.get<StoredDomain>(DOMAIN, reference) : undefined;
  const twin = own?.body.tenant === tenant ? own : await byAlias(documents, tenant, reference);
  return twin && (await isVisible(documents, twin)) ? twin : undefined;
}

/** Dependencies of reads that apply closed votes first. */
export interface ReadDeps {
  readonly documents: DocumentStore;
  readonly settleVotes: SettleVotes;
}

/** Like {@link findDomain}, after applying closed votes about the domain. */
export async function findSettled(
  { documents, settleVotes }: ReadDeps,
  tenant: string,
  reference: string,
): Promise<Domain | undefined> {
  const twin = await findDomain(documents, tenant, reference);
  return twin && (await settleVotes({ domain: twin.id })) ? findDomain(documents, tenant, twin.id) : twin;
}

/** Whether the text is a valid document id: not empty and not too long. */
export function mayBeId(text: string): boolean {
  return text !== '' && text.length <= COMMON_LIMITS.keyChars;
}

async function byAlias(documents: DocumentStore, tenant: string, alias: string): Promise<Domain | undefined> {
  const where = { tenant, 'alsoKnownAs[]': alias };
  return (await documents.find<StoredDomain>(DOMAIN, { index: 'alias', where, limit: 1 })).items[0];
}

/** A provisional part becomes visible once its parent lists it and is visible itself. */
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

/** Like {@link requireDomain}, after applying closed votes about the domain. */
export async function requireSettled(
  reading: ReadDeps,
  { tenant }: Pick<Caller, 'tenant'>,
  reference: string,
): Promise<Domain> {
  return requireActive(await findSettled(reading, tenant, reference), reference);
}

/** The twin; throws `not-found` when there is none. */
export function requireFound<D extends Domain>(twin: D | undefined, reference: string): D {
  if (twin) return twin;
  throw refuse('not-found', `There is no domain ${JSON.stringify(reference)}.`);
}

function requireActive(twin: Domain | undefined, reference: string): Domain {
  const present = requireFound(twin, reference);
  if (present.body.status !== 'Deactivated') return present;
  throw refuse('gone', `${present.body.did} was deactivated. Its history stays readable.`);
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
 * Like `documents.find`, but ends a page after about DOMAIN_LIMITS.pageBytes. Throws `bad-cursor` for a cursor that is
 * damaged or belongs to another query.
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
    const count = Math.max(1, Math.floor((DOMAIN_LIMITS.pageBytes - size) / (mean + 1)));
    const page = await findChunk<Body>(documents, kind, {
      ...query,
      limit: Math.min(count, limit - items.length),
      cursor: next,
    });
    for (const item of page.items) {
      items.push(item);
      size += JSON.stringify(item.body).length;
    }
    if (page.next === undefined) return { items, size };
    if (items.length >= limit || size >= DOMAIN_LIMITS.pageBytes) return { items, size, next: page.next };
    next = page.next;
    // In-process stores never yield to the event loop.
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

/** Throws `bad-limit` for a page size out of range. */
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
  /** The record that the names belong to. */
  readonly did: string;
  readonly names: readonly string[];
  /** Names that the record already has, which are not checked again. @default none */
  readonly before?: readonly string[];
}

/**
 * Throws `already-exists`, listing the fields, when a new name is the DID of another twin or protocol in any tenant.
 * DIDs minted later are random, so they never collide with a name.
 */
export async function refuseForeignDids(documents: DocumentStore, { did, names, before = [] }: Names): Promise<void> {
  const isForeign = async (name: string) => {
    if (name === did || before.includes(name) || !isDid(name) || !mayBeId(name)) return false;
    return [await documents.get(DOMAIN, name), await documents.get(PROTOCOL, name)].some(
      (document) => document !== undefined,
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
