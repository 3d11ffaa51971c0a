// Limits of lib/http: a name, a number, its unit.

export const HTTP_LIMITS = {
  // --- services ---------------------------------------------------------------------------------------------------------
  /** Bytes of an answer that `http.get` and `http.post` read. */
  httpAnswerBytes: 65_536,
  /** Levels of lists and objects in such an answer. */
  httpAnswerDepth: 64,

  // --- events and bulk --------------------------------------------------------------------------------------------------
  /** Milliseconds that the name of a new webhook's host may take to be resolved before it is left for later. */
  webhookResolveMs: 1_000,
} as const;
