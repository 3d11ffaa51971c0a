// Timers are data: XState forgets `after` when a snapshot is restored, so deadlines live in the record.

import type { EventObject } from 'xstate';
import { isCount, isObject, isText } from '../../shape.ts';

export interface Timer {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly event: EventObject;
}

/** Whether what was stored as a timer is one. */
export const isTimer = (timer: unknown): boolean =>
  isObject(timer) && isText(timer.id) && isCount(timer.at) && isObject(timer.event) && isText(timer.event.type);

/** Adds a timer; one with the same id is replaced. Timers stay sorted by time, then by age. */
export function setTimer(timers: readonly Timer[], timer: Timer): Timer[] {
  const others = cancelTimer(timers, timer.id);
  const after = others.findIndex((other) => other.at > timer.at);
  return after < 0 ? [...others, timer] : others.toSpliced(after, 0, timer);
}

/** An id that no timer of the session has, for those that were given none. */
export function freeTimerId(timers: readonly Timer[]): string {
  let number = 0;
  while (timers.some((timer) => timer.id === `#${number}`)) number++;
  return `#${number}`;
}

export function cancelTimer(timers: readonly Timer[], id: string): Timer[] {
  return timers.filter((timer) => timer.id !== id);
}
