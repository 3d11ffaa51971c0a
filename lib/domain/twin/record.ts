// A twin as it is stored and as clients read it, and the canonical class of its type.

import type { JsonObject } from '../../json/json.ts';
import type { StoredDocument } from '../../store/store.ts';
import type { Journaled } from '../feed/journal.ts';

/** The states of a twin. */
export const STATUSES = [
  'Created',
  'UnderReview',
  'Verified',
  'Rejected',
  'Suspended',
  'Revoked',
  'Deactivated',
] as const;
/** One of `STATUSES`. */
export type Status = (typeof STATUSES)[number];

export type Validity = 'notYetValid' | 'valid' | 'expired';

/** A part of a twin that is a twin of its own. */
export interface SubDomain {
  readonly did: string;
  readonly type: string;
}

/** The lists of a protocol that its descendants and twins inherit. Controllers, keys and services never are. */
export const INHERITED = ['linkedResource', 'linkedClaim', 'linkedEntity', 'accordedRight'] as const;
export type InheritedLists = { readonly [list in (typeof INHERITED)[number]]: readonly JsonObject[] };

/** The lists of a twin that its DID document shows. */
export const TWIN_LISTS = ['services', 'verifiableCredential', ...INHERITED] as const;
export type TwinLists = { readonly [list in (typeof TWIN_LISTS)[number]]: readonly JsonObject[] };

/** These lists of `given`; empty where it has none. */
export function pickLists<List extends string>(
  names: readonly List[],
  lists: { readonly [list in List]?: readonly JsonObject[] },
): { readonly [list in List]: readonly JsonObject[] } {
  return Object.fromEntries(names.map((name) => [name, lists[name] ?? []])) as ReturnType<typeof pickLists<List>>;
}

/** A domain or entity as its document holds it. Times of the service are milliseconds since 1970. */
export type StoredDomain = Journaled &
  TwinLists & {
    readonly did: string;
    readonly type: string;
    /** One is shown as a text, several as a list. */
    readonly controllers: readonly string[];
    /** As the client names the protocol, which is bound in the version that it had then. */
    readonly classReference: string;
    readonly class: string;
    readonly classVersion: number;
    readonly status: Status;
    /** What the status was before the open proposal, and which proposal gave the present one. */
    readonly verification: JsonObject;
    readonly metadata: JsonObject;
    readonly properties: JsonObject;
    readonly relationships: JsonObject;
    readonly parent: string | null;
    readonly subDomains: readonly (SubDomain & JsonObject)[];
    readonly alsoKnownAs: readonly string[];
    readonly externalId: string | null;
    /** RFC 3339, as the client sent them. */
    readonly validFrom: string | null;
    readonly validUntil: string | null;
    readonly created: number;
    readonly updated: number;
    /** `<relation> <did>` and `<did>` of everything that this twin points at; see graph.ts. */
    readonly edges: readonly string[];
    readonly targets: readonly string[];
    /** Beginnings of words and values of properties that it is found by; see terms.ts. */
    readonly found: readonly string[];
    /** Since when a part waits for a write of its parent (as a new part, or as one that is leaving); else null. */
    readonly provisionalSince: number | null;
    /** The part is to be deactivated once its parent no longer lists it. */
    readonly leaving?: true;
  };

/** A domain in one of its revisions. */
export type Domain = StoredDocument<StoredDomain>;

/** What clients read: the record of the interface. */
export interface DomainView extends JsonObject {
  readonly did: string;
  readonly status: Status;
  readonly revision: number;
}

/** Half-open: valid from `validFrom` on, no more at `validUntil`. */
export function findValidity(
  { validFrom, validUntil }: Pick<StoredDomain, 'validFrom' | 'validUntil'>,
  now: number,
): Validity {
  if (validFrom !== null && now < Date.parse(validFrom)) return 'notYetValid';
  if (validUntil !== null && now >= Date.parse(validUntil)) return 'expired';
  return 'valid';
}

/** Where more about a record is, by name; shown with it as `links`. */
export type LinksTo = (did: string) => JsonObject;

