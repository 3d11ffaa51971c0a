// The place of a credential in a status list: picked at random, kept for good, and what its bits mean.

import { randomInt } from 'node:crypto';
import { LIMITS } from '../../limits.ts';
import type { DocumentStore } from '../../store/store.ts';
import { STATUS_ENTRY } from '../kinds.ts';
import type { Domain, StoredDomain } from '../twin/record.ts';
import { statusBeneath, verificationOf } from '../voting/execution.ts';

/** Each list exists once for every purpose, with the same places. */
export const STATUS_PURPOSES = ['revocation', 'suspension'] as const;
export type StatusPurpose = (typeof STATUS_PURPOSES)[number];

/** A place in a list. */
export type StatusEntry = {
  readonly tenant: string;
  readonly did: string;
  /** The proposal that verified the domain, for what is said of a verified one; else ''. */
  readonly verifiedBy: string;
  /** From 1. */
  readonly list: number;
  readonly index: number;
};

const ONCE_VERIFIED = new Set(['Verified', 'Suspended', 'Revoked']);

/** The proposal whose verification counts now, or was taken away; '' when there is none. */
function verifiedBy(body: StoredDomain): string {
  return ONCE_VERIFIED.has(statusBeneath(body)) ? (verificationOf(body).settled?.verify?.proposal ?? '') : '';
}

/**
 * Whether the bit of this place is set. Revocation is for good: of the deactivated, and of a verification that was
 * revoked, lost by a change, or followed by another. Suspension goes with its reason. Without a domain all is revoked.
 */
export function isSet(entry: StatusEntry, purpose: StatusPurpose, body: StoredDomain | undefined): boolean {
  const status = body ? statusBeneath(body) : 'Deactivated';
  const isPlain = entry.verifiedBy === '';
  // A domain that was revoked may be verified again, so what says nothing of a verification is not revoked for good.
  if (purpose === 'suspension') return status === 'Suspended' || (isPlain && status === 'Revoked');
  if (!body || status === 'Deactivated') return true;
  return !isPlain && (status === 'Revoked' || entry.verifiedBy !== verifiedBy(body));
}

/** The place of what is said of this domain now; the same every time, until it is verified anew. */
export async function placeOf(documents: DocumentStore, { id: did, body }: Domain): Promise<StatusEntry> {
  const by = verifiedBy(body);
  const id = by === '' ? did : `${did}@${by}`;
  const find = async () => (await documents.get<StatusEntry>(STATUS_ENTRY, id))?.body;
  const known = await find();
  if (known) return known;
  // Places fill up at random: where none of several is free, the list is as good as full.
  for (let list = await lastList(documents), tries = 1; ; tries++) {
    const index = randomInt(LIMITS.statusListBits);
    const entry: StatusEntry = { tenant: body.tenant, did, verifiedBy: by, list, index };
    if ((await documents.insert(STATUS_ENTRY, id, entry)).kind === 'inserted') return entry;
    // Either another was faster, or the place is taken.
    const other = await find();
    if (other) return other;
    if (tries % LIMITS.statusListTries === 0) list++;
  }
}

async function lastList(documents: DocumentStore): Promise<number> {
  const query = { index: 'place', descending: true, limit: 1 };
  const { items } = await documents.find<StatusEntry>(STATUS_ENTRY, query);
  return items[0]?.body.list ?? 1;
}
