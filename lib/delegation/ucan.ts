// The UCANs of a token, strictly validated, from the sent one to the one without a proof.

import { type Car, type CidKey, isCid, readCar } from './car.ts';
import { type CborLink, type CborMap, type CborValue, decodeLink, readCanonical } from './cbor.ts';
import { DELEGATION_LIMITS } from './limits.ts';
import { readAlgorithm, readPrincipal } from './principal.ts';
import { type Refused, refuse } from './reason.ts';
import type { SignatureAlgorithm } from './signed-payload.ts';

/** Resolves the keys of an issuer that is not a did:key, each as did:key; undefined when it cannot. Never rejects. */
export type IssuerKeys = (did: string) => Promise<readonly string[] | undefined>;

/** What a UCAN lets its audience do: an ability on a resource, within caveats. */
export interface Capability {
  /** `*`, or lower-case words with slashes, such as `oracle/talk` or `oracle/*`. */
  readonly can: string;
  /** A URI, such as the DID of the resource's owner. */
  readonly with: string;
  /** Caveats. */
  readonly nb?: { readonly [name: string]: unknown };
}

export interface Ucan {
  readonly ok: true;
  /** All fields; the rest of this interface is derived from them. */
  readonly fields: CborMap;
  readonly issuer: string;
  readonly audience: string;
  readonly capabilities: readonly Capability[];
  /** A varsig. */
  readonly signature: Uint8Array;
  readonly algorithm: SignatureAlgorithm;
  readonly proof: CidKey | undefined;
  /** Seconds since 1970; null: never. */
  readonly expiration: number | null;
  readonly notBefore: number | undefined;
}

// Whether each field is optional, and its valid values. Canonical maps never repeat a field.
const FIELDS: { readonly [name: string]: { readonly optional?: true; readonly is: (value: CborValue) => boolean } } = {
  v: { is: (value) => value === '0.9.1' },
  s: { is: (value) => value instanceof Uint8Array },
  iss: { is: (value) => value instanceof Uint8Array },
  aud: { is: (value) => value instanceof Uint8Array },
  att: { is: (value) => Array.isArray(value) && value.length > 0 },
  prf: { is: (value) => Array.isArray(value) },
  exp: { is: (value) => value === null || isSeconds(value) },
  nbf: { optional: true, is: (value) => isSeconds(value) && value !== 0 },
  nnc: { optional: true, is: (value) => typeof value === 'string' && value !== '' },
  fct: { optional: true, is: (value) => Array.isArray(value) && value.length > 0 && value.every(isMap) },
};
const REQUIRED = Object.values(FIELDS).filter(({ optional }) => !optional).length;

// UCAN decoders lower-case abilities, so an upper-case token would be a second token with the same signature.
const ABILITY = /^(?:\*|[a-z0-9_.-]+\/(?:[a-z0-9_.-]+\/)*(?:\*|[a-z0-9_.-]+))$/;
const URI = /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/;
// Refused in resources: `ucan:*` means everything the issuer may do, and a trailing star everything below.
const WILDCARD = '*';

function readUcan(bytes: Uint8Array): Ucan | Refused {
  const map = readCanonical(bytes);
  if (map === undefined) return refuse('not-canonical');
  if (!isMap(map) || !hasFields(map)) return refuse('not-a-ucan');
  const issuer = readPrincipal(map.get('iss') as Uint8Array);
  const audience = readPrincipal(map.get('aud') as Uint8Array);
  if (issuer === undefined) return refuse('issuer-unsupported');
  if (audience === undefined) return refuse('wrong-audience');
  const signature = map.get('s') as Uint8Array;
  const algorithm = readAlgorithm(signature);
  if (algorithm === undefined) return refuse('not-a-ucan');
  const [att, prf] = [map.get('att') as CborValue[], map.get('prf') as CborValue[]];
  if (att.length > DELEGATION_LIMITS.capabilitiesPerUcan) return refuse('too-many-capabilities');
  if (prf.length > 1) return refuse('too-many-proofs');
  if (!prf.every(isProof)) return refuse('wrong-cid');
  const capabilities = att.map(readCapability);
  if (!capabilities.every((one) => one !== undefined) || hasTwins(capabilities)) return refuse('wrong-capability');
  return {
    ok: true,
    fields: map,
    issuer,
    audience,
    capabilities,
    signature,
    algorithm,
    proof: prf.map((link) => makeCidKey((link as CborLink).cid))[0],
    expiration: map.get('exp') as number | null,
    notBefore: map.get('nbf') as number | undefined,
  };
}

