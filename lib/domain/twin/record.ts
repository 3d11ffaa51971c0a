// A twin as it is stored, and as it is shown.

import type { JsonObject, StoredDocument } from '../../store/store.ts';
import type { Journaled } from '../feed/journal.ts';
import { canonicalClass } from './class.ts';

export const STATUSES = [
  'Created',
  'UnderReview',
  'Verified',
  'Rejected',
  'Suspended',
  'Revoked',
  'Deactivated',
] as const;
export type Status = (typeof STATUSES)[number];

export type Validity = 'notYetValid' | 'valid' | 'expired';

/** A part of a twin that is a twin of its own. */
export interface SubDomain {
  readonly did: string;
  readonly type: string;
}

/** A domain or entity as its document holds it. Times of the service are milliseconds since 1970. */
export type StoredDomain = Journaled & {
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
  readonly services: readonly JsonObject[];
  readonly verifiableCredential: readonly JsonObject[];
  readonly linkedResource: readonly JsonObject[];
  readonly linkedClaim: readonly JsonObject[];
  readonly linkedEntity: readonly JsonObject[];
  readonly accordedRight: readonly JsonObject[];
  readonly parent: string | null;
  readonly subDomains: readonly (SubDomain & JsonObject)[];
  readonly alsoKnownAs: readonly string[];
  readonly externalId: string | null;
  /** RFC 3339, as the client sent them. */
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly created: number;
  readonly updated: number;
  /** `<relation> <did>` and `<did>` of everything that this twin points at; see edges.ts. */
  readonly edges: readonly string[];
  readonly targets: readonly string[];
  /** Written before its parent, and hidden while the parent is missing; else null. */
  readonly provisionalSince: number | null;
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
export function validityOf(
  { validFrom, validUntil }: Pick<StoredDomain, 'validFrom' | 'validUntil'>,
  now: number,
): Validity {
  if (validFrom !== null && now < Date.parse(validFrom)) return 'notYetValid';
  if (validUntil !== null && now >= Date.parse(validUntil)) return 'expired';
  return 'valid';
}

/** Where more about a record is, by name; shown with it as `links`. */
export type LinksTo = (did: string) => JsonObject;

/** What clients read of a twin; `now` decides whether it is valid. */
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
    validity: validityOf(body, now),
    metadata: body.metadata,
    properties: body.properties,
    relationships: body.relationships,
    services: body.services,
    verifiableCredential: body.verifiableCredential,
    linkedResource: body.linkedResource,
    linkedClaim: body.linkedClaim,
    linkedEntity: body.linkedEntity,
    accordedRight: body.accordedRight,
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
