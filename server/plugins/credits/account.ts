// Accounts of credits: what was added and what was spent, each entry counted once however often it is made.
//
// An entry is written first, then counted into its account, then marked as counted. The account remembers which entries it
// has counted until they are marked: a crash between two of these steps, or two processes at once, count nothing twice.

import { type KeyedMutex, keyedMutex } from '../../../lib/queue.ts';
import type { JsonObject, Kind } from '../../../lib/store/store.ts';
import { update } from '../../../lib/store/update.ts';
import type { PluginHost } from '../plugin.ts';

/** A millionth of a credit: what one token costs per credit of a million tokens. */
export const MICRO = 1_000_000;
/** Entries that an account remembers before it makes sure that they are marked. */
const REMEMBERED = 32;
const BOOKINGS_WAITING = 1_000;

export type AccountStatus = 'active' | 'trial' | 'inactive' | 'processing';

/** What its document holds; its id is the DID. */
export type Account = JsonObject & {
  /** In millionths of a credit. Below zero when a run has cost more than was left. */
  readonly balance: number;
  readonly status: AccountStatus;
  readonly plan: string | null;
  /** Claims that the user is asked to settle. */
  readonly claims: readonly string[];
  readonly counted: readonly string[];
};

export type Terms = Partial<Pick<Account, 'status' | 'plan' | 'claims'>>;

type CreditEntry = JsonObject & {
  readonly did: string;
  readonly amount: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly isCounted: boolean;
};

export const ACCOUNT: Kind = { name: 'plugin-credits-account', indexes: {} };
export const ENTRY: Kind = { name: 'plugin-credits-entry', indexes: { account: { fields: ['did', 'at'] } } };

export interface Booking {
  /** Names the entry, of this account only: one of this id counts once. */
  readonly id: string;
  readonly did: string;
  /** In millionths of a credit; below zero for what is spent. */
  readonly amount: number;
  /** Set on the account in the same write. */
  readonly terms?: Terms;
}

export type Accounts = ReturnType<typeof accounts>;

/** In this process the bookings of one account wait for each other: they would only be in each other's way. */
export const bookingMutex = (): KeyedMutex => keyedMutex(BOOKINGS_WAITING, 'bookings of one account');

/** The accounts of a store; `mutex` is shared by all that this process opens. */
export function accounts({ documents, clock }: Pick<PluginHost, 'documents' | 'clock'>, mutex: KeyedMutex) {
  const read = async (did: string): Promise<Account | undefined> => (await documents.get<Account>(ACCOUNT, did))?.body;

  async function mark(id: string): Promise<void> {
    await update<CreditEntry>(documents, ENTRY, id, (entry) =>
      entry && !entry.isCounted ? { ...entry, isCounted: true } : undefined,
    );
  }

  async function markCounted(counted: readonly string[]): Promise<readonly string[]> {
    if (counted.length < REMEMBERED) return counted;
    await Promise.all(counted.map(mark));
    return [];
  }

  return {
    read,
    /** What the entry of this id says; undefined when there is none. */
    bookedAmount: async (id: string) => (await documents.get<CreditEntry>(ENTRY, id))?.body.amount,
    /** Counts an entry; an earlier one of the same id stands as it was. Gives the account as it was with this entry. */
    book: (booking: Booking): Promise<Account> => mutex.run(booking.did, () => book(booking)),
  };

  async function book({ id, did, amount, terms = {} }: Booking): Promise<Account> {
    const entry: CreditEntry = { did, amount, at: clock.now(), isCounted: false };
    await documents.insert(ENTRY, id, entry);
    const counted = await update<Account>(documents, ACCOUNT, did, async (account = EMPTY) => {
      if (account.counted.includes(id)) return undefined;
      // Looked at after the account: what the account has forgotten was marked before.
      const written = await documents.get<CreditEntry>(ENTRY, id);
      if (!written || written.body.isCounted) return undefined;
      const known = [...(await markCounted(account.counted)), id];
      return { ...account, ...terms, balance: account.balance + written.body.amount, counted: known };
    });
    await mark(id);
    return counted.kind === 'missing' ? EMPTY : counted.document.body;
  }
}

const EMPTY: Account = { balance: 0, status: 'active', plan: null, claims: [], counted: [] };
