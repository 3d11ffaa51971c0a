// The bytes that the issuer of a UCAN signed: a JWT header and payload, the payload in canonical DAG-JSON
// (https://github.com/ucan-wg/ucan-ipld, https://ipld.io/specs/codecs/dag-json/spec/).

import { type CborMap, type CborValue, decodeLink } from './cbor.ts';

/** JWS algorithm names, RFC 7518 and RFC 8037. */
export type SignatureAlgorithm = 'EdDSA' | 'ES256';

const HEADERS: { readonly [algorithm in SignatureAlgorithm]: string } = {
  EdDSA: writeHeader('EdDSA'),
  ES256: writeHeader('ES256'),
};

interface Signed {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithm: SignatureAlgorithm;
}

/** Rebuilds the signed bytes from the fields of a validated UCAN. Keys are in canonical order. */
export function writeSignedPayload(fields: CborMap, { issuer, audience, algorithm }: Signed): Buffer {
  const proofs = (fields.get('prf') as readonly CborValue[]).map((link) => JSON.stringify(writeLink(link)));
  const fact = writeOptional(fields, 'fct');
  const start = writeOptional(fields, 'nbf');
  const nonce = writeOptional(fields, 'nnc');
  const json =
    `{"att":${writeJson(fields.get('att')!)},"aud":${JSON.stringify(audience)},"exp":${fields.get('exp')}${fact}` +
    `,"iss":${JSON.stringify(issuer)}${start}${nonce},"prf":[${proofs.join()}]}`;
  return Buffer.from(`${HEADERS[algorithm]}.${Buffer.from(json).toString('base64url')}`);
}

function writeHeader(alg: SignatureAlgorithm): string {
  return Buffer.from(JSON.stringify({ alg, typ: 'JWT', ucv: '0.9.1' })).toString('base64url');
}

function writeOptional(fields: CborMap, name: string): string {
  const value = fields.get(name);
  return value === undefined ? '' : `,"${name}":${writeJson(value)}`;
}

/** Canonical DAG-JSON: keys sorted by UTF-16 code units, no whitespace, bytes and links as maps with the key "/". */
function writeJson(value: CborValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `{"/":{"bytes":"${writeBytes(value)}"}}`;
  if (Array.isArray(value)) return `[${value.map(writeJson).join()}]`;
  return value instanceof Map ? writeMap(value) : `{"/":"${writeLink(value)}"}`;
}

function writeMap(map: CborMap): string {
  const names = [...map.keys()].sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${writeJson(map.get(name)!)}`).join()}}`;
}

// Base64 without padding.
function writeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64').replaceAll('=', '');
}

function writeLink(link: CborValue): string {
  return decodeLink((link as { cid: Uint8Array }).cid).toString();
}
