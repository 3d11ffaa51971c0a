// A called flow: a compound state that holds the other flow's screens and comes back when it has ended.

import type { FlowScreen } from '../flow.ts';
import { entryTrack, meta, type Place, type ScreenKind, type StateConfig, transitionsOf } from './screen.ts';

export const flow: ScreenKind<FlowScreen> = {
  state: (screen, place) => ({ meta: meta(place, screen), ...entryTrack(screen) }),
  behaviour: () => ({ listsExit: false, show: () => ({ text: '', rows: [] }) }),
};

/** The state of a call screen around the states of the flow that it calls. */
export function callingState(
  screen: FlowScreen,
  place: Place,
  inner: { flow: string; vars: { readonly [name: string]: unknown }; states: StateConfig },
): StateConfig {
  const { entry = [], ...state } = flow.state(screen, place) as { entry?: readonly unknown[] };
  const enter = {
    type: 'enterFlow',
    params: { of: inner.flow, vars: inner.vars, ...(screen.with && { with: screen.with }) },
  };
  return {
    ...state,
    entry: [...entry, enter],
    ...inner.states,
    onDone: transitionsOf(place, screen.done, {
      guard: 'returned',
      action: 'leaveFlow',
      ...(screen.save !== undefined && { save: screen.save }),
    }),
  };
}
