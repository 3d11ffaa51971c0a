// A flow as its author writes it: the shape of a <name>.flow.json file after the schema has accepted it.

import type { Json } from '../../json/json.ts';

/** One text for all languages, or one per language. */
export type Text = string | { readonly [lang: string]: string };

/** A JSON value; a string that begins with `=` is an expression. */
export type Value = Json;
export type Values = { readonly [name: string]: Value };

/** A variable as a flow declares it. */
export interface Variable {
  readonly type: 'string' | 'number' | 'boolean' | 'object' | 'array';
  readonly default?: Json;
  /** Longest value in characters (string) or items (array). */
  readonly max?: number;
  /** What lint and diagrams show in its place. */
  readonly sample?: Json;
  /** Lives only inside the turn: never stored, logged or shown. */
  readonly secret?: boolean;
  /** Of the caller alone: sealed where it is stored, masked for those who watch and in logs, recordings and saved tests. */
  readonly private?: boolean;
}

/** One way out of a screen. The first whose `when` holds is taken; the last has no `when`. */
export interface Way {
  readonly when?: string;
  readonly set?: Values;
  readonly to: string;
  readonly track?: string;
}

export interface Option extends Omit<Way, 'track'> {
  readonly id: string;
  readonly text: Text;
  /** What the caller types instead of the number. */
  readonly key?: string;
  /** Works by its `key`, and has no line. */
  readonly hidden?: boolean;
  readonly track?: string;
}

interface AnyScreen {
  /** `false`: back leads neither from this screen nor past it. A screen id: back leads there. */
  readonly back?: false | string;
  readonly track?: string;
  readonly note?: string;
}

export interface MenuScreen extends AnyScreen {
  readonly type: 'menu';
  readonly text: Text;
  readonly options: readonly Option[];
  readonly error?: Text;
}

export interface InputScreen extends AnyScreen {
  readonly type: 'input';
  readonly text: Text;
  readonly save: string;
  readonly to: string;
  readonly accept?: { readonly [rule: string]: Json };
  readonly error?: Text;
  /** Refused answers before `else`. */
  readonly attempts?: number;
  readonly else?: string;
  readonly set?: Values;
}

export interface ListScreen extends AnyScreen {
  readonly type: 'list';
  readonly text: Text;
  /** An expression that gives an array. */
  readonly items: string;
  /** What one item looks like; the item is `row`. */
  readonly row: Text;
  readonly empty?: Text;
  readonly error?: Text;
  readonly pick?: { readonly save?: string; readonly to: string; readonly set?: Values; readonly track?: string };
}

export interface CallScreen extends AnyScreen {
  readonly type: 'call';
  readonly service: string;
  readonly with?: Values;
  readonly save?: string;
  /** Such as `3s` or `800ms`. */
  readonly timeout?: string;
  /** Tries after the first. */
  readonly retry?: number;
  readonly done: string | readonly Way[];
  readonly fail: string | readonly Way[];
}

export interface BranchScreen extends AnyScreen {
  readonly type: 'branch';
  readonly branch: readonly Way[];
}

export interface FlowScreen extends AnyScreen {
  readonly type: 'flow';
  readonly flow: string;
  readonly with?: Values;
  readonly save?: string;
  readonly done: string | readonly Way[];
}

export interface EndScreen extends AnyScreen {
  readonly type: 'end';
  readonly text: Text;
  /** What a calling flow gets. */
  readonly output?: Values;
}

/** A screen of a flow, of any type. */
export type Screen = MenuScreen | InputScreen | ListScreen | CallScreen | BranchScreen | FlowScreen | EndScreen;
/** The types of screens; the list is closed. */
export type ScreenType = Screen['type'];

export interface Migration {
  /** Old screen id → screen id of this version. */
  readonly screens?: { readonly [old: string]: string };
  readonly set?: Values;
  readonly drop?: readonly string[];
}

/** The texts that the engine adds to screens. */
export type Label = 'back' | 'home' | 'more' | 'exit' | 'invalid' | 'goodbye';

/** A flow file that has been read and checked. */
export interface Flow {
  readonly $schema?: string;
  readonly flow: string;
  readonly version: number;
  readonly start: string;
  readonly langs?: readonly string[];
  readonly keys?: { readonly [key in NavigationKey]?: string | false };
  readonly limits?: { readonly chars?: number; readonly charset?: 'gsm7' | 'any'; readonly session?: string };
  readonly vars?: { readonly [name: string]: Variable };
  readonly labels?: { readonly [label in Label]?: Text };
  /** Shown while a call takes longer than a turn may. */
  readonly wait?: Text;
  readonly screens: { readonly [id: string]: Screen };
  readonly migrate?: { readonly [version: string]: Migration };
  readonly note?: string;
}

export type NavigationKey = 'back' | 'home' | 'more' | 'exit';
export type Keys = { readonly [key in NavigationKey]: string | false };

export const DEFAULT_KEYS: Keys = { back: '0', home: '00', more: '98', exit: false };

/** Names of screens and variables; other names break XState's addressing or JavaScript objects. */
export const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

export function isName(name: string): boolean {
  return NAME.test(name) && !(name in Object.prototype);
}

/** The screens that a screen can lead to by itself or by an answer; not by back, home or exit. */
export function listTargets(screen: Screen): string[] {
  const ways = (way: string | readonly Way[]) => (typeof way === 'string' ? [way] : way.map((w) => w.to));
  switch (screen.type) {
    case 'menu':
      return screen.options.map((option) => option.to);
    case 'input':
      return screen.else === undefined ? [screen.to] : [screen.to, screen.else];
    case 'list':
      return screen.pick ? [screen.pick.to] : [];
    case 'call':
      return [...ways(screen.done), ...ways(screen.fail)];
    case 'branch':
      return ways(screen.branch);
    case 'flow':
      return ways(screen.done);
    case 'end':
      return [];
  }
}

/** A screen on which the conversation waits for the caller. */
export function isInteractive(screen: Screen): boolean {
  return screen.type === 'menu' || screen.type === 'input' || screen.type === 'list';
}

const EXITS = ['bye', 'goodbye', 'exit'];

/** The `end` screen that the exit key leads to: `bye`, `goodbye` or `exit`; without one the label `goodbye` is shown. */
export function findExitScreen(flow: Flow): string | undefined {
  return EXITS.find((id) => Object.hasOwn(flow.screens, id) && flow.screens[id]!.type === 'end');
}

/** Milliseconds of `800ms`, `3s` or `2m`, or undefined when it is none of these. */
export function durationMs(text: string): number | undefined {
  const match = /^(\d{1,7})(ms|s|m)$/.exec(text);
  const unit = { ms: 1, s: 1_000, m: 60_000 } as const;
  return match ? Number(match[1]) * unit[match[2] as keyof typeof unit] : undefined;
}
