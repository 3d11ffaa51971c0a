// The entries of what the domain service does by itself: its journal is read in order, and each event that is to be noted gets one.
//
// How far that has come is kept in the head of the log, and written with the entries in one write. So each has exactly one entry,
// also when a process is killed between a deed and its entry, and however many instances read the journal.

import {
  type DomainEvent,
  eventNumber,
  findSubject,
  type Written,
  writtenAfter,
} from '../../lib/domain/feed/journal.ts';
import { DOMAIN, PROTOCOL } from '../../lib/domain/kinds.ts';
import { isoTime } from '../../lib/domain/twin/record.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { Change, DocumentStore } from '../../lib/store/store.ts';
import type { Audit, AuditAction, AuditEvent } from './audit.ts';

export interface AuditJournal {
  /** Notes what has happened since the last time, up to some thousand changes; true when there is more. */
  round(): Promise<boolean>;
  /** Notes everything that has happened before the call. */
  catchUp(): Promise<void>;
}

export interface JournalOptions {
  readonly audit: Pick<Audit, 'readCursor' | 'advance'>;
  /** With DOMAIN_KINDS declared. */
  readonly documents: DocumentStore;
}

/** Changes that one round reads at most. */
const CHANGES_PER_PAGE = 200;
const PAGES_PER_ROUND = 10;
/** Changes without an entry after which the place in the journal is stored all the same. */
const STORED_AFTER = 5_000;
/** Entries of one write. */
const ENTRIES_AT_ONCE = 200;

interface NotedEvent {
  readonly action: AuditAction;
  /** Who has done it, where that is not the one whom the journal names. */
  readonly by?: string;
  readonly details: (written: Written, data: JsonObject) => JsonObject;
}

const CREDITS: NotedEvent['details'] = ({ id }, { did, amount }) => ({
  credit: id,
  did: did ?? null,
  amount: amount ?? null,
});
const executed = (kind: string): NotedEvent => ({
  action: 'proposal.executed',
  by: 'votes',
  details: ({ id }, { proposal, status }) => ({
    proposal: proposal ?? null,
    kind,
    subject: id,
    status: status ?? null,
  }),
});

/** Types of events that get an entry. */
const NOTED: { readonly [type: string]: NotedEvent } = {
  'domain.verified': executed('verify'),
  'domain.suspended': executed('suspend'),
  'domain.reinstated': executed('reinstate'),
  'domain.revoked': executed('revoke'),
  'proposal.vetoed': {
    action: 'proposal.vetoed',
    details: ({ id, body }) => ({ proposal: id, subject: findSubject(id, body) }),
  },
  'credits.issued': { action: 'credits.issued', details: CREDITS },
};

/** Reads the journal for the audit log. Nothing runs in the background. */
export function auditJournal({ audit, documents }: JournalOptions): AuditJournal {
  // There is nothing to note up to here.
  let scanned = 0;

  async function round(): Promise<boolean> {
    const cursor = await audit.readCursor();
    const events: AuditEvent[] = [];
    let [to, atEnd] = [Math.max(cursor, scanned), false];
    for (let pages = 0; !atEnd && pages < PAGES_PER_ROUND && events.length < ENTRIES_AT_ONCE; pages++) {
      const page = await writtenAfter(documents, to, CHANGES_PER_PAGE, mayBeNoted);
      events.push(...page.written.flatMap(listEntries));
      to = page.last ?? to;
      atEnd = page.atEnd;
    }
    const isNoted =
      (events.length === 0 && to - cursor < STORED_AFTER) || (await audit.advance({ from: cursor, to, events }));
    // Another process was first: what it has noted is left out the next time.
    if (isNoted) scanned = to;
    return !(isNoted && atEnd);
  }

  return {
    round,
    catchUp: async () => {
      while (await round());
    },
  };
}

// A twin or protocol is made at its first revision, whatever happens to it later: of many that are made none is read.
function mayBeNoted({ kind, revision }: Change): boolean {
  return kind !== PROTOCOL.name && (kind !== DOMAIN.name || revision > 1);
}

function listEntries(written: Written): AuditEvent[] {
  const { journal, tenant } = written.body;
  if (journal.imported) return [];
  return journal.events.flatMap(({ type, data }: DomainEvent, at) => {
    const note = Object.hasOwn(NOTED, type) ? NOTED[type]! : undefined;
    if (!note) return [];
    const { action, by = journal.by, details } = note;
    const event = eventNumber(written.seq, at);
    return [{ action, by, details: { ...details(written, data), tenant, event, happened: isoTime(journal.at) } }];
  });
}
