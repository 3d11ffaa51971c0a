// Limits of lib/inspection: a name, a number, its unit.

export const INSPECTION_LIMITS = {
  /** The last turns and steps that are kept while an inspector is open, and for how many milliseconds after the last one left. */
  inspectorMoments: 500,
  inspectorLingerMs: 15_000,
  /** Characters of one of them as JSON; a larger one comes without its context. */
  inspectorMomentChars: 16_384,
  /** Milliseconds in which what happens is collected before it is shown. */
  inspectorBatchMs: 40,
  /** Turns and steps that wait for one viewer; one that is slower is cut off, and may come back. */
  inspectorQueue: 1_000,
  /** Living sessions that a viewer gets when it connects. */
  inspectorSessions: 200,
} as const;
