// Limits of lib/flow: a name, a number, its unit.

export const FLOW_LIMITS = {
  // --- services ---------------------------------------------------------------------------------------------------------
  /** The longest `timeout` that a flow may set, in milliseconds. */
  callTimeoutMaxMs: 60_000,
  /** The same of a call that waits for a callback, and how long it waits where the flow says nothing. */
  callbackMaxMs: 3_600_000,
  callbackMs: 120_000,
  /** Retries that a flow may set with `retry`. */
  callRetriesMax: 3,
  /** Calls that one screen may make after the reply; their tries after the first where it says nothing, and at most. */
  tasksPerScreen: 8,
  taskRetries: 9,
  taskRetriesMax: 20,

  // --- SMS --------------------------------------------------------------------------------------------------------------
  /** GSM-7 septets of an SMS that is sent as one, and of each part of a longer one. */
  smsSeptets: 160,
  smsPartSeptets: 153,
  /** The same in UTF-16 code units, when any character is not in GSM 7-bit. */
  smsUcs2Units: 70,
  smsPartUcs2Units: 67,
  /** Parts that one SMS may have, and above which lint warns. */
  smsParts: 10,
  smsPartsCheap: 3,

  // --- flows ------------------------------------------------------------------------------------------------------------
  /** Bytes of a flow file. */
  flowFileBytes: 4_194_304,
  /** Levels of lists and objects in a flow file. */
  flowFileDepth: 64,
  screensPerFlow: 20_000,
  /** Flows that a session may be in at once: a flow, the one that it calls, and so on. */
  flowLevels: 16,
  /** Characters of an expression, and levels of its parts. */
  expressionChars: 500,
  expressionDepth: 40,
  /** Characters of a text, with its slots. */
  templateChars: 2_000,
  /** Characters of a `pattern` rule. */
  patternChars: 200,
  /** Instructions that a `pattern` rule may compile to; bounds its time per answer. */
  patternSteps: 1_000,
  /** Items that `append` builds a list of. */
  listItems: 500,

  // --- USSD -------------------------------------------------------------------------------------------------------------
  /** GSM-7 septets per screen: 160 octets. */
  screenSeptets: 182,
  /** UCS-2 code units per screen when any character is not GSM-7: 160 octets. */
  screenUcs2Units: 80,
} as const;
