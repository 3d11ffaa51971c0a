// A kind of screen: everything that the engine, lint, tests, diagrams and the reference know about it. Each kind is a file in this folder.

import type { EventObject } from 'xstate';
import type { Prove } from '../../engine/conversation.ts';
import type { JsonObject } from '../../json/json.ts';
import type { Expression } from '../expression/expression.ts';
import type { Finding, Problem } from '../format/problem.ts';
import type { SchemaPart } from '../format/schema.ts';
import type { NavigationKeys, Text, Values, Way } from '../format/way.ts';

/** The keys that every screen has. */
export interface AnyScreen {
  readonly type: string;
  /** `false`: back leads neither from this screen nor past it. A screen id: back leads there. */
  readonly back?: false | string;
  readonly track?: string;
  readonly note?: string;
}

/** The further key of screens that wait for an answer. */
export interface AskingScreen extends AnyScreen {
  /** Instead of the keys of the flow, on this screen. */
  readonly keys?: NavigationKeys;
}

export interface ScreenKind<S extends AnyScreen> {
  readonly schema: ScreenSchema;
  /** Whether the conversation waits here for the caller. */
  readonly waits: boolean;
  /** The screens that it leads to by itself or by an answer; not by back, home or exit. */
  targets(screen: S): readonly string[];
  /** Its state in the machine. */
  state(screen: S, place: ScreenPlace): StateConfig;
  /** What the caller sees, and how an answer is read. */
  behaviour(screen: S, scope: ScreenScope): Behaviour;
  /** Hands its texts, expressions, variables and ways to lint. */
  parts(screen: S, reader: PartReader): void;
  /** Lint rules that look at one screen of this kind. @default none */
  readonly rules?: readonly ScreenRule<S>[];
  /** The screen at its largest, with everything that a condition may hide. @default the screen itself */
  largest?(screen: S): S;
  /** What its card in a diagram shows. */
  card(screen: S): Card;
  /** The services that it calls. @default none */
  services?(screen: S): readonly ServiceUse[];
  /** Its transitions, in the order of its state, for diagrams and coverage. */
  steps(screen: S, place: Pick<ScreenPlace, 'path'>): readonly DrawnStep[];
  /** What editors say about a screen without a text. */
  summary?(screen: S): string;
}

/** A call of a service that a screen makes. */
export interface ServiceUse {
  /** From the screen to the call: none for the screen itself. */
  readonly steps: Steps;
  readonly service: string;
  readonly with?: Values | undefined;
  readonly timeout?: string | undefined;
  /** Its answer comes by a callback. */
  readonly isAnsweredLater?: true;
}

/** Its keys as JSON Schema. `npm run guides` writes them into `menus/flow.schema.json`. */
export interface ScreenSchema {
  /** A sentence for lists of kinds. */
  readonly about: string;
  readonly description: string;
  /** Required keys besides `type`. */
  readonly required: readonly string[];
  /** All keys but those of {@link AskingScreen}; see {@link ScreenKeys}. */
  readonly properties: { readonly [key: string]: SchemaPart };
  /** Further definitions of the schema, by name. */
  readonly definitions?: { readonly [name: string]: SchemaPart };
  /** The body that editors insert; `$1`, `$2` … are places to fill in. */
  readonly snippet: JsonObject;
}

/** A schema for every key of a type, so that the compiler reports one that is missing. */
export type ScreenKeys<S> = { readonly [key in Exclude<keyof S, keyof AskingScreen>]-?: SchemaPart };

/** A machine state, or a part of one, as plain JSON. */
export type StateConfig = { readonly [key: string]: unknown };

/** Where a screen is. */
export interface ScreenPlace {
  readonly id: string;
  /** Its state: `pin`, or `login.pin` of the called flow `login`. */
  readonly path: string;
  /** Name of the flow. */
  readonly flow: string;
  /** Another flow calls this one, and goes on when it has ended. */
  readonly isCalled: boolean;
  /** {@link ScreenKind.waits} of this screen. */
  readonly waits: boolean;
  /** The target of a transition to another screen of the flow. */
  target(id: string): string;
  /** Whether nothing behind that screen is remembered (`back: false`). */
  isWall(id: string): boolean;
  /** Whether a way of the flow may refuse its answer later. */
  readonly isRefusable: boolean;
}

