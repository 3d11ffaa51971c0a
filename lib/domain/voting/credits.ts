// Carbon credits, and the check of eligibility: which domains may take part in guarded activities, and why not.

import type { Clock } from '../../clock.ts';
import { requireGiven } from '../../given.ts';
import type { DocumentStore, JsonObject, StoredDocument } from '../../store/store.ts';
import { insertNew } from '../../store/update.ts';
import { type Caller, requireRole } from '../caller.ts';
import { randomToken } from '../did/did.ts';
import { type Journaled, replaceJournaled, stamp } from '../feed/journal.ts';
import {
  findPage,
  findSettled,
  NO_VOTES,
  type ReadDeps,
  requireDomain,
  requireSettled,
  type SettleVotes,
} from '../find.ts';
import { CREDIT } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { isRefusal, refuse } from '../problems.ts';
import { NEW_CREDIT } from '../schema/bodies.ts';
import { checkShape } from '../schema/check.ts';
import { type Domain, findValidity, isoTime } from '../twin/record.ts';

type StoredCredit = Journaled & {
  readonly did: string;
  /** Decimal. */
  readonly amount: string;
  readonly issuer: string;
  /** What the issuer says besides. */
  readonly about: JsonObject;
  /** Issued once the domain was seen to be eligible after this was written; revoked when it was not right after that. */
  readonly state: 'checking' | 'issued' | 'revoked';
  readonly created: number;
};
type Credit = StoredDocument<StoredCredit>;

export interface NewCredit {
  readonly body: unknown;
  /** Reserved for this request, so that a repeated one finds what the first has made. @default a new one */
  readonly id?: string | undefined;
}

/** What a voter may do, and what it has earned. */
export interface Credits {
  /** Throws `domain-not-verified` with the reasons. */
  issue(caller: Caller, given: { did: string } & NewCredit): Promise<JsonObject>;
  /** Issues credits to this domain once the request was read. Throws `not-found`, `gone` or `role-missing`. */
  permitIssue(caller: Caller, did: string): Promise<(request: NewCredit) => Promise<JsonObject>>;
  /** The newest first. */
  list(
    caller: Caller,
    query: { did: string; limit: number; cursor?: string | undefined },
  ): Promise<{ items: JsonObject[]; next?: string }>;
}

export interface CreditOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  /** @default nobody votes */
  readonly settleVotes?: SettleVotes;
}

/**
 * Issues credits. A suspension that comes between the look at the domain and the write of the credit is honoured: the
 * domain is looked at before, and again after the credit was issued, which then is revoked.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const issuer = { principal: 'did:ex:ivy', roles: new Set(['issuer'] as const), tenant: 'default' };
 * const ledger = credits({ documents, clock: systemClock });
 * (await ledger.issue(issuer, { did: 'did:ixo:entity:none', body: { amount: '1' } }).catch(({ reason }) => reason)); // → 'not-found'
 */
export function credits({ documents, clock, settleVotes = NO_VOTES }: CreditOptions): Credits {
  requireGiven('issue credits', { documents, clock }, { documents: 'documents', clock: 'clock' });
  const reading = { documents, settleVotes };

  async function write(id: string, body: StoredCredit): Promise<Credit> {
    const inserted = await documents.insert(CREDIT, id, body);
    if (inserted.kind === 'inserted') return inserted;
    const earlier = await documents.get<StoredCredit>(CREDIT, id);
    if (earlier) return earlier;
    // A refused try has taken it away meanwhile.
    return insertNew(documents, CREDIT, { id, body });
  }

  async function settle(caller: Caller, credit: Credit): Promise<Credit> {
    if (credit.body.state === 'issued') return credit;
    if (credit.body.state === 'revoked')
      throw refuse('domain-not-verified', `${credit.body.did} lost its verification while the credits were issued.`);
    try {
      const domain = await requireSettled(reading, caller, credit.body.did);
      await requireEligible(reading, domain, clock.now());
    } catch (error) {
      if (isRefusal(error)) await documents.remove(CREDIT, credit.id, credit.revision);
      throw error;
    }
    const at = stamp(credit.body, clock);
    const { amount, did } = credit.body;
    const events = [{ type: 'credits.issued', data: { credit: credit.id, amount, did } }];
    const journal = { at, by: caller.principal, action: 'issue', events };
    const body: StoredCredit = { ...credit.body, state: 'issued', journal };
    const result = await documents.replace(CREDIT, credit.id, credit.revision, body);
    if (result.kind !== 'replaced') return settle(caller, await present(credit.id));
    await revokeUnlessEligible(caller, { id: credit.id, revision: result.revision, body });
    return { id: credit.id, revision: result.revision, body };
  }

  async function present(id: string): Promise<Credit> {
    const found = await documents.get<StoredCredit>(CREDIT, id);
    if (found) return found;
    throw refuse('domain-not-verified', 'The credits were refused to another try of this request. Try again.');
  }

  // A suspension that was stored before the credit, and after the look at the domain, counts: then there is no credit.
  async function revokeUnlessEligible(caller: Caller, { id, revision, body }: Credit): Promise<void> {
    try {
      await requireEligible(reading, await requireSettled(reading, caller, body.did), clock.now());
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const at = stamp(body, clock);
      const { amount, did } = body;
      const events = [{ type: 'credits.revoked', data: { credit: id, amount, did } }];
      const journal = { at, by: 'system', action: 'revoke', events };
      const revoked: StoredCredit = { ...body, state: 'revoked', journal };
      await replaceJournaled(documents, { kind: CREDIT, old: { id, revision, body }, body: revoked });
      throw error;
    }
  }

  async function permitIssue(caller: Caller, did: string) {
    const domain = await requireSettled(reading, caller, did);
    requireRole(caller, 'issue credits');
    return async ({ body: given, id = randomToken() }: NewCredit): Promise<JsonObject> => {
      await requireEligible(reading, domain, clock.now());
      const { amount, ...about } = checkShape<JsonObject & { amount: string }>(NEW_CREDIT, given, 'The credits');
      const at = clock.now();
      const written = await write(id, {
        tenant: caller.tenant,
        did: domain.id,
        amount,
        issuer: caller.principal,
        about,
        state: 'checking',
        created: at,
        journal: { at, by: caller.principal, action: 'check', events: [] },
      });
      return creditView(await settle(caller, written));
    };
  }

  return {
    permitIssue,
    issue: async (caller, { did, ...request }) => (await permitIssue(caller, did))(request),
    async list(caller, { did, limit, cursor }) {
      const domain = await requireDomain(documents, caller, did);
      const where = { tenant: caller.tenant, did: domain.id };
      const query = { index: 'domain', where, descending: true, limit, cursor };
      const { items, next } = await findPage<StoredCredit>(documents, CREDIT, query);
      const issued = items.filter(({ body }) => body.state === 'issued');
      return { items: issued.map(creditView), ...(next !== undefined && { next }) };
    },
  };
}

