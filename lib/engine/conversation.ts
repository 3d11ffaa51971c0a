// A conversation: a machine plus how to read what comes in and how to say where it is. The versions that are loaded. And the
// inspection events of a turn or a lifecycle step, emitted after its write; while nothing inspects, none is built.

import type { EventObject, StateValue } from 'xstate';
import type { ErrorCode } from '../errors.ts';
import { requireGiven } from '../given.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { ENGINE_LIMITS } from './limits.ts';
import type { ServiceAnswer, Transition } from './machine/step.ts';
import type { AtRest, Machine } from './machine/transition.ts';

/** What the other side gets to read. `end` closes the session. */
export interface Reply {
  readonly kind: 'continue' | 'end';
  readonly text: string;
}

/** Proves that a secret was seen, without keeping it: a keyed hash bound to the session. */
export type Prove = (secret: string) => string;

/** Where a conversation rests, as `read` and `render` see it. */
export interface View extends AtRest {
  /** The caller was answered "please wait" and has not seen the outcome yet. */
  readonly waiting: boolean;
}

/** Stands in the input of a call for its `callbackUrl`, which is known when it is made. No caller can type it. */
export const CALLBACK_PLACE = '\u001acallbackUrl\u001a';

/** How a call of a service is made. */
export interface CallPolicy {
  /** Milliseconds for one try. */
  readonly timeoutMs: number;
  /** Tries after the first. */
  readonly retries: number;
  /** Its input holds a secret: it is not stored, so the call cannot be repeated after a crash. */
  readonly secret: boolean;
  /**
   * The service only begins it: its answer comes from outside within so many milliseconds, by the `callbackUrl` that the service gets, also
   * where its input holds {@link CALLBACK_PLACE}. @default the service answers
   */
  readonly callbackMs?: number;
}

/** How a task is done: a call of a service after the reply. */
export interface TaskPolicy {
  /** Milliseconds for one try. */
  readonly timeoutMs: number;
  /** Failed tries after which it is given up. */
  readonly failuresMax: number;
}

export interface ShownForms {
  /** The type of an event, where it may hold what was typed. @default as it is */
  event?(type: string): string;
  /** What was typed where the conversation stood. */
  input(view: View, input: Json): string | null;
  /** What the service of the call with this id gave. */
  output(id: string, output: Json): Json;
  /** The variables, private ones masked. @default as they are */
  context?(context: JsonObject): JsonObject;
  /** What `render` gives, or `waitText` where the view waits, private values masked. @default as it is */
  reply?(view: View): string;
}

/** How a session that was cut is continued at the next dial. */
export interface Resuming {
  /** Milliseconds after the last reply for which it can be. */
  readonly ms: number;
  /** The state that asks the caller whether to go on. */
  readonly asks: string;
  /** The context there, from what the machine begins with. */
  context(input: JsonObject): JsonObject;
  /** What the caller answers there; undefined when it is no answer. */
  answer(event: EventObject | string | undefined): 'yes' | 'no' | undefined;
  /** Whether a session is never continued after this event: a secret was taken. */
  locks(state: StateValue, event: EventObject): boolean;
}

/** What a conversation keeps of a caller between sessions. */
export interface Keeping {
  /** The kept variables in a context of the machine, by name; null for one without a value. */
  read(context: JsonObject): JsonObject;
  /** The same at the beginning of a session, with what its machine begins with. */
  begin(input: JsonObject): JsonObject;
  /** Milliseconds after its last change for which a variable is kept. */
  lifetime(name: string): number;
  /** Whether the variable of this name may hold the value: what an earlier version has kept may be of another kind. */
  fits(name: string, value: Json): boolean;
  /** @default a session that was cut is not continued */
  readonly resume?: Resuming;
}

