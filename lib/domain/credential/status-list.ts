// Bitstring status lists (W3C), derived from the state of the domains: each signed by the issuer of the credentials in it.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { JsonObject } from '../../json/json.ts';
import { findPages } from '../../store/pages.ts';
import type { DocumentStore } from '../../store/store.ts';
import { NO_VOTES, type SettleVotes } from '../find.ts';
import { DOMAIN, STATUS_ENTRY } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse } from '../problems.ts';
import { type Domain, isoTime, type StoredDomain } from '../twin/record.ts';
import {
  epochs,
  findEntry,
  givePlace,
  isSet,
  nameList,
  STATUS_PURPOSES,
  type StatusEntry,
  type StatusPurpose,
} from './places.ts';

export interface Issuer {
  readonly did: string;
  /**
   * The credential with a proof made at `now`, and with this issuer unless it names one. Only built-in contexts are
   * read, never the network.
   */
  issue(credential: JsonObject, now: number): Promise<JsonObject>;
}

const compressed = promisify(gzip);

export interface StatusListOptions {
  readonly documents: DocumentStore;
  /** The first signs new credentials; the others are those whose earlier ones still count. */
  readonly issuers: readonly [Issuer, ...Issuer[]];
  readonly clock: Pick<Clock, 'now'>;
  /** @default nobody votes */
  readonly settleVotes?: SettleVotes;
  /** Places of a list: a multiple of 8. @default DOMAIN_LIMITS.statusListBits */
  readonly size?: number;
}

interface StatusListRequest {
  readonly list: string;
  readonly purpose: StatusPurpose;
  readonly url: string;
}

type Bits = { readonly [purpose in StatusPurpose]: Buffer };

/** A list in memory, as of the change numbered `seq`. */
interface Loaded {
  seq: number;
  /** Whose list it is. */
  readonly owner: Pick<StatusEntry, 'tenant' | 'issuer'>;
  readonly entries: Map<string, StatusEntry[]>;
  /** The bits of its places; all others are 0. */
  readonly bits: Bits;
  /** 1 where there is a place. */
  readonly taken: Buffer;
}

interface SignedList {
  readonly url: string;
  readonly bits: Buffer;
  readonly at: number;
  readonly credential: JsonObject;
}

export type StatusLists = ReturnType<typeof statusLists>;

/** Lists over a store: read whole once, then kept up to date by the store's changes. */
export function statusLists({
  documents,
  issuers,
  clock,
  settleVotes = NO_VOTES,
  size = DOMAIN_LIMITS.statusListBits,
}: StatusListOptions) {
  const lists = new LRUCache<string, Promise<Loaded | undefined>>({ max: DOMAIN_LIMITS.statusListsKept });
  const signed = new LRUCache<string, SignedList>({ max: STATUS_PURPOSES.length * DOMAIN_LIMITS.statusListsKept });
  const epoch = epochs(documents);

  // Loads of a list run one after the other; after a failure the next one begins anew.
  function fresh(list: string): Promise<Loaded | undefined> {
    const before = (lists.get(list) ?? Promise.resolve(undefined)).catch(() => undefined);
    const next = before.then(
      async (loaded) => (loaded && (await follow(documents, list, loaded))) ?? load(documents, list, size),
    );
    lists.set(list, next);
    const forget = () => lists.get(list) === next && lists.delete(list);
    next.then((loaded) => loaded ?? forget(), forget);
    return next;
  }

  return {
    /** Signs what new credentials say, and what is in `place`. */
    issuer: issuers[0],

    /** The place of what is said of this domain now, in a list of the first issuer. */
    place: (domain: Domain) => givePlace(documents, domain, { issuer: issuers[0].did, epochs: epoch, size }),

    /**
     * The signed list at `url`, up to date; undefined when no place of it has been given away. Throws `not-found` when
     * its issuer has no key here any more: signed by another, it would say nothing.
     */
    async credential({ list, purpose, url }: StatusListRequest): Promise<JsonObject | undefined> {
      // One look-up for a list that does not exist, which needs no key.
      if (!lists.has(list) && !(await findEntry(documents, { list }))) return undefined;
      // A list tells of domains of all tenants.
      await settleVotes('all');
      const inForce = await epoch.current();
      const loaded = await fresh(list);
      if (!loaded) return undefined;
      const issuer = issuers.find(({ did }) => did === loaded.owner.issuer);
      if (!issuer) throw lostIssuer(list, loaded.owner.issuer);
      const bits = showBits(loaded, { purpose, isOpen: nameList(inForce, loaded.owner) === list });
      const now = clock.now();
      const key = `${list} ${purpose}`;
      const last = signed.get(key);
      const isSame = last?.url === url && now - last.at < DOMAIN_LIMITS.statusListFreshMs;
      if (isSame && last.bits.equals(bits)) return last.credential;
      const credential = await issuer.issue(await listCredential(url, { purpose, bits, now }), now);
      signed.set(key, { url, bits, at: now, credential });
      return credential;
    },
  };
}

function lostIssuer(list: string, issuer: string): Error {
  const words = `Status list ${list} is one of ${issuer}, which has no key here any more. Ask for new credentials.`;
  return refuse('not-found', words);
}

/**
 * The bits as verifiers see them. A list that takes new places has 0 where there is none yet, for verifiers keep lists for
 * a while. In any other list a place that nobody has is revoked: it may be one that a copy of the store does not know.
 */
function showBits(
  { bits, taken }: Loaded,
  { purpose, isOpen }: { readonly purpose: StatusPurpose; readonly isOpen: boolean },
): Buffer {
  const list = Buffer.from(bits[purpose]);
  if (!isOpen && purpose === 'revocation') for (let at = 0; at < list.length; at++) list[at]! |= ~taken[at]!;
  return list;
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

async function load(documents: DocumentStore, list: string, size: number): Promise<Loaded | undefined> {
  // First the number, then the state: what changes in between is looked at twice.
  const seq = await documents.lastChange();
  const owner = await findEntry(documents, { list });
  if (!owner) return undefined;
  const empty = () => Buffer.alloc(size / 8);
  const bits = { revocation: empty(), suspension: empty() };
  const loaded: Loaded = { seq, owner, entries: new Map(), bits, taken: empty() };
  const query = { index: 'place', where: { list }, limit: COMMON_LIMITS.pageSizeMax };
  for await (const items of findPages<StatusEntry>(documents, STATUS_ENTRY, query)) {
    for (const { body } of items) add(loaded, body);
    await update(documents, loaded, new Set(items.map(({ body }) => body.did)));
  }
  return loaded;
}

/** The list as of now; undefined when it is so far behind that it is better read anew. */
async function follow(documents: DocumentStore, list: string, loaded: Loaded): Promise<Loaded | undefined> {
  for (let pages = 0; pages < DOMAIN_LIMITS.statusListPages; pages++) {
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
  return undefined;
}

function add({ entries, taken }: Loaded, entry: StatusEntry): void {
  const own = entries.get(entry.did) ?? [];
  if (own.some(({ index }) => index === entry.index)) return;
  entries.set(entry.did, [...own, entry]);
  setBit(taken, entry.index, true);
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
