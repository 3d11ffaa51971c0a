// Signatures of one token: each checked once however often ucanto asks, within a budget, and what each token is revoked by.

import { hash } from 'node:crypto';
import type * as API from '@ucanto/interface';
import { LIMITS } from '../limits.ts';
import { issuerKey } from './principal.ts';
import type { TokenReason } from './reason.ts';

export interface Signatures {
  /** What ucanto asks for the verifier of an issuer. */
  readonly principal: API.PrincipalParser;
  /** Why a signature was not found good; undefined when all were. */
  readonly problem: () => TokenReason | undefined;
  /** What the UCAN with this signature is revoked by, once its signature was found good. */
  readonly revocationKey: (signature: Uint8Array) => string | undefined;
}

/** Checks signatures for one token. */
export function signatures(): Signatures {
  const checked = new Map<string, boolean>();
  const keys = new Map<string, string>();
  let problem: TokenReason | undefined;

  const check = (keyDid: string, payload: Uint8Array, signature: Uint8Array): boolean => {
    const digest = revocationKeyOf(payload);
    const id = `${keyDid} ${digest} ${textOf(signature)}`;
    const before = checked.get(id);
    if (before !== undefined) return before;
    if (checked.size === LIMITS.tokenSignatures) return false;
    const good = issuerKey(keyDid)?.verify(payload, signature) ?? false;
    checked.set(id, good);
    if (good) keys.set(textOf(signature), digest);
    else problem = 'wrong-signature';
    return good;
  };

  const parse = (keyDid: API.UCAN.DID): API.Verifier => {
    const withDID = (did: string) => ({
      did: () => did,
      toDIDKey: () => keyDid,
      verify: (payload: Uint8Array, signature: Uint8Array) => check(keyDid, payload, signature),
      withDID,
    });
    return withDID(keyDid) as unknown as API.Verifier;
  };

  return {
    principal: { parse: parse as API.PrincipalParser['parse'] },
    problem: () => problem,
    revocationKey: (signature) => keys.get(textOf(signature)),
  };
}

/**
 * What a UCAN is revoked by: a hash of what its issuer signed, which names the issuer. Not of its CID or its bytes, which
 * others can change; not of the signature either, of which an issuer and, with P-256, everybody can make another.
 */
export function revocationKeyOf(signedPayload: Uint8Array): string {
  return hash('sha256', signedPayload, 'base64url');
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
