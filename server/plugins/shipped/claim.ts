// Claims: submitted by users, readable by their submitter, and evaluated in batches by a service of the deployment.
//
// A job first leases a claim by moving its due time ahead, a write that only one job can win. If the job dies the claim comes
// due again, and the service gets the same idempotency key: it must act at most once per key.

import { createHash, randomUUID } from 'node:crypto';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import type { Service } from '../../../lib/engine/service.ts';
import { isObject } from '../../../lib/given.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { retryDelay } from '../../../lib/retry.ts';
import type { Kind, StoredDocument } from '../../../lib/store/store.ts';
import type { PluginContext, PluginHost } from '../plugin.ts';

/** The stored document. Times are milliseconds since 1970. */
export type StoredClaim = JsonObject & {
  readonly did: string;
  readonly collection: string;
  readonly data: JsonObject;
  readonly status: 'pending' | 'approved' | 'rejected' | 'failed';
  /** Why it was rejected or failed. */
  readonly reason: string | null;
  readonly submitted: number;
  readonly evaluated: number | null;
  readonly tries: number;
  /** When it is due; null once decided. Moved ahead during an evaluation. */
  readonly dueAt: number | null;
};

export type Claim = StoredDocument<StoredClaim>;

export const CLAIM: Kind = {
  name: 'plugin-claims-claim',
  indexes: { user: { fields: ['did', 'submitted'] }, due: { fields: ['dueAt'] } },
};

const LISTED = 100;

export function claims({ documents, clock }: Pick<PluginHost, 'documents' | 'clock'>) {
  return {
    /** Submits a claim; a user's `key` creates at most one. */
    async submit(
      did: string,
      { collection, data, key }: { collection: string; data: JsonObject; key?: string },
    ): Promise<Claim> {
      const now = clock.now();
      const body: StoredClaim = {
        did,
        collection,
        data,
        status: 'pending',
        reason: null,
        submitted: now,
        evaluated: null,
        tries: 0,
        dueAt: now,
      };
      const digest = () =>
        createHash('sha256')
          .update(JSON.stringify([did, key]))
          .digest('hex')
          .slice(0, 32);
      const id = key === undefined ? randomUUID() : digest();
      const inserted = await documents.insert(CLAIM, id, body);
      return inserted.kind === 'inserted' ? inserted : (await documents.get<StoredClaim>(CLAIM, id))!;
    },

    /** The user's newest claims. */
    list: async (did: string): Promise<Claim[]> =>
      (await documents.find<StoredClaim>(CLAIM, { index: 'user', where: { did }, descending: true, limit: LISTED }))
        .items,

    /** Undefined unless the claim belongs to the user. */
    async get(did: string, id: string): Promise<Claim | undefined> {
      const claim = id.length <= 64 ? await documents.get<StoredClaim>(CLAIM, id) : undefined;
      return claim?.body.did === did ? claim : undefined;
    },
  };
}

/** Claims per call, and concurrent evaluations. */
const BATCH = 100;
const AT_ONCE = 8;
/** Lease of a claim under evaluation, in milliseconds; longer than the service may take. */
const LEASE_MS = 60_000;
const TRIES = 5;
/** Backoff; doubles with each retry. */
const BACKOFF = { firstMs: 30_000 };

type ClaimCounts = { approved: number; rejected: number; failed: number; postponed: number };
type ClaimVerdict = Pick<StoredClaim, 'status' | 'reason' | 'dueAt'>;

/** Evaluates due claims; returns the outcome counts and the number still due. */
export async function processClaims(ctx: PluginContext, service: Service) {
  const where = { dueAt: { lte: ctx.clock.now() } };
  const { items } = await ctx.documents.find<StoredClaim>(CLAIM, { index: 'due', where, limit: BATCH });
  const counts: ClaimCounts = { approved: 0, rejected: 0, failed: 0, postponed: 0 };
  const waiting = [...items];
  const work = async () => {
    for (let claim = waiting.shift(); claim; claim = waiting.shift()) {
      const outcome = await evaluate(ctx, service, claim);
      if (outcome) counts[outcome]++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const processed = counts.approved + counts.rejected + counts.failed;
  const remaining = await ctx.documents.count(CLAIM, { index: 'due', where });
  return { processed, ...counts, remaining };
}

/** Undefined if another job holds the claim. */
async function evaluate(ctx: PluginContext, service: Service, claim: Claim): Promise<keyof ClaimCounts | undefined> {
  const { documents, clock } = ctx;
  const leased: StoredClaim = { ...claim.body, tries: claim.body.tries + 1, dueAt: clock.now() + LEASE_MS };
  const lease = await documents.replace(CLAIM, claim.id, claim.revision, leased);
  if (lease.kind !== 'replaced') return undefined;
  const verdict = await judgeClaim(ctx, service, { ...claim, body: leased });
  const evaluated = verdict.status === 'pending' ? null : clock.now();
  const decided = await documents.replace(CLAIM, claim.id, lease.revision, { ...leased, ...verdict, evaluated });
  if (decided.kind !== 'replaced') return undefined;
  return verdict.status === 'pending' ? 'postponed' : verdict.status;
}

async function judgeClaim(ctx: PluginContext, service: Service, { id, body }: Claim): Promise<ClaimVerdict> {
  const { did, collection, data, tries } = body;
  const signal = AbortSignal.any([AbortSignal.timeout(COMMON_LIMITS.callTimeoutMs), ctx.closing]);
  try {
    const call = { signal, idempotencyKey: id, session: { id } };
    const evaluation = await Promise.race([service({ id, did, collection, data }, call), whenAborted(signal)]);
    if (!isObject(evaluation) || typeof evaluation.approved !== 'boolean') throw new Error('no verdict');
    const reason = typeof evaluation.reason === 'string' ? evaluation.reason.slice(0, 1_000) : null;
    return { status: evaluation.approved ? 'approved' : 'rejected', reason, dueAt: null };
  } catch (error) {
    ctx.log.warn({ err: error, claim: id, tries }, 'a claim could not be evaluated');
    if (tries >= TRIES) return { status: 'failed', reason: 'It could not be evaluated.', dueAt: null };
    return { status: 'pending', reason: null, dueAt: ctx.clock.now() + retryDelay(tries, BACKOFF) };
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(new Error('it took too long'));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}
