// What a twin was: any revision, any moment, and who changed what.

import { createPatch, type Operation } from 'rfc6902';
import { LIMITS } from '../limits.ts';
import type { DocumentStore, JsonObject } from '../store/store.ts';
import type { Caller } from './caller.ts';
import { findDomain } from './find.ts';
import { type Revision, revisionAt, revisionOf, revisionsOf } from './journal.ts';
import { DOMAIN } from './kinds.ts';
import { refuse } from './problems.ts';
import { type Domain, domainView, isoTime, type StoredDomain } from './record.ts';

/** One line of a history. */
export interface HistoryItem extends JsonObject {
  readonly revision: number;
  readonly at: string;
  readonly by: string;
  readonly action: string;
  /** What differs from the revision before, as JSON Patch operations on the record. */
  readonly changes: readonly JsonObject[];
}

/** The twin as it was at a revision (`7`) or a moment (RFC 3339); throws `not-found`, also for the future. */
export async function twinAt(
  documents: DocumentStore,
  caller: Caller,
  { did, at, now }: { did: string; at: string; now: number },
): Promise<Domain> {
  const id = await existing(documents, caller, did);
  const wanted = revisionOrMoment(at);
  const found =
    'revision' in wanted
      ? await revisionOf<StoredDomain>(documents, { kind: DOMAIN, id, revision: wanted.revision })
      : wanted.moment <= now && (await revisionAt<StoredDomain>(documents, { kind: DOMAIN, id, at: wanted.moment }));
  if (found) return { id, ...found };
  throw refuse('not-found', `${did} has no revision ${JSON.stringify(at)}.`);
}

// With a time of the day and its zone: what is less can be read in several ways, and `-1` as a year.
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** What `?at=` means: a revision, or milliseconds since 1970; throws `bad-request`. */
export function revisionOrMoment(at: string): { readonly revision: number } | { readonly moment: number } {
  if (/^\d+$/.test(at)) return { revision: Number(at) };
  const moment = MOMENT.test(at) ? Date.parse(at) : Number.NaN;
  if (!Number.isNaN(moment)) return { moment };
  throw refuse(
    'bad-request',
    `at=${JSON.stringify(at)} is neither a revision nor a moment such as 2026-01-01T00:00:00Z.`,
  );
}

/** A page of the history, the newest revision first; `before` is the cursor of the page before. */
export async function historyOf(
  documents: DocumentStore,
  caller: Caller,
  { did, before, limit }: { did: string; before?: number; limit: number },
): Promise<{ items: HistoryItem[]; next?: string }> {
  const id = await existing(documents, caller, did);
  // One more than asked for: a change is the difference to the revision before.
  const found = await revisionsOf<StoredDomain>(documents, {
    kind: DOMAIN,
    id,
    limit: Math.min(limit, LIMITS.pageSizeMax) + 1,
    ...(before !== undefined && { before }),
  });
  const items = found.slice(0, limit).map((revision, at) => itemOf(revision, found[at + 1]));
  const last = items.at(-1);
  return { items, ...(found.length > limit && last && { next: String(last.revision) }) };
}

function itemOf({ revision, body }: Revision<StoredDomain>, before: Revision<StoredDomain> | undefined): HistoryItem {
  const { at, by, action } = body.journal;
  return { revision, at: isoTime(at), by, action, changes: changesBetween(before, { revision, body }) };
}

const ALWAYS = new Set(['/revision', '/updated', '/validity']);

function changesBetween(before: Revision<StoredDomain> | undefined, after: Revision<StoredDomain>): JsonObject[] {
  const view = (revision: Revision<StoredDomain>) => JSON.parse(JSON.stringify(domainView(revision, 0)));
  const changes = createPatch(before ? view(before) : {}, view(after)) as (Operation & JsonObject)[];
  return changes.filter(({ path }) => !ALWAYS.has(path));
}

// A deactivated twin has a history, too.
async function existing(documents: DocumentStore, { tenant }: Caller, did: string): Promise<string> {
  const found = await findDomain(documents, tenant, did);
  if (found) return found.id;
  throw refuse('not-found', `There is no domain ${JSON.stringify(did)}.`);
}
