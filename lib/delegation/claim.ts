// Whether a chain proves what it claims: signatures by node:crypto, everything else as @ucanto/validator says.

import type * as API from '@ucanto/interface';
import { Authorization, capability, claim, Failure, Schema } from '@ucanto/validator';
import { keepsCaveats } from './caveats.ts';
import type { Chain } from './chain.ts';
import { type Refused, refuse } from './reason.ts';
import { signatures } from './signatures.ts';
import type { Capability } from './ucan.ts';
import { delegationsOf } from './view.ts';

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
  const { principal, problem, revocationKey } = signatures();
  const delegations = delegationsOf(ucans);
  const capabilities = delegations[0]!.data.capabilities;
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
  for (const one of capabilities) {
    const result = await claim(parserOf(one), [delegations[0]!], options);
    if (result.error) return refuse(problem() ?? (unresolved ? 'issuer-unresolved' : 'wrong-chain'));
    for (const cid of Authorization.iterate(result.ok)) used.add(`${cid}`);
  }
  if (used.size < ucans.length) return refuse('unneeded-proof');
  return {
    ok: true,
    capabilities: capabilities as readonly Capability[],
    revocationKeys: delegations.map(({ signature }) => revocationKey(signature)!),
  };
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
