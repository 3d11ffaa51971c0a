// What is said of a part of the language: in messages, in proposals of editors, and in the reference. Tests run the examples.

import type { Json, JsonObject } from '../../store/store.ts';

/**
 * An expression or a text with placeholders, what comes of it, and the variables that it reads. `lang` of those is the
 * language of a text; without it English.
 */
export type Example = readonly [source: string, gives: Json, given?: JsonObject];

export interface Described {
  /** How it is written. */
  readonly usage: string;
  readonly doc: string;
  readonly examples: readonly Example[];
}

/** What a function or a filter takes, by the names of its arguments in their order. */
export type Arguments = { readonly [name: string]: string };

/** What it does, and its examples, one thing in a line. */
export function describeUse({ doc, examples }: Described): string {
  return [doc, ...examples.map(([source, gives]) => `${source} gives ${JSON.stringify(gives)}`)].join('\n');
}
