// The types of a flow: the content of a <name>.flow.json file that conforms to the schema.

import type { Json } from '../../json/json.ts';
import type { Screen } from '../screens/kinds.ts';
import { type NavigationKey, type NavigationKeys, nameWay, type Text, type Values, type Way } from './way.ts';

export type { FlowScreen } from '../screens/flow.ts';
export type { InputScreen } from '../screens/input.ts';
export type { Screen, ScreenType } from '../screens/kinds.ts';
export type { ListScreen } from '../screens/list.ts';
export type { Option, OptionWords } from '../screens/option.ts';
export type { NavigationKey, NavigationKeys, Text, Value, Values, Way } from './way.ts';

/** The declaration of a variable. */
export interface Variable {
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array';
  readonly default?: Json;
  /** Longest value in characters (a longer string is cut) or items (a longer array is refused). */
  readonly max?: number;
  /** A realistic value for lint and diagrams. */
  readonly sample?: Json;
  /** Exists only during a turn: never stored, logged or shown. */
  readonly secret?: boolean;
  /** Personal data: sealed in the store; masked in the inspector, logs, recordings and saved tests. */
  readonly private?: boolean;
  /** How long after its last change the value is there at the next dial, as in `400d`. */
  readonly keep?: string;
}

const KINDS: { readonly [type in Variable['type']]: (value: Json) => boolean } = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && !Array.isArray(value),
};

/** Whether a value that is not null is of the kind and size of a variable. */
export function holdsValue({ type, max = Infinity }: Pick<Variable, 'type' | 'max'>, value: Json): boolean {
  const length = typeof value === 'string' || Array.isArray(value) ? value.length : 0;
  return KINDS[type](value) && length <= max;
}

export interface Migration {
  /** Old screen id → screen id of this version. */
  readonly screens?: { readonly [old: string]: string };
  readonly set?: Values;
  readonly drop?: readonly string[];
}

/** The texts that the engine adds to screens. */
export type Label =
  | 'back'
  | 'home'
  | 'more'
  | 'exit'
  | 'invalid'
  | 'refused'
  | 'goodbye'
  | 'resume'
  | 'continue'
  | 'restart';

/** A flow, as read from a valid file. */
export interface Flow {
  readonly $schema?: string;
  readonly flow: string;
  readonly version: number;
  readonly start: string;
  readonly langs?: readonly string[];
  /** Where its days begin, unless the variable `timezone` says otherwise. */
  readonly timezone?: string;
  readonly keys?: NavigationKeys;
  readonly limits?: {
    readonly chars?: number;
    readonly charset?: 'gsm7' | 'any';
    readonly session?: string;
    readonly resume?: string;
  };
  readonly vars?: { readonly [name: string]: Variable };
  readonly labels?: { readonly [label in Label]?: Text };
  /** Shown while a call takes longer than a turn. */
  readonly wait?: Text;
  readonly screens: { readonly [id: string]: Screen };
  readonly migrate?: { readonly [version: string]: Migration };
  readonly note?: string;
}

export type Keys = { readonly [key in NavigationKey]: string | false };

export const DEFAULT_KEYS: Keys = { back: '0', home: '00', more: '98', exit: false };

/** The navigation keys of a screen: its own before those of its flow. */
export function keysOn(screen: Screen, keys: Keys): Keys {
  return 'keys' in screen && screen.keys ? { ...keys, ...screen.keys } : keys;
}

/** Names of screens and variables; other names break XState's addressing or JavaScript objects. */
export const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

export function isName(name: string): boolean {
  return NAME.test(name) && !(name in Object.prototype);
}

/** Ways of a flow that refuse an answer after it was accepted, with a name for each. */
export function listRefusals({
  screens,
}: Flow): { readonly name: string; readonly to: string; readonly error: Text }[] {
  return Object.entries(screens).flatMap(([id, screen]) =>
    (['done', 'fail', 'branch'] as const).flatMap((slot) => {
      const ways = (screen as { readonly [slot in 'done' | 'fail' | 'branch']?: string | readonly Way[] })[slot];
      return typeof ways === 'object'
        ? ways.flatMap(({ to, error }, at) => (error === undefined ? [] : [{ name: nameWay(id, slot, at), to, error }]))
        : [];
    }),
  );
}

const EXITS = ['bye', 'goodbye', 'exit'];

/** The `end` screen that the exit key leads to: `bye`, `goodbye` or `exit`; without one the label `goodbye` is shown. */
export function findExitScreen(flow: Flow): string | undefined {
  return EXITS.find((id) => Object.hasOwn(flow.screens, id) && flow.screens[id]!.type === 'end');
}

/** The flows that a flow calls itself, by name. */
export function listCalled({ screens }: Pick<Flow, 'screens'>): string[] {
  return [...new Set(Object.values(screens).flatMap((screen) => (screen.type === 'flow' ? [screen.flow] : [])))];
}

/** The flows that a flow calls, directly or through others, by name. */
export function listFlowsBelow(flow: Pick<Flow, 'screens'>, flows: ReadonlyMap<string, Flow>): Set<string> {
  const below = new Set(listCalled(flow));
  for (const name of below) {
    const called = flows.get(name);
    for (const next of called ? listCalled(called) : []) below.add(next);
  }
  return below;
}
