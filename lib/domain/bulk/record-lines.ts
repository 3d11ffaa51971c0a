// Records as lines of an export, and how an import takes them back: with their DIDs, times, statuses, earlier revisions and the
// places of their credentials. A line is refused where what it builds on is not here, so the order of an export is kept.

import { isDeepStrictEqual } from 'node:util';
import { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { DocumentStore, Kind } from '../../store/store.ts';
import { type Caller, requireRole } from '../caller.ts';
import { findEntry, type StatusEntry } from '../credential/places.ts';
import { archive, type Journaled, readKeptRevision } from '../feed/journal.ts';
import { mayBeId, refuseForeignDids } from '../find.ts';
import { CREDIT, DOMAIN, JOURNAL, PROPOSAL, PROTOCOL, STATUS_ENTRY } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, refuse } from '../problems.ts';
import { checkShape } from '../schema/check.ts';
import { RECORD_LINE, STORED } from '../schema/records.ts';
import type { StoredDomain } from '../twin/record.ts';
import { indexTerms } from '../twin/terms.ts';

/** The kinds that exports carry with their history. */
export const CARRIED = { protocol: PROTOCOL, domain: DOMAIN, proposal: PROPOSAL, credit: CREDIT } as const;
export type Carried = keyof typeof CARRIED;

/** A line of an export: a record, what one was before (`revision`), or the place of a credential about a domain (`place`). */
export type RecordLine = JsonObject & {
  readonly import: true;
  readonly kind: Carried | 'revision' | 'place';
  /** With the kind `revision`: of what. */
  readonly of?: Carried;
  /** Of a record: how many lines of earlier revisions come before it. */
  readonly earlier?: number;
  readonly id: string;
  /** What it is about. */
  readonly did: string;
  readonly revision: number;
  /** As it is stored, but for the tenant. */
  readonly body: JsonObject;
};

/** What became of a line. */
export interface ImportedLine {
  readonly did: string;
  /** False: it was there already. */
  readonly created: boolean;
  /** Of one that was there already: fields of the line that say something else than the record, as JSON pointers. */
  readonly differs?: readonly string[];
  /** Of a record that an operator has brought with its history: the status in its line, where it has one. */
  readonly imported?: { readonly status?: string };
}

interface Wanted {
  readonly kind: Kind;
  readonly id: string;
  readonly revision: number;
  readonly body: Journaled;
  readonly earlier?: number | undefined;
}

/** Kinds that are about a domain of the tenant, which must be here first: by the field of the body that names it. */
const ABOUT: { readonly [kind: string]: string } = { proposal: 'subject', credit: 'did', place: 'did' };

/** Whether a line is one of an export. */
export function isRecordLine(value: Json): boolean {
  return isObject(value) && 'import' in value;
}

/** Takes a line; throws `role-missing`, `invalid`, or `already-exists` when something else has its id or its names. */
export async function importRecord(documents: DocumentStore, caller: Caller, value: Json): Promise<ImportedLine> {
  requireRole(caller, 'import records');
  const line = await checkShape<RecordLine>(RECORD_LINE, value, 'The record');
  const { kind, did } = line;
  if (kind === 'place') return { did, created: await takePlace(documents, caller, line) };
  const record = await readRecord(line, caller);
  if (kind === 'revision') return { did, created: await takeEarlier(documents, record) };
  await requireDomain(documents, record.body, kind);
  if (!(await takePresent(documents, record))) return { did, created: false };
  const { status } = record.body;
  return { did, created: true, imported: typeof status === 'string' ? { status } : {} };
}

const DIFFERS = { field: '/id', error: 'differs from /body/did' };

async function readRecord(
  { kind, of, id, did, revision, earlier, body }: RecordLine,
  { tenant }: Caller,
): Promise<Wanted> {
  const carried = kind === 'revision' ? of! : (kind as Carried);
  const form = STORED[kind === 'revision' && carried === 'proposal' ? 'revision' : carried];
  const content = await checkShape<JsonObject>(form, body, 'The body of the record');
  if (typeof content.did === 'string' && content.did !== (carried === 'credit' ? did : id))
    throw invalid('The record is about something else than its body.', [DIFFERS]);
  const terms = carried === 'domain' ? indexTerms(content as unknown as StoredDomain) : {};
  const journal = { ...(content.journal as JsonObject), imported: true };
  const journaled = { ...content, ...terms, tenant, journal } as unknown as Journaled;
  return { kind: CARRIED[carried], id, revision, body: journaled, earlier };
}

// A vote whose domain is not here yet would end as one whose domain is gone.
async function requireDomain(documents: DocumentStore, body: JsonObject, kind: string): Promise<void> {
  const field = ABOUT[kind];
  if (field === undefined) return;
  const id = String(body[field]);
  const there = mayBeId(id) ? await documents.get<Journaled>(DOMAIN, id) : undefined;
  if (there?.body.tenant === body.tenant) return;
  throw invalid('The domain that the line is about is not here. Send its line before this one, as exports do.', [
    { field: `/body/${field}`, error: `names ${id}, and no domain here has this DID` },
  ]);
}

