// Limits of lib/delegation: a name, a number, its unit.

export const DELEGATION_LIMITS = {
  /** Characters of an invocation: what fits into a header of a request. */
  invocationChars: 16_384,
  delegationChars: 65_536,
  /** Seconds that an invocation and a delegation may be valid from now on: 15 minutes, and 366 days. */
  invocationSeconds: 900,
  delegationSeconds: 31_622_400,
  /** Seconds that the clock of an issuer may be ahead of ours. A token that has expired is never valid. */
  tokenLeewaySeconds: 60,
  tokenBlocks: 64,
  /** UCANs in a chain of proofs. */
  tokenDepth: 8,
  capabilitiesPerUcan: 16,
  /** Characters of a DID or of the resource of a capability. */
  resourceChars: 512,
  /** Signatures that are checked for one token; an issuer may have several keys. */
  tokenSignatures: 16,
  /** Tokens that are checked at the same time. */
  tokensAtOnce: 256,
  /** Seconds that an invocation which this service makes of another one lives; half of it, it is used again. */
  mintedSeconds: 300,
  /** Different ones that are remembered per user. */
  mintedPerUser: 32,
  /** Tokens and keys of issuers that are remembered. */
  tokensKept: 10_000,
  issuerKeysKept: 1_000,
  /** Keys of one issuer that are tried. */
  keysPerIssuer: 8,
  /** Milliseconds that the keys of an issuer may take to be found. */
  issuerKeysMs: 3_000,
  /** Milliseconds that they are taken for known, and that a failure is. */
  issuerKeysFreshMs: 300_000,
  issuerKeysFailedMs: 30_000,
  /** Issuers whose keys are looked for at the same time. */
  issuersAtOnce: 32,
} as const;
