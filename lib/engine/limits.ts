// Limits of lib/engine: a name, a number, its unit.

export const ENGINE_LIMITS = {
  // --- engine -----------------------------------------------------------------------------------------------------------
  /** Microsteps (eventless and raised transitions) in one step of a machine. */
  microstepsPerStep: 100,
  /** Service calls, timers without delay and events of its own that may lead to each other, beside one for each state of an own machine. */
  hopsPerTurn: 20,
  /** Steps of a machine after which what has happened is stored, where more timers are due. */
  stepsPerWrite: 1_000,
  /** Timers that one session may hold. */
  timersPerSession: 64,
  /** Older versions of a flow that are kept for the sessions that began on them. */
  versionsKept: 8,

  // --- services ---------------------------------------------------------------------------------------------------------
  /** Milliseconds before the first repeated try; doubles each time. */
  callBackoffMs: 100,
  /** Milliseconds for which an answer may be announced, 30 days; completed calls that a session or document remembers. */
  laterMs: 2_592_000_000,
  completionsKept: 16,
  /** Tasks that a session may have open; milliseconds before the next try of one, doubled each time, and at most. */
  tasksPerSession: 64,
  taskBackoffMs: 2_000,
  taskBackoffMaxMs: 300_000,
  /** Characters of JSON that one conversation keeps of one caller between sessions. */
  memoryChars: 8_192,
  /** Milliseconds for which it is known which session a caller began last. */
  lastSessionMs: 86_400_000,
  /** Milliseconds between the end of the work and the turn deadline, kept for commit and reply. */
  turnReserveMs: 500,

  // --- USSD -------------------------------------------------------------------------------------------------------------
  /** Seconds that the answer of an ended session is kept for retries. */
  endedSessionSeconds: 600,

  // --- lifecycles -------------------------------------------------------------------------------------------------------
  /** Requests that wait for one machine in a document, in this process. */
  lifecycleQueue: 1_000,
  /** Command keys that a machine in a document remembers. */
  commandsKept: 256,
  /** Tries of a call that a lifecycle makes before the machine gets its failure. */
  lifecycleTries: 10,
  /** The longest pause between two of them, in milliseconds. */
  lifecycleBackoffMaxMs: 300_000,
  /** Milliseconds that a document which cannot be woken is left alone. */
  lifecyclePutOffMs: 60_000,
} as const;
