// Whether a chain proves what it claims: signatures by node:crypto, everything else as @ucanto/validator says.

import { isDeepStrictEqual } from 'node:util';
import type * as API from '@ucanto/interface';
import { Authorization, capability, claim, Failure, Schema } from '@ucanto/validator';
import { type Refused, refuse } from '../reason.ts';
import type { Chain } from '../token/chain.ts';
import type { Capability } from '../token/ucan.ts';
import { signaturesOf } from './signatures.ts';
import { chainOf, delegationsOf } from './view.ts';

/** The keys of an issuer that is no did:key, each as did:key; undefined when they cannot be found. Never rejects. */
export type IssuerKeys = (did: string) => Promise<readonly string[] | undefined>;

export interface Proven {
  readonly ok: true;
  readonly capabilities: readonly Capability[];
  /** What each UCAN of the chain is revoked by. */
  readonly revocationKeys: readonly string[];
}

export interface ProveOptions {
  readonly audience: string;
  /** The resource that everybody may name. */
  readonly identity: string;
  readonly keys: IssuerKeys;
}

/**
 * Proves every capability of a chain's first UCAN. Audience, times and limits are judged before: ucanto looks at no
 * audience. Each proof must be needed, so that nothing unproven is in what passes.
 */
export async function prove({ ucans }: Chain, { audience, identity, keys }: ProveOptions): Promise<Proven | Refused> {
  const delegations = delegationsOf(ucans);
  const { principal, anyBad, revocationKeys } = signaturesOf(delegations, ucans);
  const chain = chainOf(delegations, ucans);
  let unresolved = false;
  const options: API.ClaimOptions = {
    principal,
    authority: { ...principal.parse('did:key:none'), did: () => audience as API.DID },
    canIssue: ({ with: resource }, issuer) => resource === issuer || resource === identity,
    validateAuthorization: () => ({ ok: {} }),
    resolveDIDKey: async (did) => {
      const found = await keys(did);
      unresolved ||= found === undefined;
      return { ok: (found ?? []) as API.DIDKey[] };
    },
  };
  const used = new Set<string>();
  for (const one of chain.capabilities) {
    const result = await claim(parserOf(one), [chain], options);
    if (result.error) return refuse(unresolved ? 'issuer-unresolved' : anyBad() ? 'wrong-signature' : 'wrong-chain');
    for (const cid of Authorization.iterate(result.ok)) used.add(`${cid}`);
  }
  if (used.size < ucans.length) return refuse('unneeded-proof');
  return { ok: true, capabilities: chain.capabilities as readonly Capability[], revocationKeys };
}

// For this very capability: ucanto looks for one that is claimed by its name.
function parserOf({ can, with: resource }: API.Capability) {
  return capability({
    can,
    with: Schema.literal(resource),
    nb: Schema.dictionary({ value: Schema.unknown() }),
    derives: (claimed, granted) =>
      claimed.with === granted.with && keepsCaveats(claimed.nb, granted.nb)
        ? { ok: {} }
        : { error: new Failure('not granted') },
  });
}

type Caveats = Readonly<Record<string, unknown>>;

/** Whether `derived` has every caveat of `granted` with the same value. */
export function keepsCaveats(derived: Caveats = {}, granted: Caveats = {}): boolean {
  return Object.keys(granted).every(
    (name) => Object.hasOwn(derived, name) && isDeepStrictEqual(derived[name], granted[name]),
  );
}
