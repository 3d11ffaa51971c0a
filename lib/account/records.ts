// What is stored about accounts, and about tries on phone numbers that have none; written only at the revision read.

import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { DocumentStore, Kind, StoredDocument } from '../store/store.ts';
import { type Attempts, NO_ATTEMPTS } from './attempts.ts';
import { ACCOUNT_LIMITS } from './limits.ts';
import type { KnownSim } from './sim.ts';

export type Account = {
  readonly customerId: string;
  /** E.164 with `+`. Never part of an id, so it stands in no store error and no change feed. */
  readonly phone: string;
  readonly name: string;
  readonly lang: string | null;
  /** Sealed; see pin.ts. */
  readonly pin: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Marks of the calls that created the account and last changed its PIN: a repeat of them answers the same. */
  readonly createdBy: string | null;
  readonly changedBy: string | null;
  readonly attempts: Attempts;
  /** Absent while no gateway has named a SIM. */
  readonly sim?: KnownSim;
  /** The last time that an operator unlocked it; absent when there was none. */
  readonly lastUnlock?: Unlock;
};

/** Who unlocked an account, and when. */
export type Unlock = {
  /** `cli`, or the operator as the log names them. */
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

/** Tries on a phone number that has no account; `alias` says which number, with the key. */
type Stranger = { readonly alias: string; readonly attempts: Attempts };

/** Accounts by customer id; a phone number has at most one. */
export const ACCOUNTS: Kind = { name: 'account', indexes: { phone: { fields: ['phone'], unique: true } } };

/** A table of ACCOUNT_LIMITS.strangerSlots slots, so that guessing at numbers cannot fill the store. */
export const STRANGERS: Kind = { name: 'account-stranger', indexes: {} };

/** All kinds that accounts are kept in; declare them on the store before use. */
export const ACCOUNT_KINDS: readonly Kind[] = [ACCOUNTS, STRANGERS];

/** What is stored about one phone number, with or without an account. */
export type PhoneRecord =
  | { readonly kind: 'account'; readonly stored: StoredDocument<Account>; readonly attempts: Attempts }
  | {
      readonly kind: 'stranger';
      readonly stored: StoredDocument<Stranger> | undefined;
      readonly attempts: Attempts;
      readonly slot: string;
      readonly alias: string;
    };

/** What to write, if anything, and what to answer. Only `attempts` are kept for a number without an account. */
export interface Plan<T> {
  readonly changes?: Partial<Account>;
  readonly answer: T;
}

export interface AccountRecords {
  find(phone: string): Promise<StoredDocument<Account> | undefined>;
  /** False when the customer id or the phone number is taken. */
  insert(account: Account): Promise<boolean>;
  /** Reads, lets `plan` decide and writes; all of it again when another writer was first, at most 32 times. */
  update<T>(phone: string, plan: (found: PhoneRecord) => Plan<T>): Promise<T>;
  /** Changes the count of tries where there is one; undefined writes nothing. */
  revise(phone: string, change: (attempts: Attempts) => Attempts | undefined): Promise<void>;
}

export function accountRecords(documents: DocumentStore, alias: (phone: string) => string): AccountRecords {
  const find = async (phone: string) =>
    (await documents.find<Account>(ACCOUNTS, { index: 'phone', where: { phone }, limit: 1 })).items[0];

  // Both are read for every number: one read more for unknown ones would tell them apart by time.
  const look = async (phone: string): Promise<PhoneRecord> => {
    const own = alias(phone);
    const slot = findSlot(own);
    const [account, stranger] = await Promise.all([find(phone), documents.get<Stranger>(STRANGERS, slot)]);
    if (account) return { kind: 'account', stored: account, attempts: account.body.attempts };
    const attempts = stranger?.body.alias === own ? stranger.body.attempts : NO_ATTEMPTS;
    return { kind: 'stranger', stored: stranger, attempts, slot, alias: own };
  };

  const write = async (found: PhoneRecord, changes: Partial<Account>): Promise<boolean> => {
    if (found.kind === 'account') {
      const { id, revision, body } = found.stored;
      return (await documents.replace(ACCOUNTS, id, revision, { ...body, ...changes })).kind === 'replaced';
    }
    const { stored, slot, alias, attempts } = found;
    const body: Stranger = { alias, attempts: changes.attempts ?? attempts };
    if (!stored) return (await documents.insert(STRANGERS, slot, body)).kind === 'inserted';
    return (await documents.replace(STRANGERS, slot, stored.revision, body)).kind === 'replaced';
  };

  // Not `update` of the store: what is read is found by phone number, in one of two kinds, and that may change meanwhile.
  const update = async <T>(phone: string, plan: (found: PhoneRecord) => Plan<T>): Promise<T> => {
    for (let tries = 0; tries <= COMMON_LIMITS.conflictsPerTurn; tries++) {
      const found = await look(phone);
      const { changes, answer } = plan(found);
      if (!changes || (await write(found, changes))) return answer;
    }
    throw new TwinlineError(
      'ERR_CONFLICT',
      `Writing an account failed ${COMMON_LIMITS.conflictsPerTurn + 1} times, as others wrote it each time. Try again.`,
    );
  };

  return {
    find,
    insert: async (account) => (await documents.insert(ACCOUNTS, account.customerId, account)).kind === 'inserted',
    update,
    revise: (phone, change) =>
      update(phone, ({ attempts }) => {
        // A slot that another number took since is not taken back for nothing.
        const next = attempts === NO_ATTEMPTS ? undefined : change(attempts);
        return next ? { changes: { attempts: next }, answer: undefined } : { answer: undefined };
      }),
  };
}

/** The slot of the number with this alias. */
export function findSlot(alias: string): string {
  return String(Buffer.from(alias, 'base64url').readUInt32BE() % ACCOUNT_LIMITS.strangerSlots);
}
