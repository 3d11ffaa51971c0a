// The same request gets the same bytes. One that comes late may get the answer of a later turn, and no other.

import type { Checker } from '../checker.ts';

export function sameAnswer(): Checker {
  // Answers by session and turn.
  const answers = new Map<string, string>();
  return {
    promise: 'the same request gets the same bytes',
    answered: ({ session, turn, kind, text, isLatest, inputs }) => {
      const answer = `${kind} ${text}`;
      const first = answers.get(`${session} ${turn}`);
      if (first === undefined && isLatest) answers.set(`${session} ${turn}`, answer);
      if (first === undefined || first === answer) return undefined;
      const isLater = (at: number) => at > turn && answers.get(`${session} ${at}`) === answer;
      if (!isLatest && (inputs.some((_, at) => isLater(at + 1)) || !answers.has(`${session} ${inputs.length}`)))
        return undefined;
      return `${session} was answered "${first}" to turn ${turn}, and then "${answer}"`;
    },
  };
}
