// A moment: a stored turn or step as the inspector shows it, already masked, so that it may go to any viewer and instance.

import type { StateValue } from 'xstate';
import type { InspectionEvent, TurnInspection } from '../../../lib/engine/inspection.ts';
import { pathOf } from '../../../lib/flow/run/scope.ts';
import { shortMac } from '../../../lib/keyring.ts';
import type { Json, JsonObject } from '../../../lib/store/store.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { lifecycleContext, shortened, withoutNumbers, withoutTexts } from './mask.ts';

/** Whose machine it is. */
export interface Who {
  /** The same on all instances; tells nothing about the key of the session. */
  readonly actor: string;
  /** Where it comes from: `ussd`, `agent`, or the kind of the document. */
  readonly door: string;
  /** The session's id, shortened where it holds a phone number. */
  readonly label: string;
  readonly caller?: string;
}

/** An event that was taken, between the paths of two states. */
export type Edge = { readonly event: string; readonly from: string | null; readonly to: string };

/** What was typed on a screen; null where it was a secret. */
export type Typed = { readonly text: string | null; readonly at: string };

export interface Moment extends Who {
  /** The moments of one instance count up. */
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
  readonly born?: number;
  /** The screen that was answered with. */
  readonly reply?: string;
  readonly waiting?: boolean;
  readonly typed?: readonly Typed[];
  readonly answers?: TurnInspection['answers'];
}

/** Names sessions for viewers. */
export function whoIs(key: string, door: JsonObject, secret: Buffer): Who {
  const [, kind = '', rest = ''] = /^([^:/]*)[:/](.*)$/s.exec(key) ?? [];
  const { sessionId, phoneNumber } = door;
  return {
    actor: shortMac(secret, [key]),
    door: kind,
    label: shortened(typeof sessionId === 'string' ? sessionId : rest),
    ...(typeof phoneNumber === 'string' && { caller: shortened(phoneNumber) }),
  };
}

/** An inspection event as it may be shown. */
export function momentOf(event: InspectionEvent, { id, secret }: { id: string; secret: Buffer }): Moment {
  const { machine, version, kind, at, rest, ended, transitions, turn } = event;
  const who = whoIs(event.key, turn?.door ?? {}, secret);
  const moment: Moment = {
    ...who,
    id,
    machine,
    version,
    kind,
    at,
    edges: transitions.map(({ event, from, to }) => ({
      event,
      from: from === null ? null : pathOf(from),
      to: pathOf(to),
    })),
    state: pathOf(rest.state),
    value: rest.state,
    context: shownContext(event, who),
    ended,
    ...(turn && shownTurn(turn, isChat(who))),
  };
  if (JSON.stringify(moment).length <= PAGE_LIMITS.inspectorMomentChars) return moment;
  const { answers: _, ...smaller } = moment;
  return { ...smaller, context: { $left: 'the context is too large to be shown' } };
}

/** What people write to the agent is theirs. */
export const isChat = ({ door }: Pick<Who, 'door'>): boolean => door === 'agent';

function shownContext({ kind, machine, rest: { context } }: InspectionEvent, who: Who): JsonObject {
  if (kind === 'step') return withoutNumbersIn(lifecycleContext(machine, context));
  return (isChat(who) ? withoutTexts(context) : withoutNumbers(context)) as JsonObject;
}

// Times in lifecycles are large numbers: there only texts can hold phone numbers.
function withoutNumbersIn(context: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(context), (_name, value: Json) =>
    typeof value === 'string' ? shortened(value) : value,
  ) as JsonObject;
}

function shownTurn(
  { startedAt: born, reply, waiting, typed, answers }: TurnInspection,
  chat: boolean,
): Partial<Moment> {
  if (chat) return { born, waiting };
  return {
    born,
    waiting,
    typed: typed.map(({ text, at }) => ({ text: text === null ? null : shortened(text), at: pathOf(at) })),
    answers: answers.map(({ outcome, ...call }) => ({
      ...call,
      outcome: 'code' in outcome ? outcome : { output: withoutNumbers(outcome.output) },
    })),
    ...(reply !== undefined && { reply: shortened(reply) }),
  };
}
