// Turns, steps and sessions as the inspector shows them: masked, so that they may go to any viewer and instance.

import type { StateValue } from 'xstate';
import type { InspectionEvent, TurnInspection } from '../engine/conversation.ts';
import type { Engine } from '../engine/engine.ts';
import { joinPaths, splitPath, toPath } from '../engine/machine/state-path.ts';
import type { Transition } from '../engine/machine/step.ts';
import { type ShownSession, sessionKeys, showSession } from '../engine/sessions.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { type Keyring, shortMac } from '../keyring.ts';
import { INSPECTION_LIMITS } from './limits.ts';

/** Whose machine it is. */
export interface Identity {
  /** The same on all instances; tells nothing about the key of the session. */
  readonly actor: string;
  /** Where it comes from: `ussd`, `agent`, or the kind of the document. */
  readonly door: string;
  /** The session's id, masked where it holds a phone number. */
  readonly label: string;
  readonly caller?: string;
}

/** An event that was taken, between the paths of two states. */
export type Edge = { readonly event: string; readonly from: string | null; readonly to: string };

/** What was typed on a screen; null where it was a secret. */
export type Typed = { readonly text: string | null; readonly at: string };

export interface TraceEvent extends Identity {
  /** Events of one instance are numbered upwards. */
  readonly id: string;
  readonly machine: string;
  readonly version: number;
  readonly kind: InspectionEvent['kind'];
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly edges: readonly Edge[];
  readonly state: string;
  readonly value: StateValue;
  readonly context: JsonObject;
  readonly ended: boolean;
  readonly startedAt?: number;
  /** The screen that was answered with. */
  readonly reply?: string;
  readonly waiting?: boolean;
  readonly typed?: readonly Typed[];
  readonly answers?: TurnInspection['answers'];
}

/** The name of a session in the inspector, the log and the audit log: the same on all instances; tells nothing about its key. */
export const nameSession = (secret: Buffer, key: string): string => shortMac(secret, [key]);

/** The secret behind these names; of an older key where its id is given. */
export const sessionSecret = (keyring: Keyring, kid?: string): Buffer => keyring.subkey('inspector/v1', kid)!;

/** Names sessions for viewers. */
export function identify(key: string, door: JsonObject, secret: Buffer): Identity {
  const [, kind = '', rest = key] = /^([^:/]*)[:/](.*)$/s.exec(key) ?? [];
  const { sessionId, phoneNumber } = door;
  return {
    actor: nameSession(secret, key),
    door: kind,
    label: maskNumbers(typeof sessionId === 'string' ? sessionId : rest),
    ...(typeof phoneNumber === 'string' && { caller: maskNumbers(phoneNumber) }),
  };
}

/** An inspection event as it may be shown. */
export function maskEvent(event: InspectionEvent, { id, secret }: { id: string; secret: Buffer }): TraceEvent {
  const { machine, version, kind, at, rest, ended, transitions, turn } = event;
  const who = identify(event.key, turn?.door ?? {}, secret);
  const traced: TraceEvent = {
    ...who,
    id,
    machine,
    version,
    kind,
    at,
    edges: transitions.map(describeEdge),
    state: toPath(rest.state),
    value: rest.state,
    context: maskContext(event, who),
    ended,
    ...(turn && maskTurn(turn, isChat(who))),
  };
  if (JSON.stringify(traced).length <= INSPECTION_LIMITS.inspectorMomentChars) return traced;
  const { answers: _, ...smaller } = traced;
  return { ...smaller, context: { $left: 'the context is too large to be shown' } };
}

// Of the states beside each other, those that the event has changed; all of them where it has changed none.
function describeEdge({ event, from, to }: Transition): Edge {
  if (from === null) return { event, from, to: toPath(to) };
  const [before, after] = [splitPath(toPath(from)), splitPath(toPath(to))];
  const changed = (paths: readonly string[], others: readonly string[]) => {
    const some = paths.filter((path) => !others.includes(path));
    return joinPaths(some.length ? some : paths);
  };
  return { event, from: changed(before, after), to: changed(after, before) };
}

/** What people write to the agent is theirs. */
export const isChat = ({ door }: Pick<Identity, 'door'>): boolean => door === 'agent';

function maskContext({ kind, machine, rest: { context } }: InspectionEvent, who: Identity): JsonObject {
  if (kind === 'step') return maskTextNumbers(lifecycleContext(machine, context));
  return (isChat(who) ? maskTexts(context) : maskNumbersIn(context)) as JsonObject;
}

