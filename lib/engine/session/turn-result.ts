// What became of a turn, as callers of the engine get it.

import type { StateValue } from 'xstate';
import type { Json } from '../../json/json.ts';
import type { Reply } from '../conversation.ts';
import type { CallError } from '../machine/failure.ts';
import type { AtRest } from '../machine/transition.ts';
import type { RecordProblem } from './record.ts';

/** Where a turn led, for those who count. */
export interface TurnMove {
  readonly flow: string;
  readonly version: number;
  /** Undefined at a first turn. */
  readonly from: StateValue | undefined;
  readonly to: StateValue;
}

/** How a machine has ended. */
export interface Ending {
  readonly status: 'done' | 'error';
  /** What the machine's `output` gave, where it has one. */
  readonly output?: Json;
  /** What it failed of. */
  readonly error?: CallError;
}

/** How a machine that rests there has ended. */
export function endingOf({ status = 'done', output, error }: AtRest): Ending {
  return { status, ...(output !== undefined && { output }), ...(error && { error }) };
}

/** What became of a turn. There is a `reply` exactly where `kind` is `replied`. */
export type TurnResult =
  /**
   * `repeated`: the request was answered before; nothing was applied. `move` is missing where the reply is one of before. `ending`
   * is there once the machine has ended: `done`, with its `output`, or `error`, with what it failed of.
   */
  | {
      readonly kind: 'replied';
      readonly reply: Reply;
      readonly repeated: boolean;
      readonly move?: TurnMove;
      readonly ending?: Ending;
    }
  /** Only where `decide` refuses, with its reason. */
  | ({ readonly kind: 'refused'; readonly reason: string } & NoReply)
  /** Only where `decide` wants an answer to a session that is stored but cannot be read: the record was changed, or is of other keys. */
  | ({ readonly kind: 'unreadable'; readonly reason: RecordProblem } & NoReply);

// So that `const { reply } = await takeTurn(…)` can be written before it is known which it is.
type NoReply = { readonly reply?: undefined; readonly repeated?: undefined };
