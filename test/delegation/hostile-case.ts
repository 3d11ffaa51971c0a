// Hostile tokens, and what the guard has to say to them.

import type { TokenKind, TokenReason } from '../../lib/delegation/index.ts';

export interface Case {
  readonly name: string;
  readonly token: () => Promise<string> | string;
  readonly reason: TokenReason;
  /** What the sender says it is; by default an invocation. */
  readonly kind?: TokenKind;
  /** Whose resources are accepted; by default only the issuer's. */
  readonly resource?: 'root';
}

export const AS_DELEGATION = { kind: 'delegation' } as const;
export const BY_ROOT = { resource: 'root' } as const;

/** Tokens by name that are refused for one reason, all sent in the same way. */
export function refused(
  reason: TokenReason,
  tokens: { readonly [name: string]: Case['token'] },
  sent: Pick<Case, 'kind' | 'resource'> = {},
): Case[] {
  return Object.entries(tokens).map(([name, token]) => ({ name, token, reason, ...sent }));
}
