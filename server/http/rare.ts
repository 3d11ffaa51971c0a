// What may happen thousands of times a second and is told once a minute.

import { type Clock, systemClock } from '../../lib/clock.ts';

const PAUSE_MS = 60_000;

/** Calls `tell` with the first of what happens, and then at most once a minute; `times`: how often it happened since. */
export function tellRarely<T>(
  tell: (what: T, times: number) => void,
  clock: Pick<Clock, 'now'> = systemClock,
): (what: T) => void {
  let toldAt: number | undefined;
  let times = 0;
  return (what) => {
    times++;
    const now = clock.now();
    if (toldAt !== undefined && now >= toldAt && now - toldAt < PAUSE_MS) return;
    tell(what, times);
    toldAt = now;
    times = 0;
  };
}
