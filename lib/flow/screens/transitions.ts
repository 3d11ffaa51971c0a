// Parts of machine states that several kinds of screens share: transitions, and their steps for diagrams and coverage.

import { listWays, nameWay, type Values, type Way } from '../format/way.ts';
import type { AnyScreen, DrawnStep, ScreenPlace, StateConfig } from './kind.ts';

export const trackAction = (name: string) => ({ type: 'track', params: { name } });
export const meta = (place: ScreenPlace, screen: AnyScreen) => ({ screen: place.path, type: screen.type });
export const entryTrack = (screen: AnyScreen) =>
  screen.track === undefined ? {} : { entry: [trackAction(screen.track)] };

/** A transition to a screen, with the action that leaves the current one. */
export function transitionTo(
  place: ScreenPlace,
  way: { to: string; set?: Values; save?: string; track?: string; from?: string; tried?: string },
  action: string,
): StateConfig {
  const params = {
    of: place.flow,
    ...(way.from !== undefined && way.from !== way.to && { from: way.from }),
    ...(place.isWall(way.to) && { barrier: true }),
    ...(way.save !== undefined && { save: way.save }),
    ...(way.set && { set: way.set }),
    ...(way.tried !== undefined && { tried: way.tried }),
  };
  const track = way.track === undefined ? [] : [trackAction(way.track)];
  // A self-transition does not re-enter the state: a call would not be repeated.
  const isAgain = way.to === place.id && !place.waits;
  return {
    target: place.target(way.to),
    ...(isAgain && { reenter: true }),
    actions: [{ type: action, params }, ...track],
  };
}

/** The transitions of `done`, `fail` or `branch`. */
export function buildTransitions(
  place: ScreenPlace,
  ways: string | readonly Way[],
  by: { slot: string; guard: string; action: string; save?: string },
): StateConfig[] {
  return listWays(ways).map(({ when, error, ...way }, at) => {
    const { actions, ...to } = transitionTo(
      place,
      { ...way, ...(by.save !== undefined && { save: by.save }) },
      by.action,
    );
    const refusal = { type: 'sendBack', params: { screen: way.to, why: nameWay(place.id, by.slot, at) } };
    return {
      ...(when !== undefined && { guard: buildGuard(place, when, by) }),
      ...to,
      actions: error === undefined ? actions : [...(actions as readonly unknown[]), refusal],
    };
  });
}

function buildGuard(place: ScreenPlace, condition: string, { guard, save }: { guard: string; save?: string }) {
  return { type: guard, params: { condition, of: place.flow, ...(save !== undefined && { save }) } };
}

/** Common events of screens that wait for an answer: next page, refusal, a fixed way back. */
export function interactiveEvents(screen: AnyScreen, place: ScreenPlace): { readonly [event: string]: StateConfig } {
  const target = typeof screen.back === 'string' ? screen.back : undefined;
  return {
    more: { actions: [{ type: 'turnPage' }] },
    invalid: { actions: [{ type: 'refuse' }] },
    ...(target !== undefined && {
      back: { target: place.target(target), actions: [{ type: 'goBackTo', params: { screen: target } }] },
    }),
  };
}

/** The steps of `done`, `fail` or `branch`. Guards mostly refer to the call's answer, so labels omit its name. */
export function waySteps(
  ways: string | readonly Way[],
  { slot, word, ...step }: { slot: string; event: string; word: string; role: 'on' | 'error' },
  answer?: string,
): DrawnStep[] {
  const list = listWays(ways);
  const short = (when: string) =>
    answer === undefined ? when : when.replaceAll(new RegExp(`\\b${answer}\\.`, 'g'), '');
  return list.map(({ to, when, error }, at) => ({
    ...step,
    to,
    label:
      [word, error !== undefined && 'refuses', when !== undefined && `[${short(when)}]`].filter(Boolean).join(' ') ||
      'else',
    mark: list.length > 1 ? `${slot}[${at}]` : slot,
    ...(when !== undefined && { guard: when }),
  }));
}
