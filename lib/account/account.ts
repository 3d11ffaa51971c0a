// Accounts: one per phone number, opened by a PIN, with every try counted in the store before it is checked.

import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { DocumentStore, StoredDocument } from '../store/store.ts';
import {
  fail,
  failuresBefore,
  isClean,
  type LockState,
  lockState,
  NO_ATTEMPTS,
  type Refusal,
  refusal,
  release,
  reserve,
  succeed,
} from './attempts.ts';
import { isPin, type PinVault, weakPin } from './pin.ts';
import { type Account, accountRecords, type Found, type Unlock } from './records.ts';
import { type Pace, type SprayAlarm, sprayBrake } from './spray.ts';

/** What every call with a PIN says. */
export interface PinCall {
  /** E.164 with `+`. */
  readonly phone: string;
  readonly pin: string;
  /** The same for every try of one call; a repeat neither acts nor counts twice. */
  readonly idempotencyKey?: string;
}

export type Created =
  | { readonly created: true; readonly customerId: string }
  | { readonly created: false; readonly reason: 'exists' | 'weak-pin' | 'bad-pin' };

export type Verified =
  | { readonly ok: true; readonly customerId: string; readonly name: string; readonly lang: string | null }
  | ({ readonly ok: false } & Refusal);

export type Changed =
  | { readonly changed: true }
  | ({ readonly changed: false } & (Refusal | { readonly reason: 'weak-pin' | 'bad-pin' }));

/**
 * Every method rejects with ERR_STORE when the store does: without a count there is no check. Those that check a PIN reject
 * with ERR_BUSY while guesses are spread over many phone numbers: for a number with failures, and for a wrong PIN.
 */
export interface Accounts {
  exists(phone: string): Promise<boolean>;
  create(call: PinCall & { readonly name?: string; readonly lang?: string }): Promise<Created>;
  /** An unknown phone number answers like a wrong PIN, after the same work, and locks like one. */
  verifyPin(call: PinCall): Promise<Verified>;
  /** Checks `pin` as {@link Accounts.verifyPin} does, then sets `newPin`. */
  changePin(call: PinCall & { readonly newPin: string }): Promise<Changed>;
  /** For operators: what is counted against a phone number. */
  standing(phone: string): Promise<Standing>;
  /**
   * For operators: forgets all failures and locks of a phone number, with or without an account, and keeps who did it.
   * Where nothing is counted, nothing is written.
   */
  unlock(phone: string, by: string): Promise<Unlocked>;
}

/** A phone number as operators see it. */
export interface Standing extends LockState {
  /** Null when the number has no account. */
  readonly customerId: string | null;
  readonly lastUnlock: Unlock | null;
}

export interface Unlocked {
  /** Whether there was anything to forget. */
  readonly unlocked: boolean;
  /** How it stood before. */
  readonly before: Standing;
}

export interface AccountsOptions {
  /** Must have ACCOUNT_KINDS declared. */
  readonly documents: DocumentStore;
  readonly vault: PinVault;
  readonly clock: Clock;
  /** Makes customer ids. @default `C` and 8 random characters of Crockford's base 32 */
  readonly id?: () => string;
  /** Called when many checks of this process fail; must not throw. */
  readonly onAlarm?: (alarm: SprayAlarm) => void;
}

type Checked =
  | { readonly match: true; readonly at: number; readonly account: Account; readonly reseal?: string }
  | { readonly match: false; readonly refusal: Refusal };

interface CheckOptions {
  readonly mark: string | null;
  readonly pace: Pace;
  /** Called with the result of the comparison. */
  readonly onResult: (match: boolean) => void;
}