/** The link in the root block, `{"ucan@0.9.1": <link>}`. */
function readVariant(bytes: Uint8Array): CidKey | Refused {
  const map = readCanonical(bytes);
  if (map === undefined) return refuse('not-canonical');
  const link = isMap(map) && map.size === 1 ? map.get('ucan@0.9.1') : undefined;
  if (!isLink(link)) return refuse('not-a-ucan');
  return isCid(link.cid) ? makeCidKey(link.cid) : refuse('wrong-cid');
}

function hasFields(map: CborMap): boolean {
  let required = 0;
  for (const [name, value] of map) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (!field?.is(value)) return false;
    if (!field.optional) required++;
  }
  return required === REQUIRED;
}

function readCapability(value: CborValue): Capability | undefined {
  if (!isMap(value)) return undefined;
  const [can, resource, nb] = [value.get('can'), value.get('with'), value.get('nb')];
  const caveats = nb === undefined ? {} : isMap(nb) && { nb: readPlainMap(nb) };
  if (!caveats || value.size !== (nb === undefined ? 2 : 3) || typeof can !== 'string' || typeof resource !== 'string')
    return undefined;
  const well = ABILITY.test(can) && URI.test(resource) && !resource.endsWith(WILDCARD);
  const short = can.length <= DELEGATION_LIMITS.resourceChars && resource.length <= DELEGATION_LIMITS.resourceChars;
  return well && short && URL.canParse(resource) ? { can, with: resource, ...caveats } : undefined;
}

/** Converts a map to an object, with links as in @ucanto/core, which JSON writes as `{"/": "bafy…"}`. */
export function readPlainMap(map: CborMap): { [name: string]: unknown } {
  return Object.fromEntries(Array.from(map, ([name, value]) => [name, readPlain(value)]));
}

function readPlain(value: CborValue): unknown {
  if (isMap(value)) return readPlainMap(value);
  if (isLink(value)) return decodeLink(value.cid);
  // Copied: a view would keep the whole token in memory while the capability is cached.
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  return Array.isArray(value) ? value.map(readPlain) : value;
}

// Capabilities that differ only in caveats: a proof of one would pass for the other.
function hasTwins(capabilities: Ucan['capabilities']): boolean {
  return new Set(capabilities.map((one) => `${one.can} ${one.with}`)).size < capabilities.length;
}

function makeCidKey(cid: Uint8Array): CidKey {
  return Buffer.from(cid.buffer, cid.byteOffset, cid.byteLength).toString('latin1');
}

function isProof(value: CborValue): boolean {
  return isLink(value) && isCid(value.cid);
}

function isLink(value: CborValue | undefined): value is CborLink {
  return typeof value === 'object' && value !== null && 'cid' in value;
}

function isMap(value: CborValue): value is CborMap {
  return value instanceof Map;
}

function isSeconds(value: CborValue): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The UCANs of a token, from the sent one to the one that needs no proof; at least one. */
export interface Chain {
  readonly ok: true;
  readonly ucans: readonly [Ucan, ...Ucan[]];
}

/** Parses the bytes of a CAR. Links are verified hashes, so a chain cannot be circular. */
export function readChain(bytes: Uint8Array): Chain | Refused {
  const car = readCar(bytes);
  return car.ok ? walk(car) : car;
}

function walk({ root, blocks }: Car): Chain | Refused {
  const variant = blocks.get(root);
  if (!variant) return refuse('missing-block');
  const first = readVariant(variant);
  if (typeof first !== 'string') return first;
  const ucans: Ucan[] = [];
  for (let next: CidKey | undefined = first; next !== undefined; next = ucans.at(-1)!.proof) {
    if (ucans.length === DELEGATION_LIMITS.tokenDepth) return refuse('too-deep');
    const block = blocks.get(next);
    if (!block) return refuse(ucans.length > 0 ? 'missing-proof' : 'missing-block');
    const ucan = readUcan(block);
    if (!ucan.ok) return ucan;
    ucans.push(ucan);
  }
  if (blocks.size > ucans.length + 1) return refuse('unreferenced-block');
  return { ok: true, ucans: ucans as [Ucan, ...Ucan[]] };
}