/** What the engine must know to keep one kind of conversation. Everything here is pure. */
export interface Conversation {
  readonly id: string;
  /** ≥ 1; a session remembers the version that it began on. */
  readonly version: number;
  /** Of the content: tells two contents of the same version apart. */
  readonly hash: string;
  readonly machine: Machine;
  /**
   * The event that an input means here; undefined when it changes nothing and the same is shown again; or a message that
   * refuses the input, shown above the same.
   */
  read(view: View, input: Json, prove: Prove): EventObject | string | undefined;
  /**
   * Whether an input is read and taken at once while a call is pending, as an XState actor takes an event. Otherwise the
   * input waits for the outcome of the call, which its caller sees first. @default false
   */
  readonly takesWhileCalling?: boolean;
  /** The event of an input that does not wait for the pending call to end, such as leaving; undefined for all others. */
  interrupt?(view: View, input: Json): EventObject | undefined;
  render(view: View): Reply;
  /** The last words to a caller whose machine has failed. @default what `render` gives */
  failText?(view: View): string;
  /** What a caller reads while a call takes longer than the turn may. */
  waitText(view: View): string;
  /** The context without secrets, as it may be stored. */
  redact(context: JsonObject, prove: Prove): JsonObject;
  callPolicy(id: string): CallPolicy;
  /** How a task is done that the machine asks for by the action `task`. Without it there are none. */
  taskPolicy?(id: string): TaskPolicy;
  /**
   * The code with which a call fails whose good answer the machine throws on. Without it the machine fails, as an actor of XState
   * does: it is never told that a call has failed which has not.
   */
  readonly unusable?: ErrorCode;
  /** The texts of all secrets in a context; without it, those of a call that holds a secret are all texts of its input. */
  secretsIn?(context: JsonObject): readonly string[];
  /** What may be shown to those who watch; null for a secret. Without it they see neither inputs nor answers. */
  readonly shown?: ShownForms;
  /** It holds private values: variables, inputs of calls and replies are sealed before they are stored. @default false */
  readonly isPrivate?: boolean;
  /** The texts of the private values in a context: what the error of a service may quote, and no log may hold. */
  privateIn?(context: JsonObject): readonly string[];
  /** The language of its texts, for those who count turns. @default they do not tell languages apart */
  language?(context: JsonObject): string;
  /** Milliseconds of silence after which a session is forgotten, where that is sooner than the engine's. */
  readonly ttlMs?: number;
  /** Its memory of callers. @default it begins anew each time */
  readonly keeping?: Keeping;
  /** A rest of an older version in terms of this one, or undefined when it has no place here. */
  migrate?(rest: AtRest, from: { version: number; hash: string }): AtRest | undefined;
}

/** The conversations that are loaded: the current version of each, and older ones for sessions that began on them. */
export interface Library<C extends Conversation = Conversation> {
  readonly ids: readonly string[];
  /** Makes this the current version; the one before stays for its sessions. */
  add(conversation: C): void;
  /** No session begins with it any more; those that run keep their version. What is not there is left alone. */
  retire(id: string): void;
  current(id: string): C | undefined;
  exact(id: string, version: number, hash: string): C | undefined;
}

/**
 * Makes a library of these conversations; of several versions of one, the last is current.
 * @example
 * const conversations = library([compileFlow(await loadFlow('hello.flow.json'))]);
 * conversations.ids; // → ['hello']
 * conversations.current('hello')?.version; // → 1
 */
export function library<C extends Conversation = Conversation>(conversations: readonly C[] = []): Library<C> {
  requireGiven('make a library', { conversations }, { conversations: 'conversations' });
  const versions = new Map<string, C[]>();
  const retired = new Set<string>();
  const lib: Library<C> = {
    get ids() {
      return [...versions.keys()].filter((id) => !retired.has(id));
    },
    add: (next) => {
      retired.delete(next.id);
      const same = (other: C) => other.version === next.version && other.hash === next.hash;
      const older = (versions.get(next.id) ?? []).filter((other) => !same(other));
      versions.set(next.id, [next, ...older].slice(0, ENGINE_LIMITS.versionsKept + 1));
    },
    retire: (id) => {
      if (versions.has(id)) retired.add(id);
    },
    current: (id) => (retired.has(id) ? undefined : versions.get(id)?.[0]),
    exact: (id, version, hash) => versions.get(id)?.find((c) => c.version === version && c.hash === hash),
  };
  for (const conversation of conversations) lib.add(conversation);
  return lib;
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
  /** The caller was answered "please wait". */
  readonly waiting: boolean;
}

/** Receives what an engine does while somebody watches; see `inspectEngine`. */
export interface Inspector {
  /** Asked when a turn begins: while it is false, watching costs a turn no more than this question. */
  readonly isWatched: () => boolean;
  /** Called after the write; it must return at once. */
  readonly emit: (event: InspectionEvent) => void;
}

/** A trace while an inspector is open; undefined otherwise. */
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
  answer: ServiceAnswer,
  { conversation, id, service }: { conversation: Conversation; id: string; service: string },
): void {
  const outcome = answer.ok
    ? { output: conversation.shown?.output(id, answer.output) ?? null }
    : { code: answer.error.code };
  trace.answers.push({ call: id, service, outcome });
}
