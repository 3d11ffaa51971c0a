// A chain as ucanto sees it: its delegations, made from the blocks that were read.

import { Delegation, decodeLink, UCAN } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import type { Ucan } from './ucan.ts';

/**
 * The delegations of a chain, the first with the others as its proofs. They have no times: ucanto knows only the clock
 * of the system, and times were judged before. Throws what ucanto does about blocks that it cannot read.
 */
export function delegationsOf(ucans: readonly Ucan[]): API.Delegation[] {
  const delegations: API.Delegation[] = [];
  for (const { cid, bytes } of ucans.toReversed()) {
    const root = { cid: decodeLink(Buffer.from(cid, 'latin1')), bytes } as API.UCANBlock;
    const delegation = Delegation.create({ root, blocks: new Map() });
    Object.defineProperty(delegation, 'proofs', { value: delegations.slice(0, 1) });
    Object.defineProperties(delegation.data, { expiration: { value: Infinity }, notBefore: { value: undefined } });
    delegations.unshift(delegation);
  }
  return delegations;
}

/** The bytes that the issuer of a UCAN signed. */
export function signedPayloadOf({ data }: API.Delegation): Uint8Array {
  let signed = new Uint8Array();
  // ucanto writes the text that was signed for nobody but a verifier.
  const capture = {
    did: () => data.issuer.did(),
    verify: (payload: Uint8Array) => {
      signed = new Uint8Array(payload);
      return true;
    },
  };
  void UCAN.verifySignature(data, capture as unknown as API.Verifier);
  return signed;
}
