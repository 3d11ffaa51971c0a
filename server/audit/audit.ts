// The audit log: what operators and votes have done, one entry after the other, each bound to the one before it by a keyed hash.
// Here is its form: the entries, the head that says how many there are, and how both are hashed.

import type { JsonObject } from '../../lib/json/json.ts';
import { hmacSha256, type Keyring } from '../../lib/keyring.ts';
import type { Kind } from '../../lib/store/store.ts';

/** What is noted. */
export const AUDIT_ACTIONS = {
  'account.unlock': 'an operator unlocked an account',
  'caller.exported': 'an operator was shown what flows keep of a caller',
  'caller.erased': 'an operator erased what flows keep of a caller',
  'records.importing': 'an operator began to import records',
  'records.import': 'an operator imported records',
  'records.export': 'an operator exported records',
  'credits.issued': 'credits were issued for a verified domain',
  'menus.edited': 'an operator wrote files of a menu in the browser',
  'menus.published': 'an operator published the draft of a menu',
  'menus.unpublished': 'an operator took a menu away from callers',
  'menus.renamed': 'an operator renamed a menu',
  'menus.deleted': 'an operator deleted a menu',
  'menus.dialled': 'an operator chose the menu that a dial starts',
  'menus.previewed': 'an operator made a link to a preview of a menu',
  'credits.added': 'an operator added credits to the account of a user',
  'session.ended': 'an operator ended a session',
  'session.private': 'an operator was shown private values of a session',
  'session.shown': 'an operator was shown a session with the phone number of its caller',
  'session.simulated': 'an operator began a session as a simulated phone',
  'proposal.executed': 'a proposal gave a domain a new status',
  'proposal.vetoed': 'an operator stopped a proposal',
  'governance.changed': 'the server started with other rules of votes than before',
  'keys.changed': 'the server read other API keys than before',
  'keys.resealed': 'everything in documents was sealed with the active key',
  'audit.continued': 'the head of this log was missing or changed, so entries before this one may be missing',
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
  /** How `mac` is made; missing in entries of the first form. */
  readonly v?: 2;
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
  /**
   * Resolves once the entry is stored. Rejects with ERR_STORE: then do not do what it tells of. The entry of a deed is written before
   * the deed, unless the journal of the domain service tells of it.
   */
  append(event: AuditEvent): Promise<AuditEntry>;
  /** The newest entry of an action. */
  findLast(action: AuditAction): Promise<AuditEntry | undefined>;
  /** The number of the change up to which the journal of the domain service has its entries. */
  readCursor(): Promise<number>;
  /** Stores the entries of the changes after `from` and up to `to`, and that they are stored, in one write; false: another was first. */
  advance(step: JournalStep): Promise<boolean>;
  /** Resolves when what was appended is stored, or was rejected. */
  close(): Promise<void>;
}

export interface JournalStep {
  readonly from: number;
  readonly to: number;
  readonly events: readonly AuditEvent[];
}

/** Entries by their number. */
export const AUDIT_KIND: Kind = { name: 'audit-entry', indexes: { action: { fields: ['action', 'number'] } } };
/** One document: the head. */
export const AUDIT_HEAD_KIND: Kind = { name: 'audit-head', indexes: {} };
export const AUDIT_KINDS: readonly Kind[] = [AUDIT_KIND, AUDIT_HEAD_KIND];
export const HEAD_ID = 'head';

/**
 * Where the log ends. It is replaced at the revision that was read, so of all processes one adds entries at a time; those that it
 * adds are here first, and are in the log from then on, whoever copies them to their places.
 */
export interface AuditHead {
  /** Of the newest entry; 0 and '' when there is none. */
  readonly number: number;
  readonly mac: string;
  /** The number of the change up to which the journal of the domain service has its entries. */
  readonly cursor: number;
  /** The newest entries, oldest first, which may not be in their places yet. */
  readonly entries: readonly AuditEntry[];
  /** Which key made `seal`. */
  readonly kid: string;
  /** HMAC-SHA-256 over `number`, `mac`, `cursor` and `kid`, base64url. */
  readonly seal: string;
}

/** Where a chain goes on. */
export type AuditEnd = Pick<AuditHead, 'number' | 'mac'>;
export type AuditBody = AuditEntry & JsonObject;
export type HeadBody = AuditHead & JsonObject;

/** Ids are in the order of their bytes, so numbers are of one length. */
export const formatId = (number: number): string => String(number).padStart(12, '0');

type Unsigned = Omit<AuditEntry, 'mac'>;

/** Undefined when there is no such key. */
export function computeMac(keyring: Keyring, entry: Unsigned): string | undefined {
  const { v, number, at, action, by, details, previous, kid } = entry;
  const parts = [number, at, action, by, v === undefined ? sortFields(details) : canonical(details), previous, kid];
  return mac(keyring, kid, v === undefined ? parts : [`entry/${v}`, ...parts]);
}

/** The head of a log that goes on after `end` with these entries. */
export function makeHead(
  keyring: Keyring,
  { end, entries = [], cursor }: { end: AuditEnd; entries?: readonly AuditEntry[]; cursor: number },
): HeadBody {
  const { number, mac: last } = entries.at(-1) ?? end;
  const open = { number, mac: last, cursor, kid: keyring.active };
  return { ...open, entries, seal: computeSeal(keyring, open)! } as HeadBody;
}

/** Undefined when there is no such key. */
export function computeSeal(keyring: Keyring, { number, mac: last, cursor, kid }: Omit<AuditHead, 'seal' | 'entries'>) {
  return mac(keyring, kid, ['head/1', number, last, cursor, kid]);
}

function mac(keyring: Keyring, kid: string, parts: readonly unknown[]): string | undefined {
  const key = keyring.subkey('audit/v1', kid);
  return key && hmacSha256(key, JSON.stringify(parts));
}

// The fields of a stored object have no order, so they are sorted; what is a list and what is an object is told apart.
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(canonical)];
  if (typeof value !== 'object' || value === null) return value;
  return ['object', ...sortedFields(value).map(([name, part]) => [name, canonical(part)])];
}

// In entries of the first form an object is hashed as the list of its fields.
function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== 'object' || value === null) return value;
  return sortedFields(value).map(([name, part]) => [name, sortFields(part)]);
}

const sortedFields = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));

/**
 * Whether the details of an entry of the first form can be what was written: details were an object, and no object or list that
 * could stand for the other one was ever in them.
 */
export function isFirstForm(details: unknown): boolean {
  const isField = (part: unknown) => Array.isArray(part) && part.length === 2 && typeof part[0] === 'string';
  const isPlain = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return !(value.length > 0 && value.every(isField)) && value.every(isPlain);
    return Object.keys(value).length > 0 && Object.values(value).every(isPlain);
  };
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return false;
  return Object.values(details).every(isPlain);
}
