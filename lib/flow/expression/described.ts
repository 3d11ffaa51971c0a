// What documents every part of the expression language, for messages, editors and the reference; tests run the examples.

import type { Json, JsonObject } from '../../json/json.ts';
import type { Calendar } from './days.ts';

/**
 * An expression or a text with placeholders, its result, and its variables. `lang` sets the language of a text.
 * @default English
 */
export type Example = readonly [source: string, gives: Json, given?: JsonObject];

export interface Described {
  /** Its syntax. */
  readonly usage: string;
  readonly doc: string;
  readonly examples: readonly Example[];
}

/** Argument names, in order, with their descriptions. */
export type Arguments = { readonly [name: string]: string };

/** Description and examples, one per line. */
export function describeUse({ doc, examples }: Described): string {
  return [doc, ...examples.map(([source, gives]) => `${source} gives ${JSON.stringify(gives)}`)].join('\n');
}

/** Aborts the evaluation; the problem names kinds of values, never values. */
export type Refuse = (problem: string) => never;

export interface ExpressionFunction extends Described {
  readonly args: Arguments;
  /** Minimum and maximum number of arguments. */
  readonly arity: readonly [least: number, most: number];
  readonly call: (args: readonly Json[], refuse: Refuse, at: Evaluation) => Json;
}

export interface Evaluation {
  readonly calendar: Calendar;
  readonly scope: JsonObject;
}
