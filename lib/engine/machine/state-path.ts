// States as paths, for people and drawings: `login.pin`; those of a parallel state stand beside each other.

import type { StateValue } from 'xstate';

const BESIDE = ' + ';

/** `{ login: 'pin' }` → `login.pin`; `{ door: 'shut', light: { on: 'dim' } }` → `door.shut + light.on.dim` */
export function toPath(state: StateValue): string {
  return typeof state === 'string' ? state : joinPaths(listPaths(state, ''));
}

function listPaths(state: StateValue, around: string): string[] {
  if (typeof state === 'string') return [around + state];
  const inside = Object.entries(state).flatMap(([key, inner]) => listPaths(inner!, `${around}${key}.`));
  return inside.length ? inside : [around.slice(0, -1)];
}

export const joinPaths = (paths: readonly string[]): string => paths.join(BESIDE);

/** `door.shut + light.on` → `door.shut`, `light.on` */
export function splitPath(path: string): readonly string[] {
  return path.split(BESIDE);
}

/** `login.pin` → `{ login: 'pin' }` */
export function toStateValue(path: string): StateValue {
  const dot = path.indexOf('.');
  return dot < 0 ? path : { [path.slice(0, dot)]: toStateValue(path.slice(dot + 1)) };
}
