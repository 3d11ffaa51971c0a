// Whether a chain proves its claims, by the rules of UCAN 0.9.1 as implemented by @ucanto/validator: the issuer owns
// each capability, or every proof up to the owner grants it. Signatures are verified by node:crypto, within a budget.

import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DELEGATION_LIMITS } from './limits.ts';
import { issuerKey } from './principal.ts';
import { type Refused, refuse, type TokenReason } from './reason.ts';
import { writeSignedPayload } from './signed-payload.ts';
import type { Capability, Chain, IssuerKeys, Ucan } from './ucan.ts';

export interface Proven {
  readonly ok: true;
  readonly capabilities: readonly Capability[];
  /** Revocation keys of each UCAN in the chain. */
  readonly revocationKeys: readonly string[];
}

export interface ProveOptions {
  /** The resource open to everyone. */
  readonly identity: string;
  readonly keys: IssuerKeys;
}

/** The reason for a refusal; undefined when there is none. */
type Problem = TokenReason | undefined;

/**
 * Proves every capability of a chain's first UCAN. The caller has already checked audience, times and limits. An
 * unneeded proof is refused, so that a verified token contains nothing unproven.
 */
export async function prove({ ucans }: Chain, { identity, keys }: ProveOptions): Promise<Proven | Refused> {
  const { capabilities } = ucans[0];
  const payloads = ucans.map((ucan) => writeSignedPayload(ucan.fields, ucan));
  const checkSignature = signatureChecks({ ucans, payloads, keys });
  let needed = 0;
  for (const claim of capabilities) {
    const owner = ucans.findIndex(({ issuer }) => claim.with === issuer || claim.with === identity);
    const last = owner < 0 ? ucans.length - 1 : owner;
    for (let at = 0; at <= last; at++) {
      const problem = judgeLink(ucans, at) ?? (await checkSignature(at)) ?? judgeGrant(claim, ucans[at]!);
      if (problem) return refuse(problem);
    }
    if (owner < 0) return refuse('wrong-chain');
    needed = Math.max(needed, owner + 1);
  }
  if (needed < ucans.length) return refuse('unneeded-proof');
  return { ok: true, capabilities, revocationKeys: payloads.map(nameRevocationKey) };
}

// A proof's audience must be the issuer who uses it.
function judgeLink(ucans: readonly Ucan[], at: number): Problem {
  return at === 0 || ucans[at]!.audience === ucans[at - 1]!.issuer ? undefined : 'wrong-chain';
}

function judgeGrant(claim: Capability, { capabilities }: Ucan): Problem {
  return capabilities.some((grant) => isGranted(claim, grant)) ? undefined : 'wrong-chain';
}

/** Whether `grant` covers `claim`: same resource, same ability or a wildcard above it, and every caveat kept. */
export function isGranted(claim: Capability, grant: Capability): boolean {
  return (
    claim.with === grant.with && coversAbility(grant.can, claim.can) && keepsCaveats(claim.nb ?? {}, grant.nb ?? {})
  );
}

function coversAbility(grant: string, claim: string): boolean {
  return grant === '*' || grant === claim || (grant.endsWith('/*') && claim.startsWith(grant.slice(0, -1)));
}

// Every caveat of `grant` must recur with the same value.
function keepsCaveats(claim: Caveats, grant: Caveats): boolean {
  // Most caveats are strings or numbers: compare those first. An inherited property equals no own value.
  for (const name in grant)
    if (claim[name] !== grant[name] && !isDeepStrictEqual(claim[name], grant[name])) return false;
  return true;
}

type Caveats = Readonly<Record<string, unknown>>;

interface SignatureOptions {
  readonly ucans: readonly Ucan[];
  /** The signed bytes, in the order of `ucans`. */
  readonly payloads: readonly Uint8Array[];
  readonly keys: IssuerKeys;
}

/** Returns a function that verifies the signature of the UCAN at an index, at most once each. */
function signatureChecks({ ucans, payloads, keys }: SignatureOptions) {
  const verdicts = new Map<number, Problem>();
  let left = DELEGATION_LIMITS.tokenSignatures;

  const verify = (keyDid: string, at: number): boolean =>
    left-- > 0 && issuerKey(keyDid)?.verify(payloads[at]!, ucans[at]!.signature) === true;

  const check = async (at: number): Promise<Problem> => {
    const { issuer } = ucans[at]!;
    const dids = issuer.startsWith('did:key:') ? [issuer] : ((await keys(issuer)) ?? []);
    if (dids.length === 0) return 'issuer-unresolved';
    return dids.some((did) => verify(did, at)) ? undefined : 'wrong-signature';
  };

  return async (at: number): Promise<Problem> => {
    if (!verdicts.has(at)) verdicts.set(at, await check(at));
    return verdicts.get(at);
  };
}

/**
 * The revocation key of a UCAN: a hash of the signed content, which includes the issuer. The CID and encoding can be
 * changed by anyone, and the signature by its issuer (with P-256, by anyone), so none of them would do.
 */
export function nameRevocationKey(signedPayload: Uint8Array): string {
  return hash('sha256', signedPayload, 'base64url');
}
