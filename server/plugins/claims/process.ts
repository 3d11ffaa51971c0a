// One round of a cron job: pending claims in batches, each evaluated by a service of the deployment.
//
// A claim is put off before it is evaluated, by a write that only one of several jobs can make. A job that dies leaves it
// to come up again, and the service gets the same idempotency key: it must act at most once per key.

import type { Service } from '../../../lib/engine/service.ts';
import { retryDelay } from '../../../lib/retry.ts';
import { isObject } from '../../../lib/shape.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import type { PluginContext } from '../plugin.ts';
import { CLAIM, type Claim, type StoredClaim } from './claim.ts';

/** Claims of one call, and those that are evaluated at the same time. */
const BATCH = 100;
const AT_ONCE = 8;
/** Milliseconds for which others leave a claim alone that is being evaluated; longer than the service may take. */
const LEASE_MS = 60_000;
const TRIES = 5;
/** Milliseconds before the second try; doubles with each further one. */
const BACKOFF = { firstMs: 30_000 };

export type Counts = { approved: number; rejected: number; failed: number; postponed: number };
type Verdict = Pick<StoredClaim, 'status' | 'reason' | 'dueAt'>;

/** Evaluates what is due; what became of it, and how much is still due. */
export async function processClaims(ctx: PluginContext, service: Service) {
  const where = { dueAt: { lte: ctx.clock.now() } };
  const { items } = await ctx.documents.find<StoredClaim>(CLAIM, { index: 'due', where, limit: BATCH });
  const counts: Counts = { approved: 0, rejected: 0, failed: 0, postponed: 0 };
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
async function evaluate(ctx: PluginContext, service: Service, claim: Claim): Promise<keyof Counts | undefined> {
  const { documents, clock } = ctx;
  const taken: StoredClaim = { ...claim.body, tries: claim.body.tries + 1, dueAt: clock.now() + LEASE_MS };
  const held = await documents.replace(CLAIM, claim.id, claim.revision, taken);
  if (held.kind !== 'replaced') return undefined;
  const verdict = await verdictOf(ctx, service, { ...claim, body: taken });
  const evaluated = verdict.status === 'pending' ? null : clock.now();
  const decided = await documents.replace(CLAIM, claim.id, held.revision, { ...taken, ...verdict, evaluated });
  if (decided.kind !== 'replaced') return undefined;
  return verdict.status === 'pending' ? 'postponed' : verdict.status;
}

async function verdictOf(ctx: PluginContext, service: Service, { id, body }: Claim): Promise<Verdict> {
  const { did, collection, data, tries } = body;
  const signal = AbortSignal.any([AbortSignal.timeout(SHARED_LIMITS.callTimeoutMs), ctx.closing]);
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
