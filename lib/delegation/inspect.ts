// What a token says, for people: nothing here was proven but that it is a token.

import { DELEGATION_LIMITS } from './limits.ts';
import { revocationKeyOf } from './proof/signatures.ts';
import { delegationsOf, signedPayloadOf } from './proof/view.ts';
import { type Refused, refuse } from './reason.ts';
import { strictBytes } from './token/base64.ts';
import { readChain } from './token/chain.ts';
import { refuseText } from './token/foreign.ts';
import type { Capability, Ucan } from './token/ucan.ts';

/** One UCAN as its issuer wrote it. */
export interface Said {
  readonly issuer: string;
  readonly audience: string;
  readonly capabilities: readonly Capability[];
  /** Seconds since 1970; null: never. */
  readonly expiration: number | null;
  readonly notBefore?: number;
  readonly nonce?: string;
  readonly facts: readonly { readonly [name: string]: unknown }[];
  readonly revocationKey: string;
}

export interface Inspected {
  readonly ok: true;
  /** The token, its proof, the proof of that: 1 to 8. */
  readonly chain: readonly [Said, ...Said[]];
}

/** Reads a token as the guard does, and checks neither signatures nor times nor whom it is for. Never throws. */
export function inspectToken(text: string): Inspected | Refused {
  if (text.length > DELEGATION_LIMITS.delegationChars) return refuse('too-long');
  const bytes = strictBytes(text);
  if (!bytes) return refuseText(text);
  const chain = readChain(bytes);
  if (!chain.ok) return chain;
  try {
    return { ok: true, chain: said(chain.ucans) as [Said, ...Said[]] };
  } catch {
    return refuse('not-a-ucan');
  }
}

function said(ucans: readonly Ucan[]): Said[] {
  return delegationsOf(ucans).map((delegation, at) => {
    const { issuer, audience, expiration, notBefore } = ucans[at]!;
    const { nonce, facts, capabilities } = delegation;
    return {
      issuer,
      audience,
      capabilities: capabilities as readonly Capability[],
      expiration,
      ...(notBefore !== undefined && { notBefore }),
      ...(nonce !== undefined && { nonce }),
      facts: facts as Said['facts'],
      revocationKey: revocationKeyOf(signedPayloadOf(delegation, ucans[at]!)),
    };
  });
}
