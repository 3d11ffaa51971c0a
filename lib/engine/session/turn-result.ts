// What became of a turn, as callers of the engine get it.

import type { StateValue } from 'xstate';
import type { Reply } from '../conversation.ts';
import type { RecordProblem } from './record.ts';

/** Where a turn led, for those who count. */
export interface TurnMove {
  readonly flow: string;
  readonly version: number;
  /** Undefined at a first turn. */
  readonly from: StateValue | undefined;
  readonly to: StateValue;
}

/** What became of a turn. There is a `reply` exactly where `kind` is `replied`. */
export type TurnResult =
  /** `repeated`: the request was answered before; nothing was applied. `move` is missing where the reply is one of before. */
  | { readonly kind: 'replied'; readonly reply: Reply; readonly repeated: boolean; readonly move?: TurnMove }
  /** Only where `decide` refuses, with its reason. */
  | ({ readonly kind: 'refused'; readonly reason: string } & NoReply)
  /** Only where `decide` wants an answer to a session that is stored but cannot be read: the record was changed, or is of other keys. */
  | ({ readonly kind: 'unreadable'; readonly reason: RecordProblem } & NoReply);

// So that `const { reply } = await takeTurn(…)` can be written before it is known which it is.
type NoReply = { readonly reply?: undefined; readonly repeated?: undefined };
