// Everything that a tenant has, line by line, in a form that an import takes back unchanged.
//
// Every record that was there when the export began is in it, as it was then or as it became while the export ran;
// what came later may be in it. A protocol comes before what is made from it, and whatever a record was before comes
// right before the record. Webhooks, remembered requests and places in status lists stay behind.

import type { DocumentStore, Kind, StoredDocument } from '../../store/store.ts';
import { type Caller, requireRole } from '../caller.ts';
import { type Journaled, revisionOf } from '../feed/journal.ts';
import { findPage, isVisible, type Reading } from '../find.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import type { StoredProtocol } from '../protocol/protocol.ts';
import type { StoredDomain } from '../twin/record.ts';
import { CARRIED, type Carried, type RecordLine } from './import-record.ts';

type Document = StoredDocument<Journaled>;

/** The lines of an export, for operators. Holds a page of documents at a time, and the names of all protocols. */
export async function* exportLines({ documents, settleVotes }: Reading, caller: Caller): AsyncGenerator<RecordLine> {
  requireRole(caller, 'export');
  const { tenant } = caller;
  await settleVotes({ tenant });
  const versions = new Map<string, number>();
  for await (const protocol of walk(documents, CARRIED.protocol, tenant))
    yield* protocolLines(documents, protocol as StoredDocument<StoredProtocol>, versions);
  for await (const domain of walk(documents, CARRIED.domain, tenant)) {
    if (!(await isVisible(documents, domain as StoredDocument<StoredDomain>))) continue;
    const bound = await boundTo(documents, domain, versions);
    if (bound) yield* recordLines(documents, 'domain', bound);
  }
  for (const carried of ['proposal', 'credit'] as const)
    for await (const document of walk(documents, CARRIED[carried], tenant))
      yield* recordLines(documents, carried, document);
}

async function* walk(documents: DocumentStore, kind: Kind, tenant: string): AsyncGenerator<Document> {
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const query = { index: 'created', where: { tenant }, limit: DOMAIN_LIMITS.exportPage, cursor };
    const page = await findPage<Journaled>(documents, kind, query);
    yield* page.items;
    cursor = page.next;
  }
}

// Ancestors first; a protocol that has been told is not told again.
async function* protocolLines(
  documents: DocumentStore,
  protocol: StoredDocument<StoredProtocol>,
  versions: Map<string, number>,
): AsyncGenerator<RecordLine> {
  if (versions.has(protocol.id)) return;
  versions.set(protocol.id, protocol.revision);
  for (let version = 1; version <= protocol.revision; version++) {
    const asked = { kind: CARRIED.protocol, id: protocol.id, revision: version };
    const { parent } = (await revisionOf<StoredProtocol>(documents, asked))?.body ?? { parent: null };
    const found = parent === null ? undefined : await documents.get<StoredProtocol>(CARRIED.protocol, parent);
    if (found) yield* protocolLines(documents, found, versions);
  }
  yield* recordLines(documents, 'protocol', protocol);
}

// While the export runs a twin may have moved on to a version that it has no more room for: then as it was before.
async function boundTo(
  documents: DocumentStore,
  domain: Document,
  versions: ReadonlyMap<string, number>,
): Promise<Document | undefined> {
  for (let { revision } = domain; revision > 0; revision--) {
    const found = await revisionOf<StoredDomain>(documents, { kind: CARRIED.domain, id: domain.id, revision });
    if (found && found.body.classVersion <= (versions.get(found.body.class) ?? 0)) return { id: domain.id, ...found };
  }
  return undefined;
}

async function* recordLines(documents: DocumentStore, carried: Carried, present: Document): AsyncGenerator<RecordLine> {
  const { id, revision } = present;
  for (let before = 1; before < revision; before++) {
    const found = await revisionOf(documents, { kind: CARRIED[carried], id, revision: before });
    if (found) yield { ...lineOf('revision', { id, ...found }), of: carried };
  }
  yield lineOf(carried, present);
}

function lineOf(kind: RecordLine['kind'], { id, revision, body }: Document): RecordLine {
  const { tenant: _tenant, ...carried } = body;
  const did = String(body.subject ?? body.did ?? id);
  return { import: true, kind, id, did, revision, body: carried };
}
