// Inspection events: what a turn or a lifecycle step did, emitted after its write. While nothing inspects, none is built.

import type { StateValue } from 'xstate';
import type { Json, JsonObject } from '../store/store.ts';
import type { Conversation, View } from './conversation.ts';
import type { Answer, Transition } from './machine/step.ts';
import type { AtRest } from './machine/transition.ts';

/** How a service answered, as far as it may be shown. */
export interface ShownAnswer {
  /** The invoke's id in the machine. */
  readonly call: string;
  readonly service: string;
  /** What it gave, null where that is a secret; or the code of its failure. */
  readonly outcome: { readonly output: Json } | { readonly code: string };
}

/** What a conversation did since it was stored last. Holds no secret: what may not be shown is null. */
export interface Trace {
  readonly transitions: Transition[];
  readonly typed: { readonly text: string | null; readonly at: StateValue }[];
  readonly answers: ShownAnswer[];
}

/** What was stored. */
export interface InspectionEvent {
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
  readonly transitions: readonly Transition[];
  readonly turn?: TurnInspection;
}

/** What only turns have. */
export interface TurnInspection extends Omit<Trace, 'transitions'> {
  /** Milliseconds since 1970 when the dial began. */
  readonly startedAt: number;
  readonly door: JsonObject;
  /** What the caller reads now; undefined when the turn answered no request. */
  readonly reply: string | undefined;
  /** The caller was told to wait. */
  readonly waiting: boolean;
}

export interface Inspector {
  /** Asked when a turn begins: while it is false, watching costs a turn no more than this question. */
  readonly isWatched: () => boolean;
  /** Called after the write; it must return at once. */
  readonly emit: (event: InspectionEvent) => void;
}

/** A trace while somebody inspects; undefined otherwise. */
export function startTrace(inspector: Inspector | undefined): Trace | undefined {
  return inspector?.isWatched() ? { transitions: [], typed: [], answers: [] } : undefined;
}

/** Notes what is about to be read where the conversation stands. */
export function noteTyped(
  trace: Trace,
  input: Json,
  { conversation, view }: { conversation: Conversation; view: View },
) {
  trace.typed.push({ text: conversation.shown?.input(view, input) ?? null, at: view.state });
}

/** Notes how a call ended. */
export function noteAnswer(
  trace: Trace,
  answer: Answer,
  { conversation, id, service }: { conversation: Conversation; id: string; service: string },
): void {
  const outcome = answer.ok
    ? { output: conversation.shown?.output(id, answer.output) ?? null }
    : { code: answer.error.code };
  trace.answers.push({ call: id, service, outcome });
}
