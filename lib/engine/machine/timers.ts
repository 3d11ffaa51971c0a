// Timers as data: in order of their times, then of their age; which of those with one id a cancel reaches.

import type { EventObject } from 'xstate';
import { isCount, isObject, isText } from '../../given.ts';

export interface Timer {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly event: EventObject;
  /** No `cancel` reaches it: it has no id of its own, or another one with its id was set, or fired, after it. */
  readonly isFree?: true;
  /** Of a timer that is due at the moment at which it is set: the events that led to it. @default 0 */
  readonly hops?: number;
}

/** Adds a timer. One with the same id stays, as in XState, and cannot be cancelled any more. */
export function setTimer(timers: readonly Timer[], timer: Timer): Timer[] {
  const others = freeTimers(timers, timer.id);
  const later = others.findIndex((other) => other.at > timer.at);
  return later < 0 ? [...others, timer] : others.toSpliced(later, 0, timer);
}

/** Removes a timer that fires. Another one with its id cannot be cancelled any more, as in XState. */
export function removeTimer(timers: readonly Timer[], timer: Timer): Timer[] {
  return freeTimers(
    timers.filter((other) => other !== timer),
    timer.id,
  );
}

function freeTimers(timers: readonly Timer[], id: string): Timer[] {
  return timers.map((timer) => (timer.id === id && !timer.isFree ? { ...timer, isFree: true as const } : timer));
}

/** Removes the timer that a `cancel` of this id reaches. */
export function cancelTimer(timers: readonly Timer[], id: string): Timer[] {
  return timers.filter((timer) => timer.id !== id || timer.isFree);
}

/** Whether what was stored as a timer is one. */
export const isTimer = (timer: unknown): boolean =>
  isObject(timer) &&
  isText(timer.id) &&
  isCount(timer.at) &&
  isObject(timer.event) &&
  isText(timer.event.type) &&
  (timer.hops === undefined || isCount(timer.hops));

/** An id that no timer has. */
export function freeTimerId(timers: readonly Timer[]): string {
  let number = 0;
  while (timers.some((timer) => timer.id === `#${number}`)) number++;
  return `#${number}`;
}
