// Writing the audit log: of each process one writer, of all processes one at a time, and what comes meanwhile goes together.

import { type Clock, systemClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { type Backoff, retryDelay } from '../../lib/retry.ts';
import type { DocumentStore, StoredDocument } from '../../lib/store/store.ts';
import type { Log } from '../telemetry/log.ts';
import {
  AUDIT_ACTIONS,
  AUDIT_HEAD_KIND,
  AUDIT_KIND,
  type Audit,
  type AuditBody,
  type AuditEnd,
  type AuditEntry,
  type AuditEvent,
  type AuditHead,
  computeMac,
  formatId,
  HEAD_ID,
  type HeadBody,
  makeHead,
} from './audit.ts';
import { findCursor, isSealed } from './read.ts';

export interface AuditOptions {
  readonly documents: DocumentStore;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

interface QueuedEvents {
  readonly events: readonly AuditEvent[];
  /** Done only if the cursor is here. */
  readonly step?: { readonly from: number; readonly to: number };
  /** Undefined when the cursor is elsewhere. */
  readonly resolve: (entries: readonly AuditEntry[] | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Entries of one write; together they stay far below the largest document. */
const ENTRIES_AT_ONCE = 100;
const CHARS_AT_ONCE = 262_144;
/** Random pauses, so that processes that met do not meet again. */
const BACKOFF: Backoff = { firstMs: 2, maxMs: 64, jitter: 1 };

/** The audit log of a server; `documents` knows its kinds. */
export function auditLog({ documents, keyring, clock, log }: AuditOptions): Audit {
  const ending = new AbortController();
  let queue: QueuedEvents[] = [];
  let running: Promise<void> | undefined;
  // The last head that this process has written. One that is behind it was set back.
  let mine: AuditHead | undefined;
  /** The `mac` of a head whose entries are all in their places. */
  let copied = '';
  let isOpen = false;

  function chain({ number, mac }: AuditEnd, events: readonly AuditEvent[]): AuditEntry[] {
    const at = new Date(clock.now()).toISOString();
    let end: AuditEnd = { number, mac };
    return events.map(({ action, by, details }) => {
      // As the store gives it back: without what is undefined.
      const plain = JSON.parse(JSON.stringify(details));
      const open = { v: 2, number: end.number + 1, at, action, by, details: plain, previous: end.mac } as const;
      const entry = { ...open, kid: keyring.active, mac: '' };
      entry.mac = computeMac(keyring, entry)!;
      end = entry;
      return entry;
    });
  }

  /** Writes a head in the place of the one that was read; undefined when another process was first. */
  async function put(old: StoredDocument | undefined, head: HeadBody): Promise<StoredDocument<HeadBody> | undefined> {
    const result = old
      ? await documents.replace(AUDIT_HEAD_KIND, HEAD_ID, old.revision, head)
      : await documents.insert(AUDIT_HEAD_KIND, HEAD_ID, head);
    if (result.kind !== 'replaced' && result.kind !== 'inserted') return undefined;
    mine = head;
    return { id: HEAD_ID, revision: result.revision, body: head };
  }

  /** The head, with its entries in their places. */
  async function readHead(): Promise<StoredDocument<HeadBody>> {
    for (;;) {
      const stored = await documents.get<HeadBody>(AUDIT_HEAD_KIND, HEAD_ID);
      const head = stored && isSealed(keyring, stored.body) ? await sealAnew(stored) : await begin(stored);
      if (head && (await copyEntries(head))) return head;
    }
  }

  // Once per process: after a change of keys the old one is needed for old entries only.
  async function sealAnew(stored: StoredDocument<HeadBody>): Promise<StoredDocument<HeadBody> | undefined> {
    const { kid, entries, cursor } = stored.body;
    if (isOpen || kid === keyring.active) return stored;
    return put(stored, makeHead(keyring, { end: stored.body, entries, cursor }));
  }

  // There is none in a log of an earlier version, which had no entries of the second form. Else it was removed or changed.
  async function begin(stored: StoredDocument | undefined): Promise<StoredDocument<HeadBody> | undefined> {
    const newest = await findNewest();
    const isLost = stored !== undefined || mine !== undefined || newest?.v !== undefined;
    const details = { head: stored ? 'changed, or sealed with a key that is gone,' : 'missing' };
    const end = chooseLater(mine, newest ?? { number: 0, mac: '' });
    const entries = isLost ? chain(end, [{ action: 'audit.continued', by: 'server', details }]) : [];
    const cursor = mine?.cursor ?? (await findCursor(documents)) ?? (await documents.lastChange());
    const head = await put(stored, makeHead(keyring, { end, entries, cursor }));
    if (head) tell(entries);
    return head;
  }

  const findNewest = async (): Promise<AuditEntry | undefined> =>
    (await documents.find<AuditBody>(AUDIT_KIND, { descending: true, limit: 1 })).items[0]?.body;

  /** In order, so that readers see no gap. False: an instance of an earlier version was first with a number, and they have others now. */
  async function copyEntries(head: StoredDocument<HeadBody>): Promise<boolean> {
    if (isOpen && head.body.mac === copied) return true;
    for (const [at, entry] of head.body.entries.entries()) {
      const id = formatId(entry.number);
      const { kind } = await documents.insert<AuditBody>(AUDIT_KIND, id, entry as AuditBody);
      if (kind === 'inserted') continue;
      const there = await documents.get<AuditBody>(AUDIT_KIND, id);
      if (there?.body.mac === entry.mac) continue;
      const newest = (await findNewest())!;
      const entries = chain(newest, head.body.entries.slice(at));
      await put(head, makeHead(keyring, { end: newest, entries, cursor: head.body.cursor }));
      return false;
    }
    copied = head.body.mac;
    isOpen = true;
    return true;
  }

  async function write(batch: readonly QueuedEvents[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const stored = await readHead();
      const { cursor } = stored.body;
      // Of two steps from one place the second one would tell of the same changes.
      const step = batch.find((work) => work.step?.from === cursor);
      const due = batch.filter((work) => work === step || work.step === undefined);
      const end = chooseLater(mine, stored.body);
      const events = due.flatMap((work) => work.events);
      const entries = chain(end, events);
      const head = makeHead(keyring, { end, entries, cursor: step?.step?.to ?? cursor });
      const written = due.length === 0 ? stored : await put(stored, head);
      if (written) {
        let from = 0;
        for (const work of batch) {
          if (!due.includes(work)) work.resolve(undefined);
          else {
            work.resolve(entries.slice(from, from + work.events.length));
            from += work.events.length;
          }
        }
        tell(entries);
        await copyEntries(written);
        return;
      }
      if (ending.signal.aborted) throw closed();
      // The first conflict is rarely followed by another one.
      if (tries > 1) await systemClock.wait(retryDelay(tries - 1, BACKOFF), ending.signal);
    }
  }

  // A warning, so that it is also in the logs of those who keep nothing less.
  function tell(entries: readonly AuditEntry[]): void {
    for (const { action, by, details, number, mac } of entries)
      log.warn({ audit: action, number, mac, by, ...details }, AUDIT_ACTIONS[action]);
  }

  async function run(): Promise<void> {
    while (queue.length) {
      const batch = queue.slice(0, countFitting(queue));
      queue = queue.slice(batch.length);
      await write(batch).catch((error: unknown) => {
        // Those whose entries are stored have resolved.
        for (const { reject } of batch) reject(error);
        if (batch.length) log.warn({ err: error }, 'the audit log cannot be written');
      });
    }
    running = undefined;
  }

  function add(events: readonly AuditEvent[], step?: QueuedEvents['step']): Promise<readonly AuditEntry[] | undefined> {
    if (ending.signal.aborted) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      queue.push({ events, resolve, reject, ...(step && { step }) });
      running ??= run();
    });
  }

  return {
    append: async (event) => (await add([event]))![0]!,
    advance: async ({ events, ...step }) => (await add(events, step)) !== undefined,
    readCursor: async () => (await readHead()).body.cursor,
    findLast: async (action) => {
      await readHead();
      const query = { index: 'action', where: { action }, descending: true, limit: 1 };
      return (await documents.find<AuditBody>(AUDIT_KIND, query)).items[0]?.body;
    },
    close: async () => {
      ending.abort();
      await running;
    },
  };
}

const chooseLater = (one: AuditEnd | undefined, other: AuditEnd): AuditEnd =>
  one && one.number > other.number ? one : other;

function countFitting(queue: readonly QueuedEvents[]): number {
  let [count, entries, chars] = [0, 0, 0];
  for (const { events } of queue) {
    entries += events.length;
    chars += JSON.stringify(events).length;
    if (count > 0 && (entries > ENTRIES_AT_ONCE || chars > CHARS_AT_ONCE)) break;
    count++;
  }
  return count;
}

const closed = () => new TwinlineError('ERR_STORE', 'The server ends, so nothing more is written into the audit log.');
