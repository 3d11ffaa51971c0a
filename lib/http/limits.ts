// Limits of lib/http: a name, a number, its unit.

export const HTTP_LIMITS = {
  // --- services ---------------------------------------------------------------------------------------------------------
  /** Characters of a URL passed to `http.get` and `http.post`. */
  httpUrlChars: 2_048,
  /** Characters of an Idempotency-Key sent as is; a longer one is hashed. */
  httpKeyChars: 255,
  /** Bytes of a response read by `http.get` and `http.post`. */
  httpAnswerBytes: 65_536,
  /** Nesting depth of JSON in such a response. */
  httpAnswerDepth: 64,

  // --- connections ------------------------------------------------------------------------------------------------------
  /** Concurrent connections per host. */
  httpSockets: 64,
  /** Idle keep-alive connections per host. */
  httpIdleSockets: 16,
  /** Idle milliseconds after which a connection is closed. */
  httpIdleMs: 5_000,

  // --- DNS --------------------------------------------------------------------------------------------------------------
  /** Milliseconds a name server has for the first attempt; the second has about twice as long. */
  dnsTryMs: 1_500,
  /** Attempts per name server. */
  dnsTries: 2,

  // --- events and bulk --------------------------------------------------------------------------------------------------
  /** Milliseconds to resolve a new webhook's host before the check is deferred. */
  webhookResolveMs: 1_000,
} as const;
