// What a turn asks of a service is asked under one key, so that a service that acts once per key acts once per turn; and
// what the session believes of it is true.

import type { Checker, Effect } from '../checker.ts';

const SUCCESS: { readonly [letter: string]: readonly string[] } = {
  p: ['charge'],
  d: ['order', 'deliver'],
  s: ['prove'],
};

export function effectsOnce(): Checker {
  const acted = new Map<string, Effect>();
  return {
    promise: 'every service acts once for a turn, and as the session says',
    acted: (effect) => {
      const { session, service, token, key } = effect;
      const first = acted.get(`${session} ${service} ${token}`);
      if (first === undefined) acted.set(`${session} ${service} ${token}`, effect);
      return first === undefined || first.key === key
        ? undefined
        : `${session}: "${service}" was asked for ${token} under the key ${first.key}, and again under ${key}`;
    },
    ended: (callers) => {
      for (const { session, record } of callers) {
        const log = typeof record === 'string' ? [] : ((record.rest.context.log ?? []) as readonly string[]);
        for (const entry of log)
          for (const service of SUCCESS[entry.charAt(0)] ?? []) {
            const effect = acted.get(`${session} ${service} ${entry}`);
            if (!effect || effect.isRefused)
              return `${session} believes that "${service}" did ${entry}, which it never did`;
          }
      }
      return undefined;
    },
  };
}
