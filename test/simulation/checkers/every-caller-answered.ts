// When the faults have stopped every caller gets an answer to every turn, within a bounded number of steps; and nothing
// is ever refused that a patient caller may ask.

import type { Checker } from '../checker.ts';

export function everyCallerAnswered(): Checker {
  return {
    promise: 'once the faults stop, every caller is answered',
    failed: (session, reason) => `${session}: ${reason}`,
    ended: (callers) => {
      const waiting = callers.find(({ isDone }) => !isDone);
      return waiting && `${waiting.session} still waits for the answer to ${waiting.inputs.at(-1) ?? 'its dial'}`;
    },
  };
}
