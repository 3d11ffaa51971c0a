// Steps: the intermediate form between flows of RapidPro and screens. Steps refer to each other by key.

import type { OptionWords, Values } from '../../format/flow.ts';

/** A template in each language. */
export type Words = { readonly [lang: string]: string };

/** Texts, and values to assign before showing them. */
export interface WordsWithValues {
  readonly words: Words;
  readonly values: Values;
}

/** Key of a step; undefined for the end. */
export type Next = string | undefined;

interface AnyStep {
  /** Id of the source node. */
  readonly node: string;
  /** Preferred name of its screen. */
  readonly name: string;
}

/** A way to another step, with assignments. */
export interface StepWay {
  readonly when?: string;
  readonly set?: Values;
  readonly next: Next;
}

export interface StepOption extends StepWay {
  readonly id: string;
  readonly text: Words;
  readonly key?: string;
  readonly words?: OptionWords;
  readonly hidden?: boolean;
}

/** Shows a text above the next screen, or `waits` for the caller. */
export interface Say extends AnyStep {
  readonly kind: 'say';
  readonly said: WordsWithValues;
  readonly waits: boolean;
  readonly next: Next;
}

export interface Assign extends AnyStep {
  readonly kind: 'assign';
  readonly values: Values;
  readonly next: Next;
}

export interface Choose extends AnyStep {
  readonly kind: 'choose';
  readonly said: WordsWithValues;
  readonly options: readonly StepOption[];
  readonly error?: Words;
}

export interface Ask extends AnyStep {
  readonly kind: 'ask';
  readonly said: WordsWithValues;
  readonly save: string;
  readonly accept?: { readonly [rule: string]: Values[string] };
  readonly error?: Words;
  readonly set?: Values;
  readonly next: Next;
}

/** A wait that depends on the text before it: a list of options makes it a menu. */
export interface Wait extends AnyStep {
  readonly kind: 'wait';
  resolve(before: WordsWithValues | undefined, keys: readonly string[]): Choose | Ask;
}

export interface Split extends AnyStep {
  readonly kind: 'split';
  readonly ways: readonly StepWay[];
}

export interface CallStep extends AnyStep {
  readonly kind: 'call';
  readonly service: string;
  readonly with: Values;
  readonly save?: string;
  readonly done: readonly StepWay[];
  readonly fail: readonly StepWay[];
}

export interface Enter extends AnyStep {
  readonly kind: 'enter';
  /** Name of the flow. */
  readonly flow: string;
  readonly with: Values;
  readonly save?: string | undefined;
  readonly done: readonly StepWay[];
}

export interface End extends AnyStep {
  readonly kind: 'end';
  readonly said: WordsWithValues;
}

export type Step = Say | Assign | Choose | Ask | Wait | Split | CallStep | Enter | End;

export const SILENCE: WordsWithValues = { words: {}, values: {} };

export function isSilent({ words }: WordsWithValues): boolean {
  return Object.values(words).every((text) => text.trim() === '');
}

/** Joins texts on separate lines. */
export function joinSaid(first: WordsWithValues, second: WordsWithValues): WordsWithValues {
  if (isSilent(first)) return { words: second.words, values: { ...first.values, ...second.values } };
  if (isSilent(second)) return { words: first.words, values: { ...first.values, ...second.values } };
  const langs = [...new Set([...Object.keys(first.words), ...Object.keys(second.words)])];
  const pick = (words: Words, lang: string) => words[lang] ?? Object.values(words)[0] ?? '';
  const words = Object.fromEntries(
    langs.map((lang) => [lang, `${pick(first.words, lang)}\n${pick(second.words, lang)}`]),
  );
  return { words, values: { ...first.values, ...second.values } };
}

/** Variables that templates print. */
export function listPrinted({ words }: WordsWithValues): Set<string> {
  const names = Object.values(words).flatMap((text) =>
    [...text.matchAll(/(?<!\\)\{\{\s*([A-Za-z_]\w*)/g)].map((found) => found[1]!),
  );
  return new Set(names);
}

/** Whether an expression or a value reads one of these variables. */
export function readsAny(value: unknown, names: Iterable<string>): boolean {
  const text = JSON.stringify(value) ?? '';
  for (const name of names) if (new RegExp(`\\b${name}\\b`).test(text)) return true;
  return false;
}
