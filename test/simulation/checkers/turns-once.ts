// Every input of a caller is in the state of its session exactly once, in order; in every answer and at the end.

import type { Checker } from '../checker.ts';
import { OUTCOMES, WAIT } from '../machine.ts';

export function turnsOnce(): Checker {
  return {
    promise: 'every turn is taken exactly once, in order',
    answered: ({ session, text, inputs, isLatest }) => {
      const log = text.slice(text.indexOf(':') + 1);
      if (!isLatest || log === WAIT) return undefined;
      return difference(session, taken(log), inputs);
    },
    ended: (callers) => {
      for (const { session, inputs, record, lastText } of callers) {
        if (typeof record === 'string') return `${session}: its record is ${record}`;
        // Of an ended session nothing is kept but its last answer.
        const log = inputs.at(-1)?.startsWith('q')
          ? taken(lastText.slice(lastText.indexOf(':') + 1))
          : (record.rest.context.log ?? []);
        const found = difference(session, log as readonly string[], inputs);
        if (found) return found;
      }
      return undefined;
    },
  };
}

const taken = (log: string) => (log === '' ? [] : log.split(','));

/** Undefined when the log holds every input that changes something, in one of its outcomes. */
function difference(session: string, log: readonly string[], inputs: readonly string[]): string | undefined {
  let at = 0;
  for (const input of inputs) {
    const outcomes = OUTCOMES[input.charAt(0)];
    if (!outcomes) continue;
    const found = log[at++];
    if (found === undefined || found.slice(1) !== input.slice(1) || !outcomes.includes(found.charAt(0)))
      return `${session} typed ${inputs.join(' ')}, but its session took ${log.join(' ') || 'nothing'}`;
  }
  return at === log.length ? undefined : `${session} typed ${inputs.join(' ')}, but its session took ${log.join(' ')}`;
}
