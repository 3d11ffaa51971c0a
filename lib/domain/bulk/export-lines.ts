// Everything of a tenant as lines: each after what it builds on.

import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, Kind, StoredDocument } from '../../store/store.ts';
import { type Caller, requireRole } from '../caller.ts';
import type { StatusEntry } from '../credential/places.ts';
import { type Journaled, readRevision } from '../feed/journal.ts';
import { findPage, isVisible, type PageQuery, type ReadDeps } from '../find.ts';
import { STATUS_ENTRY } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import type { StoredProtocol } from '../twin/protocol.ts';
import type { StoredDomain } from '../twin/record.ts';
import { asExported, CARRIED, type Carried, type RecordLine } from './record-lines.ts';

type JournaledDocument = StoredDocument<Journaled>;

/** What belongs to a domain and comes right after it, and how it is found. */
const PARTS: readonly { readonly carried: Carried; readonly index: string; readonly field: string }[] = [
  { carried: 'proposal', index: 'subject', field: 'subject' },
  { carried: 'credit', index: 'domain', field: 'did' },
];

/**
 * The lines of an export, for operators; an import takes them back unchanged. Every record that was there when the export
 * began is in it, as it was then or as it became while the export ran; what came later may be in it. Protocols come first,
 * earlier revisions before their record, and after each domain its proposals, its credits and the places of its
 * credentials. Webhooks and remembered requests are left out. Holds a page of documents at a time, and the names of all
 * protocols.
 */
export async function* exportLines({ documents, settleVotes }: ReadDeps, caller: Caller): AsyncGenerator<RecordLine> {
  requireRole(caller, 'export');
  const { tenant } = caller;
  await settleVotes({ tenant });
  const versions = new Map<string, number>();
  const created = { index: 'created', where: { tenant } };
  for await (const protocol of allDocuments<StoredProtocol>(documents, CARRIED.protocol, created))
    yield* protocolLines(documents, protocol, versions);
  for await (const domain of allDocuments<StoredDomain>(documents, CARRIED.domain, created)) {
    if (!(await isVisible(documents, domain))) continue;
    const bound = await readExportedRevision(documents, domain, versions);
    if (!bound) continue;
    yield* recordLines(documents, 'domain', bound);
    for (const { carried, index, field } of PARTS)
      for await (const part of allDocuments(documents, CARRIED[carried], {
        index,
        where: { tenant, [field]: domain.id },
      }))
        yield* recordLines(documents, carried, part);
    const places = { index: 'credential', where: { did: domain.id } };
    for await (const place of allDocuments<StatusEntry>(documents, STATUS_ENTRY, places)) yield placeLine(place);
  }
}

async function* allDocuments<Body extends JsonObject = Journaled>(
  documents: DocumentStore,
  kind: Kind,
  query: Pick<PageQuery, 'index' | 'where'>,
): AsyncGenerator<StoredDocument<Body>> {
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await findPage<Body>(documents, kind, { ...query, limit: DOMAIN_LIMITS.exportPage, cursor });
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
    const query = { kind: CARRIED.protocol, id: protocol.id, revision: version };
    const { parent } = (await readRevision<StoredProtocol>(documents, query))?.body ?? { parent: null };
    const above = parent === null ? undefined : await documents.get<StoredProtocol>(CARRIED.protocol, parent);
    if (above) yield* protocolLines(documents, above, versions);
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
    const earlier = await readRevision<StoredDomain>(documents, { kind: CARRIED.domain, id: domain.id, revision });
    if (earlier && earlier.body.classVersion <= (versions.get(earlier.body.class) ?? 0))
      return { id: domain.id, ...earlier };
  }
  return undefined;
}

async function* recordLines(
  documents: DocumentStore,
  carried: Carried,
  present: JournaledDocument,
): AsyncGenerator<RecordLine> {
  const { id, revision } = present;
  let earlier = 0;
  for (let before = 1; before < revision; before++) {
    const previous = await readRevision(documents, { kind: CARRIED[carried], id, revision: before });
    if (!previous) continue;
    earlier++;
    yield { ...recordLine('revision', { id, ...previous }), of: carried };
  }
  yield { ...recordLine(carried, present), ...(earlier && { earlier }) };
}

function recordLine(kind: RecordLine['kind'], { id, revision, body }: JournaledDocument): RecordLine {
  const { tenant: _tenant, ...carried } = asExported(body);
  const did = String(body.subject ?? body.did ?? id);
  return { import: true, kind, id, did, revision, body: carried };
}

function placeLine({ revision, body: { tenant: _tenant, ...body } }: StoredDocument<StatusEntry>): RecordLine {
  const { did, list, index } = body;
  return { import: true, kind: 'place', id: `${list}/${index}`, did, revision, body };
}
