// Options: lines of a menu or below the rows of a list that the caller chooses by number, key or word.

import type { EventObject } from 'xstate';
import type { JsonObject } from '../../json/json.ts';
import { truthy } from '../expression/expression.ts';
import { composeText } from '../expression/values.ts';
import type { SchemaPart } from '../format/schema.ts';
import type { Text, Way } from '../format/way.ts';
import type {
  Answering,
  AnyScreen,
  Card,
  DrawnStep,
  PartReader,
  ScreenLine,
  ScreenPlace,
  ScreenScope,
  StateConfig,
} from './kind.ts';
import { transitionTo } from './transitions.ts';

export interface Option extends Omit<Way, 'track' | 'error'> {
  readonly id: string;
  readonly text: Text;
  /** What the caller types instead of the number. */
  readonly key?: string;
  /** What the caller may type besides. */
  readonly words?: OptionWords;
  /** Works by its `key` and `words`, and has no line. */
  readonly hidden?: boolean;
  readonly track?: string;
}

/** Words for callers of all languages, or for those of each. */
export type OptionWords = readonly string[] | { readonly [lang: string]: readonly string[] };

const WORD_LIST = {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
  items: { type: 'string', minLength: 1, maxLength: 40 },
} as const;

/** Definitions of the schema. */
export const OPTION_DEFINITIONS: { readonly [name: string]: SchemaPart } = {
  words: {
    description:
      'What the caller may type instead of its number or key, in all languages or for each: the words of the language of the caller, then those of the first language of the flow. Small and capital letters are the same.',
    type: ['array', 'object'],
    ...WORD_LIST,
    minProperties: 1,
    additionalProperties: { type: 'array', ...WORD_LIST },
    examples: [{ en: ['yes', 'y'], sw: ['ndiyo'] }, ['stop']],
  } as SchemaPart,
  option: {
    description: 'One line to choose.',
    examples: [{ id: 'sell', text: { en: 'Sell', sw: 'Uza' }, to: 'crops' }],
    type: 'object',
    required: ['id', 'text', 'to'],
    additionalProperties: false,
    properties: {
      id: {
        description: 'Its name, unique on this screen; records and tests refer to it.',
        type: 'string',
        examples: ['sell'],
      },
      text: { description: 'What the line says.', $ref: '#/definitions/text', examples: [{ en: 'Sell', sw: 'Uza' }] },
      to: { $ref: '#/definitions/to' },
      when: {
        description: 'An expression; the line is there only when it is true.',
        type: 'string',
        examples: ["lang == 'en'"],
      },
      set: { $ref: '#/definitions/set' },
      key: {
        description: 'What the caller presses for it, instead of its number.',
        type: 'string',
        pattern: '^[^\\s]{1,8}$',
        examples: ['9', '#'],
      },
      words: { $ref: '#/definitions/words' },
      hidden: {
        description:
          'true: its "key" and "words" work, and no line is printed for it. "text" is what diagrams and coverage call it.',
        type: 'boolean',
        examples: [true],
      },
      track: { $ref: '#/definitions/track' },
    } satisfies { readonly [key in keyof Option]-?: SchemaPart },
  },
};

/** A screen that may have options. */
export interface ChoosingScreen extends AnyScreen {
  readonly options?: readonly Option[];
}

/** The options of a screen of any kind. */
export function listOptions(screen: AnyScreen): readonly Option[] {
  return ('options' in screen && (screen as ChoosingScreen).options) || [];
}

/** The transitions of its options in the state of a screen. */
export function optionEvents(options: readonly Option[], place: ScreenPlace): Record<string, StateConfig> {
  const on: Record<string, StateConfig> = {};
  for (const { id, when, hidden: _, words: __, ...option } of options)
    on[`opt.${id}`] = {
      ...(when !== undefined && { guard: { type: 'when', params: { condition: when } } }),
      ...transitionTo(place, { ...option, from: place.id }, 'go'),
    };
  return on;
}

