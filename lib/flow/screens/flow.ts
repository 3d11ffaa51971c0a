// A called flow: a compound state that contains the other flow's screens and returns when that flow ends.

import type { Flow, FlowScreen } from '../format/flow.ts';
import {
  buildTransitions,
  entryTrack,
  meta,
  type ScreenKind,
  type ScreenPlace,
  SILENT,
  type StateConfig,
} from './screen.ts';

export const flow: ScreenKind<FlowScreen> = {
  state: (screen, place) => ({ meta: meta(place, screen), ...entryTrack(screen) }),
  behaviour: SILENT,
};

/** The state of a calling screen around the states of the called flow. */
export function callingState(
  screen: FlowScreen,
  place: ScreenPlace,
  inner: { flow: Flow; vars: { readonly [name: string]: unknown }; states: StateConfig },
): StateConfig {
  const { entry = [], ...state } = flow.state(screen, place) as { entry?: readonly unknown[] };
  const { flow: called, vars } = inner;
  const isWalled = called.screens[called.start]?.back === false;
  const enter = {
    type: 'enterFlow',
    params: {
      of: called.flow,
      vars,
      ...(screen.with && { with: screen.with }),
      ...(isWalled && { barrier: true }),
    },
  };
  return {
    ...state,
    entry: [...entry, enter],
    ...inner.states,
    onDone: buildTransitions(place, screen.done, {
      guard: 'returned',
      action: 'leaveFlow',
      ...(screen.save !== undefined && { save: screen.save }),
    }),
  };
}
