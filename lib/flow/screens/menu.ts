// The kind `menu`: lines to choose from.

import { truthy } from '../expression/expression.ts';
import type { SchemaPart } from '../format/schema.ts';
import type { Text, Way } from '../format/way.ts';
import type { AskingScreen, ScreenKeys, ScreenKind, StateConfig } from './kind.ts';
import { entryTrack, interactiveEvents, meta, transitionTo } from './transitions.ts';

export interface MenuScreen extends AskingScreen {
  readonly type: 'menu';
  readonly text: Text;
  readonly options: readonly Option[];
  readonly error?: Text;
}

export interface Option extends Omit<Way, 'track' | 'error'> {
  readonly id: string;
  readonly text: Text;
  /** What the caller types instead of the number. */
  readonly key?: string;
  /** Works by its `key`, and has no line. */
  readonly hidden?: boolean;
  readonly track?: string;
}

const OPTION = {
  description: 'One line of a menu.',
  examples: [{ id: 'sell', text: { en: 'Sell', sw: 'Uza' }, to: 'crops' }],
  type: 'object',
  required: ['id', 'text', 'to'],
  additionalProperties: false,
  properties: {
    id: {
      description: 'Its name, unique in this menu; records and tests refer to it.',
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
    hidden: {
      description:
        'true: its "key" works, and no line is printed for it. "text" is what diagrams and coverage call it.',
      type: 'boolean',
      examples: [true],
    },
    track: { $ref: '#/definitions/track' },
  } satisfies { readonly [key in keyof Option]-?: SchemaPart },
};

export const menu: ScreenKind<MenuScreen> = {
  schema: {
    about: 'Lines to choose from.',
    description: 'Lines to choose from, numbered in the order in which they are visible.',
    required: ['text', 'options'],
    properties: {
      text: { description: 'Above the lines.', $ref: '#/definitions/text', examples: ['Hello {{name}}'] },
      options: {
        description: 'The lines, from top to bottom.',
        type: 'array',
        minItems: 1,
        maxItems: 500,
        items: { $ref: '#/definitions/option' },
        examples: [
          [
            { id: 'sell', text: 'Sell', to: 'crops' },
            { id: 'exit', text: 'Exit', to: 'sorry' },
          ],
        ],
      },
      error: {
        description: 'Above the text after an answer that is none of its keys; else the label `invalid`.',
        $ref: '#/definitions/text',
        examples: ['Please press one of these:'],
      },
    } satisfies ScreenKeys<MenuScreen>,
    definitions: { option: OPTION },
    snippet: { text: '$1', options: [{ id: '$2', text: '$3', to: '$4' }] },
  },

  waits: true,
  targets: ({ options }) => options.map(({ to }) => to),

  state: (screen, place) => {
    const on: Record<string, StateConfig> = { ...interactiveEvents(screen, place) };
    for (const { id, when, hidden: _, ...option } of screen.options)
      on[`opt.${id}`] = {
        ...(when !== undefined && { guard: { type: 'when', params: { condition: when } } }),
        ...transitionTo(place, { ...option, from: place.id }, 'go'),
      };
    return { meta: meta(place, screen), ...entryTrack(screen), on };
  },

  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    const error = screen.error === undefined ? scope.labels.invalid : scope.phrase(screen.error);
    const options = screen.options.map(({ id, text: words, key, hidden = false, when }) => ({
      event: { type: `opt.${id}` },
      text: scope.phrase(words),
      key,
      hidden,
      when: when === undefined ? undefined : scope.expression(when),
    }));
    const isFixed = options.every(({ when }) => when === undefined);
    return {
      listsExit: true,
      print: (context, lang) =>
        (scope.isRefused(context) ? `${error.render(context, lang)}\n` : '') + text.render(context, lang),
      lines: (context) => (isFixed ? options : options.filter(({ when }) => !when || truthy(when.evaluate(context)))),
    };
  },

  parts: ({ text, error, options }, reader) => {
    reader.text(['text'], text);
    reader.text(['error'], error);
    for (const [at, option] of options.entries()) {
      reader.text(['options', at, 'text'], option.text);
      reader.way(['options', at], option);
    }
  },
  rules: [
    {
      code: 'dup-option',
      severity: 'error',
      means: 'two options of a menu have the same id',
      *find({ options }, { id: menu, pointer }) {
        const ids = options.map(({ id }) => id);
        for (const [at, option] of options.entries()) {
          if (ids.indexOf(option.id) === at) continue;
          const message = `Menu "${menu}" has two options with the id "${option.id}"; only one could be chosen.`;
          const name = nameOption(option);
          const mend = name !== undefined && !ids.includes(name) && { mend: { text: JSON.stringify(name) } };
          const fix = `Rename one option "${option.id}".`;
          yield { pointer: pointer('options', at, 'id'), message, fix, ...mend };
        }
      },
    },
    {
      code: 'hidden-without-key',
      severity: 'error',
      means: 'a hidden option has no key, so callers cannot choose it',
      *find({ options }, { id: menu, pointer }) {
        for (const [at, { id, key, hidden }] of options.entries()) {
          if (!hidden || key !== undefined) continue;
          const message = `Option "${id}" of menu "${menu}" is hidden and has no "key".`;
          const fix = `Add "key": "*", or any other key, to "${id}"; or remove "hidden".`;
          yield { pointer: pointer('options', at, 'hidden'), message, fix };
        }
      },
    },
  ],
  largest: (screen) => ({ ...screen, options: screen.options.map(({ when: _, ...option }) => option) }),

  card: ({ text, options }) => {
    const isFixed = options.every(({ when }) => when === undefined);
    const own = new Set(options.map(({ key }) => key));
    let number = 0;
    const nextNumber = (): number => (own.has(String(++number)) ? nextNumber() : number);
    // Conditional options are numbered at run time, so they get a bullet.
    const signs = options.map(({ key }) => (key !== undefined ? `${key}.` : isFixed ? `${nextNumber()}.` : '•'));
    return { text, rows: options.map((option, at) => ({ sign: signs[at]!, text: option.text })) };
  },
  steps: ({ options }) =>
    options.map(({ id, to, when }) => ({
      to,
      event: `opt.${id}`,
      label: `opt.${id}`,
      mark: id,
      role: 'on',
      ...(when !== undefined && { guard: when }),
    })),
};

// An id from the text in the first language: `checkBalance` for "Check balance".
export function nameOption({ text }: Pick<Option, 'text'>): string | undefined {
  const words = /[A-Za-z]+(?: [A-Za-z]+)*/.exec(typeof text === 'string' ? text : (Object.values(text)[0] ?? ''))?.[0];
  const [first, ...rest] = words?.toLowerCase().split(' ').slice(0, 4) ?? [];
  return first === undefined
    ? undefined
    : first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
