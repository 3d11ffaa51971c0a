// The keys in a DID document that may sign tokens, in every form in which such documents write an Ed25519 key.

import { base58btc, DID } from '@ucanto/core';
import { DELEGATION_LIMITS } from '../limits.ts';
import { issuerKey } from '../proof/principal.ts';

type Fields = { readonly [name: string]: unknown };

// Who may act for the subject, or log in as it. A document that uses none of them means all of its keys.
const RELATIONS = ['authentication', 'capabilityInvocation', 'capabilityDelegation'];
const ED25519 = [0xed, 0x01];

/**
 * The keys of `document`, each as did:key and at most 8; undefined when it is not the document of `did`. Keys of other
 * kinds are left out.
 */
export function didDocumentKeys(did: string, document: unknown): readonly string[] | undefined {
  if (!isFields(document) || document.id !== did) return undefined;
  const methods = listOf(document.verificationMethod);
  const related = RELATIONS.flatMap((name) => listOf(document[name]));
  const idOf = (id: unknown): string => (typeof id === 'string' && id.startsWith('#') ? did + id : String(id));
  const chosen = related.flatMap((one) =>
    isFields(one) ? [one] : methods.filter((method) => isFields(method) && idOf(method.id) === idOf(one)),
  );
  const keys = (related.length > 0 ? chosen : methods).map((one) => (isFields(one) ? keyOf(one) : undefined));
  const usable = keys.filter((key) => key !== undefined && issuerKey(key) !== undefined);
  return [...new Set(usable as string[])].slice(0, DELEGATION_LIMITS.keysPerIssuer);
}

function keyOf({ publicKeyMultibase, publicKeyJwk, publicKeyBase58 }: Fields): string | undefined {
  if (typeof publicKeyMultibase === 'string') return `did:key:${publicKeyMultibase}`;
  if (typeof publicKeyBase58 === 'string') return rawKey(publicKeyBase58, (text) => base58btc.baseDecode(text));
  const { kty, crv, x } = isFields(publicKeyJwk) ? publicKeyJwk : {};
  const isEd25519 = kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string';
  return isEd25519 ? rawKey(x, (text) => Buffer.from(text, 'base64url')) : undefined;
}

function rawKey(text: string, decode: (text: string) => Uint8Array): string | undefined {
  try {
    const raw = text.length <= DELEGATION_LIMITS.resourceChars ? decode(text) : [];
    return raw.length === 32 ? DID.decode(Uint8Array.from([...ED25519, ...raw])).did() : undefined;
  } catch {
    return undefined;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 64) : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
