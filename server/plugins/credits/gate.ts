// Who may go on: users with an active subscription and credits left. The words are those that clients know.

import { LRUCache } from 'lru-cache';
import { growing } from '../../../lib/common-limits.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import type { PluginContext } from '../plugin.ts';
import { type Account, type Accounts, MICRO } from './account.ts';

/** Milliseconds for which a user that was let in is not looked at again. */
const VERDICT_MS = 180_000;
const VERDICTS_KEPT = 10_000;
/** The balance at which no new run starts. */
const LEAST = 10;

const SAYS = {
  none: 'No subscription found, please subscribe to continue',
  inactive: 'User has inactive subscription, please subscribe to continue',
  empty: `User has less than ${LEAST} credits, please top up to continue`,
} as const;

export interface CreditGate {
  /** Throws 402 with `claims`. */
  check(ctx: PluginContext, accounts: Accounts): Promise<void>;
  /** The refusal of a user who has less than {@link LEAST}. */
  refuseEmpty(ctx: PluginContext, account: Account): Error;
  /** Forgets what was found out about a user, whose account has changed. */
  forget(did: string): void;
}

export function creditGate(): CreditGate {
  const letIn = new LRUCache<string, number>(growing(VERDICTS_KEPT));
  return {
    async check(ctx, accounts) {
      const did = ctx.requireDid();
      const until = letIn.get(did);
      if (until !== undefined && until > ctx.clock.monotonic()) return;
      const account = await accounts.read(did);
      const why = refusal(account);
      if (why) throw ctx.refuse(402, SAYS[why], listClaims(account));
      letIn.set(did, ctx.clock.monotonic() + VERDICT_MS);
    },
    refuseEmpty: (ctx, account) => ctx.refuse(402, SAYS.empty, listClaims(account)),
    forget: (did) => void letIn.delete(did),
  };
}

function refusal(account: Account | undefined): keyof typeof SAYS | undefined {
  if (!account) return 'none';
  if (account.status !== 'active' && account.status !== 'trial') return 'inactive';
  return account.balance <= LEAST * MICRO ? 'empty' : undefined;
}

// One name for streams, the other for all else.
function listClaims(account: Account | undefined): JsonObject {
  const claims = account?.claims ?? [];
  return { claims, outstandingClaims: claims };
}
