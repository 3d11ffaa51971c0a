// Limits that several rooms of the library keep: a name, a number, its unit.

export const COMMON_LIMITS = {
  // --- engine -----------------------------------------------------------------------------------------------------------
  /** Times that one turn is tried again after another writer was first. */
  conflictsPerTurn: 32,
  /** Characters of a stored session record. */
  recordChars: 65_536,

  // --- services ---------------------------------------------------------------------------------------------------------
  /** Milliseconds that a service call may take when its flow sets no `timeout`. */
  callTimeoutMs: 5_000,

  // --- USSD -------------------------------------------------------------------------------------------------------------
  /** Characters of the `text` field of a request. */
  ussdTextChars: 182,

  // --- stores -----------------------------------------------------------------------------------------------------------
  /** Characters of a key, and bytes of a document as JSON. */
  keyChars: 256,
  documentBytes: 1_048_576,
  /** Elements of a list in one document that an index may hold. */
  elementsPerIndex: 1_000,
  /** Values of one `in` condition. */
  valuesPerIn: 100,
  /** Entries that one page may have. */
  pageSizeMax: 1_000,
  /** Entries that one sweep of expired or due sessions handles. */
  sweepBatch: 200,
  /** Milliseconds for which what says that a token is revoked or spent is kept after the token has expired: clocks may differ. */
  keptBeyondExpiryMs: 86_400_000,
  /** Frames in one append, and their bytes. */
  framesPerAppend: 1_000,
  appendBytes: 1_048_576,
  /** Bytes that one read of a log gives; what a slow follower holds. At least STORE_LIMITS.frameBytes. */
  logReadBytes: 262_144,
  /** Bytes of a message of a channel, in UTF-8. */
  channelMessageBytes: 65_536,

  // --- domains ----------------------------------------------------------------------------------------------------------
  /** Characters of what somebody sent that an error repeats. */
  quotedChars: 200,
  /** Problems that one refusal lists, and their bytes. */
  problemDetails: 100,
  problemBytes: 32_768,

  // --- events and bulk --------------------------------------------------------------------------------------------------
  /** Milliseconds that a receiver may take to answer. */
  webhookAnswerMs: 10_000,

  // --- server -----------------------------------------------------------------------------------------------------------
  /** Levels of lists and objects in JSON that others send: bodies, messages, results of tools. */
  jsonBodyDepth: 64,
} as const;

/**
 * For the options of an LRUCache of many entries: it grows by need. With `max` alone it would reserve room for all of them when it is
 * made, which takes milliseconds for 100,000. A full one takes a third of a microsecond longer for a new entry, and no longer for others.
 */
export function growing(most: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: most, sizeCalculation: () => 1 };
}
