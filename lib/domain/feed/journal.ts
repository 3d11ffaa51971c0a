// Exact history: every revision of a document is kept before it is overwritten. Also what was written in order, the types of events, and first inserts.

import { type Clock, inTurns } from '../../clock.ts';
import type { Detail } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Change, DocumentStore, Kind, ReplaceResult, StoredDocument } from '../../store/store.ts';
import { CREDIT, DOMAIN, JOURNAL, PROPOSAL, PROTOCOL } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse } from '../problems.ts';

/** Something that happened to a twin or a proposal, as the feed tells it. */
export interface DomainEvent {
  /** Such as `domain.created`. */
  readonly type: string;
  readonly data: JsonObject;
}

/** The write that made a revision. */
export interface JournalEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The principal that asked for it; `system` for deadlines. */
  readonly by: string;
  readonly action: string;
  readonly events: readonly DomainEvent[];
  /** An import has written the revision, so nothing of it has happened here. */
  readonly imported?: true;
}

/** A body that says how it came about. */
export type Journaled = JsonObject & { readonly tenant: string; readonly journal: JsonObject & JournalEntry };

/** A revision of a document, the present one or an earlier one. */
export interface Revision<B extends Journaled = Journaled> {
  readonly revision: number;
  readonly body: B;
}

export interface JournalOptions<B> {
  /** What is kept of an earlier revision; `tenant` and `journal` always. @default everything */
  readonly keep?: (body: B) => JsonObject;
}

const REVISION_DIGITS = 10;

/** Replaces `old` by `body`, after the revision that goes is kept. The same answer as {@link DocumentStore.replace}. */
export async function replaceJournaled<B extends Journaled>(
  documents: DocumentStore,
  { kind, old, body, keep }: { kind: Kind; old: StoredDocument<B>; body: B } & JournalOptions<B>,
): Promise<ReplaceResult> {
  await archive(documents, kind, { ...old, body: keep ? ({ ...keep(old.body), ...roots(old.body) } as B) : old.body });
  return documents.replace(kind, old.id, old.revision, body);
}

// Who loses the race for the replace has kept the very same revision; that it is there already is no harm.
/** Keeps a revision for good; again: harmless. */
export async function archive(documents: DocumentStore, kind: Kind, old: StoredDocument<Journaled>): Promise<void> {
  const of = `${kind.name}/${old.id}`;
  await documents.insert(JOURNAL, entryId(of, old.revision), { of, at: old.body.journal.at, body: old.body });
}

/** The time of the next write of a document: never before its last one. */
export function stamp({ journal }: Journaled, clock: Pick<Clock, 'now'>): number {
  return Math.max(clock.now(), journal.at);
}

function roots({ tenant, journal }: Journaled): JsonObject {
  return { tenant, journal };
}

function entryId(of: string, revision: number): string {
  return `${of}@${String(revision).padStart(REVISION_DIGITS, '0')}`;
}

/** A revision that was kept; undefined when it is the present one, or was never there. */
export async function readKeptRevision<B extends Journaled>(
  documents: DocumentStore,
  { kind, id, revision }: { kind: Kind; id: string; revision: number },
): Promise<B | undefined> {
  const kept = await documents.get<{ body: B }>(JOURNAL, entryId(`${kind.name}/${id}`, revision));
  return kept?.body.body;
}

/** What a document was at a revision; undefined when there was no such revision. */
export async function readRevision<B extends Journaled>(
  documents: DocumentStore,
  { kind, id, revision }: { kind: Kind; id: string; revision: number },
): Promise<Revision<B> | undefined> {
  const now = await documents.get<B>(kind, id);
  if (now?.revision === revision) return { revision, body: now.body };
  const kept = await readKeptRevision<B>(documents, { kind, id, revision });
  if (kept) return { revision, body: kept };
  // It may have been replaced, and kept, between the two looks.
  const later = now && revision > now.revision ? await documents.get<B>(kind, id) : undefined;
  return later?.revision === revision ? { revision, body: later.body } : undefined;
}

/** What a document was at a moment (milliseconds since 1970); undefined when it did not exist yet. */
export async function revisionAt<B extends Journaled>(
  documents: DocumentStore,
  { kind, id, at }: { kind: Kind; id: string; at: number },
): Promise<Revision<B> | undefined> {
  const now = await documents.get<B>(kind, id);
  if (!now) return undefined;
  if (now.body.journal.at <= at) return { revision: now.revision, body: now.body };
  const of = `${kind.name}/${id}`;
  const { items } = await documents.find<{ body: B }>(JOURNAL, {
    index: 'of',
    where: { of, at: { lte: at } },
    descending: true,
    limit: 1,
  });
  return items[0] && { revision: revisionIn(items[0].id), body: items[0].body.body };
}

