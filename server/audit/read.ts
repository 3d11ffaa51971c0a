// Reading the audit log: its entries, and whether any was changed, removed or put in.

import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { EVENTS_PER_CHANGE } from '../../lib/domain/feed/journal.ts';
import type { Keyring } from '../../lib/keyring.ts';
import type { DocumentStore, Query } from '../../lib/store/store.ts';
import {
  AUDIT_HEAD_KIND,
  AUDIT_KIND,
  type AuditBody,
  type AuditEntry,
  type AuditHead,
  computeMac,
  computeSeal,
  HEAD_ID,
  type HeadBody,
  isFirstForm,
} from './audit.ts';

type Reading = Pick<DocumentStore, 'find' | 'get'>;

/** All entries after the one with this number, oldest first, as they are stored. */
export async function* readAudit(documents: Reading, after = 0): AsyncGenerator<AuditEntry> {
  // First the head: what was in it is then in the table, or here.
  const head = await documents.get<HeadBody>(AUDIT_HEAD_KIND, HEAD_ID);
  yield* readEntries(documents, after, head?.body);
}

async function* readEntries(documents: Reading, after: number, head?: AuditHead): AsyncGenerator<AuditEntry> {
  let last = 0;
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const query: Query = { limit: 100, ...(cursor !== undefined && { cursor }) };
    const page = await documents.find<AuditBody>(AUDIT_KIND, query);
    for (const { body } of page.items) {
      last = body.number;
      if (last > after) yield body;
    }
    cursor = page.next;
  }
  for (const entry of head?.entries ?? []) if (entry.number > Math.max(last, after)) yield entry;
}

/** Whether a head was written by somebody who has the key. */
export function isSealed(keyring: Keyring, head: AuditHead): boolean {
  return computeSeal(keyring, head) === head.seal;
}

/** What checking the chain has found. */
export type AuditVerdict =
  /** How many entries were checked, and the newest of them. */
  | { readonly kind: 'whole'; readonly entries: number; readonly last: AuditEntry | undefined }
  | { readonly kind: 'broken'; readonly number: number; readonly why: string };

/**
 * Checks each entry after the one with this number, its tie to the one before, and that the head names the newest; stops at the
 * first that does not hold.
 */
export async function verifyAudit(documents: Reading, keyring: Keyring, after = 0): Promise<AuditVerdict> {
  const { body: head } = (await documents.get<HeadBody>(AUDIT_HEAD_KIND, HEAD_ID)) ?? {};
  let last: AuditEntry | undefined;
  for await (const entry of readEntries(documents, after, head)) {
    const number = (last?.number ?? after) + 1;
    const why = entryFlaw(keyring, entry, { number, before: last, after });
    if (why !== undefined) return { kind: 'broken', number, why };
    last = entry;
  }
  const number = (last?.number ?? after) + 1;
  const why = endFlaw(keyring, head, last, number);
  return why === undefined ? { kind: 'whole', entries: number - 1 - after, last } : { kind: 'broken', number, why };
}

interface Place {
  readonly number: number;
  readonly before: AuditEntry | undefined;
  readonly after: number;
}

function entryFlaw(keyring: Keyring, entry: AuditEntry, { number, before, after }: Place): string | undefined {
  if (entry.number !== number)
    return `it is missing: entry ${entry.number} comes in its place. It was removed, or the store was restored without it`;
  const mac = computeMac(keyring, entry);
  if (mac === undefined) return `it was written with the key ${JSON.stringify(entry.kid)}, which is not configured`;
  if (mac !== entry.mac || (entry.v === undefined && !isFirstForm(entry.details)))
    return 'it was changed after it was written';
  // What comes before the first one that is checked is taken as it is.
  if (before === undefined && after > 0) return undefined;
  if (entry.previous !== (before?.mac ?? '')) return 'it does not follow the entry before it';
  if (entry.action !== 'audit.continued') return undefined;
  return `the head of the log was ${entry.details.head} when it was written, so entries before it may have been removed`;
}

function endFlaw(
  keyring: Keyring,
  head: AuditHead | undefined,
  last: AuditEntry | undefined,
  number: number,
): string | undefined {
  if (!head)
    return last?.v === undefined
      ? undefined
      : 'the head of the log, which says whether there was one, is missing. It was removed, or the store was restored without it';
  const seal = computeSeal(keyring, head);
  if (seal === undefined)
    return `the head of the log was written with the key ${JSON.stringify(head.kid)}, which is not configured`;
  if (seal !== head.seal) return 'the head of the log, which says whether there was one, was changed';
  if (head.number >= number)
    return `it is missing: ${head.number} entries were written. The newest were removed, or the store was restored without them`;
  return undefined;
}

/** The last change of the journal that has its entries, by the entries, for a head that is lost; undefined when none says so. */
export async function findCursor(documents: Reading): Promise<number | undefined> {
  const { items } = await documents.find<AuditBody>(AUDIT_KIND, { descending: true, limit: COMMON_LIMITS.pageSizeMax });
  const events = items.flatMap(({ body: { details } }) => (typeof details.event === 'number' ? [details.event] : []));
  return events.length ? Math.floor(Math.max(...events) / EVENTS_PER_CHANGE) : undefined;
}
