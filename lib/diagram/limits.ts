// Limits of lib/diagram: a name, a number, its unit.

export const DIAGRAM_LIMITS = {
  /** States and arrows drawn at once; of a larger machine, only a part is shown. */
  drawnStates: 150,
  drawnArrows: 600,
  /** States and arrows of such a part around one state. */
  nearStates: 60,
  nearArrows: 120,
} as const;
