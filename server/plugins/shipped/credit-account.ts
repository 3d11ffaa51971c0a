// Credit accounts: what was added and spent, each entry counted exactly once however often it is submitted.
//
// An entry is written first, then counted into its account, then marked as counted. The account remembers the entries it has
// counted until they are marked, so a crash between two steps, or two processes at once, count nothing twice.

import { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { type KeyedMutex, keyedMutex } from '../../../lib/queue.ts';
import type { Kind } from '../../../lib/store/store.ts';
import { update } from '../../../lib/store/update.ts';
import type { PluginHost } from '../plugin.ts';

/** A millionth of a credit: the price of one token at one credit per million tokens. */
export const MICRO = 1_000_000;
/** Counted entries an account remembers before it makes sure that they are marked. */
const REMEMBERED = 32;
const BOOKINGS_WAITING = 1_000;

export type AccountStatus = 'active' | 'trial' | 'inactive' | 'processing';

/** The stored document; its id is the DID. */
export type Account = JsonObject & {
  /** In millionths of a credit. Never negative, except in accounts of earlier versions. */
  readonly balance: number;
  readonly status: AccountStatus;
  readonly plan: string | null;
  /** Claims that the user should settle. */
  readonly claims: readonly string[];
  readonly counted: readonly string[];
  /** The amounts counted for those of `counted` that exceeded the balance. Absent if there are none. */
  readonly cut?: { readonly [id: string]: number };
};

export type Terms = Partial<Pick<Account, 'status' | 'plan' | 'claims'>>;

type CreditEntry = JsonObject & {
  readonly did: string;
  /** The requested amount; once counted, the amount counted. */
  readonly amount: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly isCounted: boolean;
};

export const ACCOUNT: Kind = { name: 'plugin-credits-account', indexes: {} };
export const ENTRY: Kind = { name: 'plugin-credits-entry', indexes: { account: { fields: ['did', 'at'] } } };

export interface Booking {
  /** Names the entry within this account; an id counts once. */
  readonly id: string;
  readonly did: string;
  /** In millionths of a credit; negative for spending. */
  readonly amount: number;
  /** When the balance is too low: count nothing, or only what is left. */
  readonly without: 'refuse' | 'cut';
  /** Set on the account in the same write unless the booking is refused. */
  readonly terms?: Terms;
}

export interface Booked {
  /** The account after this booking. */
  readonly account: Account;
  /** The amount counted; differs from the requested one if the balance was too low or the id was booked before. */
  readonly amount: number;
}

export type Accounts = ReturnType<typeof accounts>;

/** Serializes the bookings of one account within this process; concurrent ones would only conflict. */
export const bookingMutex = (): KeyedMutex => keyedMutex(BOOKINGS_WAITING, 'bookings of one account');

/** The accounts of a store; all instances in a process share `mutex`. */
export function accounts({ documents, clock }: Pick<PluginHost, 'documents' | 'clock'>, mutex: KeyedMutex) {
  const read = async (did: string): Promise<Account | undefined> => (await documents.get<Account>(ACCOUNT, did))?.body;

  async function mark(id: string, amount: number | undefined): Promise<CreditEntry> {
    const result = await update<CreditEntry>(documents, ENTRY, id, (entry) =>
      entry && !entry.isCounted ? { ...entry, amount: amount ?? entry.amount, isCounted: true } : undefined,
    );
    if (result.kind !== 'missing') return result.document.body;
    throw new TwinlineError('ERR_STORE', `The entry ${id} of a credit account is missing.`);
  }

  async function markCounted({ counted: countedIds, cut }: Account): Promise<Pick<Account, 'counted' | 'cut'>> {
    if (countedIds.length < REMEMBERED) return { counted: countedIds, ...(cut && { cut }) };
    await Promise.all(countedIds.map((id) => mark(id, cut?.[id])));
    return { counted: [] };
  }

  return {
    read,
    /** The amount counted for the entry with this id, counting it now if necessary; undefined without an entry. */
    async bookedAmount(id: string): Promise<number | undefined> {
      const entry = (await documents.get<CreditEntry>(ENTRY, id))?.body;
      if (!entry || entry.isCounted) return entry?.amount;
      const { did, amount } = entry;
      return (await mutex.run(did, () => book({ id, did, amount, without: 'refuse' }))).amount;
    },
    /** Counts an entry; an earlier one with the same id stands. */
    book: (booking: Booking): Promise<Booked> => mutex.run(booking.did, () => book(booking)),
  };

  async function book({ id, did, amount, without, terms = {} }: Booking): Promise<Booked> {
    const entry: CreditEntry = { did, amount, at: clock.now(), isCounted: false };
    await documents.insert(ENTRY, id, entry);
    const updated = await update<Account>(documents, ACCOUNT, did, async (account = EMPTY) => {
      if (account.counted.includes(id)) return undefined;
      // Read after the account: entries that the account has dropped were marked before.
      const written = await documents.get<CreditEntry>(ENTRY, id);
      if (!written || written.body.isCounted) return undefined;
      const { cut: _before, ...rest } = account;
      const { counted: countedIds, cut } = await markCounted(account);
      const part = countable(account.balance, written.body.amount, without);
      const isCut = part !== written.body.amount;
      return {
        ...rest,
        ...(isCut && without === 'refuse' ? {} : terms),
        balance: account.balance + part,
        counted: [...countedIds, id],
        ...((isCut || cut) && { cut: { ...cut, ...(isCut && { [id]: part }) } }),
      };
    });
    const account = updated.kind === 'missing' ? EMPTY : updated.document.body;
    return { account, amount: (await mark(id, account.cut?.[id])).amount };
  }
}

function countable(balance: number, amount: number, without: Booking['without']): number {
  if (amount >= 0 || balance + amount >= 0) return amount;
  return without === 'refuse' ? 0 : -Math.max(0, balance);
}

const EMPTY: Account = { balance: 0, status: 'active', plan: null, claims: [], counted: [] };
