// Records as lines of an export, and how an import takes them back: with their DIDs, times, statuses and earlier revisions.

import { isDeepStrictEqual } from 'node:util';
import { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import type { DocumentStore, Json, JsonObject, Kind, StoredDocument } from '../../store/store.ts';
import { type Caller, requireRole } from '../caller.ts';
import { archive, type Journaled, readKeptRevision, readRevision } from '../feed/journal.ts';
import { findPage, isVisible, type ReadDeps, refuseForeignDids } from '../find.ts';
import { CREDIT, DOMAIN, JOURNAL, PROPOSAL, PROTOCOL } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, refuse } from '../problems.ts';
import type { StoredProtocol } from '../protocol/protocol.ts';
import { checkShape } from '../schema/check.ts';
import { RECORD_LINE, STORED } from '../schema/records.ts';
import type { StoredDomain } from '../twin/record.ts';
import { indexTerms } from '../twin/terms.ts';

/** The kinds that exports carry, in the order in which they do. */
const CARRIED = { protocol: PROTOCOL, domain: DOMAIN, proposal: PROPOSAL, credit: CREDIT } as const;
export type Carried = keyof typeof CARRIED;

/** A line of an export: a record, or with the kind `revision` what one was before. */
export type RecordLine = JsonObject & {
  readonly import: true;
  readonly kind: Carried | 'revision';
  /** With the kind `revision`: of what. */
  readonly of?: Carried;
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
}

/** Whether a line is one of an export. */
export function isRecordLine(value: Json): boolean {
  return isObject(value) && 'import' in value;
}

/** Takes a line; throws `role-missing`, `invalid`, or `already-exists` when something else has its id or its names. */
export async function importRecord(documents: DocumentStore, caller: Caller, value: Json): Promise<ImportedLine> {
  requireRole(caller, 'import records');
  const line = checkShape<RecordLine>(RECORD_LINE, value, 'The record');
  const { kind, of, id, revision, did } = line;
  const carried = kind === 'revision' ? of! : kind;
  const form = STORED[kind === 'revision' && carried === 'proposal' ? 'revision' : carried];
  const stored = checkShape<JsonObject>(form, line.body, 'The body of the record');
  if (typeof stored.did === 'string' && stored.did !== (carried === 'credit' ? did : id))
    throw invalid('The record is about something else than its body.', [
      { field: '/id', error: 'differs from /body/did' },
    ]);
  const terms = carried === 'domain' ? indexTerms(stored as unknown as StoredDomain) : {};
  const journal = { ...(stored.journal as JsonObject), imported: true };
  const body = { ...stored, ...terms, tenant: caller.tenant, journal } as unknown as Journaled;
  const wanted = { kind: CARRIED[carried], id, revision, body };
  if (kind === 'revision') return { did, created: await takeEarlier(documents, wanted) };
  if (!(await takePresent(documents, wanted))) return { did, created: false };
  return { did, created: true, imported: typeof stored.status === 'string' ? { status: stored.status } : {} };
}

// Earlier revisions come before the record itself, which is not there yet.
async function takeEarlier(documents: DocumentStore, { kind, id, revision, body }: Wanted): Promise<boolean> {
  const kept = await readKeptRevision(documents, { kind, id, revision });
  if (kept) return same(kept, body, { id, revision });
  const present = await documents.get<Journaled>(kind, id);
  if (present && present.body.tenant === body.tenant && present.revision === revision)
    return same(present.body, body, { id, revision });
  if (present) throw differs(id, revision);
  await archive(documents, kind, { id, revision, body });
  return true;
}

