// Every checker, new for every simulation.

import type { Checker } from '../checker.ts';
import { effectsOnce } from './effects-once.ts';
import { everyCallerAnswered } from './every-caller-answered.ts';
import { monotoneRevision } from './monotone-revision.ts';
import { ownSession } from './own-session.ts';
import { sameAnswer } from './same-answer.ts';
import { timersOnce } from './timers-once.ts';
import { turnsOnce } from './turns-once.ts';

export const allCheckers = (): Checker[] => [
  turnsOnce(),
  sameAnswer(),
  ownSession(),
  monotoneRevision(),
  timersOnce(),
  effectsOnce(),
  everyCallerAnswered(),
];
