// The kind `end`: shows the last text and closes the session; in a called flow, returns to the flow that called it, unless it `ends`.
// Then services are called, for whom nobody waits.

import type { SchemaPart } from '../format/schema.ts';
import type { Text, Values } from '../format/way.ts';
import { FLOW_LIMITS } from '../limits.ts';
import type { AnyScreen, ScreenKeys, ScreenKind, ScreenPlace, StateConfig } from './kind.ts';
import { meta, trackAction } from './transitions.ts';

export interface EndScreen extends AnyScreen {
  readonly type: 'end';
  readonly text: Text;
  /** What a calling flow gets. */
  readonly output?: Values;
  /** In a called flow: closes the session with these words instead of returning. */
  readonly ends?: boolean;
  /** Called once the caller has this text. */
  readonly after?: readonly AfterCall[];
}

/** A service that is called after the reply, at least once. */
export interface AfterCall {
  readonly service: string;
  readonly with?: Values;
  /** Such as `3s` or `800ms`, for one try. */
  readonly timeout?: string;
  /** Tries after the first. */
  readonly retry?: number;
}

/** The id of one of these calls: of the state of its screen and its place there. */
export const nameAfterCall = (path: string, at: number): string => `${path}.after.${at}`;

const AFTER: SchemaPart = {
  description:
    'A service that is called after the reply, at least once and always with the same `Idempotency-Key`. It gets the values of the moment of the reply; its answer is not kept.',
  type: 'object',
  required: ['service'],
  additionalProperties: false,
  properties: {
    service: {
      description: 'Name of the service.',
      type: 'string',
      pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,127}$',
      examples: ['sms.send', 'http.post'],
    },
    with: {
      description: 'What the service gets; a string that begins with `=` is an expression.',
      $ref: '#/definitions/values',
      examples: [{ to: '=phoneNumber', text: { '=text': { en: 'Thank you, {{name}}.', sw: 'Asante, {{name}}.' } } }],
    },
    timeout: {
      description: 'The longest that one try may take, at most 60s.',
      type: 'string',
      pattern: '^[1-9][0-9]{0,6}(ms|s|m)$',
      default: '5s',
      examples: ['10s'],
    },
    retry: {
      description:
        'Tries after the first, where a failure may pass: 2 seconds later, then after twice as long each time, at most 5 minutes.',
      type: 'integer',
      minimum: 0,
      maximum: FLOW_LIMITS.taskRetriesMax,
      default: FLOW_LIMITS.taskRetries,
      examples: [3],
    },
  },
};

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
      after: {
        description:
          'Services that are called after the reply, such as a message that confirms it. The caller does not wait.',
        type: 'array',
        minItems: 1,
        maxItems: FLOW_LIMITS.tasksPerScreen,
        items: { $ref: '#/definitions/after' },
        examples: [[{ service: 'sms.send', with: { to: '=phoneNumber', text: 'Thank you.' } }]],
      },
    } satisfies ScreenKeys<EndScreen>,
    definitions: { after: AFTER },
    snippet: { text: '$1' },
  },

  waits: false,
  targets: () => [],

  state: (screen, place) => {
    const returns = place.isCalled && !screen.ends;
    const entry = [
      ...(screen.track === undefined ? [] : [trackAction(screen.track)]),
      ...(screen.output ? [{ type: 'output', params: { of: place.flow, values: screen.output } }] : []),
      ...(screen.after ? [afterAction(screen.after, place)] : []),
      ...(returns ? [{ type: 'return' }] : []),
    ];
    return { ...(!returns && { type: 'final' }), meta: meta(place, screen), ...(entry.length && { entry }) };
  },
  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    return { listsExit: false, print: (context, lang) => text.render(context, lang) };
  },

  services: ({ after = [] }) =>
    after.map(({ service, with: values, timeout }, at) => ({ steps: ['after', at], service, with: values, timeout })),
  parts: (screen, reader) => {
    reader.text(['text'], screen.text);
    reader.values(['output'], screen.output, 'output');
    for (const [at, { with: values }] of (screen.after ?? []).entries())
      reader.values(['after', at, 'with'], values, 'task');
  },

  card: ({ text, after = [], ends }) => {
    const closing = ends ? [{ sign: 'ends', text: 'ends the session' } as const] : [];
    return {
      text,
      chips: [...closing, ...after.map(({ service }) => ({ sign: 'service', text: `then ${service}` }) as const)],
    };
  },
  steps: () => [],
};

function afterAction(after: readonly AfterCall[], { flow, path }: ScreenPlace): StateConfig {
  const tasks = after.map(({ service, with: values = {} }, at) => ({
    id: nameAfterCall(path, at),
    service,
    with: values,
  }));
  return { type: 'after', params: { of: flow, tasks } };
}
