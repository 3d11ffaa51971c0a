// The parts of every kind of screen: its machine state with its transitions, and its behaviour.

import { type Flow, isInteractive, type Screen, type Values, type Way } from '../format/flow.ts';
import type { Behaviour, FlowScope } from './scope.ts';

/** A machine state as plain JSON. */
export type StateConfig = { readonly [key: string]: unknown };

export interface ScreenKind<S extends Screen> {
  state(screen: S, place: ScreenPlace): StateConfig;
  behaviour(screen: S, scope: FlowScope): Behaviour;
}

/** The behaviour of screens that show nothing and do not wait. */
export const SILENT = (): Behaviour => ({ listsExit: false, show: () => ({ text: '', rows: [] }) });

/** Location of a screen: its id, its state path, its flow. */
export interface ScreenPlace {
  readonly id: string;
  readonly path: string;
  readonly flow: Flow;
}

export const trackAction = (name: string) => ({ type: 'track', params: { name } });

/** A transition to a screen, with the action that leaves the current one. */
export function transitionTo(
  place: ScreenPlace,
  way: { to: string; set?: Values; save?: string; track?: string; from?: string },
  action: string,
): StateConfig {
  const params = {
    of: place.flow.flow,
    ...(way.from !== undefined && way.from !== way.to && { from: way.from }),
    ...(place.flow.screens[way.to]?.back === false && { barrier: true }),
    ...(way.save !== undefined && { save: way.save }),
    ...(way.set && { set: way.set }),
  };
  const track = way.track === undefined ? [] : [trackAction(way.track)];
  // A self-transition does not re-enter the state: a call would not be repeated.
  const isAgain = way.to === place.id && !isInteractive(place.flow.screens[place.id]!);
  return { target: way.to, ...(isAgain && { reenter: true }), actions: [{ type: action, params }, ...track] };
}

/** The transitions of `done`, `fail` or `branch`: a screen id, or ways tried in order. */
export function buildTransitions(
  place: ScreenPlace,
  ways: string | readonly Way[],
  by: { guard: string; action: string; save?: string },
): StateConfig[] {
  const list: readonly Way[] = typeof ways === 'string' ? [{ to: ways }] : ways;
  return list.map(({ when, ...way }) => ({
    ...(when !== undefined && { guard: buildGuard(place, when, by) }),
    ...transitionTo(place, { ...way, ...(by.save !== undefined && { save: by.save }) }, by.action),
  }));
}

function buildGuard(place: ScreenPlace, condition: string, { guard, save }: { guard: string; save?: string }) {
  return { type: guard, params: { condition, of: place.flow.flow, ...(save !== undefined && { save }) } };
}

/** Common events of screens that wait for an answer: next page, refusal, a fixed way back. */
export function interactiveEvents(screen: Screen): { readonly [event: string]: StateConfig } {
  const fixed = typeof screen.back === 'string' ? screen.back : undefined;
  return {
    more: { actions: [{ type: 'turnPage' }] },
    invalid: { actions: [{ type: 'refuse' }] },
    ...(fixed !== undefined && {
      back: { target: fixed, actions: [{ type: 'goBackTo', params: { screen: fixed } }] },
    }),
  };
}

export const meta = (place: ScreenPlace, screen: Screen) => ({ screen: place.path, type: screen.type });
export const entryTrack = (screen: Screen) =>
  screen.track === undefined ? {} : { entry: [trackAction(screen.track)] };