// Times in lifecycles are large numbers: there only texts can hold phone numbers.
function maskTextNumbers(context: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(context), (_name, value: Json) =>
    typeof value === 'string' ? maskNumbers(value) : value,
  ) as JsonObject;
}

function maskTurn({ startedAt, reply, waiting, typed, answers }: TurnInspection, chat: boolean): Partial<TraceEvent> {
  if (chat) return { startedAt, waiting };
  return {
    startedAt,
    waiting,
    typed: typed.map(({ text, at }) => ({ text: text === null ? null : maskNumbers(text), at: toPath(at) })),
    answers: answers.map(({ outcome, ...call }) => ({
      ...call,
      outcome: 'code' in outcome ? outcome : { output: maskNumbersIn(outcome.output) },
    })),
    ...(reply !== undefined && { reply: maskNumbers(reply) }),
  };
}

/** Stands for a character that is not shown. */
export const DOT = '•';

const NUMBER = /(?<![\d.])\+?\d{9,15}(?![\d.])/g;
const SHOWN_BEFORE = 5;
const SHOWN_BEHIND = 2;

/** Shortens every phone number in a text: `+2607•••••45`. Any other run of 9 to 15 digits looks like one, too. */
export function maskNumbers(text: string): string {
  return text.replace(NUMBER, (number) => {
    const length = number.length - SHOWN_BEFORE - SHOWN_BEHIND;
    return number.slice(0, SHOWN_BEFORE) + DOT.repeat(length) + number.slice(-SHOWN_BEHIND);
  });
}

/** A value with all phone numbers masked, in names, texts and numbers. */
export function maskNumbersIn(value: Json): Json {
  return mapText(value, maskNumbers);
}

/** A value without any of its texts: how much of what there is, and nothing that was typed or written. */
export function maskTexts(value: Json): Json {
  return mapText(value, (text) => DOT.repeat(Math.min(text.length, 8)));
}

function mapText(value: Json, text: (text: string) => string): Json {
  if (typeof value === 'string') return text(value);
  // A phone number that a service gave as a number.
  if (typeof value === 'number') return Math.abs(value) < 1e8 ? value : text(String(value));
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => mapText(item, text));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, item]) => [maskNumbers(name), mapText(item, text)]),
  );
}

/** Of the lifecycles that keep sealed tokens or what users say: the fields that may be seen. Others are shown whole. */
const SEEN: { readonly [machine: string]: readonly string[] } = {
  delegation: ['expiresAt', 'storedAt'],
  'agent-stream': ['session', 'turn', 'inLine', 'fence', 'leaseUntil', 'claims', 'abortRequested', 'endedAt', 'sealed'],
};

/** The context of a lifecycle as it may be shown. */
export function lifecycleContext(machine: string, context: JsonObject): JsonObject {
  const seen = Object.hasOwn(SEEN, machine) ? SEEN[machine] : undefined;
  return seen ? Object.fromEntries(Object.entries(context).filter(([name]) => seen.includes(name))) : context;
}

/** A session without its last events: they were not recorded. `reply` is missing for chats. */
export type OpenSession = Pick<
  TraceEvent,
  'actor' | 'door' | 'label' | 'caller' | 'machine' | 'version' | 'state' | 'value' | 'context' | 'startedAt' | 'reply'
>;

/** Living sessions of phones and chats in key order, at most INSPECTION_LIMITS.inspectorSessions. */
export async function* listOpenSessions(
  engine: Engine,
  { secret, signal }: { secret: Buffer; signal: AbortSignal },
): AsyncGenerator<OpenSession> {
  const keys = await sessionKeys(engine, { prefix: '', limit: INSPECTION_LIMITS.inspectorSessions });
  for (const key of keys) {
    if (signal.aborted) return;
    const view = await showSession(engine, key);
    if (view) yield maskSession(key, view, secret);
  }
}

/** A stored session as it may be shown. */
export function maskSession(
  key: string,
  { conversation, version, startedAt, rest, door, reply }: ShownSession,
  secret: Buffer,
): OpenSession {
  const who = identify(key, door, secret);
  const masked = isChat(who) ? maskTexts : maskNumbersIn;
  const state = toPath(rest.state);
  const context = masked(rest.context) as JsonObject;
  const session = { ...who, machine: conversation, version, state, value: rest.state, context, startedAt };
  return isChat(who) ? session : { ...session, reply: maskNumbers(reply()) };
}
