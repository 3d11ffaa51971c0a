// Which arrows of a drawing a turn took: those between its screens, through the states at which nobody waits.

/** An arrow of the drawing. */
export interface ArrowEnds {
  readonly from: string;
  readonly to: string;
}

export interface DrawnWays {
  /** Positions of the arrows that leave a state. */
  readonly leaving: ReadonlyMap<string, readonly number[]>;
  readonly arrows: readonly ArrowEnds[];
  /** Whether a turn passes a state without an answer of the caller. */
  passes(state: string): boolean;
}

/** States by their kind that a turn passes at once. */
const PASSED = new Set(['call', 'branch', 'flow']);

export function listWays(arrows: readonly ArrowEnds[], kindOf: (state: string) => string): DrawnWays {
  const leaving = new Map<string, number[]>();
  for (const [at, { from }] of arrows.entries()) leaving.set(from, [...(leaving.get(from) ?? []), at]);
  return { arrows, leaving, passes: (state) => PASSED.has(kindOf(state)) };
}

/** Positions of the arrows on the shortest way from a screen to another; none when the drawing has no such way. */
export function findRoute({ arrows, leaving, passes }: DrawnWays, from: string, to: string): readonly number[] {
  const seen = new Set([from]);
  let ends: readonly { readonly state: string; readonly route: readonly number[] }[] = [{ state: from, route: [] }];
  while (ends.length > 0) {
    const next: { state: string; route: readonly number[] }[] = [];
    for (const { state, route } of ends)
      for (const at of leaving.get(state) ?? []) {
        const reached = arrows[at]!.to;
        if (reached === to) return [...route, at];
        if (seen.has(reached) || !passes(reached)) continue;
        seen.add(reached);
        next.push({ state: reached, route: [...route, at] });
      }
    ends = next;
  }
  return [];
}
