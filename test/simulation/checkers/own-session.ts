// An answer is about the session that asked.

import type { Checker } from '../checker.ts';

export function ownSession(): Checker {
  return {
    promise: 'nobody gets the answer of another session',
    answered: ({ session, text }) => (text.startsWith(`${session}:`) ? undefined : `${session} was answered "${text}"`),
  };
}
