// Carbon credits, and the check of eligibility: which domains may take part in guarded activities, and why not.

import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, StoredDocument } from '../../store/store.ts';
import { type Caller, requireRole } from '../caller.ts';
import { randomToken } from '../did/did.ts';
import { type Journaled, stamp } from '../feed/journal.ts';
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
  /** Issued once nothing of `seen` had changed after this was written. Earlier versions have also left `revoked` ones. */
  readonly state: 'checking' | 'issued' | 'revoked';
  /** The revisions of the domain and of what it is part of, as they were eligible right before this was written. */
  readonly seen?: string;
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
  issue(caller: Caller, request: { did: string } & NewCredit): Promise<JsonObject>;
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
 * Issues credits. A credit is written with the revisions of the domain and its ancestors that were eligible, and issued only
 * if a read after that write sees the same revisions, which proves that the domain was eligible at the write. An undecided
 * credit does not exist yet; the next repeated request or list settles it.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const issuer = { principal: 'did:ex:ivy', roles: new Set(['issuer'] as const), tenant: 'default' };
 * const ledger = credits({ documents, clock: systemClock });
 * (await ledger.issue(issuer, { did: 'did:ixo:entity:none', body: { amount: '1' } }).catch(({ reason }) => reason)); // → 'not-found'
 */
export function credits(options: CreditOptions): Credits {
  requireGiven('issue credits', options, { documents: 'documents', clock: 'clock' });
  const { documents, clock, settleVotes = NO_VOTES } = options;
  const reading = { documents, settleVotes };
  const { write, settle, settleListed } = creditLedger({ ...reading, clock });

  async function permitIssue(caller: Caller, did: string) {
    const domain = await requireSettled(reading, caller, did);
    requireRole(caller, 'issue credits');
    return async ({ body, id = randomToken() }: NewCredit): Promise<JsonObject> => {
      // An earlier try's credit is settled by what it saw, whatever the domain's state now.
      const earlier = await documents.get<StoredCredit>(CREDIT, id);
      const seen = earlier ? undefined : await requireEligible(reading, domain, clock.now());
      const { amount, ...about } = await checkShape<JsonObject & { amount: string }>(NEW_CREDIT, body, 'The credits');
      if (seen === undefined) return creditView(await settle(earlier!));
      const at = clock.now();
      const written = await write(id, {
        tenant: caller.tenant,
        did: domain.id,
        amount,
        issuer: caller.principal,
        about,
        state: 'checking',
        seen,
        created: at,
        journal: { at, by: caller.principal, action: 'check', events: [] },
      });
      return creditView(await settle(written));
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
      // A credit must not appear after a suspension was seen, so settle undecided ones now.
      const settled = await Promise.all(items.map(settleListed));
      const issued = settled.filter((credit) => credit !== undefined);
      return { items: issued.map(creditView), ...(next !== undefined && { next }) };
    },
  };
}

/** Written credits, each settled once for all readers. */
function creditLedger({ documents, settleVotes, clock }: ReadDeps & Pick<CreditOptions, 'clock'>) {
  const reading = { documents, settleVotes };

  const look = async (tenant: string, did: string): Promise<string> =>
    requireEligible(reading, await requireSettled(reading, { tenant }, did), clock.now());

  async function write(id: string, body: StoredCredit): Promise<Credit> {
    const result = await documents.insert(CREDIT, id, body);
    return result.kind === 'inserted' ? result : readPresent(id);
  }

  async function readPresent(id: string): Promise<Credit> {
    const credit = await documents.get<StoredCredit>(CREDIT, id);
    if (credit) return credit;
    throw refuse('domain-not-verified', 'The credits were refused to another try of this request. Try again.');
  }

  /** Issues the credit, or removes it and throws `domain-not-verified` or `gone`; the same for all readers. */
  async function settle(first: Credit): Promise<Credit> {
    let credit = first;
    for (let tries = 0; tries < COMMON_LIMITS.conflictsPerTurn; tries++) {
      const { id, revision, body } = credit;
      if (body.state === 'issued') return credit;
      if (body.state === 'revoked')
        throw refuse('domain-not-verified', `${body.did} lost its verification while the credits were issued.`);
      const seen = await look(body.tenant, body.did).catch((error: unknown) => {
        if (isRefusal(error)) return error;
        throw error;
      });
      if (typeof seen !== 'string') {
        // Another reader who issued it meanwhile saw the domain earlier.
        if (await documents.remove(CREDIT, id, revision)) throw seen;
        credit = await readPresent(id);
        continue;
      }
      const next = seen === body.seen ? markIssued(id, body) : { ...body, seen };
      const result = await documents.replace(CREDIT, id, revision, next);
      credit = result.kind === 'replaced' ? { id, revision: result.revision, body: next } : await readPresent(id);
    }
    throw new TwinlineError(
      'ERR_CONFLICT',
      `Cannot issue the credits ${first.id}: their domain or they were changed by others ${COMMON_LIMITS.conflictsPerTurn} times in a row. Try again.`,
    );
  }

  function markIssued(id: string, body: StoredCredit): StoredCredit {
    const { amount, did, issuer } = body;
    const events = [{ type: 'credits.issued', data: { credit: id, amount, did } }];
    return { ...body, state: 'issued', journal: { at: stamp(body, clock), by: issuer, action: 'issue', events } };
  }

  const settleListed = (credit: Credit): Promise<Credit | undefined> =>
    settle(credit).catch((error: unknown) => {
      if (isRefusal(error)) return undefined;
      throw error;
    });

  return { write, settle, settleListed };
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
  const { reasons } = await examine(reading, domain, now);
  return { eligible: reasons.length === 0, reasons };
}

/** Throws `domain-not-verified` with every reason unless the domain may take part. Gives the revisions that say so. */
async function requireEligible(reading: ReadDeps, domain: Domain, now: number): Promise<string> {
  const { reasons, seen } = await examine(reading, domain, now);
  if (reasons.length === 0) return seen;
  const details = reasons.map(({ code, message }) => ({ field: code, error: message }));
  throw refuse('domain-not-verified', `${domain.id} cannot take part: ${reasons[0]!.message}`, { details });
}

async function examine(reading: ReadDeps, domain: Domain, now: number) {
  const above = await findAncestors(reading, domain);
  const sanctioned = above.find(({ body }) => body.status === 'Suspended' || body.status === 'Revoked');
  const reasons = listOwnObstacles(domain, now);
  if (sanctioned) {
    const message = `${sanctioned.id}, which it is part of, is ${sanctioned.body.status}.`;
    reasons.push({ code: 'ancestor-sanctioned', message });
  }
  return { reasons, seen: [domain, ...above].map(({ id, revision }) => `${id}@${revision}`).join(' ') };
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

async function findAncestors(reading: ReadDeps, { body }: Domain): Promise<Domain[]> {
  const ancestors: Domain[] = [];
  for (let { parent, tenant } = body; parent !== null && ancestors.length < DOMAIN_LIMITS.ancestorsAsked; ) {
    const above: Domain | undefined = await findSettled(reading, tenant, parent);
    if (!above) break;
    ancestors.push(above);
    parent = above.body.parent;
  }
  return ancestors;
}
