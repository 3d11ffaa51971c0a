// The gate: whether a domain may take part in what the platform does, and why not. Every guarded activity asks here.

import type { JsonObject } from '../../store/store.ts';
import { findSettled, type Reading } from '../find.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse } from '../problems.ts';
import { type Domain, validityOf } from '../twin/record.ts';

/** Activities that only verified domains may take part in. */
export const ACTIVITIES = ['carbon-credit-issuance'] as const;
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

/** Verified, within its validity, not deactivated, and no ancestor suspended or revoked. `domain` is as its votes left it. */
export async function canParticipate(reading: Reading, domain: Domain, now: number): Promise<Eligibility> {
  const reasons = [...ownObstacles(domain, now), ...(await ancestorObstacles(reading, domain))];
  return { eligible: reasons.length === 0, reasons };
}

/** Throws `domain-not-verified` with every reason unless the domain may take part. */
export async function requireEligible(reading: Reading, domain: Domain, now: number): Promise<void> {
  const { eligible, reasons } = await canParticipate(reading, domain, now);
  if (eligible) return;
  const details = reasons.map(({ code, message }) => ({ field: code, error: message }));
  throw refuse('domain-not-verified', `${domain.id} cannot take part: ${reasons[0]!.message}`, { details });
}

/** The activity by its name; throws `bad-request`. */
export function activityOf(name: string | undefined): Activity {
  const known = ACTIVITIES.find((activity) => activity === (name ?? ACTIVITIES[0]));
  if (known) return known;
  throw refuse('bad-request', `activity=${JSON.stringify(name)} is not known. Known: ${ACTIVITIES.join(', ')}.`);
}

function ownObstacles({ body }: Domain, now: number): Obstacle[] {
  if (body.status === 'Deactivated') return [{ code: 'deactivated', message: 'It was deactivated.' }];
  const validity = validityOf(body, now);
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

async function ancestorObstacles(reading: Reading, { body }: Domain): Promise<Obstacle[]> {
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
