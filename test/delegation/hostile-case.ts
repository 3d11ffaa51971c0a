// One hostile token, and what the guard has to say to it.

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
