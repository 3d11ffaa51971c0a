// Limits of lib/delegation: a name, a number, its unit.

export const DELEGATION_LIMITS = {
  /** Characters of an invocation: must fit into a request header. */
  invocationChars: 16_384,
  delegationChars: 65_536,
  /** Longest remaining lifetime in seconds: 15 minutes for an invocation, 366 days for a delegation. */
  invocationSeconds: 900,
  delegationSeconds: 31_622_400,
  /** Seconds an issuer's clock may run ahead of ours. Expiry gets no leeway. */
  tokenLeewaySeconds: 60,
  tokenBlocks: 64,
  /** UCANs in a proof chain. */
  tokenDepth: 8,
  capabilitiesPerUcan: 16,
  /** Characters of a DID or of a capability's resource. */
  resourceChars: 512,
  /** Signature checks per token; an issuer may have several keys. */
  tokenSignatures: 16,
  /** Tokens verified concurrently. */
  tokensAtOnce: 256,
  /** Lifetime in seconds of an invocation minted for another service; it is reused for half of that. */
  mintedSeconds: 300,
  /** Minted invocations cached per user. */
  mintedPerUser: 32,
  /** Cached tokens and issuers. */
  tokensKept: 10_000,
  issuerKeysKept: 1_000,
  /** Keys tried per issuer. */
  keysPerIssuer: 8,
  /** Timeout for resolving an issuer's keys, in milliseconds. */
  issuerKeysMs: 3_000,
  /** How long resolved keys and failures are cached, in milliseconds. */
  issuerKeysFreshMs: 300_000,
  issuerKeysFailedMs: 30_000,
  /** Issuers resolved concurrently. */
  issuersAtOnce: 32,
} as const;
