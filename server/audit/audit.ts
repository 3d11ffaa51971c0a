// The audit log: what operators and votes have done, one entry after the other, in the document store of the server. Each entry
// is bound to the one before it by a keyed hash, so a change, a removal or an insertion in the middle is found. What the hash
// cannot show is that the newest entries are missing: so every entry is a line of the server's log, too, with its number.

import type { Clock } from '../../lib/clock.ts';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { hmacSha256, type Keyring } from '../../lib/keyring.ts';
import type { DocumentStore, JsonObject, Kind } from '../../lib/store/store.ts';
import type { Log } from '../health/log.ts';

/** What is noted. */
export const AUDIT_ACTIONS = {
  'account.unlock': 'an operator unlocked an account',
  'records.import': 'an operator imported records',
  'records.export': 'an operator exported records',
  'credits.issued': 'credits were issued for a verified domain',
  'menus.edited': 'an operator wrote files of a menu in the browser',
  'credits.added': 'an operator added credits to the account of a user',
  'session.ended': 'an operator ended a session',
  'session.private': 'an operator was shown private values of a session',
  'session.shown': 'an operator was shown a session with the phone number of its caller',
  'session.simulated': 'an operator began a session as a simulated phone',
  'proposal.executed': 'a proposal gave a domain a new status',
  'proposal.vetoed': 'an operator stopped a proposal',
  'governance.changed': 'the server started with other rules of votes than before',
  'keys.changed': 'the server read other API keys than before',
} as const;
export type AuditAction = keyof typeof AUDIT_ACTIONS;

export interface AuditEvent {
  readonly action: AuditAction;
  /** Who: `token <fingerprint>`, `loopback`, `cli`, or `server`. */
  readonly by: string;
  /** Without secrets and phone numbers: those have aliases. */
  readonly details: JsonObject;
}

export interface AuditEntry extends AuditEvent {
  /** From 1, without gaps. */
  readonly number: number;
  /** ISO 8601. */
  readonly at: string;
  /** The `mac` of the entry before; '' for the first. */
  readonly previous: string;
  /** Which key made `mac`. */
  readonly kid: string;
  /** HMAC-SHA-256 over all the rest, base64url. */
  readonly mac: string;
}

export interface Audit {
  /** Resolves once the entry is stored. Rejects with ERR_STORE or ERR_CONFLICT. */
  append(event: AuditEvent): Promise<AuditEntry>;
  /** The newest entry of an action. */
  findLast(action: AuditAction): Promise<AuditEntry | undefined>;
}

export const AUDIT_KIND: Kind = { name: 'audit-entry', indexes: { action: { fields: ['action', 'number'] } } };

type Body = AuditEntry & JsonObject;

export interface AuditOptions {
  readonly documents: DocumentStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

/** The audit log of a server; `documents` knows its kind. */
export function auditLog({ documents, keyring, clock, log }: AuditOptions): Audit {
  const appendOnce = async (event: AuditEvent): Promise<AuditEntry | undefined> => {
    const newest = await documents.find<Body>(AUDIT_KIND, { descending: true, limit: 1 });
    const last = newest.items[0]?.body;
    const number = (last?.number ?? 0) + 1;
    const at = new Date(clock.now()).toISOString();
    const open = { ...event, number, at, previous: last?.mac ?? '', kid: keyring.active };
    const entry = { ...open, mac: computeMac(keyring, open)! };
    const { kind } = await documents.insert<Body>(AUDIT_KIND, formatId(number), entry as Body);
    return kind === 'inserted' ? entry : undefined;
  };
  return {
    findLast: async (action) => {
      const query = { index: 'action', where: { action }, descending: true, limit: 1 };
      return (await documents.find<Body>(AUDIT_KIND, query)).items[0]?.body;
    },
    append: async (event) => {
      for (let tries = 0; tries < COMMON_LIMITS.conflictsPerTurn; tries++) {
        const entry = await appendOnce(event);
        if (!entry) continue;
        const { action, by, details, number, mac } = entry;
        // A warning, so that it is also in the logs of those who keep nothing less.
        log.warn({ audit: action, number, mac, by, ...details }, AUDIT_ACTIONS[action]);
        return entry;
      }
      throw new TwinlineError('ERR_CONFLICT', 'Others wrote to the audit log at the same time, again and again.');
    },
  };
}

// Ids are in the order of their bytes, so numbers are of one length.
const formatId = (number: number) => String(number).padStart(12, '0');

type Unsigned = Omit<AuditEntry, 'mac'>;

// Undefined when there is no such key. A list has one order, which the fields of a stored object have not.
function computeMac(
  keyring: Keyring,
  { number, at, action, by, details, previous, kid }: Unsigned,
): string | undefined {
  const key = keyring.subkey('audit/v1', kid);
  return key && hmacSha256(key, JSON.stringify([number, at, action, by, sortFields(details), previous, kid]));
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, part]) => [name, sortFields(part)]);
}

/** All entries after the one with this number, oldest first. */
export async function* readAudit(documents: Pick<DocumentStore, 'find'>, after = 0): AsyncGenerator<AuditEntry> {
  let cursor: string | undefined;
  do {
    const page = await documents.find<Body>(AUDIT_KIND, { limit: 100, ...(cursor !== undefined && { cursor }) });
    for (const { body } of page.items) if (body.number > after) yield body;
    cursor = page.next;
  } while (cursor !== undefined);
}

/** What checking the chain has found. */
export type AuditVerdict =
  | { readonly kind: 'whole'; readonly entries: number; readonly last: AuditEntry | undefined }
  | { readonly kind: 'broken'; readonly number: number; readonly why: string };

/** Checks each entry and its tie to the one before; stops at the first that does not hold. */
export async function verifyAudit(documents: Pick<DocumentStore, 'find'>, keyring: Keyring): Promise<AuditVerdict> {
  let last: AuditEntry | undefined;
  for await (const entry of readAudit(documents)) {
    const number = (last?.number ?? 0) + 1;
    const brokenVerdict = (why: string): AuditVerdict => ({ kind: 'broken', number, why });
    if (entry.number !== number) return brokenVerdict(`it is missing: entry ${entry.number} comes in its place`);
    const mac = computeMac(keyring, entry);
    if (mac === undefined)
      return brokenVerdict(`it was written with the key ${JSON.stringify(entry.kid)}, which is not configured`);
    if (mac !== entry.mac) return brokenVerdict('it was changed after it was written');
    if (entry.previous !== (last?.mac ?? '')) return brokenVerdict('it does not follow the entry before it');
    last = entry;
  }
  return { kind: 'whole', entries: last?.number ?? 0, last };
}
