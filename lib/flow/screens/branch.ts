// The kind `branch`: the flow goes on at once, by the first condition that holds.

import type { Way } from '../format/way.ts';
import { type AnyScreen, type ScreenKeys, type ScreenKind, SILENT } from './kind.ts';
import { buildTransitions, entryTrack, meta, waySteps } from './transitions.ts';

export interface BranchScreen extends AnyScreen {
  readonly type: 'branch';
  readonly branch: readonly Way[];
}

export const branch: ScreenKind<BranchScreen> = {
  schema: {
    about: 'Goes on by a condition.',
    description: 'Goes on at once, by the first condition that holds.',
    required: ['branch'],
    properties: {
      branch: {
        description: 'The ways, tried in order.',
        type: 'array',
        minItems: 1,
        maxItems: 200,
        items: { $ref: '#/definitions/way' },
        examples: [[{ when: 'bags > 50', to: 'office' }, { to: 'thanks' }]],
      },
    } satisfies ScreenKeys<BranchScreen>,
    snippet: { branch: [{ when: '$1', to: '$2' }, { to: '$3' }] },
  },

  waits: false,
  targets: (screen) => screen.branch.map(({ to }) => to),

  state: (screen, place) => ({
    meta: meta(place, screen),
    ...entryTrack(screen),
    always: buildTransitions(place, screen.branch, { slot: 'branch', guard: 'when', action: 'go' }),
  }),
  behaviour: SILENT,

  parts: (screen, reader) => reader.ways(['branch'], screen.branch),

  card: () => ({}),
  steps: (screen) => waySteps(screen.branch, { slot: 'branch', event: 'always', word: '', role: 'on' }),
  summary: () => 'Goes on by the first condition that holds.',
};
