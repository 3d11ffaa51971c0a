// The kind `end`: shows the last text and closes the session; in a called flow, returns to the flow that called it, unless it `ends`.

import type { Text, Values } from '../format/way.ts';
import type { AnyScreen, ScreenKeys, ScreenKind } from './kind.ts';
import { meta, trackAction } from './transitions.ts';

export interface EndScreen extends AnyScreen {
  readonly type: 'end';
  readonly text: Text;
  /** What a calling flow gets. */
  readonly output?: Values;
  /** In a called flow: closes the session with these words instead of returning. */
  readonly ends?: boolean;
}

export const end: ScreenKind<EndScreen> = {
  schema: {
    about: 'Says goodbye.',
    description:
      'Says goodbye and ends the conversation. In a called flow it returns to the flow that called this one, and its text is not shown, unless `ends` is true.',
    required: ['text'],
    properties: {
      text: {
        description: 'The last words; they must fit one screen.',
        $ref: '#/definitions/text',
        examples: ['Thank you, {{name}}.'],
      },
      output: {
        description: 'What a calling flow gets; a string that begins with `=` is an expression.',
        $ref: '#/definitions/values',
        examples: [{ ok: true, name: '=name' }],
      },
      ends: {
        description: 'true: in a called flow, too, the conversation ends here with this text.',
        type: 'boolean',
        examples: [true],
      },
    } satisfies ScreenKeys<EndScreen>,
    snippet: { text: '$1' },
  },

  waits: false,
  targets: () => [],

  state: (screen, place) => {
    const returns = place.isCalled && !screen.ends;
    const entry = [
      ...(screen.track === undefined ? [] : [trackAction(screen.track)]),
      ...(screen.output ? [{ type: 'output', params: { of: place.flow, values: screen.output } }] : []),
      ...(returns ? [{ type: 'return' }] : []),
    ];
    return { ...(!returns && { type: 'final' }), meta: meta(place, screen), ...(entry.length && { entry }) };
  },
  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    return { listsExit: false, print: (context, lang) => text.render(context, lang) };
  },

  parts: (screen, reader) => {
    reader.text(['text'], screen.text);
    reader.values(['output'], screen.output, 'output');
  },

  card: ({ text }) => ({ text }),
  steps: () => [],
};
