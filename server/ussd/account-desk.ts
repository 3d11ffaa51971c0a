// What operators can do for a caller: see how a phone number stands, and take away a lock. Each unlocking is in the audit log, before
// it is done.

import type { Accounts, Standing } from '../../lib/account/account.ts';
import { readPhone } from '../../lib/account/services.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Audit } from '../audit/audit.ts';

/** How a phone number stands; times in ISO 8601. */
export interface AccountReport {
  readonly registered: boolean;
  readonly customerId: string | null;
  /** `held`: locked until an operator unlocks it. */
  readonly state: Standing['state'];
  readonly lockedUntil: string | null;
  readonly failuresInRow: number;
  readonly failuresInWindow: number;
  readonly locks: number;
  readonly lastUnlock: { readonly by: string; readonly at: string } | null;
  /** When the number got a new SIM; null when that was not lately, or the gateway names no SIM. */
  readonly simChangedAt: string | null;
}

export interface UnlockReport {
  readonly registered: boolean;
  /** Whether there was anything to forget. */
  readonly unlocked: boolean;
  readonly before: AccountReport;
}

export interface AccountDesk {
  /** Rejects with ERR_INPUT unless `phone` is an international number, with or without its plus sign. */
  show(phone: string): Promise<AccountReport>;
  /** As `show`; `by` is who does it, as the log and the account name them. */
  unlock(phone: string, by: string): Promise<UnlockReport>;
}

export interface AccountDeskOptions {
  readonly accounts: Pick<Accounts, 'standing' | 'unlock'>;
  /** Accounts of simulated phones, where they are apart: unlocked with those of callers. */
  readonly simulated?: Pick<Accounts, 'unlock'> | undefined;
  /** Stands for a phone number where the number itself must not be written. */
  readonly alias: (phone: string) => string;
  readonly audit: Audit;
}

export function accountDesk({ accounts, simulated, alias, audit }: AccountDeskOptions): AccountDesk {
  const read = (given: string): string => {
    const phone = readPhone(given);
    if (phone !== undefined) return phone;
    throw new TwinlineError('ERR_INPUT', 'The phone number must be an international one such as +263771234567.');
  };
  return {
    show: async (phone) => describeStanding(await accounts.standing(read(phone))),
    unlock: async (given, by) => {
      const phone = read(given);
      const { state, failuresInWindow, locks, customerId } = await accounts.standing(phone);
      const registered = customerId !== null;
      const details = { phone: alias(phone), registered, before: { state, failuresInWindow, locks } };
      await audit.append({ action: 'account.unlock', by, details });
      const { unlocked, before } = await accounts.unlock(phone, by);
      await simulated?.unlock(phone, by);
      return { registered, unlocked, before: describeStanding(before) };
    },
  };
}

function describeStanding({ lockedUntil, lastUnlock, simChangedAt, ...standing }: Standing): AccountReport {
  return {
    ...standing,
    registered: standing.customerId !== null,
    lockedUntil: writeTime(lockedUntil),
    simChangedAt: writeTime(simChangedAt),
    lastUnlock: lastUnlock && { ...lastUnlock, at: new Date(lastUnlock.at).toISOString() },
  };
}

const writeTime = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
