// What a turn is asked for, and what became of it, as callers of the engine give and get it.

import type { StateValue } from 'xstate';
import type { Json, JsonObject } from '../../json/json.ts';
import type { Reply } from '../conversation.ts';
import type { CallError } from '../machine/failure.ts';
import type { AtRest } from '../machine/transition.ts';
import type { RecordProblem } from './record.ts';

/** The stored session as a door sees it when it decides what a request means. */
export type SessionState =
  | { readonly kind: 'none' }
  | { readonly kind: 'live' | 'ended'; readonly door: JsonObject; readonly turn: number }
  | { readonly kind: 'unreadable'; readonly reason: RecordProblem };

/** What a request means for the stored session. */
export type Decision =
  /** A new conversation; `inputs` are taken one after the other right away. */
  | {
      readonly kind: 'begin';
      readonly conversation: string;
      readonly input?: JsonObject;
      readonly inputs?: readonly Json[];
      readonly door?: JsonObject;
    }
  | { readonly kind: 'input'; readonly input: Json; readonly door?: JsonObject }
  /** Answer once more what was answered last; nothing changes. */
  | { readonly kind: 'repeat' }
  | { readonly kind: 'refuse'; readonly reason: string };

/** One request of a session, for `takeTurn`. */
export interface TurnRequest {
  /** The session's key in the store, 1–256 characters. */
  readonly key: string;
  /** Identifies the request: the same key again gets the same bytes back. Without it nothing is recognised as a retry. */
  readonly turnKey?: string | undefined;
  /** Decides from what is stored; must be pure, for it runs again after a conflict. */
  readonly decide: (state: SessionState) => Decision;
  /** Milliseconds until an answer must be there; calls that take longer go on in the background. @default 8000 */
  readonly deadlineMs?: number;
  /** What the log calls the request. */
  readonly requestId?: string | undefined;
}

/** Where a turn led, for those who count. */
export interface TurnMove {
  readonly flow: string;
  readonly version: number;
  /** Undefined at a first turn. */
  readonly from: StateValue | undefined;
  readonly to: StateValue;
  readonly language?: string | undefined;
  /** Milliseconds since the last turn of the session; undefined at a first one. */
  readonly stayMs?: number | undefined;
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
export function readEnding({ status = 'done', output, error }: AtRest): Ending {
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
