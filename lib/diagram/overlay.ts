// What a diagram can show on top: how often each arrow was taken, which states were visited, which tests cover.

import type { Coverage } from '../flow/testing/coverage.ts';
import type { Drawing } from './drawing.ts';

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

/**
 * Marks the screens and arrows that no test reaches. What has no mark of its own, such as the screens of called flows,
 * counts as reached: other tests are for it.
 */
export function coverageOverlay({ states, arrows }: Drawing, { screens, options, ways }: Coverage): Overlay {
  const unseen = new Set(screens.missing);
  const untaken = new Set([...options.missing, ...ways.missing]);
  const isTaken = (mark: string | undefined) => mark === undefined || !untaken.has(mark);
  const taken = arrows.filter((arrow) => arrow.ways.some(({ mark }) => isTaken(mark)));
  return {
    covered: new Set(states.map(({ id }) => id).filter((id) => !unseen.has(id))),
    taken: new Set(taken.map(arrowKey)),
  };
}