/**
 * What clients read of a twin; `now` decides whether it is valid.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const caller = { principal: 'did:ex:ann', roles: new Set(['controller'] as const), tenant: 'default' };
 * const twins = registry({ documents, clock: systemClock });
 * await twins.protocols.create(caller, { type: 'Protocol', alsoKnownAs: ['did:ixo:protocol/stove'] });
 * const body = { type: 'Asset', class: 'did:ixo:protocol/stove', controller: 'did:ex:ann' };
 * domainView(await twins.create(caller, { body }), Date.now()).status; // → 'Created'
 */
export function domainView(
  { revision, body }: Pick<Domain, 'revision' | 'body'>,
  now: number,
  linksTo?: LinksTo,
): DomainView {
  return {
    did: body.did,
    type: body.type,
    canonicalClass: canonicalClass(body.type),
    controller: oneOrMany(body.controllers),
    class: body.classReference,
    protocol: body.classReference,
    classVersion: body.classVersion,
    status: body.status,
    entityVerified: body.status === 'Verified',
    validity: findValidity(body, now),
    metadata: body.metadata,
    properties: body.properties,
    relationships: body.relationships,
    ...pickLists(TWIN_LISTS, body),
    parent: body.parent,
    subDomains: body.subDomains.map(({ did }) => did),
    alsoKnownAs: body.alsoKnownAs,
    externalId: body.externalId,
    validFrom: body.validFrom,
    validUntil: body.validUntil,
    revision,
    created: isoTime(body.created),
    updated: isoTime(body.updated),
    ...(linksTo && { links: linksTo(body.did) }),
  };
}

/** One as itself, several as a list. */
export function oneOrMany(list: readonly string[]): string | readonly string[] {
  return list.length === 1 ? list[0]! : list;
}

/** Without fractions of a second, as DID metadata has them. */
export function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** What a twin stands for. */
export type CanonicalClass = 'Physical Twins' | 'Cognitive Twins' | 'Twin Systems' | 'Oracle Twins';

// First segment of a type, in lower case → its class. Twins of other types are networks of these.
const CLASS_OF: { readonly [type: string]: CanonicalClass } = {
  device: 'Physical Twins',
  asset: 'Physical Twins',
  sensor: 'Physical Twins',
  organisation: 'Cognitive Twins',
  organization: 'Cognitive Twins',
  membershipgroup: 'Cognitive Twins',
  project: 'Cognitive Twins',
  dao: 'Cognitive Twins',
  oracle: 'Oracle Twins',
};

/**
 * The canonical class by type (`asset/device` counts as `asset`); Twin Systems for a type that is not in the table.
 * @example
 * canonicalClass('Asset'); // → 'Physical Twins'
 */
export function canonicalClass(type: string): CanonicalClass {
  const name = normalizeType(type.split('/')[0]!);
  if (Object.hasOwn(CLASS_OF, name)) return CLASS_OF[name]!;
  const ending = Object.keys(CLASS_OF).find((suffix) => name.endsWith(suffix));
  return ending ? CLASS_OF[ending]! : 'Twin Systems';
}

/** A type for comparison: lower case, without the suffix Entity. `OracleEntity` and `Oracle` are one kind. */
function normalizeType(type: string): string {
  return type.toLowerCase().replace(/entity$/, '') || 'entity';
}

/** Whether a twin of this type fills a role that asks for `kind`; `asset/device` is an asset, too. */
export function isOfKind(type: string, kind: string): boolean {
  const kindName = normalizeType(kind);
  if (kindName === 'entity') return true;
  const steps = type.split('/').map(normalizeType);
  return normalizeType(type) === kindName || steps.some((_, at) => steps.slice(0, at + 1).join('/') === kindName);
}

/** Type → relation → the type on its other end. */
export const CHAIN: { readonly [type: string]: { readonly [relation: string]: string } } = {
  organisation: { implements: 'Project' },
  project: { generates: 'Asset' },
  asset: { produces: 'Claim' },
  device: { produces: 'Claim' },
  oracle: { verifies: 'Claim' },
  claim: { becomes: 'Credential' },
};

/** The relations of the chain that a twin of this type may have. */
export function findChain(type: string): { readonly [relation: string]: string } {
  const name = normalizeType(type.split('/')[0]!);
  return Object.hasOwn(CHAIN, name) ? CHAIN[name]! : {};
}
