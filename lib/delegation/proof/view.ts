// A chain as ucanto sees it: its delegations, made from the blocks that were read, and what their issuers signed.

import { Delegation, decodeLink, UCAN } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import type { Ucan } from '../token/ucan.ts';

/** The delegations of a chain as ucanto reads them, in its order. Throws what ucanto does about what it cannot read. */
export function delegationsOf(ucans: readonly Ucan[]): API.Delegation[] {
  return ucans.map(({ cid, bytes }) => {
    const root = { cid: decodeLink(Buffer.from(cid, 'latin1')), bytes } as API.UCANBlock;
    return Delegation.create({ root, blocks: new Map() });
  });
}

/** The bytes that the issuer of a UCAN signed. */
export function signedPayloadOf({ data }: API.Delegation, { issuer, audience }: Ucan): Uint8Array {
  let signed = new Uint8Array();
  // ucanto writes them for nobody but a verifier; the DIDs are as they were read, for base58 is slow to write.
  const capture = {
    did: () => issuer,
    verify: (payload: Uint8Array) => {
      signed = new Uint8Array(payload);
      return true;
    },
  };
  const model = { ...data.model, iss: named(issuer), aud: named(audience) };
  const view = { issuer: named(issuer), model, signature: data.signature };
  void UCAN.verifySignature(view as unknown as API.UCAN.View, capture as unknown as API.Verifier);
  return signed;
}

// As little to write as can be.
const NOTHING = { v: '0.9.1', iss: named(''), aud: named(''), att: [], exp: 0, prf: [], fct: [] };

/**
 * The first delegation with the others as its proofs, for ucanto's validator. It would judge times by the clock of the
 * system, which was done before by ours, and would write what was signed again at each look: here
 * both are nothing.
 */
export function chainOf(delegations: readonly API.Delegation[], ucans: readonly Ucan[]): API.Delegation {
  const [first] = delegations.reduceRight<API.Delegation[]>((proofs, { root, data }, at) => {
    const { capabilities, signature } = data;
    const [issuer, audience] = [named(ucans[at]!.issuer), named(ucans[at]!.audience)];
    const judged = { issuer, audience, capabilities, signature, expiration: Infinity, model: NOTHING };
    const delegation = Delegation.create({ root, blocks: new Map() });
    Object.defineProperties(delegation, { data: { value: judged }, proofs: { value: proofs } });
    return [delegation];
  }, []);
  return first!;
}

function named(did: string) {
  return { did: () => did };
}
