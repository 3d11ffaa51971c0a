// Exports of `twinline/delegation`: the token guard, reasons for refusal, minting, and issuer keys.

export {
  DELEGATION_KINDS,
  type DelegationStatus,
  type Delegations,
  type DelegationsOptions,
  delegations,
  type InvocationRequest,
} from './delegations.ts';
export {
  type Accepted,
  type Checked,
  type GuardOptions,
  type Invocation,
  type TokenGuard,
  type TokenKind,
  tokenGuard,
} from './guard.ts';
export type { ResolveKeys } from './issuer-keys.ts';
export {
  type DidIxoOptions,
  type DidWebOptions,
  didDocumentKeys,
  didIxoKeys,
  didWebKeys,
  didWebUrl,
} from './issuer-keys.ts';
export { didOfKey, type OracleKey, parseOracleKey } from './oracle-key.ts';
export { type Refused, TOKEN_REASONS, type TokenReason } from './reason.ts';
export { type Revocations, revocations } from './revocations.ts';
export {
  type DelegationOptions,
  type Inspected,
  type InvocationOptions,
  inspectToken,
  mintDelegation,
  mintInvocation,
  type TokenPayload,
} from './tokens.ts';
export type { Capability } from './ucan.ts';
