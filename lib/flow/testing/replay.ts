// A dialogue of yesterday on the flow of today: turn by turn the same, moved to another screen, or different.

import type { CompiledFlow } from '../run/compile.ts';
import { markedFlow } from './coverage.ts';
import { standIns } from './mask.ts';
import type { Dialogue, DialogueTurn } from './recording.ts';
import { diffLines } from './run.ts';
import { type Taken, testSession } from './session.ts';

export interface ReplayedTurn {
  /** From 1. */
  readonly turn: number;
  /** As JSON; `****` for a secret. */
  readonly typed: string;
  /** `moved`: the caller sees the same, on a screen of another name. */
  readonly outcome: 'same' | 'moved' | 'different';
  /** What is different, in words. */
  readonly message?: string;
  /** Lines below it: a diff. */
  readonly details?: readonly string[];
}

/** Types the inputs of a dialogue again; services answer as they did then. A dialogue ends with its first turn that cannot be taken. */
export async function replayDialogue(compiled: CompiledFlow, dialogue: Dialogue): Promise<ReplayedTurn[]> {
  const session = testSession(compiled, markedFlow(compiled), dialogue);
  const replayed: ReplayedTurn[] = [];
  const secretFor = standIns();
  let screen = '';
  for (const [at, turn] of dialogue.turns.entries()) {
    const place = { turn: at + 1, typed: typeof turn.in === 'string' ? session.shown(turn.in) : '****' };
    try {
      const typed = typeof turn.in === 'string' ? turn.in : secretFor(turn.in, compiled.screens.get(screen));
      const taken = await session.take(typed);
      screen = taken.screen;
      replayed.push({ ...place, ...compared(turn, taken) });
      const hasMore = at + 1 < dialogue.turns.length;
      if (taken.reply.kind !== 'end' || !hasMore) continue;
      return [...replayed, { turn: at + 2, typed: '', outcome: 'different', message: 'the dialogue is over already.' }];
    } catch (error) {
      const { message, cause } = error as Error;
      const words = cause instanceof Error ? `${message} ${cause.message}` : message;
      return [...replayed, { ...place, outcome: 'different', message: words }];
    }
  }
  return replayed;
}

type Outcome = Pick<ReplayedTurn, 'outcome' | 'message' | 'details'>;

function compared(then: DialogueTurn, { reply, screen, unanswered }: Taken): Outcome {
  const details = then.text === undefined || then.text === reply.text ? [] : diffLines(then.text, reply.text);
  if (unanswered.length) return { outcome: 'different', message: unforeseen(unanswered), details };
  const ends = reply.kind === 'end';
  if (then.end !== undefined && then.end !== ends)
    return { outcome: 'different', message: ends ? 'it ends now.' : 'it goes on now.', details };
  if (details.length) return { outcome: 'different', details };
  if (then.state === undefined || then.state === screen) return { outcome: 'same' };
  return { outcome: 'moved', message: `screen "${then.state}" is "${screen}" now.` };
}

// What a test says of a call without an answer, up to what its author should do about it.
function unforeseen(calls: readonly string[]): string {
  return calls.map((words) => `${words.split(', and ')[0]}, and then nothing answered that.`).join(' ');
}