export interface OptionLines {
  /** Those whose conditions hold. */
  list(context: JsonObject): readonly ScreenLine[];
  /** The event for a typed word; undefined where no option has words. */
  readonly read: ((answering: Answering) => EventObject) | undefined;
}

/** Compiles options to lines. `stays`: they are printed on every page. */
export function optionLines(
  options: readonly Option[],
  scope: ScreenScope,
  { stays = false }: { readonly stays?: boolean } = {},
): OptionLines {
  const lines = options.map(({ id, text, key, words, hidden = false, when }) => ({
    event: { type: `opt.${id}` },
    text: scope.phrase(text),
    key,
    hidden,
    ...(stays && { stays }),
    words: words && new Map(scope.langs.map((lang) => [lang, new Set(wordsIn(words, lang).map(foldWord))])),
    when: when === undefined ? undefined : scope.expression(when),
  }));
  const isFixed = lines.every(({ when }) => when === undefined);
  const list = (context: JsonObject) =>
    isFixed ? lines : lines.filter(({ when }) => !when || truthy(when.evaluate(context)));
  const read = ({ input, context }: Answering): EventObject => {
    const word = foldWord(input);
    const live = list(context);
    // The caller's own language first, so that a word of it never means what it means in the other.
    for (const lang of [scope.findLang(context), scope.langs[0]!]) {
      const meant = live.filter(({ words }) => words?.get(lang)?.has(word));
      if (meant.length) return meant.length === 1 ? meant[0]!.event : REFUSED;
    }
    return REFUSED;
  };
  return { list, read: options.some(({ words }) => words) ? read : undefined };
}

const REFUSED: EventObject = { type: 'invalid' };

/** A word as it is compared: composed, without spaces around it, in capital letters. */
export const foldWord = (word: string): string => composeText(word).trim().toUpperCase();

/** The words that count for callers of a language, as they are written. */
export function wordsIn(words: OptionWords, lang: string): readonly string[] {
  return listWords(words).find(([one]) => one === undefined || one === lang)?.[1] ?? [];
}

/** The words by language; undefined for those of all. */
export function listWords(
  words: OptionWords,
): readonly (readonly [lang: string | undefined, list: readonly string[]])[] {
  return Array.isArray(words) ? [[undefined, words]] : Object.entries(words as { [lang: string]: readonly string[] });
}

/** Hands the texts and ways of options to lint. */
export function readOptions(options: readonly Option[], reader: PartReader): void {
  for (const [at, option] of options.entries()) {
    reader.text(['options', at, 'text'], option.text);
    reader.way(['options', at], option);
  }
}

/** The options with nothing that a condition may hide. */
export const withoutConditions = (options: readonly Option[]): Option[] =>
  options.map(({ when: _, ...option }) => option);

/** Their lines on a card. `isFirst`: nothing above them is numbered. */
export function optionRows(options: readonly Option[], isFirst: boolean): NonNullable<Card['rows']> {
  const isFixed = isFirst && options.every(({ when }) => when === undefined);
  const own = new Set(options.map(({ key }) => key));
  let number = 0;
  const nextNumber = (): number => (own.has(String(++number)) ? nextNumber() : number);
  // What is numbered at run time gets a bullet.
  return options.map(({ key, text }) => ({
    sign: key !== undefined ? `${key}.` : isFixed ? `${nextNumber()}.` : '•',
    text,
  }));
}

export function optionSteps(options: readonly Option[]): readonly DrawnStep[] {
  return options.map(({ id, to, when }) => ({
    to,
    event: `opt.${id}`,
    label: `opt.${id}`,
    mark: id,
    role: 'on',
    ...(when !== undefined && { guard: when }),
  }));
}

// An id from the text in the first language: `checkBalance` for "Check balance".
export function nameOption({ text }: Pick<Option, 'text'>): string | undefined {
  const words = /[A-Za-z]+(?: [A-Za-z]+)*/.exec(typeof text === 'string' ? text : (Object.values(text)[0] ?? ''))?.[0];
  const [first, ...rest] = words?.toLowerCase().split(' ').slice(0, 4) ?? [];
  return first === undefined
    ? undefined
    : first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
