// What a diagram may show on top: how often each arrow was taken, and which states somebody has been in.

export interface Overlay {
  /** How often each arrow was taken, under {@link arrowKey}; an arrow that is not in it has no count. */
  readonly counts?: ReadonlyMap<string, number>;
  /** The paths of states that were reached, and the names of arrows that were taken; without it, none is marked. */
  readonly covered?: ReadonlySet<string>;
  readonly taken?: ReadonlySet<string>;
}

const STEPS = 5;

/** `from→to`, the name of an arrow. */
export function arrowKey({ from, to }: { readonly from: string; readonly to: string }): string {
  return `${from}→${to}`;
}

/** From 0 for never to 5 for the most; in between by the order of magnitude. */
export function heat(count: number, most: number): number {
  if (count <= 0) return 0;
  if (most <= 1 || count >= most) return STEPS;
  return 1 + Math.floor((STEPS - 1) * (Math.log1p(count) / Math.log1p(most)));
}
