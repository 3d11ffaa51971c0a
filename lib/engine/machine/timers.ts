// Timers as data: XState forgets `after` when a snapshot is restored. And chains of events that lead to each other without a pause.

import type { EventObject } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import { isCount, isObject, isText } from '../../given.ts';
import type { Machine } from './transition.ts';

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

/**
 * The length of a chain of events with one more that follows from the last. A chain that is longer than the machine has
 * states goes in circles: beyond `longestChain` it throws ERR_TURN_LIMIT.
 */
export function countHop(machine: Machine, hops: number): number {
  if (hops < machine.longestChain) return hops + 1;
  throw new TwinlineError(
    'ERR_TURN_LIMIT',
    `Machine "${machine.id}" passed through ${machine.longestChain} calls, timers and events of its own without coming to rest: they form a loop. Put a screen or a delay between them.`,
  );
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

export function cancelTimer(timers: readonly Timer[], id: string): Timer[] {
  return timers.filter((timer) => timer.id !== id || timer.isFree);
}

/** When something comes by itself, and what led to it at this very moment. */
export interface StepMoment {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly hops?: number | undefined;
}

/** The step that a timer leads to, at its own time. */
export function timerStep({ at, hops }: StepMoment, machine: Machine): { readonly at: number; readonly hops: number } {
  return { at, hops: hops === undefined ? 0 : countHop(machine, hops) };
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