/** A text in all languages of its flow. */
export interface Phrase {
  render(scope: JsonObject, lang: string): string;
}

/** What a behaviour is compiled with. */
export interface ScreenScope {
  /** The languages of the flow; the first is that of callers without one of them. */
  readonly langs: readonly string[];
  readonly labels: { readonly [label in 'invalid' | 'refused']: Phrase };
  phrase(text: Text): Phrase;
  expression(source: string): Expression;
  /** Whether the last answer on this screen was refused: its error is shown above the text. */
  isRefused(context: JsonObject): boolean;
  /** The words of the way that has refused the last answer, where one did. */
  findRefusal(context: JsonObject): Phrase | undefined;
  /** Whether a variable lives only inside the turn. */
  isSecret(name: string): boolean;
  /** The caller's language. */
  findLang(context: JsonObject): string;
  /** The caller's time zone, if one is known. */
  findZone(context: JsonObject): string | undefined;
}

export interface Behaviour {
  /** The text above the lines; may have several lines itself. */
  print(context: JsonObject, lang: string): string;
  /** The lines, from top to bottom. @default none */
  lines?(context: JsonObject): readonly ScreenLine[];
  /** The event for an answer that is none of the screen's keys. @default it is refused */
  read?(answering: Answering): EventObject;
  /** Whether the caller chooses here: exit has a line, and home works without one. */
  readonly listsExit: boolean;
}

/** A line of a screen. It is split across pages only if it is longer than one. */
export interface ScreenLine {
  /** Without its key; rendered only where the line is printed. */
  readonly text: Phrase;
  /** What pressing its key does; without it the line has no key. */
  readonly event?: EventObject;
  /** The key that the author chose. @default the next number that is free on this screen */
  readonly key?: string | undefined;
  /** Works by its key, and has no line. */
  readonly hidden?: boolean;
  /** Printed below the others on every page. */
  readonly stays?: boolean;
}

export interface Answering {
  /** Cleaned, and with its digits as they were typed. */
  readonly input: string;
  /** The same in the digits 0–9. */
  readonly key: string;
  readonly context: JsonObject;
  readonly prove: Prove;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Takes what lint checks. `steps` lead from the screen to the value: `'options', 0, 'text'`. */
export interface PartReader {
  text(steps: Steps, text: Text | undefined, also?: readonly string[]): void;
  /** An expression that gives a list. */
  items(steps: Steps, source: string): void;
  /** `also` are names that they can use besides the variables. */
  values(
    steps: Steps,
    values: Values | undefined,
    into: 'service' | 'task' | 'output' | 'bound',
    also?: readonly string[],
  ): void;
  /** Variables that get values; `of` names the called flow whose variables they are. */
  set(steps: Steps, values: Values | undefined, of?: string): void;
  /** The name of a variable that keeps something. */
  save(steps: Steps, name: string | undefined): void;
  /** The id of a screen. */
  target(steps: Steps, id: string | undefined): void;
  way(steps: Steps, way: Omit<Way, 'track'>): void;
  /** `also` are names that the conditions can use besides the variables. */
  ways(steps: Steps, ways: string | readonly Way[], also?: readonly string[]): void;
}
export type Steps = readonly (string | number)[];

export interface ScreenRule<S> {
  readonly code: string;
  readonly severity: Problem['severity'];
  /** What is wrong, in a few words. */
  readonly means: string;
  find(screen: S, at: RulePlace): Iterable<Finding>;
}

export interface RulePlace {
  readonly id: string;
  /** JSON pointer to a value of the screen. */
  pointer(...steps: Steps): string;
}

export interface Card {
  readonly text?: Text;
  readonly rows?: readonly { readonly sign: string; readonly text: Text }[];
  readonly chips?: readonly CardChip[];
}

export interface CardChip {
  readonly sign: 'service' | 'time' | 'more' | 'ends';
  readonly text: string;
  readonly events?: readonly string[];
}

export interface DrawnStep {
  readonly to: string;
  /** The machine's name for it. */
  readonly event: string;
  /** A short description. */
  readonly label: string;
  /** The guard, in full. */
  readonly guard?: string;
  /** Its name in the coverage of tests, after the screen's. */
  readonly mark: string;
  readonly role: 'on' | 'error';
}

/** The behaviour of screens that show nothing and do not wait. */
export const SILENT = (): Behaviour => ({ listsExit: false, print: () => '' });
