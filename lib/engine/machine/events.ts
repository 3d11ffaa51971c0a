// Events from outside: which ones a machine takes of its callers.

import type { EventObject } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import { checkPayload } from '../../json/lossless.ts';

/**
 * Whether callers may send events of this type. Those that begin with `xstate.` belong to the engine (`xstate.stop` would stop the
 * machine), but for `xstate.route`, which leads to a state with a `route`.
 */
export const isOwnType = (type: string): boolean =>
  type === 'xstate.route' || (type !== '' && type !== '*' && !type.startsWith('xstate.'));

/** The event, when a caller may send it. Throws ERR_INPUT for another type, and for a payload that JSON would change. */
export function checkEvent(machine: string, event: unknown): EventObject {
  const type = isObject(event) ? event.type : undefined;
  if (typeof type !== 'string' || !isOwnType(type))
    throw new TwinlineError(
      'ERR_INPUT',
      `Machine "${machine}" takes events { "type": "…" }; got ${JSON.stringify(type ?? null)}. Types that begin with "xstate." are not accepted.`,
    );
  checkPayload(`The event "${type}" for machine "${machine}"`, event, { keepsUndefined: true });
  return event as EventObject;
}
