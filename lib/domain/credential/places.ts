// Places of credentials in status lists. What was signed names its place for good, so no other credential ever gets it: not
// in another life of the store either, as after an older copy of it was restored.
//
// A place belongs to a domain, the proposal that verified it, and the issuer that signs. It is in a list of its tenant and
// its issuer, and of an epoch: a random number in the store. A process begins a new epoch before it gives its first place,
// so it never gives one in a list that stood in the store when it started, and whoever restores a store starts processes.

import { createHash, randomBytes, randomInt } from 'node:crypto';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { findPages } from '../../store/pages.ts';
import type { DocumentStore } from '../../store/store.ts';
import { update } from '../../store/update.ts';
import { DOMAIN, STATUS_ENTRY, STATUS_EPOCH } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import type { Domain, StoredDomain } from '../twin/record.ts';
import { readVerification, statusBeneath } from '../voting/execution.ts';

/** Each list exists once for every purpose, with the same places. */
export const STATUS_PURPOSES = ['revocation', 'suspension'] as const;
export type StatusPurpose = (typeof STATUS_PURPOSES)[number];

/** A place in a list, and whose it is. */
export type StatusEntry = {
  readonly tenant: string;
  readonly did: string;
  /** The proposal that verified the domain, for what is said of a verified one; else ''. */
  readonly verifiedBy: string;
  /** The DID that signs the credential and its list. */
  readonly issuer: string;
  /** 32 hex digits. */
  readonly list: string;
  readonly index: number;
};

const ONCE_VERIFIED = new Set(['Verified', 'Suspended', 'Revoked']);

/** The proposal whose verification counts now, or was taken away; '' when there is none. */
function findVerifyingProposal(body: StoredDomain): string {
  return ONCE_VERIFIED.has(statusBeneath(body)) ? (readVerification(body).settled?.verify?.proposal ?? '') : '';
}

/**
 * Whether the bit of this place is set. Revocation is for good: of the deactivated, and of a verification that was
 * revoked, lost by a change, or followed by another. Suspension goes with its reason. Without a domain all is revoked.
 */
export function isSet(
  { verifiedBy }: Pick<StatusEntry, 'verifiedBy'>,
  purpose: StatusPurpose,
  body: StoredDomain | undefined,
): boolean {
  const status = body ? statusBeneath(body) : 'Deactivated';
  const isPlain = verifiedBy === '';
  // A domain that was revoked may be verified again, so what says nothing of a verification is not revoked for good.
  if (purpose === 'suspension') return status === 'Suspended' || (isPlain && status === 'Revoked');
  if (!body || status === 'Deactivated') return true;
  return !isPlain && (status === 'Revoked' || verifiedBy !== findVerifyingProposal(body));
}

/** The epoch of this process: each is begun once, and at any time the last one that any process began is in force. */
export interface Epochs {
  /** The epoch in force; begins one first where this process has begun none. */
  current(): Promise<string>;
  /** Ends the epoch in force. */
  begin(): Promise<string>;
}

const IN_FORCE = 'in-force';

export function epochs(documents: DocumentStore): Epochs {
  let begun: Promise<string> | undefined;
  const begin = async () => {
    const epoch = randomBytes(16).toString('hex');
    await update(documents, STATUS_EPOCH, IN_FORCE, () => ({ epoch }));
    return epoch;
  };
  return {
    begin,
    async current() {
      begun ??= begin();
      try {
        await begun;
      } catch (error) {
        begun = undefined;
        throw error;
      }
      const current = await documents.get<{ epoch: string }>(STATUS_EPOCH, IN_FORCE);
      return current?.body.epoch ?? begin();
    },
  };
}

/** The list that takes new places of a tenant and an issuer in this epoch. */
export function nameList(epoch: string, { tenant, issuer }: Pick<StatusEntry, 'tenant' | 'issuer'>): string {
  return digest([epoch, tenant, issuer]).toString('hex', 0, 16);
}

function digest(parts: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

export interface PlaceRequest {
  readonly issuer: string;
  readonly epochs: Epochs;
  /** Places of a list. @default DOMAIN_LIMITS.statusListBits */
  readonly size?: number | undefined;
}

/** The place of what this issuer says of this domain now; the same every time, until the domain is verified anew. */
export async function givePlace(
  documents: DocumentStore,
  { id: did, body }: Domain,
  { issuer, epochs, size = DOMAIN_LIMITS.statusListBits }: PlaceRequest,
): Promise<StatusEntry> {
  const { tenant } = body;
  const verifiedBy = findVerifyingProposal(body);
  const query = { index: 'credential', where: { did, verifiedBy, issuer }, limit: 1 };
  const find = async () => (await documents.find<StatusEntry>(STATUS_ENTRY, query)).items[0]?.body;
  const first = await find();
  if (first) return first;
  const id = digest([did, verifiedBy, issuer]).toString('base64url');
  // Places fill up at random: where none of several is free, the list is as good as full.
  for (let epoch = await epochs.current(), tries = 1; ; tries++) {
    const list = nameList(epoch, { tenant, issuer });
    const entry: StatusEntry = { tenant, did, verifiedBy, issuer, list, index: randomInt(size) };
    if ((await documents.insert(STATUS_ENTRY, id, entry)).kind === 'inserted') return entry;
    // Either another was faster, or the place is taken.
    const other = await find();
    if (other) return other;
    if (tries % DOMAIN_LIMITS.statusListTries === 0) epoch = await epochs.begin();
  }
}

/** The entry at a place; undefined where there is none. Without an index: any entry of the list. */
export async function findEntry(
  documents: DocumentStore,
  where: { readonly list: string; readonly index?: number },
): Promise<StatusEntry | undefined> {
  return (await documents.find<StatusEntry>(STATUS_ENTRY, { index: 'place', where, limit: 1 })).items[0]?.body;
}

/**
 * Of the issuers that credentials name, those without a key in `keys` of which a credential still counts: its lists cannot
 * be signed any more. Looks at DOMAIN_LIMITS.lostPlacesRead places of each; where there are more, one of them may count.
 */
export async function findLostIssuers(documents: DocumentStore, keys: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (let last = ''; ; ) {
    const next = { index: 'issuer', where: { issuer: { gt: last } }, limit: 1 };
    const issuer = (await documents.find<StatusEntry>(STATUS_ENTRY, next)).items[0]?.body.issuer;
    if (issuer === undefined) return lost;
    if (!keys.includes(issuer) && (await mayCount(documents, issuer))) lost.push(issuer);
    last = issuer;
  }
}

async function mayCount(documents: DocumentStore, issuer: string): Promise<boolean> {
  let read = 0;
  const query = { index: 'issuer', where: { issuer }, limit: COMMON_LIMITS.pageSizeMax };
  for await (const items of findPages<StatusEntry>(documents, STATUS_ENTRY, query))
    for (const { body } of items) {
      if (read++ >= DOMAIN_LIMITS.lostPlacesRead) return true;
      const domain = await documents.get<StoredDomain>(DOMAIN, body.did);
      if (!isSet(body, 'revocation', domain?.body)) return true;
    }
  return false;
}