/** Earlier and present revisions, the newest first, from before revision `before`. */
export async function readRevisions<B extends Journaled>(
  documents: DocumentStore,
  { kind, id, before, limit }: { kind: Kind; id: string; before?: number; limit: number },
): Promise<Revision<B>[]> {
  const now = await documents.get<B>(kind, id);
  if (!now) return [];
  const from = Math.min(now.revision, (before ?? Number.POSITIVE_INFINITY) - 1);
  const wanted = Array.from({ length: Math.max(0, Math.min(limit, from)) }, (_, at) => from - at);
  const found: Revision<B>[] = [];
  await inTurns(wanted, readOne, (body, revision) => {
    if (body) found.push({ revision, body });
  });
  return found;

  // What is kept of earlier ones may be much smaller than what is there now, so that is read once.
  async function readOne(revision: number): Promise<B | undefined> {
    return revision === now!.revision ? now!.body : readKeptRevision<B>(documents, { kind, id, revision });
  }
}

function revisionIn(entry: string): number {
  return Number(entry.slice(-REVISION_DIGITS));
}

const JOURNALED = new Map<string, Kind>([PROTOCOL, DOMAIN, PROPOSAL, CREDIT].map((kind) => [kind.name, kind]));

/** A revision as the store numbered it when it was written. */
export interface Written extends Omit<Change, 'at'>, Revision {}

/** Revisions, and how far the store was read for them. */
export interface WrittenPage {
  readonly written: readonly Written[];
  /** The number of the last change that was looked at; undefined when there was none. */
  readonly last: number | undefined;
  readonly atEnd: boolean;
}

/** The revisions of protocols, domains, proposals and credits out of the next `limit` changes after `after`, those that are wanted. */
export async function writtenAfter(
  documents: DocumentStore,
  after: number,
  limit: number,
  isWanted: (change: Change) => boolean = () => true,
): Promise<WrittenPage> {
  const changes = await documents.changes(after, limit);
  const written = await Promise.all(
    changes.map(async (change): Promise<Written[]> => {
      const { seq, kind: name, id, revision } = change;
      const kind = revision > 0 && isWanted(change) ? JOURNALED.get(name) : undefined;
      const found = kind && (await readRevision(documents, { kind, id, revision }));
      return found ? [{ seq, kind: name, id, ...found }] : [];
    }),
  );
  return { written: written.flat(), last: changes.at(-1)?.seq, atEnd: changes.length < limit };
}

/** A write makes up to this many events; together with the number of the change they give each event a number of its own. */
export const EVENTS_PER_CHANGE = 16;

/** The number of an event: of the change, and its place in the change. */
export function eventNumber(change: number, at: number): number {
  return change * EVENTS_PER_CHANGE + at;
}

/** The DID that a document is about. */
export function findSubject(id: string, { subject, did }: JsonObject): string {
  return typeof subject === 'string' ? subject : typeof did === 'string' ? did : id;
}

/** Inserts a twin or protocol. One with its DID is of an earlier try of the request: no client chooses a DID. */
export async function insertOnce<B extends Journaled & { readonly did: string }>(
  documents: DocumentStore,
  { kind, body, taken }: { kind: Kind; body: B; taken: string },
): Promise<StoredDocument<B>> {
  const inserted = await documents.insert(kind, body.did, body);
  if (inserted.kind === 'inserted') return inserted;
  const known = await documents.get<B>(kind, body.did);
  if (known) return known;
  throw refuse('already-exists', taken);
}

const FAMILIES = ['domain', 'protocol', 'proposal', 'vote', 'credits'] as const;
const NAME = new RegExp(`^(\\*|(${FAMILIES.join('|')})\\.(\\*|[a-z_]{1,40}))$`);

/** What is wrong with a list of types, by its place in `field`; empty when nothing. */
export function typeProblems(types: readonly string[], field: string): Detail[] {
  if (types.length > DOMAIN_LIMITS.eventTypes)
    return [{ field, error: `has more than ${DOMAIN_LIMITS.eventTypes} types` }];
  return types.flatMap((type, at) =>
    NAME.test(type)
      ? []
      : [
          {
            field: `${field}/${at}`,
            error: `must be a type of event such as domain.verified, a family such as proposal.*, or *; families are ${FAMILIES.join(', ')}`,
          },
        ],
  );
}

/** Whether one of these types means an event of this type. No types mean all. */
export function wantsType(types: readonly string[], type: string): boolean {
  const family = `${type.slice(0, type.indexOf('.'))}.*`;
  return types.length === 0 || types.includes(type) || types.includes(family) || types.includes('*');
}
