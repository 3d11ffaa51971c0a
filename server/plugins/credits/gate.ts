// The credit gate: requires an active subscription and credits. Clients depend on the message texts.

import { LRUCache } from 'lru-cache';
import { growing } from '../../../lib/common-limits.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { PluginContext } from '../plugin.ts';
import { type Account, type Accounts, MICRO } from './account.ts';

/** How long an admission is cached, in milliseconds. */
const VERDICT_MS = 180_000;
const VERDICTS_KEPT = 10_000;
/** Balance, in credits, at or below which no run starts; also the minimum named in the refusal when a run holds less. */
const LEAST = 10;

const NO_ACCOUNT = 'No subscription found, please subscribe to continue';
const NOT_ACTIVE = 'User has inactive subscription, please subscribe to continue';

export interface CreditGate {
  /** Throws 402 with `claims`. */
  check(ctx: PluginContext, accounts: Accounts): Promise<void>;
  /** The refusal for a user with too few credits for a run. */
  refuseEmpty(ctx: PluginContext, account: Account): Error;
  /** Drops the cached admission of a user whose account has changed. */
  forget(did: string): void;
}

/** A run needs `heldPerRun` credits. */
export function creditGate(heldPerRun: number): CreditGate {
  const letIn = new LRUCache<string, number>(growing(VERDICTS_KEPT));
  const tooLittle = `User has less than ${Math.max(LEAST, heldPerRun)} credits, please top up to continue`;

  function refusal(account: Account | undefined): string | undefined {
    if (!account) return NO_ACCOUNT;
    if (account.status !== 'active' && account.status !== 'trial') return NOT_ACTIVE;
    return account.balance <= LEAST * MICRO || account.balance < heldPerRun * MICRO ? tooLittle : undefined;
  }

  return {
    async check(ctx, accounts) {
      const did = ctx.requireDid();
      const until = letIn.get(did);
      if (until !== undefined && until > ctx.clock.monotonic()) return;
      const account = await accounts.read(did);
      const why = refusal(account);
      if (why) throw ctx.refuse(402, why, listClaims(account));
      letIn.set(did, ctx.clock.monotonic() + VERDICT_MS);
    },
    refuseEmpty: (ctx, account) => ctx.refuse(402, tooLittle, listClaims(account)),
    forget: (did) => void letIn.delete(did),
  };
}

// Streams read one name, everything else the other.
function listClaims(account: Account | undefined): JsonObject {
  const claims = account?.claims ?? [];
  return { claims, outstandingClaims: claims };
}
