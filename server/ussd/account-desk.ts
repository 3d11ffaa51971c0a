// What operators can do for a caller: view the account of a phone number, and unlock it. Each unlock is written to the audit
// log before it happens.

import type { Accounts, Standing } from '../../lib/account/account.ts';
import type { PinVault } from '../../lib/account/pin.ts';
import { readPhone } from '../../lib/account/services.ts';
import type { FlowMemory, StoredMemories } from '../../lib/engine/memory/documents.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Audit, AuditAction } from '../audit/audit.ts';

/** The account of a phone number; times in ISO 8601. */
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
  /** When the number got a new SIM; null unless it was recent and the gateway identifies SIMs. */
  readonly simChangedAt: string | null;
  /** What `caller` is in log lines of this number: a keyed hash for each key of PIN_ENCRYPTION_KEY, the active one first. */
  readonly callers: readonly { readonly key: string; readonly caller: string }[];
}

export interface UnlockReport {
  readonly registered: boolean;
  /** Whether there was anything to clear. */
  readonly unlocked: boolean;
  readonly before: AccountReport;
}

export interface MemoryReport {
  readonly memory: readonly FlowMemory[];
}

export interface EraseReport {
  /** Flows that kept something of the caller. */
  readonly erased: number;
}

export interface AccountDesk {
  /** Rejects with ERR_INPUT unless `phone` is an international number, with or without its plus sign. */
  show(phone: string): Promise<AccountReport>;
  /** What flows keep of the caller. `by` is as in `unlock`. */
  export(phone: string, by: string): Promise<MemoryReport>;
  /** Forgets all of that. */
  erase(phone: string, by: string): Promise<EraseReport>;
  /** Like `show`; `by` is the operator's name for the log and the account. */
  unlock(phone: string, by: string): Promise<UnlockReport>;
}

export interface AccountDeskOptions {
  readonly accounts: Pick<Accounts, 'standing' | 'unlock'>;
  /** Accounts of simulated phones, if separate: unlocked together with those of callers. */
  readonly simulated?: Pick<Accounts, 'unlock'> | undefined;
  readonly memory: Pick<StoredMemories, 'export' | 'erase'>;
  /** Pseudonyms of a phone number that must not be written. */
  readonly aliases: PinVault['aliases'];
  readonly audit: Audit;
}

export function accountDesk({
  accounts,
  simulated: simulatedAccounts,
  memory,
  aliases,
  audit,
}: AccountDeskOptions): AccountDesk {
  const read = (input: string): string => {
    const phone = readPhone(input);
    if (phone !== undefined) return phone;
    throw new TwinlineError('ERR_INPUT', 'The phone number must be an international one such as +263771234567.');
  };
  const report = (phone: string, standing: Standing): AccountReport => ({
    ...describeStanding(standing),
    callers: aliases(phone).map(([key, caller]) => ({ key, caller })),
  });
  const note = (action: AuditAction, phone: string, by: string) =>
    audit.append({ action, by, details: { phone: aliases(phone)[0]![1] } });
  return {
    export: async (input, by) => {
      const phone = read(input);
      await note('caller.exported', phone, by);
      return { memory: await memory.export(phone) };
    },
    erase: async (input, by) => {
      const phone = read(input);
      await note('caller.erased', phone, by);
      return { erased: await memory.erase(phone) };
    },
    show: async (input) => {
      const phone = read(input);
      return report(phone, await accounts.standing(phone));
    },
    unlock: async (input, by) => {
      const phone = read(input);
      const { state, failuresInWindow, locks, customerId } = await accounts.standing(phone);
      const registered = customerId !== null;
      const details = { phone: aliases(phone)[0]![1], registered, before: { state, failuresInWindow, locks } };
      await audit.append({ action: 'account.unlock', by, details });
      const { unlocked, before } = await accounts.unlock(phone, by);
      await simulatedAccounts?.unlock(phone, by);
      return { registered, unlocked, before: report(phone, before) };
    },
  };
}

function describeStanding({
  lockedUntil,
  lastUnlock,
  simChangedAt,
  ...standing
}: Standing): Omit<AccountReport, 'callers'> {
  return {
    ...standing,
    registered: standing.customerId !== null,
    lockedUntil: writeTime(lockedUntil),
    simChangedAt: writeTime(simChangedAt),
    lastUnlock: lastUnlock && { ...lastUnlock, at: new Date(lastUnlock.at).toISOString() },
  };
}

const writeTime = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
