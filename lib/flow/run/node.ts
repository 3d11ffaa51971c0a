// One screen of a compiled flow, found by the path of its state.

import type { StateValue } from 'xstate';
import type { Screen } from '../format/flow.ts';
import type { Behaviour } from '../screens/screen.ts';
import type { FlowScope } from './scope.ts';

export interface ScreenNode {
  /** `pin`, or `login.pin` inside the screen `login` that calls another flow. */
  readonly path: string;
  readonly screen: Screen;
  readonly scope: FlowScope;
  readonly behaviour: Behaviour;
}

/** `{ login: 'pin' }` → `login.pin` */
export function pathOf(state: StateValue): string {
  if (typeof state === 'string') return state;
  const key = Object.keys(state)[0]!;
  return `${key}.${pathOf(state[key]!)}`;
}

/** `login.pin` → `{ login: 'pin' }` */
export function stateOf(path: string): StateValue {
  const dot = path.indexOf('.');
  return dot < 0 ? path : { [path.slice(0, dot)]: stateOf(path.slice(dot + 1)) };
}