// The same place is never another's: neither the place itself, nor the list of another tenant or issuer.
async function takePlace(
  documents: DocumentStore,
  { tenant }: Caller,
  { id, did, body }: RecordLine,
): Promise<boolean> {
  const content = await checkShape<JsonObject>(STORED.place, body, 'The body of the place');
  const entry = { ...content, tenant } as StatusEntry;
  const { list, index, issuer } = entry;
  if (entry.did !== did)
    throw invalid('The place is of another domain than its body.', [{ ...DIFFERS, field: '/did' }]);
  await requireDomain(documents, entry, 'place');
  const neighbour = await findEntry(documents, { list });
  const isForeign = neighbour && (neighbour.tenant !== tenant || neighbour.issuer !== issuer);
  if (isForeign) throw refuse('already-exists', `The status list ${list} belongs to others.`);
  const write = async () => (await documents.insert(STATUS_ENTRY, `${list}/${index}`, entry)).kind === 'inserted';
  if (!(await findEntry(documents, { list, index })) && (await write())) return true;
  const there = await findEntry(documents, { list, index });
  if (there && isDeepStrictEqual(plain(there), plain(entry))) return false;
  throw refuse(
    'already-exists',
    `${id} is the place of another credential here. Imports change nothing that is there.`,
  );
}

// Earlier revisions come before the record itself, which is not there yet.
async function takeEarlier(documents: DocumentStore, { kind, id, revision, body }: Wanted): Promise<boolean> {
  const earlier = await readKeptRevision(documents, { kind, id, revision });
  if (earlier) return same(earlier, body, { id, revision });
  const present = await documents.get<Journaled>(kind, id);
  if (present && present.body.tenant === body.tenant && present.revision === revision)
    return same(present.body, body, { id, revision });
  if (present) throw differs(id, revision);
  await archive(documents, kind, { id, revision, body });
  return true;
}

// The store counts revisions itself, so the record is written until it has the right one. Until then it has no events, for
// the feed reads those of earlier revisions from the journal.
async function takePresent(documents: DocumentStore, { kind, id, revision, body, earlier }: Wanted): Promise<boolean> {
  const quiet = { ...body, journal: { ...body.journal, events: [] } };
  const at = (count: number) => (count === revision ? body : quiet);
  const present = await documents.get<Journaled>(kind, id);
  let count = present?.revision ?? 0;
  if (present && count === revision) return same(present.body, body, { id, revision });
  if (present && count > revision) {
    // Of earlier proposals only a part is kept.
    const entry = await readKeptRevision(documents, { kind, id, revision });
    const part = Object.fromEntries(Object.keys(entry ?? {}).map((field) => [field, body[field]]));
    return same(entry, part as unknown as Journaled, { id, revision });
  }
  if (present) same(present.body, quiet, { id, revision });
  else {
    await requireEarlier(documents, { kind, id, revision, earlier });
    await refuseForeignDids(documents, { did: id, names: namesIn(body) });
  }
  for (; count < revision; count++) {
    const next = at(count + 1);
    const written =
      count === 0 ? await documents.insert(kind, id, next) : await documents.replace(kind, id, count, next);
    if (written.kind === 'exists') throw refuse('already-exists', `${id} or one of its names is there already.`);
    if (written.kind === 'conflict') throw busy(id);
  }
  return true;
}

/**
 * Throws `invalid` when earlier revisions that belong before the record were not sent, or when it counts many more than
 * were: each revision is a write.
 */
async function requireEarlier(
  documents: DocumentStore,
  { kind, id, revision, earlier = 0 }: Omit<Wanted, 'body'>,
): Promise<void> {
  if (earlier === 0 && revision <= DOMAIN_LIMITS.bulkRevisionsUnsent) return;
  const sent = await documents.count(JOURNAL, { index: 'of', where: { of: `${kind.name}/${id}` } });
  const most = sent + DOMAIN_LIMITS.bulkRevisionsUnsent;
  const words = 'Send the earlier revisions before the record, as exports do.';
  if (sent < earlier)
    throw invalid(words, [{ field: '/earlier', error: `is ${earlier}; ${sent} earlier revisions are here` }]);
  if (revision > most)
    throw invalid(`The record counts more revisions than were sent. ${words}`, [
      { field: '/revision', error: `is ${revision}; after ${sent} earlier revisions it may be ${most} at most` },
    ]);
}

// Proposals and credits have none.
function namesIn({ alsoKnownAs }: Journaled): readonly string[] {
  return (alsoKnownAs ?? []) as readonly string[];
}

/** False, which says that nothing was created; throws when it is not the same. */
function same(
  there: Journaled | undefined,
  body: Journaled,
  { id, revision }: { id: string; revision: number },
): false {
  if (there && isDeepStrictEqual(plain(asExported(there)), plain(asExported(body)))) return false;
  throw differs(id, revision);
}

function plain(value: JsonObject): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** What an export carries says nothing of where it was imported. */
export function asExported<B extends JsonObject>({ journal, ...body }: B): JsonObject {
  const { imported: _imported, ...carried } = (journal ?? {}) as JsonObject;
  return { ...body, journal: carried };
}

function differs(id: string, revision: number): TwinlineError {
  return refuse(
    'already-exists',
    `${id} is here already, and is or was something else at revision ${revision}. Imports change nothing that is there.`,
  );
}

function busy(id: string): TwinlineError {
  return new TwinlineError('ERR_CONFLICT', `${id} is being imported by somebody else at the same time. Try again.`);
}
