// What a step of XState asks for, as data: calls, timers, events of its own and facts. What could not be kept is an error.

import type { AnyActorRef, EventObject } from 'xstate';
import { TwinlineError } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { findLoss, tellLoss } from '../../json/lossless.ts';

/** What a step asks the engine to do; nothing has been done yet. */
export type Effect =
  | CallEffect
  /** Without an id it cannot be cancelled, and never takes the place of another. */
  | { readonly type: 'timer'; readonly id?: string; readonly delayMs: number; readonly event: EventObject }
  | { readonly type: 'cancel'; readonly id: string }
  /** The answer of a call is not wanted any more. */
  | { readonly type: 'stop'; readonly id: string }
  | { readonly type: 'send'; readonly event: EventObject }
  | { readonly type: 'fact'; readonly name: string; readonly params: Json };

export interface CallEffect {
  readonly type: 'call';
  readonly id: string;
  readonly service: string;
  readonly input: Json;
}

/** An action of XState that is to be executed. */
export interface ActionRecord {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: XState's executable actions carry parameters of every shape
  readonly params: any;
}

export interface EffectOptions {
  readonly machine: string;
  readonly self: AnyActorRef;
  /** By the id of the invoke. */
  readonly services: ReadonlyMap<string, ReadonlySet<string>>;
}

const EFFECTS: {
  [type: string]: (params: ActionRecord['params'], options: EffectOptions) => Effect | undefined;
} = {
  'xstate.spawnChild': (p, { machine, services }) => {
    if (!services.get(p.id)?.has(p.src)) throw droppedError(machine, 'spawns a child');
    return { type: 'call', id: p.id, service: String(p.src), input: readInput(p, machine) };
  },
  'xstate.stopChild': (p) => p && { type: 'stop', id: p.id },
  'xstate.raise': (p, { machine }) => (typeof p.delay === 'number' ? makeTimer(p, machine) : undefined),
  'xstate.sendTo': (p, { self, machine }) => {
    if (p.to !== self) throw droppedError(machine, 'sends to another actor');
    return typeof p.delay === 'number' ? makeTimer(p, machine) : { type: 'send', event: p.event };
  },
  'xstate.cancel': (p) => ({ type: 'cancel', id: String(p.sendId) }),
  'xstate.assign': () => undefined,
  'xstate.log': ({ label, value }) => ({
    type: 'fact',
    name: 'xstate.log',
    params: { ...(label && { label }), value },
  }),
  'xstate.emit': (p) => ({ type: 'fact', name: p.event.type, params: p.event }),
};

/** The error of a step that asks for what could not be kept, where only the step itself tells. */
export function droppedError(machine: string, what: string): TwinlineError {
  return new TwinlineError(
    'ERR_MACHINE',
    `Machine "${machine}" ${what}, which cannot be kept between two events. Invoke a service by its name, or a fromPromise; a machine sends only to itself.`,
  );
}

// A service that is given nothing gets `{}`: most take named values.
export function readInput(
  { id, input = {} }: { readonly id: string; readonly input?: unknown },
  machine: string,
): Json {
  checkLossless(machine, `the input of its call "${id}"`, input, { keepsUndefined: true });
  return input as Json;
}

function makeTimer({ id, delay, event }: { id?: unknown; delay: number; event: EventObject }, machine: string): Effect {
  if (id !== undefined && typeof id !== 'string')
    throw new TwinlineError(
      'ERR_MACHINE',
      `Machine "${machine}" delays "${event.type}" with the id ${String(id)}; an id is a text.`,
    );
  checkLossless(machine, `its delayed event "${event.type}"`, event);
  return { type: 'timer', ...(id !== undefined && { id }), delayMs: delay, event };
}

/** Throws ERR_MACHINE where JSON would change the value. */
export function checkLossless(
  machine: string,
  what: string,
  value: unknown,
  options?: { keepsUndefined: boolean },
): void {
  const loss = findLoss(value, options);
  if (!loss) return;
  throw new TwinlineError('ERR_MACHINE', `Machine "${machine}" cannot be stored: ${what} holds ${tellLoss(loss)}`);
}

/** What the actions of a step ask for. Throws ERR_MACHINE where that cannot be kept. */
export function listEffects(actions: readonly ActionRecord[], options: EffectOptions): Effect[] {
  const effects: Effect[] = [];
  for (const { type, params } of actions) {
    const makeEffect = Object.hasOwn(EFFECTS, type) ? EFFECTS[type] : undefined;
    const effect: Effect | undefined = makeEffect
      ? makeEffect(params, options)
      : { type: 'fact', name: type, params: params ?? null };
    if (effect) effects.push(effect);
  }
  return effects;
}
