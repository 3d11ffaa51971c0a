// Accounts of credits: what was added and what was spent, each entry counted once however often it is made.
//
// An entry is written first, then counted into its account, then marked as counted. The account remembers which entries it
// has counted until they are marked: a crash between two of these steps, or two processes at once, count nothing twice.

import { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { type KeyedMutex, keyedMutex } from '../../../lib/queue.ts';
import type { Kind } from '../../../lib/store/store.ts';
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
  /** In millionths of a credit. Never below zero, but in accounts of earlier versions. */
  readonly balance: number;
  readonly status: AccountStatus;
  readonly plan: string | null;
  /** Claims that the user is asked to settle. */
  readonly claims: readonly string[];
  readonly counted: readonly string[];
  /** What was counted of those of `counted` for which there was not enough. Missing when there are none. */
  readonly cut?: { readonly [id: string]: number };
};

export type Terms = Partial<Pick<Account, 'status' | 'plan' | 'claims'>>;

type CreditEntry = JsonObject & {
  readonly did: string;
  /** What is asked for; once it is counted, what was. */
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
  /** When there is less than is spent: nothing is counted, or what there is. */
  readonly without: 'refuse' | 'cut';
  /** Set on the account in the same write, unless the booking is refused. */
  readonly terms?: Terms;
}

export interface Booked {
  /** As it is with this booking. */
  readonly account: Account;
  /** What was counted: another amount than was asked for when there was not enough, or when it was booked before. */
  readonly amount: number;
}

export type Accounts = ReturnType<typeof accounts>;

/** In this process the bookings of one account wait for each other: they would only be in each other's way. */
export const bookingMutex = (): KeyedMutex => keyedMutex(BOOKINGS_WAITING, 'bookings of one account');

/** The accounts of a store; `mutex` is shared by all that this process opens. */
export function accounts({ documents, clock }: Pick<PluginHost, 'documents' | 'clock'>, mutex: KeyedMutex) {
  const read = async (did: string): Promise<Account | undefined> => (await documents.get<Account>(ACCOUNT, did))?.body;

  async function mark(id: string, counted: number | undefined): Promise<CreditEntry> {
    const marked = await update<CreditEntry>(documents, ENTRY, id, (entry) =>
      entry && !entry.isCounted ? { ...entry, amount: counted ?? entry.amount, isCounted: true } : undefined,
    );
    if (marked.kind !== 'missing') return marked.document.body;
    throw new TwinlineError('ERR_STORE', `The entry ${id} of an account of credits is gone.`);
  }

  async function markCounted({ counted, cut }: Account): Promise<Pick<Account, 'counted' | 'cut'>> {
    if (counted.length < REMEMBERED) return { counted, ...(cut && { cut }) };
    await Promise.all(counted.map((id) => mark(id, cut?.[id])));
    return { counted: [] };
  }

  return {
    read,
    /** What was counted of the entry of this id, which is done now if need be; undefined when there is none. */
    async bookedAmount(id: string): Promise<number | undefined> {
      const entry = (await documents.get<CreditEntry>(ENTRY, id))?.body;
      if (!entry || entry.isCounted) return entry?.amount;
      const { did, amount } = entry;
      return (await mutex.run(did, () => book({ id, did, amount, without: 'refuse' }))).amount;
    },
    /** Counts an entry; an earlier one of the same id stands as it was. */
    book: (booking: Booking): Promise<Booked> => mutex.run(booking.did, () => book(booking)),
  };

  async function book({ id, did, amount, without, terms = {} }: Booking): Promise<Booked> {
    const entry: CreditEntry = { did, amount, at: clock.now(), isCounted: false };
    await documents.insert(ENTRY, id, entry);
    const counted = await update<Account>(documents, ACCOUNT, did, async (account = EMPTY) => {
      if (account.counted.includes(id)) return undefined;
      // Looked at after the account: what the account has forgotten was marked before.
      const written = await documents.get<CreditEntry>(ENTRY, id);
      if (!written || written.body.isCounted) return undefined;
      const { cut: _before, ...rest } = account;
      const { counted: known, cut } = await markCounted(account);
      const part = countable(account.balance, written.body.amount, without);
      const isCut = part !== written.body.amount;
      return {
        ...rest,
        ...(isCut && without === 'refuse' ? {} : terms),
        balance: account.balance + part,
        counted: [...known, id],
        ...((isCut || cut) && { cut: { ...cut, ...(isCut && { [id]: part }) } }),
      };
    });
    const account = counted.kind === 'missing' ? EMPTY : counted.document.body;
    return { account, amount: (await mark(id, account.cut?.[id])).amount };
  }
}

function countable(balance: number, amount: number, without: Booking['without']): number {
  if (amount >= 0 || balance + amount >= 0) return amount;
  return without === 'refuse' ? 0 : -Math.max(0, balance);
}

const EMPTY: Account = { balance: 0, status: 'active', plan: null, claims: [], counted: [] };