// The store counts revisions itself, so the record is written until it has the right one. Until then it has no events, for
// the feed reads those of earlier revisions from the journal.
async function takePresent(documents: DocumentStore, { kind, id, revision, body }: Wanted): Promise<boolean> {
  const quiet = { ...body, journal: { ...body.journal, events: [] } };
  const at = (count: number) => (count === revision ? body : quiet);
  const present = await documents.get<Journaled>(kind, id);
  let count = present?.revision ?? 0;
  if (present && count === revision) return same(present.body, body, { id, revision });
  if (present && count > revision) {
    // Of earlier proposals only a part is kept.
    const kept = await readKeptRevision(documents, { kind, id, revision });
    const part = Object.fromEntries(Object.keys(kept ?? {}).map((field) => [field, body[field]]));
    return same(kept, part as unknown as Journaled, { id, revision });
  }
  if (present) same(present.body, quiet, { id, revision });
  else {
    await requireEarlier(documents, { kind, id, revision });
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

/** Each revision is a write: throws `invalid` when one line asks for many that were not sent. */
async function requireEarlier(documents: DocumentStore, { kind, id, revision }: Omit<Wanted, 'body'>): Promise<void> {
  if (revision <= DOMAIN_LIMITS.bulkRevisionsUnsent) return;
  const sent = await documents.count(JOURNAL, { index: 'of', where: { of: `${kind.name}/${id}` } });
  const most = sent + DOMAIN_LIMITS.bulkRevisionsUnsent;
  if (revision > most)
    throw invalid('The record counts more revisions than were sent. Send the earlier ones before it.', [
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

// What an export carries says nothing of where it was imported.
function asExported<B extends JsonObject>({ journal, ...body }: B): JsonObject {
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

type JournaledDocument = StoredDocument<Journaled>;

/**
 * The lines of an export, for operators; an import takes them back unchanged. Every record that was there when the export
 * began is in it, as it was then or as it became while the export ran; what came later may be in it. A protocol comes
 * before what is made from it, and earlier revisions come right before their record. Webhooks, remembered requests and
 * places in status lists are left out. Holds a page of documents at a time, and the names of all protocols.
 */
export async function* exportLines({ documents, settleVotes }: ReadDeps, caller: Caller): AsyncGenerator<RecordLine> {
  requireRole(caller, 'export');
  const { tenant } = caller;
  await settleVotes({ tenant });
  const versions = new Map<string, number>();
  for await (const protocol of allDocuments(documents, CARRIED.protocol, tenant))
    yield* protocolLines(documents, protocol as StoredDocument<StoredProtocol>, versions);
  for await (const domain of allDocuments(documents, CARRIED.domain, tenant)) {
    if (!(await isVisible(documents, domain as StoredDocument<StoredDomain>))) continue;
    const bound = await readExportedRevision(documents, domain, versions);
    if (bound) yield* recordLines(documents, 'domain', bound);
  }
  for (const carried of ['proposal', 'credit'] as const)
    for await (const document of allDocuments(documents, CARRIED[carried], tenant))
      yield* recordLines(documents, carried, document);
}

async function* allDocuments(documents: DocumentStore, kind: Kind, tenant: string): AsyncGenerator<JournaledDocument> {
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const query = { index: 'created', where: { tenant }, limit: DOMAIN_LIMITS.exportPage, cursor };
    const page = await findPage<Journaled>(documents, kind, query);
    yield* page.items;
    cursor = page.next;
  }
}

// Ancestors first, and each protocol once.
async function* protocolLines(
  documents: DocumentStore,
  protocol: StoredDocument<StoredProtocol>,
  versions: Map<string, number>,
): AsyncGenerator<RecordLine> {
  if (versions.has(protocol.id)) return;
  versions.set(protocol.id, protocol.revision);
  for (let version = 1; version <= protocol.revision; version++) {
    const asked = { kind: CARRIED.protocol, id: protocol.id, revision: version };
    const { parent } = (await readRevision<StoredProtocol>(documents, asked))?.body ?? { parent: null };
    const found = parent === null ? undefined : await documents.get<StoredProtocol>(CARRIED.protocol, parent);
    if (found) yield* protocolLines(documents, found, versions);
  }
  yield* recordLines(documents, 'protocol', protocol);
}

// While the export runs, a twin may be bound to a version of its protocol that was not exported: then an earlier revision.
async function readExportedRevision(
  documents: DocumentStore,
  domain: JournaledDocument,
  versions: ReadonlyMap<string, number>,
): Promise<JournaledDocument | undefined> {
  for (let { revision } = domain; revision > 0; revision--) {
    const found = await readRevision<StoredDomain>(documents, { kind: CARRIED.domain, id: domain.id, revision });
    if (found && found.body.classVersion <= (versions.get(found.body.class) ?? 0)) return { id: domain.id, ...found };
  }
  return undefined;
}

async function* recordLines(
  documents: DocumentStore,
  carried: Carried,
  present: JournaledDocument,
): AsyncGenerator<RecordLine> {
  const { id, revision } = present;
  for (let before = 1; before < revision; before++) {
    const found = await readRevision(documents, { kind: CARRIED[carried], id, revision: before });
    if (found) yield { ...recordLine('revision', { id, ...found }), of: carried };
  }
  yield recordLine(carried, present);
}

function recordLine(kind: RecordLine['kind'], { id, revision, body }: JournaledDocument): RecordLine {
  const { tenant: _tenant, ...carried } = asExported(body);
  const did = String(body.subject ?? body.did ?? id);
  return { import: true, kind, id, did, revision, body: carried };
}
