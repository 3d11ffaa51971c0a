// Accounts: one per phone number, opened by a PIN. Every attempt is counted in the store before the PIN is checked.

import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import type { DocumentStore, StoredDocument } from '../store/store.ts';
import { isClean, type LockState, type LoginRefusal, lockState, NO_ATTEMPTS, succeed } from './attempts.ts';
import { type PinCall, pinCheck } from './check.ts';
import { isPin, type PinVault, weakPin } from './pin.ts';
import { type Account, accountRecords, isSimNew, noteSim, type PhoneRecord, type Unlock } from './records.ts';
import type { SprayAlarm, SprayOptions } from './spray.ts';

export type Created =
  | { readonly created: true; readonly customerId: string }
  | { readonly created: false; readonly reason: 'exists' | 'weak-pin' | 'bad-pin' };

export type Verified =
  | {
      readonly ok: true;
      readonly customerId: string;
      readonly name: string;
      readonly lang: string | null;
      /** The SIM of this number was swapped recently: have an agent confirm before money moves. */
      readonly simChanged?: true;
    }
  | ({ readonly ok: false } & LoginRefusal);

export type Changed =
  | { readonly changed: true }
  | ({ readonly changed: false } & (LoginRefusal | { readonly reason: 'weak-pin' | 'bad-pin' | 'sim-changed' }));

/**
 * Every method rejects with ERR_STORE when the store does: a PIN that cannot be counted is not checked. Methods that check a
 * PIN reject with ERR_BUSY while guesses are spread over many phone numbers, for a number with failures and for a wrong PIN.
 */
export interface Accounts {
  exists(phone: string): Promise<boolean>;
  create(call: PinCall & { readonly name?: string; readonly lang?: string }): Promise<Created>;
  /** An unknown phone number gets the answer, the work and the locks of a wrong PIN. */
  verifyPin(call: PinCall): Promise<Verified>;
  /** Checks `pin` like {@link Accounts.verifyPin}, then sets `newPin`; refused while the number has a new SIM. */
  changePin(call: PinCall & { readonly newPin: string }): Promise<Changed>;
  /** For operators: failures, locks and SIM swap of a phone number. */
  standing(phone: string): Promise<Standing>;
  /**
   * For operators: clears the failures, locks and SIM swap of a phone number, with or without an account, and records who did
   * it. Writes nothing when there is nothing to clear.
   */
  unlock(phone: string, by: string): Promise<Unlocked>;
}

/** The state of a phone number, for operators. */
export interface Standing extends LockState {
  /** Null when the number has no account. */
  readonly customerId: string | null;
  readonly lastUnlock: Unlock | null;
  /** Milliseconds since 1970; null when the SIM is not new. */
  readonly simChangedAt: number | null;
}

export interface Unlocked {
  /** Whether there was anything to clear. */
  readonly unlocked: boolean;
  /** The state before unlocking. */
  readonly before: Standing;
}

export interface AccountsOptions {
  /** Must have ACCOUNT_KINDS declared. */
  readonly documents: DocumentStore;
  readonly vault: PinVault;
  readonly clock: Clock;
  /** Generates customer ids. @default `C` and 8 random characters of Crockford's base 32 */
  readonly id?: () => string;
  /** Called when too many checks fail; must not throw. */
  readonly onAlarm?: (alarm: SprayAlarm) => void;
  /** Pools the counts of all instances, see SprayOptions. @default each process counts on its own */
  readonly shareSpray?: SprayOptions['share'];
  /** Called when an account is opened from a different SIM; must not throw. */
  readonly onSimChange?: (account: { readonly phone: string; readonly customerId: string }) => void;
}

