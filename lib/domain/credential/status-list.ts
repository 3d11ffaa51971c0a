// Bitstring status lists (W3C), derived from the state of the domains, and the place of a credential in its list.

import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { DocumentStore, JsonObject } from '../../store/store.ts';
import { findPages, NO_VOTES, type SettleVotes } from '../find.ts';
import { DOMAIN, STATUS_ENTRY } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { type Domain, isoTime, type StoredDomain } from '../twin/record.ts';
import { readVerification, statusBeneath } from '../voting/execution.ts';

export interface Issuer {
  /**
   * The credential with a proof made at `now`, and with this issuer unless it names one. Only built-in contexts are
   * read, never the network.
   */
  issue(credential: JsonObject, now: number): Promise<JsonObject>;
}

const compressed = promisify(gzip);

export interface StatusListOptions {
  readonly documents: DocumentStore;
  readonly issuer: Issuer;
  readonly clock: Pick<Clock, 'now'>;
  /** @default nobody votes */
  readonly settleVotes?: SettleVotes;
}

interface StatusListRequest {
  readonly list: number;
  readonly purpose: StatusPurpose;
  readonly url: string;
}

type Bits = { readonly [purpose in StatusPurpose]: Buffer };

/** A list in memory, as of the change numbered `seq`. */
interface Loaded {
  seq: number;
  readonly entries: Map<string, StatusEntry[]>;
  readonly bits: Bits;
}

interface SignedList {
  readonly url: string;
  readonly bits: Buffer;
  readonly at: number;
  readonly credential: JsonObject;
}

export type StatusLists = ReturnType<typeof statusLists>;

/** Lists over a store: read whole once, then kept up to date by the store's changes. */
export function statusLists({ documents, issuer, clock, settleVotes = NO_VOTES }: StatusListOptions) {
  const lists = new Map<number, Promise<Loaded | undefined>>();
  const signed = new Map<string, SignedList>();

  // Loads of a list run one after the other; after a failure the next one begins anew.
  function fresh(list: number): Promise<Loaded | undefined> {
    const before = (lists.get(list) ?? Promise.resolve(undefined)).catch(() => undefined);
    const next = before.then((loaded) => (loaded ? follow(documents, list, loaded) : load(documents, list)));
    lists.set(list, next);
    const forget = () => lists.get(list) === next && lists.delete(list);
    next.then((loaded) => loaded ?? forget(), forget);
    return next;
  }

  return {
    /** The signed list at `url`, up to date; undefined when no place of it has been given away. */
    async credential({ list, purpose, url }: StatusListRequest): Promise<JsonObject | undefined> {
      // One look-up for a list that does not exist, which needs no key.
      if (!lists.has(list) && !(await hasPlaces(documents, list))) return undefined;
      // A list tells of domains of all tenants.
      await settleVotes('all');
      const loaded = await fresh(list);
      if (!loaded) return undefined;
      const now = clock.now();
      const key = `${list} ${purpose}`;
      const last = signed.get(key);
      const isSame = last?.url === url && now - last.at < DOMAIN_LIMITS.statusListFreshMs;
      if (isSame && last.bits.equals(loaded.bits[purpose])) return last.credential;
      const bits = Buffer.from(loaded.bits[purpose]);
      const credential = await issuer.issue(await listCredential(url, { purpose, bits, now }), now);
      signed.set(key, { url, bits, at: now, credential });
      return credential;
    },
  };
}

async function hasPlaces(documents: DocumentStore, list: number): Promise<boolean> {
  return (await documents.find(STATUS_ENTRY, { index: 'place', where: { list }, limit: 1 })).items.length > 0;
}

async function listCredential(
  url: string,
  { purpose, bits, now }: { purpose: StatusPurpose; bits: Buffer; now: number },
): Promise<JsonObject> {
  const encodedList = `u${(await compressed(bits)).toString('base64url')}`;
  return {
    '@context': ['https://www.w3.org/ns/credentials/v2'],
    id: url,
    type: ['VerifiableCredential', 'BitstringStatusListCredential'],
    validFrom: isoTime(now),
    validUntil: isoTime(now + DOMAIN_LIMITS.statusListValidMs),
    credentialSubject: { id: `${url}#list`, type: 'BitstringStatusList', statusPurpose: purpose, encodedList },
  };
}

