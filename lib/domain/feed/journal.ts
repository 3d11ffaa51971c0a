// The journal: every revision of a document is archived before it is overwritten. Also reads writes in order, and event types.

import { type Clock, inTurns } from '../../clock.ts';
import type { Detail } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Change, DocumentStore, Kind, ReplaceResult, StoredDocument } from '../../store/store.ts';
import { CREDIT, DOMAIN, JOURNAL, PROPOSAL, PROTOCOL } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse } from '../problems.ts';

/** An event of a twin or proposal, as stored with the write that caused it. */
export interface DomainEvent {
  /** Such as `domain.created`. */
  readonly type: string;
  readonly data: JsonObject;
}

/** The write that made a revision. */
export interface JournalEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The principal that requested it; `system` for deadlines. */
  readonly by: string;
  readonly action: string;
  readonly events: readonly DomainEvent[];
  /** An import wrote the revision, so its events did not happen here. */
  readonly imported?: true;
}

/** A body with its journal entry. */
export type Journaled = JsonObject & { readonly tenant: string; readonly journal: JsonObject & JournalEntry };

/** A current or earlier revision of a document. */
export interface Revision<B extends Journaled = Journaled> {
  readonly revision: number;
  readonly body: B;
}

export interface JournalOptions<B> {
  /** Selects what to archive of the old revision, besides `tenant` and `journal`. @default everything */
  readonly keep?: (body: B) => JsonObject;
}

const REVISION_DIGITS = 10;

/** Archives `old`, then replaces it by `body`. Resolves like {@link DocumentStore.replace}. */
export async function replaceJournaled<B extends Journaled>(
  documents: DocumentStore,
  { kind, old, body, keep }: { kind: Kind; old: StoredDocument<B>; body: B } & JournalOptions<B>,
): Promise<ReplaceResult> {
  await archive(documents, kind, { ...old, body: keep ? ({ ...keep(old.body), ...roots(old.body) } as B) : old.body });
  return documents.replace(kind, old.id, old.revision, body);
}

// The loser of a race for the replace has archived the same revision, so an existing entry is fine.
/** Archives a revision permanently; idempotent. */
export async function archive(documents: DocumentStore, kind: Kind, old: StoredDocument<Journaled>): Promise<void> {
  const of = `${kind.name}/${old.id}`;
  await documents.insert(JOURNAL, entryId(of, old.revision), { of, at: old.body.journal.at, body: old.body });
}

/** The time of a document's next write, never before its last one. */
export function stamp({ journal }: Journaled, clock: Pick<Clock, 'now'>): number {
  return Math.max(clock.now(), journal.at);
}

function roots({ tenant, journal }: Journaled): JsonObject {
  return { tenant, journal };
}

function entryId(of: string, revision: number): string {
  return `${of}@${String(revision).padStart(REVISION_DIGITS, '0')}`;
}

/** An archived revision; undefined for the current one and those that never existed. */
export async function readKeptRevision<B extends Journaled>(
  documents: DocumentStore,
  { kind, id, revision }: { kind: Kind; id: string; revision: number },
): Promise<B | undefined> {
  const entry = await documents.get<{ body: B }>(JOURNAL, entryId(`${kind.name}/${id}`, revision));
  return entry?.body.body;
}

/** A document at a revision; undefined when it had no such revision. */
export async function readRevision<B extends Journaled>(
  documents: DocumentStore,
  { kind, id, revision }: { kind: Kind; id: string; revision: number },
): Promise<Revision<B> | undefined> {
  const now = await documents.get<B>(kind, id);
  if (now?.revision === revision) return { revision, body: now.body };
  const earlier = await readKeptRevision<B>(documents, { kind, id, revision });
  if (earlier) return { revision, body: earlier };
  // It may have been replaced and archived between the two reads.
  const later = now && revision > now.revision ? await documents.get<B>(kind, id) : undefined;
  return later?.revision === revision ? { revision, body: later.body } : undefined;
}

/** A document at a moment (milliseconds since 1970); undefined before it existed. */
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

/** Revisions older than `before`, newest first. */
export async function readRevisions<B extends Journaled>(
  documents: DocumentStore,
  { kind, id, before, limit }: { kind: Kind; id: string; before?: number; limit: number },
): Promise<Revision<B>[]> {
  const now = await documents.get<B>(kind, id);
  if (!now) return [];
  const from = Math.min(now.revision, (before ?? Number.POSITIVE_INFINITY) - 1);
  const numbers = Array.from({ length: Math.max(0, Math.min(limit, from)) }, (_, at) => from - at);
  const revisions: Revision<B>[] = [];
  await inTurns(numbers, readOne, (body, revision) => {
    if (body) revisions.push({ revision, body });
  });
  return revisions;

  // The current body may be much larger than archived ones, so it is read only once.
  async function readOne(revision: number): Promise<B | undefined> {
    return revision === now!.revision ? now!.body : readKeptRevision<B>(documents, { kind, id, revision });
  }
}

function revisionIn(entry: string): number {
  return Number(entry.slice(-REVISION_DIGITS));
}

const JOURNALED = new Map<string, Kind>([PROTOCOL, DOMAIN, PROPOSAL, CREDIT].map((kind) => [kind.name, kind]));

/** A revision with the number of its change. */
export interface Written extends Omit<Change, 'at'>, Revision {}

/** A page of revisions in write order. */
export interface WrittenPage {
  readonly written: readonly Written[];
  /** The number of the last change read; undefined when there was none. */
  readonly last: number | undefined;
  readonly atEnd: boolean;
}

/** The revisions of protocols, domains, proposals and credits among the `limit` changes after `after` that `isWanted` accepts. */
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
      const document = kind && (await readRevision(documents, { kind, id, revision }));
      return document ? [{ seq, kind: name, id, ...document }] : [];
    }),
  );
  return { written: written.flat(), last: changes.at(-1)?.seq, atEnd: changes.length < limit };
}

/** The most events of one write. An event's number combines the number of the change with its place among them. */
export const EVENTS_PER_CHANGE = 16;

/** The number of an event, from the number of its change and its place in it. */
export function eventNumber(change: number, at: number): number {
  return change * EVENTS_PER_CHANGE + at;
}

/** The DID that a document is about. */
export function findSubject(id: string, { subject, did }: JsonObject): string {
  return typeof subject === 'string' ? subject : typeof did === 'string' ? did : id;
}

/** Inserts a twin or protocol. An existing one with this DID comes from an earlier try, as clients cannot choose DIDs. */
export async function insertOnce<B extends Journaled & { readonly did: string }>(
  documents: DocumentStore,
  { kind, body, taken }: { kind: Kind; body: B; taken: string },
): Promise<StoredDocument<B>> {
  const inserted = await documents.insert(kind, body.did, body);
  if (inserted.kind === 'inserted') return inserted;
  const present = await documents.get<B>(kind, body.did);
  if (present) return present;
  throw refuse('already-exists', taken);
}

const FAMILIES = ['domain', 'protocol', 'proposal', 'vote', 'credits'] as const;
const NAME = new RegExp(`^(\\*|(${FAMILIES.join('|')})\\.(\\*|[a-z_]{1,40}))$`);

/** The invalid types of a list, by their place in `field`. */
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

/** Whether one of the types or families matches; an empty list matches everything. */
export function wantsType(types: readonly string[], type: string): boolean {
  const family = `${type.slice(0, type.indexOf('.'))}.*`;
  return types.length === 0 || types.includes(type) || types.includes(family) || types.includes('*');
}
