// Limits of lib/diagram: a name, a number, its unit.

export const DIAGRAM_LIMITS = {
  /** States and arrows that are drawn at a time; of larger machines a part is shown. */
  drawnStates: 150,
  drawnArrows: 600,
  /** States and arrows of such a part, when it is what is near one state. */
  nearStates: 60,
  nearArrows: 120,
} as const;
