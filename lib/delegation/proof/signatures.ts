// Signatures of one token: each checked once however often ucanto asks, within a budget, and what each token is revoked by.

import { hash } from 'node:crypto';
import type * as API from '@ucanto/interface';
import { DELEGATION_LIMITS } from '../limits.ts';
import type { Ucan } from '../token/ucan.ts';
import { issuerKey } from './principal.ts';
import { signedPayloadOf } from './view.ts';

export interface Signatures {
  /** What ucanto asks for the verifier of an issuer. */
  readonly principal: API.PrincipalParser;
  /** Whether a signature was asked for that was not found good. */
  readonly anyBad: () => boolean;
  /** What each delegation is revoked by, in their order. */
  readonly revocationKeys: readonly string[];
}

/** Checks the signatures of these delegations, when and with the keys that ucanto asks for. */
export function signaturesOf(delegations: readonly API.Delegation[], ucans: readonly Ucan[]): Signatures {
  const payloads = new Map(delegations.map((one, at) => [one.signature as unknown, signedPayloadOf(one, ucans[at]!)]));
  const verdicts = new Map<string, boolean>();
  let bad = false;

  const check = (keyDid: string, signature: Uint8Array): boolean => {
    const payload = payloads.get(signature);
    const id = `${keyDid} ${[...payloads.keys()].indexOf(signature)}`;
    const before = verdicts.get(id);
    if (before !== undefined) return before;
    const within = verdicts.size < DELEGATION_LIMITS.tokenSignatures;
    const good = within && payload !== undefined && issuerKey(keyDid)?.verify(payload, signature) === true;
    verdicts.set(id, good);
    bad ||= !good;
    return good;
  };

  const parse = (keyDid: string) => {
    const withDID = (did: string) => ({
      did: () => did,
      toDIDKey: () => keyDid,
      // What was signed is known already: ucanto's own writing of it is left aside.
      verify: (_payload: Uint8Array, signature: Uint8Array) => check(keyDid, signature),
      withDID,
    });
    return withDID(keyDid);
  };

  return {
    principal: { parse } as unknown as API.PrincipalParser,
    anyBad: () => bad,
    revocationKeys: [...payloads.values()].map(revocationKeyOf),
  };
}

/**
 * What a UCAN is revoked by: a hash of what its issuer signed, which names the issuer. Not of its CID or its bytes, which
 * others can change; not of the signature either, of which an issuer and, with P-256, everybody can make another.
 */
export function revocationKeyOf(signedPayload: Uint8Array): string {
  return hash('sha256', signedPayload, 'base64url');
}
