// What the service asks of a token before any signature is looked at: audience, times, capabilities, issuers.

import { DELEGATION_LIMITS } from './limits.ts';
import { didMethod } from './proof/principal.ts';
import type { TokenReason } from './reason.ts';
import type { Chain } from './token/chain.ts';
import type { Ucan } from './token/ucan.ts';

/** An invocation asks for one thing now; a delegation lets the service do things later. */
export type TokenKind = 'invocation' | 'delegation';

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

export interface Rules {
  readonly audience: string;
  readonly accepted: Accepted;
  /** Seconds that a token of each kind may be valid from now on. */
  readonly maxSeconds: { readonly [kind in TokenKind]: number };
  /** Methods of the DIDs of issuers, besides `key`. */
  readonly methods: ReadonlySet<string>;
}

/** Why a token may not pass at `now`, in seconds; undefined when its proofs and signatures are worth to be checked. */
export function judge(chain: Chain, { kind, rules, now }: { kind: TokenKind; rules: Rules; now: number }) {
  const [token] = chain.ucans;
  if (token.audience !== rules.audience) return 'wrong-audience';
  return judgeTimes(chain, { longest: rules.maxSeconds[kind], now }) ?? judgeContent(chain, kind, rules);
}

/** When the chain stops to be valid, in seconds; Infinity when it never does. */
export function expiryOf({ ucans }: Chain): number {
  return Math.min(...ucans.map(({ expiration }) => expiration ?? Infinity));
}

// Nothing is valid in the second in which it expires. Clocks of issuers may be ahead: that is what the leeway is for.
function judgeTimes(chain: Chain, { longest, now }: { longest: number; now: number }): TokenReason | undefined {
  const { ucans } = chain;
  if (ucans.some(({ expiration }) => expiration === null)) return 'endless';
  if (expiryOf(chain) <= now) return 'expired';
  if (ucans.some(({ notBefore = 0 }) => notBefore > now + DELEGATION_LIMITS.tokenLeewaySeconds)) return 'too-early';
  return ucans[0].expiration! > now + longest + DELEGATION_LIMITS.tokenLeewaySeconds ? 'lives-too-long' : undefined;
}

function judgeContent({ ucans }: Chain, kind: TokenKind, rules: Rules): TokenReason | undefined {
  const { accepted, methods } = rules;
  const [{ issuer, capabilities }] = ucans;
  if (kind === 'invocation' && capabilities.length > 1) return 'wrong-capability';
  const owner = accepted.resource === 'issuer' ? issuer : ucans.at(-1)!.issuer;
  if (!capabilities.every((one) => isAccepted(one, { owner, accepted, kind }))) return 'wrong-capability';
  if (accepted.resource === 'issuer' && ucans.length > 1) return 'unneeded-proof';
  const supported = (did: string): boolean => didMethod(did) === 'key' || methods.has(didMethod(did));
  return ucans.every((ucan) => supported(ucan.issuer)) ? undefined : 'issuer-unsupported';
}

type Asked = { readonly owner: string; readonly accepted: Accepted; readonly kind: TokenKind };

function isAccepted(asked: Ucan['capabilities'][number], { owner, accepted, kind }: Asked): boolean {
  if (asked.with === accepted.identity) return asked.can === '*';
  // An invocation asks for one thing by its name; only a delegation can be about all of them.
  const named = kind === 'delegation' || !asked.can.endsWith('*');
  return asked.with === owner && named && asked.can.startsWith(`${accepted.namespace}/`);
}
