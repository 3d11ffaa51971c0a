// What `import … from 'twinline/delegation'` gives: the guard of tokens, what it says, new tokens, keys of issuers.

export {
  type DelegationStatus,
  type Delegations,
  type DelegationsOptions,
  delegations,
  type Revocations,
  revocations,
} from './delegations.ts';
export { type Checked, type GuardOptions, type Invocation, type TokenGuard, tokenGuard } from './guard.ts';
export { type Inspected, inspectToken, type Said } from './inspect.ts';
export { didDocumentKeys } from './issuer/did-document.ts';
export { type DidIxoOptions, didIxoKeys } from './issuer/did-ixo.ts';
export { type DidWebOptions, didWebKeys, didWebUrl } from './issuer/did-web.ts';
export type { ResolveKeys } from './issuer/issuer-keys.ts';
export { didOfKey, type OracleKey, parseOracleKey } from './issuer/oracle-key.ts';
export { DELEGATION_KINDS } from './kinds.ts';
export { type DelegationOptions, type InvocationOptions, mintDelegation, mintInvocation } from './mint.ts';
export { type Refused, TOKEN_REASONS, type TokenReason } from './reason.ts';
export type { Accepted, TokenKind } from './rules.ts';
export type { Capability } from './token/ucan.ts';
