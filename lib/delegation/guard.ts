// The guard of tokens: from a text to who issued it and what it grants, or the reason of its refusal. Cheap checks come
// first: audience, times, capabilities and issuers before any signature.

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../clock.ts';
import { growing } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import { issuerKeys, type ResolveKeys } from './issuer/issuer-keys.ts';
import { DELEGATION_LIMITS } from './limits.ts';
import { type Proven, prove } from './proof/claim.ts';
import { didMethod } from './proof/principal.ts';
import { type Refused, refuse, type TokenReason } from './reason.ts';
import { refuseText, strictBytes } from './token/car.ts';
import { type Capability, type Chain, readChain, type Ucan } from './token/ucan.ts';

const MAX_CHARS = {
  invocation: DELEGATION_LIMITS.invocationChars,
  delegation: DELEGATION_LIMITS.delegationChars,
} as const;
// Keys of a DID can change: then what they signed is asked for again.
const KEYS_SECONDS = DELEGATION_LIMITS.issuerKeysFreshMs / 1000;

/** Options of `tokenGuard`. */
export interface GuardOptions {
  /** The DID that tokens must name as their audience; any of several while the key of a service is changed. */
  readonly audience: string | readonly string[];
  readonly clock?: Clock;
  /** Seconds that a token may be valid from now on; default 900 for invocations, 366 days for delegations. */
  readonly maxTtlSeconds?: { readonly invocation?: number; readonly delegation?: number };
  /** Which capabilities pass; default `*` on `ixo:oracle`, and `oracle/…` on the DID of the token's issuer. */
  readonly accepted?: Partial<Accepted>;
  /** By method of a DID (`web`, `ixo`), how the keys of such an issuer are found. Default none: only did:key passes. */
  readonly methods?: { readonly [method: string]: ResolveKeys };
  /** Whether any of these was revoked. Asked at every check, also of a token that was checked before. */
  readonly revoked?: (keys: readonly string[]) => boolean | Promise<boolean>;
}

/** A token that passed. */
export interface Checked {
  readonly ok: true;
  /** Who signed it. */
  readonly issuer: string;
  /** Seconds since 1970; the earliest of its chain. */
  readonly expiresAt: number;
  /** At least one; exactly one of an invocation. Not to be changed. */
  readonly capabilities: readonly Capability[];
  /** What the token itself, then its proofs, are revoked by. A copy in another encoding has the same. */
  readonly revocationKeys: readonly string[];
}

/** An invocation that passed. */
export interface Invocation extends Checked {
  readonly capability: Capability;
}

/** Checks tokens: signatures, times, proofs, revocations. */
export interface TokenGuard {
  /** Checks an invocation: exactly one capability, short-lived. Never rejects. */
  checkInvocation(text: string): Promise<Invocation | Refused>;
  /** Checks a delegation to the audience. Never rejects. */
  checkDelegation(text: string): Promise<Checked | Refused>;
}

interface PassedInvocation {
  readonly passed: Invocation;
  /** Seconds since 1970 until which the signatures count as checked. */
  readonly until: number;
}

/** What is known of a token before it is read. */
interface Unseen {
  /** Under which it is kept when it passes. */
  readonly id: string;
  readonly kind: TokenKind;
  /** Seconds since 1970. */
  readonly now: number;
}

/**
 * A guard for the tokens that name `audience`. It keeps the tokens that passed (10,000 at most, until they expire).
 * Throws ERR_CONFIG when a lifetime is no whole number of at least one second.
 * @example
 * const guard = tokenGuard({ audience: 'did:web:tea.example', maxTtlSeconds: { invocation: 900 } });
 * const checked = await guard.checkInvocation('not a token');
 * checked.ok; // → false
 */
export function tokenGuard(given: GuardOptions): TokenGuard {
  requireGiven('make a guard of tokens', given, { clock: 'clock?' });
  const { clock = systemClock, methods = {}, ...options } = given;
  const rules = makeRules(options, new Set(Object.keys(methods)));
  const keys = issuerKeys(methods, clock);
  const known = new LRUCache<string, PassedInvocation>(growing(DELEGATION_LIMITS.tokensKept));
  let running = 0;

  // A token that was not seen before, or so long ago that its issuers may have other keys now.
  const verify = async (text: string, { id, kind, now }: Unseen): Promise<Invocation | Refused> => {
    known.delete(id);
    const bytes = strictBytes(text);
    if (!bytes) return refuseText(text);
    const chain = readChain(bytes);
    if (!chain.ok) return chain;
    const problem = judge(chain, { kind, rules, now });
    if (problem) return refuse(problem);
    if (running >= DELEGATION_LIMITS.tokensAtOnce) return refuse('busy');
    running++;
    const { identity } = rules.accepted;
    const proven = await prove(chain, { identity, keys }).finally(() => running--);
    if (!proven.ok) return proven;
    const expiresAt = findExpiry(chain);
    const passed = makeInvocation(chain.ucans[0].issuer, { proven, expiresAt });
    const byKey = chain.ucans.every(({ issuer }) => issuer.startsWith('did:key:'));
    known.set(id, { passed, until: byKey ? expiresAt : Math.min(expiresAt, now + KEYS_SECONDS) });
    return passed;
  };

  const check = async (text: string, kind: TokenKind): Promise<Invocation | Refused> => {
    const now = Math.floor(clock.now() / 1000);
    if (text.length > MAX_CHARS[kind]) return refuse('too-long');
    const id = `${kind} ${hash('sha256', text, 'binary')}`;
    const before = known.get(id);
    const checked = before && before.until > now ? before.passed : await verify(text, { id, kind, now });
    if (!checked.ok) return checked;
    try {
      return (await options.revoked?.(checked.revocationKeys)) ? refuse('revoked') : checked;
    } catch {
      return refuse('unavailable');
    }
  };

  return {
    checkInvocation: (text) => check(text, 'invocation'),
    checkDelegation: (text) => check(text, 'delegation'),
  };
}

