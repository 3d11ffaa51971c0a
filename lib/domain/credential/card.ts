// Domain cards: what the registry says of a domain as a verifiable credential (W3C VC 2.0), and who signs credentials.

import type { Json, JsonObject } from '../../json/json.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { canonicalClass, type Domain, isoTime, oneOrMany, type StoredDomain } from '../twin/record.ts';
import { readVerification } from '../voting/execution.ts';
import { STATUS_PURPOSES, type StatusEntry, type StatusPurpose } from './places.ts';
import type { Issuer } from './status-list.ts';

const JSON_TYPE = '@json';

/** Fields of the metadata that go onto the card, and what is read from each. */
const METADATA_FIELDS: { readonly [field: string]: 'texts' | 'addresses' | 'json' } = {
  alternateName: 'texts',
  keywords: 'texts',
  knowsAbout: 'texts',
  url: 'addresses',
  sameAs: 'addresses',
  ...Object.fromEntries(
    ['logo', 'image', 'address', 'areaServed', 'contactPoint', 'makesOffer'].map((field) => [field, 'json' as const]),
  ),
};

// Everything on a card has its meaning here: nothing is fetched to check it, and nothing in it goes unsigned.
const CARD_CONTEXT: JsonObject = {
  ixo: 'https://w3id.org/ixo/vocab/v1#',
  schema: 'https://schema.org/',
  DomainVerification: 'ixo:DomainVerification',
  ...Object.fromEntries(
    Object.entries(METADATA_FIELDS).map(([field, kind]) => [
      field,
      kind === 'json' ? { '@id': `schema:${field}`, '@type': JSON_TYPE } : `schema:${field}`,
    ]),
  ),
  additionalType: 'schema:additionalType',
  class: { '@id': 'ixo:class', '@type': '@id' },
  classVersion: 'ixo:classVersion',
  controller: { '@id': 'ixo:controller', '@type': '@id' },
  status: 'ixo:status',
  entityVerified: 'ixo:entityVerified',
  revision: 'ixo:revision',
  composition: { '@id': 'ixo:composition', '@type': JSON_TYPE },
  relationships: { '@id': 'ixo:relationships', '@type': JSON_TYPE },
  credentials: { '@id': 'ixo:credentials', '@type': JSON_TYPE },
  verification: { '@id': 'ixo:verification', '@type': JSON_TYPE },
};

const CARD_SCHEMA = 'https://w3id.org/ixo/schemas/ixo-domain-card-1.json';

export interface CardOptions {
  readonly place: StatusEntry;
  /** Where the status lists are: `<base>/v1/status/<list>`. */
  readonly base: string;
}

/** The address of a status list. */
export function statusListUrl(base: string, list: string, purpose: StatusPurpose): string {
  return `${base}/v1/status/${list}-${purpose}`;
}

/** The card without issuer and proof. That of a verified domain is its DomainVerification as well. */
export function makeCard(domain: Domain, { place, base }: CardOptions): JsonObject {
  const { body } = domain;
  const isVerified = body.status === 'Verified';
  return {
    '@context': ['https://www.w3.org/ns/credentials/v2', CARD_CONTEXT],
    id: `${body.did}#dmn`,
    type: ['VerifiableCredential', 'ixo:DomainCard', ...(isVerified ? ['DomainVerification'] : [])],
    ...makeWindow(body),
    credentialSchema: { id: CARD_SCHEMA, type: 'JsonSchema' },
    credentialStatus: STATUS_PURPOSES.map((purpose) =>
      statusIn(statusListUrl(base, place.list, purpose), purpose, place),
    ),
    credentialSubject: makeSubject(domain),
  };
}

function statusIn(list: string, statusPurpose: StatusPurpose, { index }: StatusEntry): JsonObject {
  return {
    id: `${list}#${index}`,
    type: 'BitstringStatusListEntry',
    statusPurpose,
    statusListIndex: String(index),
    statusListCredential: list,
  };
}