export function accounts({ documents, vault, clock, id = customerId, onAlarm }: AccountsOptions): Accounts {
  const records = accountRecords(documents, vault.alias);
  const brake = sprayBrake(clock, onAlarm);

  /** Counts a try, checks it, and notes a failure. A match is for the caller to settle. */
  const check = async (call: PinCall, mark: string | null): Promise<Checked> => {
    const pace = brake.begin();
    if (pace === 'refused') throw busyError();
    let outcome: 'right' | 'wrong' | 'unchecked' = 'unchecked';
    try {
      const checked = await checkPin(call, { mark, pace, onResult: (match) => (outcome = match ? 'right' : 'wrong') });
      const isGuess = pace === 'slowed' && !checked.match && checked.refusal.reason === 'wrong';
      if (isGuess) throw busyError();
      return checked;
    } finally {
      brake.end(pace, outcome);
    }
  };

  const checkPin = async ({ phone, pin }: PinCall, { mark, pace, onResult }: CheckOptions): Promise<Checked> => {
    const { found, reservation } = await records.update(phone, (found) => {
      const reservation = reserve(found.attempts, clock.now(), mark);
      const answer = { found, reservation };
      if (reservation.kind === 'refused') return { answer };
      if (pace === 'slowed' && failuresBefore(reservation) > 0) throw busyError();
      return { changes: { attempts: reservation.attempts }, answer };
    });
    if (reservation.kind === 'refused') return { match: false, refusal: reservation.refusal };
    const { at, attempts } = reservation;
    const account = found.kind === 'account' ? found.stored.body : undefined;
    const result = await vault.check(pin, phone, account?.pin).catch(async (error: unknown) => {
      // When taking back fails too, the try stays counted: closed rather than open.
      await records.revise(phone, (attempts) => release(attempts, at, mark)).catch(() => undefined);
      throw error;
    });
    onResult(result.match);
    if (result.match && account) return { ...result, match: true, at, account };
    await records.revise(phone, (attempts) => fail(attempts, mark));
    return { match: false, refusal: refusal(attempts, clock.now()) };
  };

  const create: Accounts['create'] = async ({ phone, pin, name = '', lang = null, idempotencyKey }) => {
    if (!isPin(pin)) return { created: false, reason: 'bad-pin' };
    if (weakPin(pin, phone)) return { created: false, reason: 'weak-pin' };
    const createdBy = markOf(idempotencyKey);
    const known = ({ id, body }: StoredDocument<Account>): Created =>
      createdBy !== null && body.createdBy === createdBy
        ? { created: true, customerId: id }
        : { created: false, reason: 'exists' };
    const before = await records.find(phone);
    if (before) return known(before);
    const sealed = await vault.seal(pin, phone);
    const draft = { phone, name, lang, pin: sealed, createdBy, changedBy: null, attempts: NO_ATTEMPTS };
    // Not `update` of the store: nothing is replaced; each try takes another id.
    for (let tries = 0; tries <= COMMON_LIMITS.conflictsPerTurn; tries++) {
      const customerId = id();
      if (await records.insert({ ...draft, customerId, createdAt: clock.now() })) return { created: true, customerId };
      const other = await records.find(phone);
      if (other) return known(other);
    }
    throw new TwinlineError('ERR_CONFLICT', 'No free customer id was found for a new account. Try again.');
  };

  const verifyPin: Accounts['verifyPin'] = async (call) => {
    const checked = await check(call, markOf(call.idempotencyKey));
    if (!checked.match) return { ok: false, ...checked.refusal };
    const { at, account, reseal } = checked;
    await records.update(call.phone, (found) => {
      const attempts = succeed(found.attempts, at);
      // A PIN that was changed meanwhile must not be overwritten by the old one under a new key.
      const same = found.kind === 'account' && found.stored.body.pin === account.pin;
      return { changes: reseal && same ? { attempts, pin: reseal } : { attempts }, answer: undefined };
    });
    const { customerId, name, lang } = account;
    return { ok: true, customerId, name, lang };
  };

  const changePin: Accounts['changePin'] = async (call) => {
    const { phone, newPin } = call;
    if (!isPin(newPin)) return { changed: false, reason: 'bad-pin' };
    if (weakPin(newPin, phone)) return { changed: false, reason: 'weak-pin' };
    const mark = markOf(call.idempotencyKey);
    const done = async () => mark !== null && (await records.find(phone))?.body.changedBy === mark;
    if (await done()) return { changed: true };
    const checked = await check(call, mark);
    // A twin of this call may have changed the PIN since: then the old one is no longer right, and all is well.
    if (!checked.match) return (await done()) ? { changed: true } : { changed: false, ...checked.refusal };
    const { at, account } = checked;
    const pin = await vault.seal(newPin, phone).catch(async (error: unknown) => {
      // The old PIN was right all the same: overload must not count as a failure.
      await records.revise(phone, (attempts) => succeed(attempts, at));
      throw error;
    });
    return records.update<Changed>(phone, (found) => {
      const body = found.kind === 'account' ? found.stored.body : undefined;
      if (mark !== null && body?.changedBy === mark) return { answer: { changed: true } };
      if (body?.pin !== account.pin)
        throw new TwinlineError('ERR_CONFLICT', 'Another call changed this PIN meanwhile. Ask for the PIN again.');
      return { changes: { attempts: succeed(found.attempts, at), pin, changedBy: mark }, answer: { changed: true } };
    });
  };

  return {
    exists: async (phone) => (await records.find(phone)) !== undefined,
    create,
    verifyPin,
    changePin,
    standing: (phone) => records.update(phone, (found) => ({ answer: standingOf(found, clock.now()) })),
    unlock: (phone, by) =>
      records.update<Unlocked>(phone, (found) => {
        const at = clock.now();
        const before = standingOf(found, at);
        if (isClean(found.attempts)) return { answer: { unlocked: false, before } };
        const changes = { attempts: NO_ATTEMPTS, lastUnlock: { by, at } };
        return { changes, answer: { unlocked: true, before } };
      }),
  };
}

// The same words for a number with failures, for a wrong PIN, and for a check that is not made: a guess learns nothing.
function busyError(): TwinlineError {
  return new TwinlineError('ERR_BUSY', 'Too many PIN checks fail at the moment. Try again in some minutes.');
}

function standingOf(found: Found, now: number): Standing {
  const account = found.kind === 'account' ? found.stored.body : undefined;
  const known = { customerId: account?.customerId ?? null, lastUnlock: account?.lastUnlock ?? null };
  return { ...known, ...lockState(found.attempts, now) };
}

// 40 random bits in letters and digits that are not mistaken for one another on a phone.
function customerId(): string {
  const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return `C${Array.from(randomBytes(8), (byte) => letters[byte % 32]).join('')}`;
}

// Keys are of any length and may name a session; only recognising them is needed.
function markOf(key: string | undefined): string | null {
  return key === undefined ? null : createHash('sha256').update(key).digest('base64url').slice(0, 22);
}
