// What the tests of a flow have been through, on its diagram.

import type { Coverage } from '../flow/testing/coverage.ts';
import type { Drawing } from './drawing.ts';
import { arrowKey, type Overlay } from './overlay.ts';

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