function makeSubject({ revision, body }: Domain): JsonObject {
  const { subDomains, relationships, verifiableCredential, metadata } = body;
  return {
    id: body.did,
    type: [`ixo:${body.type}`],
    ...(typeof metadata.name === 'string' && { name: metadata.name }),
    ...(typeof metadata.description === 'string' && { description: metadata.description }),
    ...pickMetadata(metadata),
    additionalType: canonicalClass(body.type),
    class: body.class,
    classVersion: body.classVersion,
    controller: oneOrMany(body.controllers),
    status: body.status,
    entityVerified: body.status === 'Verified',
    revision,
    ...(subDomains.length && { composition: { hasPart: subDomains.map(({ did, type }) => ({ id: did, type })) } }),
    ...(Object.keys(relationships).length && { relationships }),
    ...(verifiableCredential.length && { credentials: verifiableCredential }),
    ...(body.status === 'Verified' && { verification: verificationIn(body) }),
  };
}

function verificationIn(body: StoredDomain): JsonObject {
  const { settled, hash, packageHash } = readVerification(body);
  return {
    proposal: settled?.verify?.proposal ?? null,
    contentHash: hash ?? null,
    packageHash: packageHash ?? null,
  };
}

function pickMetadata(metadata: JsonObject): JsonObject {
  const fields = Object.entries(METADATA_FIELDS).map(([field, kind]) => [field, READ[kind](metadata[field])] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as JsonObject;
}

const READ: { readonly [kind in (typeof METADATA_FIELDS)[string]]: (value: Json | undefined) => Json | undefined } = {
  texts: (value) => textsIn(value, () => true),
  addresses: (value) => textsIn(value, (text) => URL.canParse(text)),
  json: (value) => (typeof value === 'object' && value !== null ? value : undefined),
};

function textsIn(value: Json | undefined, holds: (text: string) => boolean): readonly string[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  // A card says each thing once, and signing it compares every text of a field with every other.
  const texts = new Set<string>();
  for (const text of list) {
    if (typeof text === 'string' && holds(text)) texts.add(text);
    if (texts.size >= DOMAIN_LIMITS.textsPerCard) break;
  }
  return texts.size ? [...texts] : undefined;
}

/** From the last change on, within the validity of the domain. */
function makeWindow({ validFrom, validUntil, created, updated }: StoredDomain): JsonObject {
  const start = validFrom === null ? created : Date.parse(validFrom);
  const end = validUntil === null ? Number.POSITIVE_INFINITY : Date.parse(validUntil);
  const from = Math.min(Math.max(start, updated), end);
  return { validFrom: isoTime(from), ...(validUntil !== null && { validUntil: isoTime(end) }) };
}

/** An Ed25519 key, as of the services that speak by tokens. */
interface SigningKey {
  /** Its did:key. */
  readonly did: string;
  sign(payload: Uint8Array): Uint8Array;
}

/** The issuer that signs with a key. */
export function issuer({ did, sign }: SigningKey): Issuer {
  const id = `${did}#${did.slice('did:key:'.length)}`;
  const signer = { algorithm: 'Ed25519', id, sign: async ({ data }: { data: Uint8Array }) => sign(data) };
  let loading: ReturnType<typeof load> | undefined;
  return {
    did,
    async issue(credential, now) {
      // Loaded on first use: it takes a third of a second and 20 MB, and cards may never be asked for.
      loading ??= load();
      const { vc, DataIntegrityProof, cryptosuite } = await loading;
      const suite = new DataIntegrityProof({ cryptosuite, signer, date: isoTime(now) });
      const { defaultDocumentLoader: documentLoader } = vc;
      const issued = await vc.issue({ credential: { issuer: did, ...credential }, suite, documentLoader });
      return issued as JsonObject;
    },
  };
}

async function load() {
  const [vc, { DataIntegrityProof }, { cryptosuite }] = await Promise.all([
    import('@digitalbazaar/vc'),
    import('@digitalbazaar/data-integrity'),
    import('@digitalbazaar/eddsa-rdfc-2022-cryptosuite'),
  ]);
  return { vc, DataIntegrityProof, cryptosuite };
}
