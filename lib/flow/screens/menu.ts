// The kind `menu`: lines to choose from.

import type { Text } from '../format/way.ts';
import type { AskingScreen, ScreenKeys, ScreenKind } from './kind.ts';
import {
  OPTION_DEFINITIONS,
  type Option,
  optionEvents,
  optionLines,
  optionRows,
  optionSteps,
  readOptions,
  withoutConditions,
} from './option.ts';
import { entryTrack, interactiveEvents, meta } from './transitions.ts';

export interface MenuScreen extends AskingScreen {
  readonly type: 'menu';
  readonly text: Text;
  readonly options: readonly Option[];
  readonly error?: Text;
}

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
    definitions: OPTION_DEFINITIONS,
    snippet: { text: '$1', options: [{ id: '$2', text: '$3', to: '$4' }] },
  },

  waits: true,
  targets: ({ options }) => options.map(({ to }) => to),

  state: (screen, place) => ({
    meta: meta(place, screen),
    ...entryTrack(screen),
    on: { ...interactiveEvents(screen, place), ...optionEvents(screen.options, place) },
  }),

  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    const error = screen.error === undefined ? scope.labels.invalid : scope.phrase(screen.error);
    const { list, read } = optionLines(screen.options, scope);
    return {
      listsExit: true,
      print: (context, lang) =>
        (scope.isRefused(context) ? `${error.render(context, lang)}\n` : '') + text.render(context, lang),
      lines: list,
      ...(read && { read }),
    };
  },

  parts: ({ text, error, options }, reader) => {
    reader.text(['text'], text);
    reader.text(['error'], error);
    readOptions(options, reader);
  },
  largest: (screen) => ({ ...screen, options: withoutConditions(screen.options) }),

  card: ({ text, options }) => ({ text, rows: optionRows(options, true) }),
  steps: ({ options }) => optionSteps(options),
};
