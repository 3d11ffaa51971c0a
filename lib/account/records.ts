// What is stored about accounts, about their SIM cards, and about tries on phone numbers that have no account; each is written only at the
// revision that was read.

import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { DocumentStore, Kind, StoredDocument } from '../store/store.ts';
import { type Attempts, NO_ATTEMPTS } from './attempts.ts';
import { ACCOUNT_LIMITS } from './limits.ts';

export type Account = {
  readonly customerId: string;
  /** E.164 with `+`. Never part of an id, so that it appears in no store error or change feed. */
  readonly phone: string;
  readonly name: string;
  readonly lang: string | null;
  /** Sealed; see pin.ts. */
  readonly pin: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Hashed keys of the calls that created the account and last changed its PIN, so that a retry gets the same answer. */
  readonly createdBy: string | null;
  readonly changedBy: string | null;
  readonly attempts: Attempts;
  /** Absent until a gateway identifies a SIM. */
  readonly sim?: KnownSim;
  /** The last unlock by an operator, if any. */
  readonly lastUnlock?: Unlock;
};

/** Who unlocked an account, and when. */
export type Unlock = {
  /** `cli`, or the operator's name as in the log. */
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/** Attempts on a phone number without an account; `alias` is its keyed pseudonym. */
type Stranger = { readonly alias: string; readonly attempts: Attempts };

/** Accounts by customer id; a phone number has at most one. */
export const ACCOUNTS: Kind = { name: 'account', indexes: { phone: { fields: ['phone'], unique: true } } };

/** A table of ACCOUNT_LIMITS.strangerSlots slots, so that guessing numbers cannot fill the store. */
export const STRANGERS: Kind = { name: 'account-stranger', indexes: {} };

/** All kinds of accounts; declare them on the store before use. */
export const ACCOUNT_KINDS: readonly Kind[] = [ACCOUNTS, STRANGERS];

/** The stored state of one phone number, with or without an account. */
export type PhoneRecord =
  | { readonly kind: 'account'; readonly stored: StoredDocument<Account>; readonly attempts: Attempts }
  | {
      readonly kind: 'stranger';
      readonly stored: StoredDocument<Stranger> | undefined;
      readonly attempts: Attempts;
      readonly slot: string;
      readonly alias: string;
    };

/** What to write, if anything, and the result. A number without an account stores only `attempts`. */
export interface Plan<T> {
  readonly changes?: Partial<Account>;
  readonly answer: T;
}

export interface AccountRecords {
  find(phone: string): Promise<StoredDocument<Account> | undefined>;
  /** False when the customer id or the phone number already exists. */
  insert(account: Account): Promise<boolean>;
  /** Reads, calls `plan` and writes; retries up to 32 times when another writer came first. */
  update<T>(phone: string, plan: (record: PhoneRecord) => Plan<T>): Promise<T>;
  /** Changes an existing count of attempts; undefined writes nothing. */
  revise(phone: string, change: (attempts: Attempts) => Attempts | undefined): Promise<void>;
}

export function accountRecords(documents: DocumentStore, alias: (phone: string) => string): AccountRecords {
  const find = async (phone: string) =>
    (await documents.find<Account>(ACCOUNTS, { index: 'phone', where: { phone }, limit: 1 })).items[0];

  // Reads both for every number: an extra read for unknown numbers would reveal them by timing.
  const look = async (phone: string): Promise<PhoneRecord> => {
    const own = alias(phone);
    const slot = findSlot(own);
    const [account, stranger] = await Promise.all([find(phone), documents.get<Stranger>(STRANGERS, slot)]);
    if (account) return { kind: 'account', stored: account, attempts: account.body.attempts };
    const attempts = stranger?.body.alias === own ? stranger.body.attempts : NO_ATTEMPTS;
    return { kind: 'stranger', stored: stranger, attempts, slot, alias: own };
  };

  const write = async (record: PhoneRecord, changes: Partial<Account>): Promise<boolean> => {
    if (record.kind === 'account') {
      const { id, revision, body } = record.stored;
      return (await documents.replace(ACCOUNTS, id, revision, { ...body, ...changes })).kind === 'replaced';
    }
    const { stored, slot, alias, attempts } = record;
    const body: Stranger = { alias, attempts: changes.attempts ?? attempts };
    if (!stored) return (await documents.insert(STRANGERS, slot, body)).kind === 'inserted';
    return (await documents.replace(STRANGERS, slot, stored.revision, body)).kind === 'replaced';
  };

  // Not the store's `update`: the record is looked up by phone number in one of two kinds, which may change in between.
  const update = async <T>(phone: string, plan: (record: PhoneRecord) => Plan<T>): Promise<T> => {
    for (let tries = 0; tries <= COMMON_LIMITS.conflictsPerTurn; tries++) {
      const record = await look(phone);
      const { changes, answer } = plan(record);
      if (!changes || (await write(record, changes))) return answer;
    }
    throw new TwinlineError(
      'ERR_CONFLICT',
      `Writing an account failed ${COMMON_LIMITS.conflictsPerTurn + 1} times because of concurrent writes. Try again.`,
    );
  };

  return {
    find,
    insert: async (account) => (await documents.insert(ACCOUNTS, account.customerId, account)).kind === 'inserted',
    update,
    revise: (phone, change) =>
      update(phone, ({ attempts }) => {
        // If another number has taken the slot since, leave it alone.
        const next = attempts === NO_ATTEMPTS ? undefined : change(attempts);
        return next ? { changes: { attempts: next }, answer: undefined } : { answer: undefined };
      }),
  };
}

/** The slot for the number with this alias. */
export function findSlot(alias: string): string {
  return String(Buffer.from(alias, 'base64url').readUInt32BE() % ACCOUNT_LIMITS.strangerSlots);
}

/** The SIM last used to open an account. */
type KnownSim = {
  /** `<kid>:<keyed hash>`. */
  readonly mark: string;
  /** When it replaced another SIM, in milliseconds since 1970; null if it never did. */
  readonly changedAt: number | null;
};

/**
 * The SIM record to store when an account is opened. `marks` are keyed hashes of the SIM under every key, separated by
 * spaces, the active key's first. The first SIM of an account is not a swap.
 */
export function noteSim(previous: KnownSim | undefined, marks: string, now: number): KnownSim {
  const all = marks.split(' ');
  const mark = all[0]!;
  const changedAt = previous?.changedAt ?? null;
  // Marks made with a key that is gone cannot be compared.
  const isComparable = previous !== undefined && all.some((one) => readKid(one) === readKid(previous.mark));
  return isComparable && !all.includes(previous.mark) ? { mark, changedAt: now } : { mark, changedAt };
}

/** Whether the SIM replaced another within ACCOUNT_LIMITS.simHoldMs; false for undefined. */
export function isSimNew(sim: KnownSim | undefined, now: number): boolean {
  const changedAt = sim?.changedAt ?? null;
  return changedAt !== null && now < changedAt + ACCOUNT_LIMITS.simHoldMs;
}

const readKid = (mark: string) => mark.slice(0, mark.indexOf(':'));
