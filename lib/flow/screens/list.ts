// The kind `list`: a line for each item of an array, cut into pages, with options below the lines of every page.

import type { Json, JsonObject } from '../../json/json.ts';
import { maskPrintedFrom } from '../expression/template.ts';
import type { Text, Values } from '../format/way.ts';
import type { AskingScreen, ScreenKeys, ScreenKind } from './kind.ts';
import {
  type Option,
  optionEvents,
  optionLines,
  optionRows,
  optionSteps,
  readOptions,
  withoutConditions,
} from './option.ts';
import { entryTrack, interactiveEvents, meta, transitionTo } from './transitions.ts';

export interface ListScreen extends AskingScreen {
  readonly type: 'list';
  readonly text: Text;
  /** An expression that gives an array. */
  readonly items: string;
  /** What one item looks like; the item is `row`. */
  readonly row: Text;
  readonly empty?: Text;
  readonly error?: Text;
  readonly pick?: { readonly save?: string; readonly to: string; readonly set?: Values; readonly track?: string };
  /** Below the lines of every page. */
  readonly options?: readonly Option[];
}

export const list: ScreenKind<ListScreen> = {
  schema: {
    about: 'One line for each item.',
    description:
      'One line for each item of an array, cut into pages; options stand below them on every page, numbered after the last item.',
    required: ['text', 'items', 'row'],
    properties: {
      text: { description: 'Above the lines.', $ref: '#/definitions/text', examples: ['Prices of today'] },
      items: { description: 'An expression that gives an array.', type: 'string', examples: ['crops'] },
      row: {
        description: 'What one line says; the item is `row`.',
        $ref: '#/definitions/text',
        examples: ['{{row.label|trunc:14}} {{row.price|money}}'],
      },
      empty: {
        description: 'Shown when there are no items.',
        $ref: '#/definitions/text',
        examples: ['No prices today.'],
      },
      error: {
        description: 'Above the text after an answer that is none of its keys; else the label `invalid`.',
        $ref: '#/definitions/text',
        examples: ['Please press one of these:'],
      },
      pick: {
        description: 'Numbers the lines, so that one can be chosen.',
        type: 'object',
        required: ['to'],
        additionalProperties: false,
        properties: {
          save: { description: 'The variable that keeps the item.', type: 'string', examples: ['crop'] },
          to: { $ref: '#/definitions/to' },
          set: { $ref: '#/definitions/set' },
          track: { $ref: '#/definitions/track' },
        },
        examples: [{ save: 'crop', to: 'bags' }],
      },
      options: {
        description:
          'Further lines to choose from, below the items on every page. They have the numbers after the last item, the same on each page, or their own `key`.',
        type: 'array',
        minItems: 1,
        maxItems: 20,
        items: { $ref: '#/definitions/option' },
        examples: [[{ id: 'other', text: 'Other crop', words: ['other'], to: 'office' }]],
      },
    } satisfies ScreenKeys<ListScreen>,
    snippet: { text: '$1', items: '$2', row: '{{row.$3}}', empty: '$4' },
  },

  waits: true,
  targets: ({ pick, options = [] }) => [...(pick ? [pick.to] : []), ...options.map(({ to }) => to)],

  state: (screen, place) => ({
    meta: meta(place, screen),
    ...entryTrack(screen),
    on: {
      ...interactiveEvents(screen, place),
      ...(screen.pick && { pick: transitionTo(place, { ...screen.pick, from: place.id }, 'keep') }),
      ...optionEvents(screen.options ?? [], place),
    },
  }),

  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    const row = scope.phrase(screen.row);
    const empty = screen.empty === undefined ? undefined : scope.phrase(screen.empty);
    const error = screen.error === undefined ? scope.labels.invalid : scope.phrase(screen.error);
    const items = scope.expression(screen.items);
    const options = screen.options && optionLines(screen.options, scope, { stays: true });
    const listItems = (context: JsonObject): readonly Json[] => {
      const value = items.evaluate(context);
      return Array.isArray(value) ? value : [];
    };
    return {
      listsExit: true,
      print: (context, lang) => {
        const above = [scope.isRefused(context) ? error.render(context, lang) : '', text.render(context, lang)];
        if (empty && !listItems(context).length) above.push(empty.render(context, lang));
        return above.filter((line) => line !== '').join('\n');
      },
      lines: (context) => {
        let masked: JsonObject | undefined;
        const render = (item: Json, lang: string) => {
          masked ??= maskPrintedFrom(context, 'row', items.names);
          return row.render({ ...masked, row: item }, lang);
        };
        const rows = listItems(context).map((item) => ({
          text: { render: (_: JsonObject, lang: string) => render(item, lang) },
          ...(screen.pick && { event: { type: 'pick', value: item } }),
        }));
        return options ? [...rows, ...options.list(context)] : rows;
      },
      ...(options?.read && { read: options.read }),
    };
  },

  parts: ({ text, error, items, row, empty, pick, options = [] }, reader) => {
    reader.text(['text'], text);
    reader.text(['error'], error);
    reader.items(['items'], items);
    reader.text(['row'], row, ['row']);
    reader.text(['empty'], empty);
    readOptions(options, reader);
    if (!pick) return;
    reader.save(['pick', 'save'], pick.save);
    reader.way(['pick'], pick);
  },
  largest: ({ options, ...screen }) => ({ ...screen, ...(options && { options: withoutConditions(options) }) }),

  card: ({ text, row, pick, options = [] }) => ({
    text,
    rows: [{ sign: '•', text: row }, ...optionRows(options, !pick)],
    chips: [{ sign: 'more', text: 'pages', events: ['more'] }],
  }),
  steps: ({ pick, options = [] }) => [
    ...(pick ? [{ to: pick.to, event: 'pick', label: 'pick', mark: 'pick', role: 'on' } as const] : []),
    ...optionSteps(options),
  ],
};
