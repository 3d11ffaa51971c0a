// Whether a chain proves what it claims: signatures by node:crypto, within a budget; everything else by @ucanto/validator.

import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Delegation, decodeLink, UCAN } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import { Authorization, capability, claim, Failure, Schema } from '@ucanto/validator';
import { DELEGATION_LIMITS } from '../limits.ts';
import { type Refused, refuse } from '../reason.ts';
import type { Capability, Chain, IssuerKeys, Ucan } from '../token/ucan.ts';
import { issuerKey } from './principal.ts';

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
  const delegations = makeDelegations(ucans);
  const { principal, anyBad, revocationKeys } = listSignatures(delegations, ucans);
  const chain = makeChain(delegations, ucans);
  let unresolved = false;
  const options: API.ClaimOptions = {
    principal,
    authority: principal.parse(audience as API.DID),
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
    const result = await claim(makeParser(one), [chain], options);
    if (result.error) return refuse(unresolved ? 'issuer-unresolved' : anyBad() ? 'wrong-signature' : 'wrong-chain');
    for (const cid of Authorization.iterate(result.ok)) used.add(`${cid}`);
  }
  if (used.size < ucans.length) return refuse('unneeded-proof');
  return { ok: true, capabilities: chain.capabilities as readonly Capability[], revocationKeys };
}

// For this very capability: ucanto looks for one that is claimed by its name.
function makeParser({ can, with: resource }: API.Capability) {
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

/** The delegations of a chain as ucanto reads them, in its order. Throws what ucanto does about what it cannot read. */
export function makeDelegations(ucans: readonly Ucan[]): API.Delegation[] {
  return ucans.map(({ cid, bytes }) => {
    const root = { cid: decodeLink(Buffer.from(cid, 'latin1')), bytes } as API.UCANBlock;
    return Delegation.create({ root, blocks: new Map() });
  });
}

/** The bytes that the issuer of a UCAN signed. */
export function readSignedPayload({ data }: API.Delegation, { issuer, audience }: Ucan): Uint8Array {
  let signed = new Uint8Array();
  // ucanto writes them for a verifier only; the DIDs are as they were read, for base58 is slow to write.
  const capture = {
    did: () => issuer,
    verify: (payload: Uint8Array) => {
      signed = new Uint8Array(payload);
      return true;
    },
  };
  const model = { ...data.model, iss: makePrincipal(issuer), aud: makePrincipal(audience) };
  const view = { issuer: makePrincipal(issuer), model, signature: data.signature };
  void UCAN.verifySignature(view as unknown as API.UCAN.View, capture as unknown as API.Verifier);
  return signed;
}

// As little to write as can be.
const NOTHING = { v: '0.9.1', iss: makePrincipal(''), aud: makePrincipal(''), att: [], exp: 0, prf: [], fct: [] };

/**
 * The first delegation with the others as its proofs, for ucanto's validator. It would judge times by the clock of the
 * system, which was done before by ours, and would write what was signed again at each look: here
 * both are nothing.
 */
function makeChain(delegations: readonly API.Delegation[], ucans: readonly Ucan[]): API.Delegation {
  const [first] = delegations.reduceRight<API.Delegation[]>((proofs, { root, data }, at) => {
    const { capabilities, signature } = data;
    const [issuer, audience] = [makePrincipal(ucans[at]!.issuer), makePrincipal(ucans[at]!.audience)];
    const judged = { issuer, audience, capabilities, signature, expiration: Infinity, model: NOTHING };
    const delegation = Delegation.create({ root, blocks: new Map() });
    Object.defineProperties(delegation, { data: { value: judged }, proofs: { value: proofs } });
    return [delegation];
  }, []);
  return first!;
}

function makePrincipal(did: string) {
  return { did: () => did };
}

export interface Signatures {
  /** What ucanto asks for the verifier of an issuer. */
  readonly principal: API.PrincipalParser;
  /** Whether a signature was asked for that was not found good. */
  readonly anyBad: () => boolean;
  /** What each delegation is revoked by, in their order. */
  readonly revocationKeys: readonly string[];
}

/** Checks the signatures of these delegations, when and with the keys that ucanto asks for. */
function listSignatures(delegations: readonly API.Delegation[], ucans: readonly Ucan[]): Signatures {
  const payloads = new Map(
    delegations.map((one, at) => [one.signature as unknown, readSignedPayload(one, ucans[at]!)]),
  );
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
    revocationKeys: [...payloads.values()].map(nameRevocationKey),
  };
}

/**
 * What a UCAN is revoked by: a hash of what its issuer signed, which names the issuer. Not of its CID or its bytes, which
 * others can change; not of the signature either, of which an issuer and, with P-256, everybody can make another.
 */
export function nameRevocationKey(signedPayload: Uint8Array): string {
  return hash('sha256', signedPayload, 'base64url');
}