function makeRules({ audience, accepted, maxTtlSeconds = {} }: GuardOptions, methods: ReadonlySet<string>): GuardRules {
  const { invocation = DELEGATION_LIMITS.invocationSeconds, delegation = DELEGATION_LIMITS.delegationSeconds } =
    maxTtlSeconds;
  for (const [kind, seconds] of Object.entries({ invocation, delegation }))
    if (!Number.isSafeInteger(seconds) || seconds < 1)
      throw new TwinlineError(
        'ERR_CONFIG',
        `Cannot guard tokens: maxTtlSeconds.${kind} is ${seconds}. Give a whole number of at least one second.`,
      );
  return {
    audiences: [audience].flat(),
    accepted: { identity: 'ixo:oracle', namespace: 'oracle', resource: 'issuer', ...accepted },
    maxSeconds: { invocation, delegation },
    methods,
  };
}

function makeInvocation(issuer: string, { proven, expiresAt }: { proven: Proven; expiresAt: number }): Invocation {
  const { capabilities, revocationKeys } = proven;
  return Object.freeze({ ok: true, issuer, expiresAt, capability: capabilities[0]!, capabilities, revocationKeys });
}

/** An invocation asks for one thing now; a delegation lets the service do things later. */
export type TokenKind = 'invocation' | 'delegation';

/** What a guard takes: which capabilities, of whom. */
export interface Accepted {
  /** The only resource that everybody may name, with the ability `*`: it says who asks and no more. */
  readonly identity: string;
  /** The first word of every other ability: `oracle` for `oracle/talk`. */
  readonly namespace: string;
  /**
   * Whose DID the resource of every other capability must be: of the token's issuer, who needs no proof, or of the
   * first issuer of the chain, from whom proofs lead to the token's issuer.
   */
  readonly resource: 'issuer' | 'root';
}

export interface GuardRules {
  readonly audiences: readonly string[];
  readonly accepted: Accepted;
  /** Seconds that a token of each kind may be valid from now on. */
  readonly maxSeconds: { readonly [kind in TokenKind]: number };
  /** Methods of the DIDs of issuers, besides `key`. */
  readonly methods: ReadonlySet<string>;
}

/** Why a token may not pass at `now`, in seconds; undefined when its proofs and signatures are worth to be checked. */
export function judge(chain: Chain, { kind, rules, now }: { kind: TokenKind; rules: GuardRules; now: number }) {
  const [token] = chain.ucans;
  if (!rules.audiences.includes(token.audience)) return 'wrong-audience';
  return judgeTimes(chain, { longest: rules.maxSeconds[kind], now }) ?? judgeContent(chain, kind, rules);
}

/** When the chain stops to be valid, in seconds; Infinity when it never does. */
export function findExpiry({ ucans }: Chain): number {
  return Math.min(...ucans.map(({ expiration }) => expiration ?? Infinity));
}

// Nothing is valid in the second in which it expires. Clocks of issuers may be ahead: that is what the leeway is for.
function judgeTimes(chain: Chain, { longest, now }: { longest: number; now: number }): TokenReason | undefined {
  const { ucans } = chain;
  if (ucans.some(({ expiration }) => expiration === null)) return 'endless';
  if (findExpiry(chain) <= now) return 'expired';
  if (ucans.some(({ notBefore = 0 }) => notBefore > now + DELEGATION_LIMITS.tokenLeewaySeconds)) return 'too-early';
  return ucans[0].expiration! > now + longest + DELEGATION_LIMITS.tokenLeewaySeconds ? 'lives-too-long' : undefined;
}

function judgeContent({ ucans }: Chain, kind: TokenKind, rules: GuardRules): TokenReason | undefined {
  const { accepted, methods } = rules;
  const [{ issuer, capabilities }] = ucans;
  if (kind === 'invocation' && capabilities.length > 1) return 'wrong-capability';
  const owner = accepted.resource === 'issuer' ? issuer : ucans.at(-1)!.issuer;
  if (!capabilities.every((one) => isAccepted(one, { owner, accepted, kind }))) return 'wrong-capability';
  if (accepted.resource === 'issuer' && ucans.length > 1) return 'unneeded-proof';
  const isSupported = (did: string): boolean => didMethod(did) === 'key' || methods.has(didMethod(did));
  return ucans.every((ucan) => isSupported(ucan.issuer)) ? undefined : 'issuer-unsupported';
}

type TokenRequirement = { readonly owner: string; readonly accepted: Accepted; readonly kind: TokenKind };

function isAccepted(asked: Ucan['capabilities'][number], { owner, accepted, kind }: TokenRequirement): boolean {
  if (asked.with === accepted.identity) return asked.can === '*';
  // An invocation asks for one thing by its name; only a delegation can be about all of them.
  const named = kind === 'delegation' || !asked.can.endsWith('*');
  return asked.with === owner && named && asked.can.startsWith(`${accepted.namespace}/`);
}
