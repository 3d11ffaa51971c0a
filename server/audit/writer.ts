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
export function auditLog(options: AuditOptions): Audit {
  const { documents, log } = options;
  const ending = new AbortController();
  const chain = new EntryChain(options);
  let queue: QueuedEvents[] = [];
  let running: Promise<void> | undefined;

  async function write(batch: readonly QueuedEvents[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      const head = await chain.readHead();
      const { cursor } = head.body;
      // Of two steps from one place the second one would tell of the same changes.
      const step = batch.find((work) => work.step?.from === cursor);
      const due = batch.filter((work) => work === step || work.step === undefined);
      const events = due.flatMap((work) => work.events);
      const written = await chain.extend(head, { events, cursor: step?.step?.to ?? cursor });
      if (written) {
        let from = 0;
        for (const work of batch) {
          if (!due.includes(work)) work.resolve(undefined);
          else {
            work.resolve(written.entries.slice(from, from + work.events.length));
            from += work.events.length;
          }
        }
        await written.copy();
        return;
      }
      if (ending.signal.aborted) throw closed();
      // The first conflict is rarely followed by another one.
      if (tries > 1) await systemClock.wait(retryDelay(tries - 1, BACKOFF), ending.signal);
    }
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
    readCursor: async () => (await chain.readHead()).body.cursor,
    findLast: async (action) => {
      await chain.readHead();
      const query = { index: 'action', where: { action }, descending: true, limit: 1 };
      return (await documents.find<AuditBody>(AUDIT_KIND, query)).items[0]?.body;
    },
    close: async () => {
      ending.abort();
      await running;
    },
  };
}

type Head = StoredDocument<HeadBody>;

interface Extension {
  readonly events: readonly AuditEvent[];
  readonly cursor: HeadBody['cursor'];
}

/** The chain of entries: its head, which holds the newest ones, and the places to which these are copied. */
class EntryChain {
  readonly #options: AuditOptions;
  /** The last head that this process has written. One that is behind it was set back. */
  #mine: AuditHead | undefined;
  /** The `mac` of a head whose entries are all in their places. */
  #copied = '';
  #isOpen = false;

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** The head, with its entries in their places. */
  async readHead(): Promise<Head> {
    const { documents, keyring } = this.#options;
    for (;;) {
      const document = await documents.get<HeadBody>(AUDIT_HEAD_KIND, HEAD_ID);
      const head =
        document && isSealed(keyring, document.body) ? await this.#sealAnew(document) : await this.#begin(document);
      if (head && (await this.#copyEntries(head))) return head;
    }
  }

  /** Writes entries for the events behind those of the head; undefined when another process was first. `copy` puts them in their places. */
  async extend(head: Head, { events, cursor }: Extension) {
    const end = chooseLater(this.#mine, head.body);
    const entries = this.#makeEntries(end, events);
    const isChange = events.length > 0 || cursor !== head.body.cursor;
    const written = isChange ? await this.#put(head, makeHead(this.#options.keyring, { end, entries, cursor })) : head;
    if (!written) return undefined;
    return {
      entries,
      copy: async () => {
        this.#tell(entries);
        await this.#copyEntries(written);
      },
    };
  }

  #makeEntries({ number, mac }: AuditEnd, events: readonly AuditEvent[]): AuditEntry[] {
    const { keyring, clock } = this.#options;
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
  async #put(old: StoredDocument | undefined, head: HeadBody): Promise<Head | undefined> {
    const { documents } = this.#options;
    const result = old
      ? await documents.replace(AUDIT_HEAD_KIND, HEAD_ID, old.revision, head)
      : await documents.insert(AUDIT_HEAD_KIND, HEAD_ID, head);
    if (result.kind !== 'replaced' && result.kind !== 'inserted') return undefined;
    this.#mine = head;
    return { id: HEAD_ID, revision: result.revision, body: head };
  }

  // Once per process: after a change of keys the old one is needed for old entries only.
  async #sealAnew(head: Head): Promise<Head | undefined> {
    const { keyring } = this.#options;
    const { kid, entries, cursor } = head.body;
    if (this.#isOpen || kid === keyring.active) return head;
    return this.#put(head, makeHead(keyring, { end: head.body, entries, cursor }));
  }

  // There is none in a log of an earlier version, which had no entries of the second form. Else it was removed or changed.
  async #begin(document: StoredDocument | undefined): Promise<Head | undefined> {
    const { documents, keyring } = this.#options;
    const newest = await this.#findNewest();
    const mine = this.#mine;
    const isLost = document !== undefined || mine !== undefined || newest?.v !== undefined;
    const details = { head: document ? 'changed, or sealed with a key that is gone,' : 'missing' };
    const end = chooseLater(mine, newest ?? { number: 0, mac: '' });
    const entries = isLost ? this.#makeEntries(end, [{ action: 'audit.continued', by: 'server', details }]) : [];
    const cursor = mine?.cursor ?? (await findCursor(documents)) ?? (await documents.lastChange());
    const head = await this.#put(document, makeHead(keyring, { end, entries, cursor }));
    if (head) this.#tell(entries);
    return head;
  }

  async #findNewest(): Promise<AuditEntry | undefined> {
    const { items } = await this.#options.documents.find<AuditBody>(AUDIT_KIND, { descending: true, limit: 1 });
    return items[0]?.body;
  }

  /** In order, so that readers see no gap. False: an instance of an earlier version was first with a number, and they have others now. */
  async #copyEntries(head: Head): Promise<boolean> {
    const { documents, keyring } = this.#options;
    if (this.#isOpen && head.body.mac === this.#copied) return true;
    for (const [at, entry] of head.body.entries.entries()) {
      const id = formatId(entry.number);
      const { kind } = await documents.insert<AuditBody>(AUDIT_KIND, id, entry as AuditBody);
      if (kind === 'inserted') continue;
      const there = await documents.get<AuditBody>(AUDIT_KIND, id);
      if (there?.body.mac === entry.mac) continue;
      const newest = (await this.#findNewest())!;
      const entries = this.#makeEntries(newest, head.body.entries.slice(at));
      await this.#put(head, makeHead(keyring, { end: newest, entries, cursor: head.body.cursor }));
      return false;
    }
    this.#copied = head.body.mac;
    this.#isOpen = true;
    return true;
  }

  // A warning, so that it is also in the logs of those who keep nothing less.
  #tell(entries: readonly AuditEntry[]): void {
    for (const { action, by, details, number, mac } of entries)
      this.#options.log.warn({ audit: action, number, mac, by, ...details }, AUDIT_ACTIONS[action]);
  }
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
