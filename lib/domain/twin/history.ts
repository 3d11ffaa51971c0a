// The history of twins: any revision, any moment, and who changed what.

import { timeSlice } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { diffJson } from '../../json/compare.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore } from '../../store/store.ts';
import type { Caller } from '../caller.ts';
import { type Revision, readRevision, readRevisions, revisionAt } from '../feed/journal.ts';
import { findDomain, requireFound } from '../find.ts';
import { DOMAIN } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { parseMoment } from '../moment.ts';
import { refuse } from '../problems.ts';
import { type Domain, domainView, isoTime, type LinksTo, type StoredDomain } from './record.ts';

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
  const version = revisionOrMoment(at);
  const revision =
    'revision' in version
      ? await readRevision<StoredDomain>(documents, { kind: DOMAIN, id, revision: version.revision })
      : version.moment <= now && (await revisionAt<StoredDomain>(documents, { kind: DOMAIN, id, at: version.moment }));
  if (revision) return { id, ...revision };
  throw refuse('not-found', `${did} has no revision ${JSON.stringify(at)}.`);
}

/** Parses a version: a revision, or a moment in milliseconds since 1970; throws `bad-request`. */
export function revisionOrMoment(at: string): { readonly revision: number } | { readonly moment: number } {
  if (/^\d+$/.test(at)) return { revision: Number(at) };
  const moment = parseMoment(at);
  if (!Number.isNaN(moment)) return { moment };
  throw refuse(
    'bad-request',
    `at=${JSON.stringify(at)} is neither a revision nor a moment such as 2026-01-01T00:00:00Z.`,
  );
}

/**
 * A page of the history, newest revision first; `before` is the previous page's cursor. Pages of large records may have
 * fewer items than requested, but at least one.
 */
export async function readHistory(
  { documents, linksTo }: { readonly documents: DocumentStore; readonly linksTo?: LinksTo | undefined },
  caller: Caller,
  { did, before, limit }: { did: string; before?: number; limit: number },
): Promise<{ items: HistoryItem[]; next?: string }> {
  const id = await existing(documents, caller, did);
  const items: HistoryItem[] = [];
  let bytes = 0;
  let newer: RevisionView | undefined;
  const pause = timeSlice();
  for await (const revision of newestFirst(documents, { id, before })) {
    const view = showRevision(revision, linksTo);
    bytes += view.bytes;
    if (newer) {
      items.push(makeItem(newer, view.view));
      if (items.length >= Math.min(limit, COMMON_LIMITS.pageSizeMax) || bytes > DOMAIN_LIMITS.historyPageBytes)
        return { items, next: String(newer.revision) };
    }
    newer = view;
    await pause();
  }
  if (newer) items.push(makeItem(newer, {}));
  return { items };
}

const REVISIONS_AT_ONCE = 4;

async function* newestFirst(
  documents: DocumentStore,
  { id, before }: { id: string; before: number | undefined },
): AsyncGenerator<Revision<StoredDomain>> {
  for (let next = before; ; ) {
    const query = { kind: DOMAIN, id, limit: REVISIONS_AT_ONCE, ...(next !== undefined && { before: next }) };
    const revisions = await readRevisions<StoredDomain>(documents, query);
    yield* revisions;
    next = revisions.at(-1)?.revision;
    if (next === undefined) return;
  }
}

/** A revision as clients read it, and its size. */
interface RevisionView extends Pick<HistoryItem, 'revision'> {
  readonly journal: StoredDomain['journal'];
  readonly view: JsonObject;
  readonly bytes: number;
}

function showRevision(revision: Revision<StoredDomain>, linksTo?: LinksTo): RevisionView {
  const text = JSON.stringify(domainView(revision, 0, linksTo));
  return { revision: revision.revision, journal: revision.body.journal, view: JSON.parse(text), bytes: text.length };
}

const ALWAYS = new Set(['/revision', '/updated', '/validity']);

function makeItem({ revision, journal: { at, by, action }, view }: RevisionView, before: JsonObject): HistoryItem {
  const { operations } = diffJson(before, view, DOMAIN_LIMITS.historyDiff);
  return { revision, at: isoTime(at), by, action, changes: operations.filter(({ path }) => !ALWAYS.has(path)) };
}

// Deactivated twins keep their history.
async function existing(documents: DocumentStore, { tenant }: Caller, did: string): Promise<string> {
  return requireFound(await findDomain(documents, tenant, did), did).id;
}
