// Every timer of a living session fires, once, if sweeping goes on for long enough.

import type { Checker } from '../checker.ts';

export function timersOnce(): Checker {
  return {
    promise: 'every timer fires once and none is lost',
    ended: (callers) => {
      for (const { session, inputs, record, dueAt } of callers) {
        // The timers of an ended session end with it.
        if (typeof record === 'string' || inputs.at(-1)?.startsWith('q')) continue;
        const set = inputs.filter((input) => input.startsWith('t')).sort();
        const fired = [...((record.rest.context.ticks ?? []) as readonly string[])].sort();
        if (set.join() !== fired.join())
          return `${session} set the timers ${set.join(' ') || '(none)'}; fired: ${fired.join(' ') || 'none'}`;
        if (record.timers.length || record.calls.length || dueAt !== null)
          return `${session} still waits for ${JSON.stringify([...record.timers, ...record.calls])}`;
      }
      return undefined;
    },
  };
}
