// Claims: submitted by users, read by who submitted them, and evaluated once, in batches, by a service of the deployment.
//
// A claim is put off before it is evaluated, by a write that only one of several jobs can make. A job that dies leaves it
// to come up again, and the service gets the same idempotency key: it must act at most once per key.

import { createHash, randomUUID } from 'node:crypto';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import type { Service } from '../../../lib/engine/service.ts';
import { isObject } from '../../../lib/given.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { retryDelay } from '../../../lib/retry.ts';
import type { Kind, StoredDocument } from '../../../lib/store/store.ts';
import type { PluginContext, PluginHost } from '../plugin.ts';

/** What its document holds. Times are milliseconds since 1970. */
export type StoredClaim = JsonObject & {
  readonly did: string;
  readonly collection: string;
  readonly data: JsonObject;
  readonly status: 'pending' | 'approved' | 'rejected' | 'failed';
  /** Why it was rejected, or failed. */
  readonly reason: string | null;
  readonly submitted: number;
  readonly evaluated: number | null;
  readonly tries: number;
  /** When it is due; null once it is decided. Moved ahead while a process evaluates it. */
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
    /** Submits a claim; of one `key` of a user there is one. */
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

    /** The newest of a user. */
    list: async (did: string): Promise<Claim[]> =>
      (await documents.find<StoredClaim>(CLAIM, { index: 'user', where: { did }, descending: true, limit: LISTED }))
        .items,

    /** Undefined unless it is the user's. */
    async get(did: string, id: string): Promise<Claim | undefined> {
      const found = id.length <= 64 ? await documents.get<StoredClaim>(CLAIM, id) : undefined;
      return found?.body.did === did ? found : undefined;
    },
  };
}

/** Claims of one call, and those that are evaluated at the same time. */
const BATCH = 100;
const AT_ONCE = 8;
/** Milliseconds for which others leave a claim alone that is being evaluated; longer than the service may take. */
const LEASE_MS = 60_000;
const TRIES = 5;
/** Milliseconds before the second try; doubles with each further one. */
const BACKOFF = { firstMs: 30_000 };

type ClaimCounts = { approved: number; rejected: number; failed: number; postponed: number };
type ClaimVerdict = Pick<StoredClaim, 'status' | 'reason' | 'dueAt'>;

/** Evaluates what is due; what became of it, and how much is still due. */
export async function processClaims(ctx: PluginContext, service: Service) {
  const where = { dueAt: { lte: ctx.clock.now() } };
  const { items } = await ctx.documents.find<StoredClaim>(CLAIM, { index: 'due', where, limit: BATCH });
  const counts: ClaimCounts = { approved: 0, rejected: 0, failed: 0, postponed: 0 };
  const waiting = [...items];
  const work = async () => {
    for (let claim = waiting.shift(); claim; claim = waiting.shift()) {
      const became = await evaluate(ctx, service, claim);
      if (became) counts[became]++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const processed = counts.approved + counts.rejected + counts.failed;
  const remaining = await ctx.documents.count(CLAIM, { index: 'due', where });
  return { processed, ...counts, remaining };
}

/** Undefined when another job has it. */
async function evaluate(ctx: PluginContext, service: Service, claim: Claim): Promise<keyof ClaimCounts | undefined> {
  const { documents, clock } = ctx;
  const taken: StoredClaim = { ...claim.body, tries: claim.body.tries + 1, dueAt: clock.now() + LEASE_MS };
  const held = await documents.replace(CLAIM, claim.id, claim.revision, taken);
  if (held.kind !== 'replaced') return undefined;
  const verdict = await judgeClaim(ctx, service, { ...claim, body: taken });
  const evaluated = verdict.status === 'pending' ? null : clock.now();
  const decided = await documents.replace(CLAIM, claim.id, held.revision, { ...taken, ...verdict, evaluated });
  if (decided.kind !== 'replaced') return undefined;
  return verdict.status === 'pending' ? 'postponed' : verdict.status;
}

async function judgeClaim(ctx: PluginContext, service: Service, { id, body }: Claim): Promise<ClaimVerdict> {
  const { did, collection, data, tries } = body;
  const signal = AbortSignal.any([AbortSignal.timeout(COMMON_LIMITS.callTimeoutMs), ctx.closing]);
  try {
    const call = { signal, idempotencyKey: id, session: { id } };
    const said = await Promise.race([service({ id, did, collection, data }, call), whenAborted(signal)]);
    if (!isObject(said) || typeof said.approved !== 'boolean') throw new Error('no verdict');
    const reason = typeof said.reason === 'string' ? said.reason.slice(0, 1_000) : null;
    return { status: said.approved ? 'approved' : 'rejected', reason, dueAt: null };
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
