// Watching: what a turn or a step shows to somebody who looks on, once it is stored. While nobody does, nothing is noted.

import type { StateValue } from 'xstate';
import type { Json, JsonObject } from '../store/store.ts';
import type { Conversation, View } from './conversation.ts';
import type { AtRest } from './machine/transition.ts';
import type { Answer } from './session/calls.ts';

/** One event that a machine took. */
export interface Passage {
  readonly event: string;
  /** Null: the machine was not there before. */
  readonly from: StateValue | null;
  readonly to: StateValue;
}

/** How a service answered, as far as it may be shown. */
export interface ShownAnswer {
  /** The invoke's id in the machine. */
  readonly call: string;
  readonly service: string;
  /** What it gave, null where that is a secret; or the code of its failure. */
  readonly outcome: { readonly output: Json } | { readonly code: string };
}

/** What a conversation did since it was stored last. Holds no secret: what may not be shown is null. */
export interface Trail {
  readonly passages: Passage[];
  readonly typed: { readonly text: string | null; readonly at: StateValue }[];
  readonly answers: ShownAnswer[];
}

/** What was stored. */
export interface Sighting {
  readonly kind: 'turn' | 'step';
  /** Of the machine. */
  readonly machine: string;
  readonly version: number;
  /** Of the session, or kind and id of the document. */
  readonly key: string;
  readonly revision: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Without secrets. */
  readonly rest: AtRest;
  readonly ended: boolean;
  readonly passages: readonly Passage[];
  readonly turn?: TurnSighting;
}

/** What only turns have. */
export interface TurnSighting extends Omit<Trail, 'passages'> {
  /** Milliseconds since 1970 when the dial began. */
  readonly born: number;
  readonly door: JsonObject;
  /** What the caller reads now; undefined when nobody was answered. */
  readonly reply: string | undefined;
  /** The caller was told to wait. */
  readonly waiting: boolean;
}

export interface Watch {
  /** Asked when a turn begins: while it is false, watching costs a turn no more than this question. */
  readonly isWatched: () => boolean;
  /** Called after the write; it must return at once. */
  readonly saw: (sighting: Sighting) => void;
}

/** A trail for somebody who watches. */
export function newTrail(watch: Watch | undefined): Trail | undefined {
  return watch?.isWatched() ? { passages: [], typed: [], answers: [] } : undefined;
}

/** Notes what is about to be read where the conversation stands. */
export function noteTyped(
  trail: Trail,
  input: Json,
  { conversation, view }: { conversation: Conversation; view: View },
) {
  trail.typed.push({ text: conversation.shown?.input(view, input) ?? null, at: view.state });
}

/** Notes how a call ended. */
export function noteAnswer(
  trail: Trail,
  answer: Answer,
  { conversation, id, service }: { conversation: Conversation; id: string; service: string },
): void {
  const outcome = answer.ok
    ? { output: conversation.shown?.output(id, answer.output) ?? null }
    : { code: answer.error.code };
  trail.answers.push({ call: id, service, outcome });
}
