// Whether a chain proves what it claims, by the rules of UCAN 0.9.1 as @ucanto/validator has them: each capability is of its
// issuer, or every proof up to its owner grants it. Signatures by node:crypto, within a budget.

import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DELEGATION_LIMITS } from '../limits.ts';
import { type Refused, refuse, type TokenReason } from '../reason.ts';
import type { Capability, Chain, IssuerKeys, Ucan } from '../token/ucan.ts';
import { issuerKey } from './principal.ts';
import { writeSignedPayload } from './signed-payload.ts';

export interface Proven {
  readonly ok: true;
  readonly capabilities: readonly Capability[];
  /** What each UCAN of the chain is revoked by. */
  readonly revocationKeys: readonly string[];
}

export interface ProveOptions {
  /** The resource that everybody may name. */
  readonly identity: string;
  readonly keys: IssuerKeys;
}

/** The reason against something; undefined when there is none. */
type Problem = TokenReason | undefined;

/**
 * Proves every capability of a chain's first UCAN. Audience, times and limits are judged before. Each proof must be needed,
 * so that nothing unproven is in what passes.
 */
export async function prove({ ucans }: Chain, { identity, keys }: ProveOptions): Promise<Proven | Refused> {
  const { capabilities } = ucans[0];
  const payloads = ucans.map((ucan) => writeSignedPayload(ucan.fields, ucan));
  const checkSignature = signatureChecks({ ucans, payloads, keys });
  let needed = 0;
  for (const claimed of capabilities) {
    const owner = ucans.findIndex(({ issuer }) => claimed.with === issuer || claimed.with === identity);
    const last = owner < 0 ? ucans.length - 1 : owner;
    for (let at = 0; at <= last; at++) {
      const problem = judgeLink(ucans, at) ?? (await checkSignature(at)) ?? judgeGrant(claimed, ucans[at]!);
      if (problem) return refuse(problem);
    }
    if (owner < 0) return refuse('wrong-chain');
    needed = Math.max(needed, owner + 1);
  }
  if (needed < ucans.length) return refuse('unneeded-proof');
  return { ok: true, capabilities, revocationKeys: payloads.map(nameRevocationKey) };
}

// Whoever uses a proof must be whom it is for.
function judgeLink(ucans: readonly Ucan[], at: number): Problem {
  return at === 0 || ucans[at]!.audience === ucans[at - 1]!.issuer ? undefined : 'wrong-chain';
}

function judgeGrant(claimed: Capability, { capabilities }: Ucan): Problem {
  return capabilities.some((granted) => isGranted(claimed, granted)) ? undefined : 'wrong-chain';
}

/** Whether `granted` covers `claimed`: the same resource, the ability or a wildcard above it, and no caveat less. */
export function isGranted(claimed: Capability, granted: Capability): boolean {
  return (
    claimed.with === granted.with &&
    coversAbility(granted.can, claimed.can) &&
    keepsCaveats(claimed.nb ?? {}, granted.nb ?? {})
  );
}

function coversAbility(granted: string, claimed: string): boolean {
  return granted === '*' || granted === claimed || (granted.endsWith('/*') && claimed.startsWith(granted.slice(0, -1)));
}

// Every caveat of `granted`, with the same value.
function keepsCaveats(claimed: Caveats, granted: Caveats): boolean {
  // Most are texts or numbers, which are compared at once; what is inherited is equal to no value.
  for (const name in granted)
    if (claimed[name] !== granted[name] && !isDeepStrictEqual(claimed[name], granted[name])) return false;
  return true;
}

type Caveats = Readonly<Record<string, unknown>>;

interface SignatureOptions {
  readonly ucans: readonly Ucan[];
  /** What was signed, in the order of `ucans`. */
  readonly payloads: readonly Uint8Array[];
  readonly keys: IssuerKeys;
}

/** Checks the signature of the UCAN at a place of the chain, each once however often it is asked for. */
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
 * What a UCAN is revoked by: a hash of what its issuer signed, which names the issuer. Not of its CID or its bytes, which
 * others can change; not of the signature either, of which an issuer and, with P-256, everybody can make another.
 */
export function nameRevocationKey(signedPayload: Uint8Array): string {
  return hash('sha256', signedPayload, 'base64url');
}
