// Issuers and audiences: DIDs as encoded in a UCAN, the keys behind did:key, and native signature checks.

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
// Not from `@ucanto/core`, which every server would load at its start.
import { base58btc } from '@ucanto/core/link';
import { LRUCache } from 'lru-cache';
import { DELEGATION_LIMITS } from './limits.ts';
import type { SignatureAlgorithm } from './signed-payload.ts';

/** A supported key type: its multicodec, public key length and signature prefix. */
interface KeyKind {
  readonly codec: Buffer;
  readonly bytes: number;
  /** SubjectPublicKeyInfo up to the key itself. */
  readonly der: Buffer;
  /** The varsig prefix: the algorithm, and a length of 64 bytes. */
  readonly signature: Buffer;
  readonly algorithm: SignatureAlgorithm;
  readonly digest: string | null;
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const ED25519: KeyKind = {
  codec: hex('ed01'),
  bytes: 32,
  der: hex('302a300506032b6570032100'),
  signature: hex('eda10340'),
  algorithm: 'EdDSA',
  digest: null,
};
const P256: KeyKind = {
  codec: hex('8024'),
  bytes: 33,
  der: hex('3039301306072a8648ce3d020106082a8648ce3d030107032200'),
  signature: hex('80a4c00640'),
  algorithm: 'ES256',
  digest: 'sha256',
};
const KEY_KINDS = [ED25519, P256];
const SIGNATURE_BYTES = 64;

// Prefix of all other DIDs: this multicodec, then the DID as text without `did:`.
const NAMED = hex('9d1a');
// DID Core 3.1, with percent escapes in upper case only, so that each DID has one spelling.
const NAMED_DID = /^did:(?!key:)[a-z0-9]+(?::(?:[\w.-]|%[0-9A-F]{2})*)*:(?:[\w.-]|%[0-9A-F]{2})+$/;

export interface IssuerKey {
  /** Whether this key made `signature`, a varsig. */
  verify(payload: Uint8Array, signature: Uint8Array): boolean;
}

/**
 * The DID encoded by these bytes of a UCAN; undefined when the encoding is not canonical or the key type unsupported.
 */
export function readPrincipal(bytes: Uint8Array): string | undefined {
  const principal = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const codec = principal.subarray(0, 2);
  if (codec.equals(NAMED)) {
    const did = `did:${principal.toString('latin1', 2)}`;
    return did.length <= DELEGATION_LIMITS.resourceChars && NAMED_DID.test(did) ? did : undefined;
  }
  const kind = KEY_KINDS.find((one) => one.codec.equals(codec));
  return kind && principal.length === kind.bytes + 2 ? keyDid(principal) : undefined;
}

const didsByKey = new LRUCache<string, string>({ max: DELEGATION_LIMITS.issuerKeysKept });

// Caches the text, because base58 is slow to encode.
function keyDid(bytes: Buffer): string {
  const id = bytes.toString('latin1');
  const did = didsByKey.get(id) ?? writeDid(bytes);
  didsByKey.set(id, did);
  return did;
}

/** The did:key of a 32-byte public Ed25519 key. */
export function ed25519Did(key: Uint8Array): string {
  return writeDid(Buffer.concat([ED25519.codec, key]));
}

const DID_KEY = 'did:key:';

const writeDid = (bytes: Uint8Array): string => DID_KEY + base58btc.encode(bytes);

/** The algorithm of a signature in a UCAN; undefined when it is unsupported or malformed. */
export function readAlgorithm(signature: Uint8Array): SignatureAlgorithm | undefined {
  return KEY_KINDS.find((kind) => isOfKind(signature, kind))?.algorithm;
}

/** The method of a DID: `key`, `web`. */
export function didMethod(did: string): string {
  return did.split(':', 2)[1]!;
}

const keysByDid = new LRUCache<string, IssuerKey>({ max: DELEGATION_LIMITS.issuerKeysKept });

/** The key of a did:key; undefined when it is malformed or of an unsupported type. Cached. */
export function issuerKey(did: string): IssuerKey | undefined {
  const key = keysByDid.get(did) ?? parseKey(did);
  if (key) keysByDid.set(did, key);
  return key;
}

function parseKey(did: string): IssuerKey | undefined {
  const bytes = keyBytes(did);
  const kind = KEY_KINDS.find((one) => bytes?.subarray(0, 2).equals(one.codec));
  if (!bytes || !kind || bytes.length !== kind.bytes + 2) return undefined;
  const key = importKey(Buffer.concat([kind.der, bytes.subarray(2)]));
  if (!key) return undefined;
  return {
    verify: (payload, signature) =>
      isOfKind(signature, kind) &&
      verify(kind.digest, payload, { key, dsaEncoding: 'ieee-p1363' }, signature.subarray(kind.signature.length)),
  };
}

function keyBytes(did: string): Buffer | undefined {
  if (did.length > DELEGATION_LIMITS.resourceChars || !did.startsWith(DID_KEY)) return undefined;
  try {
    return Buffer.from(base58btc.decode(did.slice(DID_KEY.length)));
  } catch {
    return undefined;
  }
}

// Undefined for points that are not on the curve.
function importKey(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function isOfKind(bytes: Uint8Array, { signature }: KeyKind): boolean {
  return (
    bytes.length === signature.length + SIGNATURE_BYTES && signature.every((byte, position) => bytes[position] === byte)
  );
}
