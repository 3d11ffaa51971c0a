// How the run of an agent may end. A module of its own, so that clients know it without XState.

/** How a run may end. */
export const RUN_ENDS = ['finished', 'aborted', 'interrupted', 'failed'] as const;
/** One of `RUN_ENDS`. */
export type RunEnd = (typeof RUN_ENDS)[number];
