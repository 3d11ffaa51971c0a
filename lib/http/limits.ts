// Limits of lib/http: a name, a number, its unit.

export const HTTP_LIMITS = {
  // --- services ---------------------------------------------------------------------------------------------------------
  /** Characters of a URL that `http.get` and `http.post` call. */
  httpUrlChars: 2_048,
  /** Characters of an Idempotency-Key that is sent as it is; of a longer one its hash is sent. */
  httpKeyChars: 255,
  /** Bytes of an answer that `http.get` and `http.post` read. */
  httpAnswerBytes: 65_536,
  /** Levels of lists and objects in such an answer. */
  httpAnswerDepth: 64,

  // --- connections ------------------------------------------------------------------------------------------------------
  /** Connections to one host at the same time. */
  httpSockets: 64,
  /** Connections to one host that are kept open when idle. */
  httpIdleSockets: 16,
  /** Milliseconds of silence after which a connection is closed. */
  httpIdleMs: 5_000,

  // --- DNS --------------------------------------------------------------------------------------------------------------
  /** Milliseconds that a name server has to answer the first try; the second has about twice as long. */
  dnsTryMs: 1_500,
  /** Times that a name server is asked. */
  dnsTries: 2,

  // --- events and bulk --------------------------------------------------------------------------------------------------
  /** Milliseconds that the name of a new webhook's host may take to be resolved before it is left for later. */
  webhookResolveMs: 1_000,
} as const;
