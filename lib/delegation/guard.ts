// Verifies tokens: from text to issuer and capabilities, or the reason for refusal. Cheap checks (audience, times,
// capabilities, issuer) run before any signature is verified.

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../clock.ts';
import { growing } from '../common-limits.ts';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import { refuseText, strictBytes } from './car.ts';
import { type Proven, prove } from './claim.ts';
import { issuerKeys, type ResolveKeys } from './issuer-keys.ts';
import { DELEGATION_LIMITS } from './limits.ts';
import { didMethod } from './principal.ts';
import { type Refused, refuse, type TokenReason } from './reason.ts';
import { type Capability, type Chain, readChain, type Ucan } from './ucan.ts';

const MAX_CHARS = {
  invocation: DELEGATION_LIMITS.invocationChars,
  delegation: DELEGATION_LIMITS.delegationChars,
} as const;
// A DID may rotate its keys: re-verify tokens signed by resolved keys after this long.
const KEYS_SECONDS = DELEGATION_LIMITS.issuerKeysFreshMs / 1000;

/** Options of `tokenGuard`. */
export interface GuardOptions {
  /** The DID that tokens must name as their audience; several while a service rotates its key. */
  readonly audience: string | readonly string[];
  readonly clock?: Clock;
  /** Longest remaining lifetime in seconds; default 900 for invocations, 366 days for delegations. */
  readonly maxTtlSeconds?: { readonly invocation?: number; readonly delegation?: number };
  /** Which capabilities are accepted; default `*` on `ixo:oracle`, and `oracle/…` on the DID of the token's issuer. */
  readonly accepted?: Partial<Accepted>;
  /** Key resolvers by DID method (`web`, `ixo`). Default none: only did:key issuers are accepted. */
  readonly methods?: { readonly [method: string]: ResolveKeys };
  /** Whether any of these keys was revoked. Called on every check, also for cached tokens. */
  readonly revoked?: (keys: readonly string[]) => boolean | Promise<boolean>;
}

/** A token that passed. */
export interface Checked {
  readonly ok: true;
  /** The DID that signed it. */
  readonly issuer: string;
  /** Seconds since 1970; the earliest expiry in the chain. */
  readonly expiresAt: number;
  /** At least one; exactly one for an invocation. Frozen by contract: do not modify. */
  readonly capabilities: readonly Capability[];
  /** Revocation keys of the token and of its proofs. A re-encoded copy has the same keys. */
  readonly revocationKeys: readonly string[];
}

/** An invocation that passed. */
export interface Invocation extends Checked {
  readonly capability: Capability;
}

/** Verifies signatures, times, proofs and revocations. */
export interface TokenGuard {
  /** Checks an invocation: exactly one capability, short-lived. Never rejects. */
  checkInvocation(text: string): Promise<Invocation | Refused>;
  /** Checks a delegation to the audience. Never rejects. */
  checkDelegation(text: string): Promise<Checked | Refused>;
}

interface PassedInvocation {
  readonly passed: Invocation;
  /** Seconds since 1970 until which the verification may be reused. */
  readonly until: number;
}

/** What we know of a token before parsing it. */
interface Unseen {
  /** Its cache key. */
  readonly id: string;
  readonly kind: TokenKind;
  /** Seconds since 1970. */
  readonly now: number;
}

/**
 * A guard for tokens addressed to `audience`. Caches up to 10,000 verified tokens until they expire. Throws ERR_CONFIG
 * when a lifetime is not a whole number of at least one second.
 * @example
 * const guard = tokenGuard({ audience: 'did:web:tea.example', maxTtlSeconds: { invocation: 900 } });
 * const checked = await guard.checkInvocation('not a token');
 * checked.ok; // → false
 */
export function tokenGuard(guardOptions: GuardOptions): TokenGuard {
  requireGiven('make a guard of tokens', guardOptions, { clock: 'clock?' });
  const { clock = systemClock, methods = {}, ...options } = guardOptions;
  const rules = makeRules(options, new Set(Object.keys(methods)));
  const keys = issuerKeys(methods, clock);
  const verified = new LRUCache<string, PassedInvocation>(growing(DELEGATION_LIMITS.tokensKept));
  let running = 0;

  // For tokens not in the cache, or whose issuer may have rotated keys since.
  const verify = async (text: string, { id, kind, now }: Unseen): Promise<Invocation | Refused> => {
    verified.delete(id);
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
    verified.set(id, { passed, until: byKey ? expiresAt : Math.min(expiresAt, now + KEYS_SECONDS) });
    return passed;
  };

  const check = async (text: string, kind: TokenKind): Promise<Invocation | Refused> => {
    const now = Math.floor(clock.now() / 1000);
    if (text.length > MAX_CHARS[kind]) return refuse('too-long');
    const id = `${kind} ${hash('sha256', text, 'binary')}`;
    const cached = verified.get(id);
    const checked = cached && cached.until > now ? cached.passed : await verify(text, { id, kind, now });
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

function makeRules(
  { audience, accepted: capabilities, maxTtlSeconds = {} }: GuardOptions,
  methods: ReadonlySet<string>,
): GuardRules {
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
    accepted: { identity: 'ixo:oracle', namespace: 'oracle', resource: 'issuer', ...capabilities },
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

/** Which capabilities a guard accepts, and on whose resources. */
export interface Accepted {
  /** The only resource open to everyone, with the ability `*`: it identifies the issuer and grants nothing more. */
  readonly identity: string;
  /** The first word of every other ability: `oracle` for `oracle/talk`. */
  readonly namespace: string;
  /**
   * Who must own the resource of every other capability: the token's issuer (no proof needed), or the root issuer of
   * the chain, from which proofs must lead to the token's issuer.
   */
  readonly resource: 'issuer' | 'root';
}

export interface GuardRules {
  readonly audiences: readonly string[];
  readonly accepted: Accepted;
  /** Longest remaining lifetime in seconds, by kind of token. */
  readonly maxSeconds: { readonly [kind in TokenKind]: number };
  /** DID methods accepted for issuers, besides `key`. */
  readonly methods: ReadonlySet<string>;
}

/** Why a token is refused at `now` (seconds); undefined when its proofs and signatures are worth verifying. */
export function judge(chain: Chain, { kind, rules, now }: { kind: TokenKind; rules: GuardRules; now: number }) {
  const [token] = chain.ucans;
  if (!rules.audiences.includes(token.audience)) return 'wrong-audience';
  return judgeTimes(chain, { longest: rules.maxSeconds[kind], now }) ?? judgeContent(chain, kind, rules);
}

/** When the chain expires, in seconds; Infinity when it never does. */
export function findExpiry({ ucans }: Chain): number {
  return Math.min(...ucans.map(({ expiration }) => expiration ?? Infinity));
}

// A token is invalid in the very second it expires. The leeway is for issuers whose clocks run ahead.
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

function isAccepted(
  capability: Ucan['capabilities'][number],
  { owner, accepted: capabilities, kind }: TokenRequirement,
): boolean {
  if (capability.with === capabilities.identity) return capability.can === '*';
  // An invocation must name its ability; only a delegation may use a wildcard.
  const named = kind === 'delegation' || !capability.can.endsWith('*');
  return capability.with === owner && named && capability.can.startsWith(`${capabilities.namespace}/`);
}
