// Tokens for tools and other services: inspects them, and mints new ones with our key, within a delegation.

import { randomUUID } from 'node:crypto';
import type * as API from '@ucanto/interface';
import { type Clock, systemClock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import { refuseText, strictBytes } from './car.ts';
import type { CborMap } from './cbor.ts';
import { isGranted, nameRevocationKey } from './claim.ts';
import { DELEGATION_LIMITS } from './limits.ts';
import type { OracleKey } from './oracle-key.ts';
import { type Refused, refuse, TOKEN_REASONS } from './reason.ts';
import { writeSignedPayload } from './signed-payload.ts';
import { type Capability, readChain, readPlainMap, type Ucan } from './ucan.ts';

interface MintOptions {
  readonly key: OracleKey;
  /** The issuing DID, when it is not the key's own: a did:web whose document lists the key. */
  readonly issuer?: string;
  /** The DID of the service that receives the token. */
  readonly audience: string;
  /** Seconds from now; at least 1. A proof that expires earlier shortens it. */
  readonly expiresIn: number;
  /** Delegations to the issuer, as received. At most one, because services refuse more. */
  readonly proofs?: readonly string[];
  readonly clock?: Clock;
}

/** Options of `mintInvocation`. */
export interface InvocationOptions extends MintOptions {
  readonly capability: Capability;
}

/** Options of `mintDelegation`. */
export interface DelegationOptions extends MintOptions {
  /** 1 to 16. */
  readonly capabilities: readonly Capability[];
  /** Not valid before this time, in seconds since 1970. */
  readonly notBefore?: number;
}

/**
 * Mints a token that asks `audience` for one capability, as base64 of a CAR; every token is unique. Throws ERR_INPUT
 * when the proof is invalid, expired, issued to someone else or too narrow, or when a DID, an ability or a time is
 * invalid.
 * @example
 * const key = parseOracleKey(process.env.ORACLE_KEY!);
 * const capability = { can: 'oracle/ask', with: key.did };
 * const token = await mintInvocation({ key, audience: 'did:web:tea.example', expiresIn: 60, capability });
 * const checked = await tokenGuard({ audience: 'did:web:tea.example' }).checkInvocation(token);
 * checked.ok && checked.issuer === key.did; // → true
 */
export async function mintInvocation(options: InvocationOptions): Promise<string> {
  requireGiven('make a token', options, { key: 'key', audience: 'text', capability: 'object' });
  const { capability, ...token } = options;
  return mintDelegation({ ...token, capabilities: [capability] });
}

/**
 * Mints a token that delegates capabilities to `audience`, as base64 of a CAR. Throws as {@link mintInvocation}.
 * @example
 * const key = parseOracleKey(process.env.ORACLE_KEY!);
 * const capabilities = [{ can: '*', with: 'ixo:oracle' }];
 * const token = await mintDelegation({ key, audience: 'did:web:tea.example', expiresIn: 3_600, capabilities });
 * const checked = await tokenGuard({ audience: 'did:web:tea.example' }).checkDelegation(token);
 * checked.ok && checked.issuer === key.did; // → true
 */
export async function mintDelegation(options: DelegationOptions): Promise<string> {
  requireGiven('make a token', options, { key: 'key', audience: 'text' });
  const { key, issuer = key.did, audience, capabilities, expiresIn, proofs = [], clock = systemClock } = options;
  const now = Math.floor(clock.now() / 1000);
  if (!Number.isSafeInteger(expiresIn) || expiresIn < 1)
    throw cannotMake(`expiresIn is ${expiresIn}. Give a whole number of at least one second`);
  if (proofs.length > 1) throw cannotMake(`${proofs.length} proofs were given. Services accept only one`);
  const parents = proofs.map((proof) => readProof(proof, { issuer, capabilities, now }));
  const expiration = Math.min(now + expiresIn, ...parents.map(({ expires }) => expires));
  const { delegate, DID } = await loadUcanto();
  try {
    const delegation = await delegate({
      issuer: await makeSigner(key, issuer),
      audience: DID.parse(audience),
      capabilities: capabilities as API.Capabilities,
      expiration,
      nonce: randomUUID(),
      proofs: await Promise.all(parents.map(({ delegation }) => delegation)),
      ...(options.notBefore !== undefined && { notBefore: options.notBefore }),
    });
    const text = Buffer.from((await delegation.archive()).ok!).toString('base64');
    const inspected = inspectToken(text);
    if (inspected.ok) return text;
    throw cannotMake(TOKEN_REASONS[inspected.reason]);
  } catch (cause) {
    if (cause instanceof TwinlineError) throw cause;
    throw cannotMake('the audience is not a DID, or a capability is not a lower-case ability on a URI', cause);
  }
}

type Wanted = { readonly issuer: string; readonly capabilities: readonly Capability[]; readonly now: number };

function readProof(text: string, { issuer, capabilities, now }: Wanted) {
  const inspected = inspectToken(text);
  if (!inspected.ok) throw cannotMake(`its proof is not a valid token: ${TOKEN_REASONS[inspected.reason]}`);
  const [proof] = inspected.chain;
  const expires = Math.min(...inspected.chain.map(({ expiration }) => expiration ?? Infinity));
  if (proof.audience !== issuer) throw cannotMake(`its proof is for ${proof.audience}, not for ${issuer}`);
  if (expires <= now) throw cannotMake('its proof has expired');
  if (inspected.chain.length >= DELEGATION_LIMITS.tokenDepth) throw cannotMake('its proof chain is too long');
  const missing = capabilities.find((one) => !proof.capabilities.some((grant) => isGranted(one, grant)));
  if (missing) throw cannotMake(`its proof does not grant ${missing.can} on ${missing.with}`);
  return { expires, delegation: extract(text) };
}

async function extract(text: string): Promise<API.Delegation> {
  const { Delegation } = await loadUcanto();
  const { ok } = await Delegation.extract(strictBytes(text)!);
  return ok!;
}

// Most processes check tokens and make none: what makes them is loaded with the first one.
const loadUcanto = () => import('@ucanto/core');

async function makeSigner(key: OracleKey, issuer: string): Promise<API.Signer> {
  const { Signature } = await loadUcanto();
  const signer = {
    did: () => issuer,
    signatureCode: Signature.EdDSA,
    signatureAlgorithm: 'EdDSA',
    sign: (payload: Uint8Array) => Signature.create(Signature.EdDSA, key.sign(payload)),
  };
  return signer as unknown as API.Signer;
}

function cannotMake(problem: string, cause?: unknown): TwinlineError {
  return new TwinlineError('ERR_INPUT', `Cannot make a token: ${problem}.`, { cause });
}

/** The content of one UCAN. */
export interface TokenPayload {
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

/** The content of a token, unverified. */
export interface Inspected {
  readonly ok: true;
  /** The token, its proof, that proof's proof: 1 to 8. */
  readonly chain: readonly [TokenPayload, ...TokenPayload[]];
}

/**
 * Parses a token as the guard does, without verifying signatures, times or audience. Never throws.
 * @example
 * const key = parseOracleKey(process.env.ORACLE_KEY!);
 * const capability = { can: 'tea/brew', with: key.did };
 * const token = await mintInvocation({ key, audience: 'did:web:tea.example', expiresIn: 60, capability });
 * const inspected = inspectToken(token);
 * inspected.ok && inspected.chain[0].audience; // → 'did:web:tea.example'
 */
export function inspectToken(text: string): Inspected | Refused {
  requireGiven('read a token', { text }, { text: 'text' });
  if (text.length > DELEGATION_LIMITS.delegationChars) return refuse('too-long');
  const bytes = strictBytes(text);
  if (!bytes) return refuseText(text);
  const chain = readChain(bytes);
  if (!chain.ok) return chain;
  return { ok: true, chain: chain.ucans.map(describeUcan) as [TokenPayload, ...TokenPayload[]] };
}

function describeUcan(ucan: Ucan): TokenPayload {
  const { fields, issuer, audience, capabilities, expiration, notBefore } = ucan;
  const nonce = fields.get('nnc') as string | undefined;
  const facts = (fields.get('fct') ?? []) as readonly CborMap[];
  return {
    issuer,
    audience,
    capabilities,
    expiration,
    ...(notBefore !== undefined && { notBefore }),
    ...(nonce !== undefined && { nonce }),
    facts: facts.map(readPlainMap),
    revocationKey: nameRevocationKey(writeSignedPayload(fields, ucan)),
  };
}