async function load(documents: DocumentStore, list: number): Promise<Loaded | undefined> {
  // First the number, then the state: what changes in between is looked at twice.
  const seq = await documents.lastChange();
  const empty = () => Buffer.alloc(DOMAIN_LIMITS.statusListBits / 8);
  const loaded: Loaded = { seq, entries: new Map(), bits: { revocation: empty(), suspension: empty() } };
  const query = { index: 'place', where: { list }, limit: COMMON_LIMITS.pageSizeMax };
  for await (const items of findPages<StatusEntry>(documents, STATUS_ENTRY, query)) {
    for (const { body } of items) add(loaded, body);
    await update(documents, loaded, new Set(items.map(({ body }) => body.did)));
  }
  return loaded.entries.size ? loaded : undefined;
}

async function follow(documents: DocumentStore, list: number, loaded: Loaded): Promise<Loaded> {
  for (;;) {
    const changes = await documents.changes(loaded.seq, DOMAIN_LIMITS.feedPage);
    const touched = new Set<string>();
    for (const { kind, id } of changes) {
      if (kind === DOMAIN.name && loaded.entries.has(id)) touched.add(id);
      if (kind !== STATUS_ENTRY.name) continue;
      const entry = (await documents.get<StatusEntry>(STATUS_ENTRY, id))?.body;
      if (entry?.list !== list) continue;
      add(loaded, entry);
      touched.add(entry.did);
    }
    await update(documents, loaded, touched);
    loaded.seq = changes.at(-1)?.seq ?? loaded.seq;
    if (changes.length < DOMAIN_LIMITS.feedPage) return loaded;
  }
}

function add({ entries }: Loaded, entry: StatusEntry): void {
  const known = entries.get(entry.did) ?? [];
  if (!known.some(({ index }) => index === entry.index)) entries.set(entry.did, [...known, entry]);
}

/** Sets the bits of these domains as they are now. */
async function update(documents: DocumentStore, { entries, bits }: Loaded, dids: ReadonlySet<string>): Promise<void> {
  const rest = dids.values();
  const work = async () => {
    for (const did of rest) {
      const body = (await documents.get<StoredDomain>(DOMAIN, did))?.body;
      for (const entry of entries.get(did) ?? [])
        for (const purpose of STATUS_PURPOSES) setBit(bits[purpose], entry.index, isSet(entry, purpose, body));
    }
  };
  await Promise.all(Array.from({ length: DOMAIN_LIMITS.statusListReads }, work));
}

/** The first bit of the list is the left-most one of its first byte. */
function setBit(bits: Buffer, index: number, isSet: boolean): void {
  const mask = 0x80 >> (index & 7);
  if (isSet) bits[index >> 3]! |= mask;
  else bits[index >> 3]! &= ~mask;
}

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
function findVerifyingProposal(body: StoredDomain): string {
  return ONCE_VERIFIED.has(statusBeneath(body)) ? (readVerification(body).settled?.verify?.proposal ?? '') : '';
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
  return !isPlain && (status === 'Revoked' || entry.verifiedBy !== findVerifyingProposal(body));
}

/** The place of what is said of this domain now; the same every time, until it is verified anew. */
export async function givePlace(documents: DocumentStore, { id: did, body }: Domain): Promise<StatusEntry> {
  const by = findVerifyingProposal(body);
  const id = by === '' ? did : `${did}@${by}`;
  const find = async () => (await documents.get<StatusEntry>(STATUS_ENTRY, id))?.body;
  const known = await find();
  if (known) return known;
  // Places fill up at random: where none of several is free, the list is as good as full.
  for (let list = await lastList(documents), tries = 1; ; tries++) {
    const index = randomInt(DOMAIN_LIMITS.statusListBits);
    const entry: StatusEntry = { tenant: body.tenant, did, verifiedBy: by, list, index };
    if ((await documents.insert(STATUS_ENTRY, id, entry)).kind === 'inserted') return entry;
    // Either another was faster, or the place is taken.
    const other = await find();
    if (other) return other;
    if (tries % DOMAIN_LIMITS.statusListTries === 0) list++;
  }
}

async function lastList(documents: DocumentStore): Promise<number> {
  const query = { index: 'place', descending: true, limit: 1 };
  const { items } = await documents.find<StatusEntry>(STATUS_ENTRY, query);
  return items[0]?.body.list ?? 1;
}