function creditView({ id, body }: Credit): JsonObject {
  const { did, amount, issuer, about, created } = body;
  return { ...about, id, did, amount, issuer, status: body.state, issued: isoTime(created) };
}

/** Activities that only verified domains may take part in. */
export const ACTIVITIES = ['carbon-credit-issuance'] as const;
/** One of `ACTIVITIES`. */
export type Activity = (typeof ACTIVITIES)[number];

/** One reason against it. */
export interface Obstacle extends JsonObject {
  readonly code: 'domain-not-verified' | 'not-yet-valid' | 'expired' | 'deactivated' | 'ancestor-sanctioned';
  readonly message: string;
}

/** Whether an activity is open to a domain; without one, to any. */
export interface Eligibility extends JsonObject {
  readonly eligible: boolean;
  readonly reasons: readonly Obstacle[];
}

/**
 * Verified, within its validity, not deactivated, and no ancestor suspended or revoked. `domain` is as its votes left it.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const caller = { principal: 'did:ex:ann', roles: new Set(['controller'] as const), tenant: 'default' };
 * const twins = registry({ documents, clock: systemClock });
 * await twins.protocols.create(caller, { type: 'Protocol', alsoKnownAs: ['did:ixo:protocol/stove'] });
 * const body = { type: 'Asset', class: 'did:ixo:protocol/stove', controller: 'did:ex:ann' };
 * const stove = await twins.create(caller, { body });
 * const reading = { documents, settleVotes: async () => false };
 * (await canParticipate(reading, stove, Date.now())).eligible; // → false
 */
export async function canParticipate(reading: ReadDeps, domain: Domain, now: number): Promise<Eligibility> {
  const reasons = [...listOwnObstacles(domain, now), ...(await ancestorObstacles(reading, domain))];
  return { eligible: reasons.length === 0, reasons };
}

/** Throws `domain-not-verified` with every reason unless the domain may take part. */
async function requireEligible(reading: ReadDeps, domain: Domain, now: number): Promise<void> {
  const { eligible, reasons } = await canParticipate(reading, domain, now);
  if (eligible) return;
  const details = reasons.map(({ code, message }) => ({ field: code, error: message }));
  throw refuse('domain-not-verified', `${domain.id} cannot take part: ${reasons[0]!.message}`, { details });
}

function listOwnObstacles({ body }: Domain, now: number): Obstacle[] {
  if (body.status === 'Deactivated') return [{ code: 'deactivated', message: 'It was deactivated.' }];
  const validity = findValidity(body, now);
  const notVerified: Obstacle = {
    code: 'domain-not-verified',
    message: `Its status is ${body.status}, not Verified. A representative proposes, voters decide.`,
  };
  return [
    ...(body.status === 'Verified' ? [] : [notVerified]),
    ...(validity === 'notYetValid'
      ? [{ code: 'not-yet-valid', message: `It is valid from ${body.validFrom} on.` } as const]
      : []),
    ...(validity === 'expired'
      ? [{ code: 'expired', message: `It was valid until ${body.validUntil}.` } as const]
      : []),
  ];
}

async function ancestorObstacles(reading: ReadDeps, { body }: Domain): Promise<Obstacle[]> {
  let { parent } = body;
  for (let step = 0; parent !== null && step < DOMAIN_LIMITS.ancestorsAsked; step++) {
    const above: Domain | undefined = await findSettled(reading, body.tenant, parent);
    if (!above) return [];
    if (above.body.status === 'Suspended' || above.body.status === 'Revoked')
      return [{ code: 'ancestor-sanctioned', message: `${above.id}, which it is part of, is ${above.body.status}.` }];
    parent = above.body.parent;
  }
  return [];
}