export function accounts(options: AccountsOptions): Accounts {
  const { documents, vault, clock, id = customerId, onAlarm, onSimChange } = options;
  const records = accountRecords(documents, vault.alias);
  const check = pinCheck({ records, vault, clock, onAlarm, share: options.shareSpray });

  /** What to store of the SIM after a correct PIN. */
  const simChanges = ({ phone, sim }: PinCall, account: Account): Partial<Account> => {
    if (sim === undefined) return {};
    const noted = noteSim(account.sim, sim, clock.now());
    const isNew = noted.changedAt !== (account.sim?.changedAt ?? null);
    if (isNew) onSimChange?.({ phone, customerId: account.customerId });
    return { sim: noted };
  };

  const create: Accounts['create'] = async ({ phone, pin, name = '', lang = null, idempotencyKey, sim }) => {
    if (!isPin(pin)) return { created: false, reason: 'bad-pin' };
    if (weakPin(pin, phone)) return { created: false, reason: 'weak-pin' };
    const createdBy = hashKey(idempotencyKey);
    const answerExisting = ({ id, body }: StoredDocument<Account>): Created =>
      createdBy !== null && body.createdBy === createdBy
        ? { created: true, customerId: id }
        : { created: false, reason: 'exists' };
    const existing = await records.find(phone);
    if (existing) return answerExisting(existing);
    const sealedPin = await vault.seal(pin, phone);
    const opened = sim === undefined ? {} : { sim: noteSim(undefined, sim, clock.now()) };
    const draft = { phone, name, lang, pin: sealedPin, createdBy, changedBy: null, attempts: NO_ATTEMPTS, ...opened };
    // Not the store's `update`: nothing is replaced, and each attempt uses a new id.
    for (let tries = 0; tries <= COMMON_LIMITS.conflictsPerTurn; tries++) {
      const customerId = id();
      if (await records.insert({ ...draft, customerId, createdAt: clock.now() })) return { created: true, customerId };
      const other = await records.find(phone);
      if (other) return answerExisting(other);
    }
    throw new TwinlineError('ERR_CONFLICT', 'Could not find a free customer id for a new account. Try again.');
  };

  const verifyPin: Accounts['verifyPin'] = async (call) => {
    const verdict = await check(call, hashKey(call.idempotencyKey));
    if (!verdict.match) return { ok: false, ...verdict.refusal };
    const { at, account, reseal } = verdict;
    const changes = simChanges(call, account);
    await records.update(call.phone, (record) => {
      const attempts = succeed(record.attempts, at);
      // If the PIN was changed in the meantime, do not overwrite it with the old one resealed.
      const same = record.kind === 'account' && record.stored.body.pin === account.pin;
      return { changes: { ...changes, attempts, ...(reseal && same && { pin: reseal }) }, answer: undefined };
    });
    const { customerId, name, lang } = account;
    const simChanged = isSimNew(changes.sim ?? account.sim, clock.now());
    return { ok: true, customerId, name, lang, ...(simChanged && { simChanged }) };
  };

  const changePin: Accounts['changePin'] = async (call) => {
    const { phone, newPin } = call;
    if (!isPin(newPin)) return { changed: false, reason: 'bad-pin' };
    if (weakPin(newPin, phone)) return { changed: false, reason: 'weak-pin' };
    const mark = hashKey(call.idempotencyKey);
    const done = async () => mark !== null && (await records.find(phone))?.body.changedBy === mark;
    if (await done()) return { changed: true };
    const verdict = await check(call, mark);
    // A retry of this call may have changed the PIN already: then the old PIN no longer matches, and the change stands.
    if (!verdict.match) return (await done()) ? { changed: true } : { changed: false, ...verdict.refusal };
    const { at, account } = verdict;
    const changes = simChanges(call, account);
    if (isSimNew(changes.sim ?? account.sim, clock.now())) {
      await records.update(phone, ({ attempts }) => ({
        changes: { ...changes, attempts: succeed(attempts, at) },
        answer: undefined,
      }));
      return { changed: false, reason: 'sim-changed' };
    }
    const pin = await vault.seal(newPin, phone).catch(async (error: unknown) => {
      // The old PIN was correct, so overload must not count as a failure.
      await records.revise(phone, (attempts) => succeed(attempts, at));
      throw error;
    });
    return records.update<Changed>(phone, (record) => {
      const body = record.kind === 'account' ? record.stored.body : undefined;
      if (mark !== null && body?.changedBy === mark) return { answer: { changed: true } };
      if (body?.pin !== account.pin)
        throw new TwinlineError(
          'ERR_CONFLICT',
          'Another call changed this PIN in the meantime. Ask for the PIN again.',
        );
      const attempts = succeed(record.attempts, at);
      return { changes: { ...changes, attempts, pin, changedBy: mark }, answer: { changed: true } };
    });
  };

  return {
    exists: async (phone) => (await records.find(phone)) !== undefined,
    create,
    verifyPin,
    changePin,
    standing: (phone) => records.update(phone, (record) => ({ answer: readStanding(record, clock.now()) })),
    unlock: (phone, by) =>
      records.update<Unlocked>(phone, (record) => {
        const at = clock.now();
        const before = readStanding(record, at);
        if (isClean(record.attempts) && before.simChangedAt === null) return { answer: { unlocked: false, before } };
        const sim = record.kind === 'account' ? record.stored.body.sim : undefined;
        const simChange = sim && { sim: { ...sim, changedAt: null } };
        const changes = { attempts: NO_ATTEMPTS, lastUnlock: { by, at }, ...simChange };
        return { changes, answer: { unlocked: true, before } };
      }),
  };
}

/** The same accounts for simulated phones, under names that no phone number has, so they never mix with real callers. */
export function simulatedAccounts(accounts: Accounts): Accounts {
  const nameApart = (phone: string) => `simulated ${phone}`;
  const apart = <Call extends PinCall>(call: Call): Call => ({ ...call, phone: nameApart(call.phone) });
  return {
    exists: (phone) => accounts.exists(nameApart(phone)),
    create: (call) => accounts.create(apart(call)),
    verifyPin: (call) => accounts.verifyPin(apart(call)),
    changePin: (call) => accounts.changePin(apart(call)),
    standing: (phone) => accounts.standing(nameApart(phone)),
    unlock: (phone, by) => accounts.unlock(nameApart(phone), by),
  };
}

function readStanding(record: PhoneRecord, now: number): Standing {
  const account = record.kind === 'account' ? record.stored.body : undefined;
  const simChangedAt = isSimNew(account?.sim, now) ? account!.sim!.changedAt : null;
  const base = { customerId: account?.customerId ?? null, lastUnlock: account?.lastUnlock ?? null, simChangedAt };
  return { ...base, ...lockState(record.attempts, now) };
}

// 40 random bits, in letters and digits that are easy to tell apart on a phone.
function customerId(): string {
  const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return `C${Array.from(randomBytes(8), (byte) => letters[byte % 32]).join('')}`;
}

// Keys have any length and may contain a session id; we only need to recognise them.
function hashKey(key: string | undefined): string | null {
  return key === undefined ? null : createHash('sha256').update(key).digest('base64url').slice(0, 22);
}
