// The kind `call`: a service is called, and its result decides where the flow goes on. The caller sees it only if it takes long.

import { listWays, type Values, type Way } from '../format/way.ts';
import { type AnyScreen, type ScreenKeys, type ScreenKind, SILENT } from './kind.ts';
import { buildTransitions, entryTrack, meta, waySteps } from './transitions.ts';

export interface CallScreen extends AnyScreen {
  readonly type: 'call';
  readonly service: string;
  readonly with?: Values;
  readonly save?: string;
  /** `callback`: the service only begins it, and the answer comes by a POST to its `callbackUrl`. */
  readonly answer?: 'callback';
  /** Such as `3s` or `800ms`; with a callback, how long the flow waits for it. */
  readonly timeout?: string;
  /** Tries after the first. */
  readonly retry?: number;
  readonly done: string | readonly Way[];
  readonly fail: string | readonly Way[];
}

/** By which values of `with` name the address of the callback. */
export const CALLBACK_NAME = 'callbackUrl';

export const call: ScreenKind<CallScreen> = {
  schema: {
    about: 'A service is asked.',
    description: 'A service is asked; the caller sees nothing of it unless it takes long.',
    required: ['service', 'done', 'fail'],
    properties: {
      service: {
        description: 'Name of the service.',
        type: 'string',
        pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,127}$',
        examples: [
          'account.exists',
          'account.create',
          'account.verifyPin',
          'account.changePin',
          'caller.forget',
          'http.get',
          'http.post',
          'http.put',
          'http.patch',
          'http.delete',
          'sms.send',
        ],
      },
      with: {
        description: 'What the service gets; a string that begins with `=` is an expression.',
        $ref: '#/definitions/values',
        examples: [{ phone: '=phoneNumber' }],
      },
      save: { description: 'The variable that keeps what it answers.', type: 'string', examples: ['account'] },
      answer: {
        description:
          'callback: the service only begins, such as a payment that is confirmed on another phone; what it answers itself is not used. The answer is what is posted to `callbackUrl`, an address for this call, once. Values of `with` can use that name.',
        type: 'string',
        enum: ['callback'],
        examples: ['callback'],
      },
      timeout: {
        description:
          'The longest that one try may take, at most 60s. Of a call that waits for a callback: how long it waits, at most 60m, and 2m where nothing is said.',
        type: 'string',
        pattern: '^[1-9][0-9]{0,6}(ms|s|m)$',
        default: '5s',
        examples: ['3s', '800ms'],
      },
      retry: {
        description: 'Tries after the first.',
        type: 'integer',
        minimum: 0,
        maximum: 3,
        default: 0,
        examples: [1],
      },
      done: {
        description: 'Where it goes on after an answer: a screen id, or ways of which the first that holds is taken.',
        $ref: '#/definitions/ways',
      },
      fail: {
        description: 'Where it goes on after a failure or timeout; `error` is in reach of its conditions.',
        $ref: '#/definitions/ways',
        examples: ['sorry', [{ when: "error.code == 'ERR_TIMEOUT'", to: 'later' }, { to: 'sorry' }]],
      },
    } satisfies ScreenKeys<CallScreen>,
    snippet: { service: '$1', with: {}, save: '$2', done: '$3', fail: '$4' },
  },

  waits: false,
  targets: ({ done, fail }) => [...listWays(done), ...listWays(fail)].map(({ to }) => to),

  state: (screen, place) => ({
    meta: {
      ...meta(place, screen),
      of: place.flow,
      with: screen.with ?? {},
      ...(screen.answer && { answer: screen.answer }),
    },
    ...entryTrack(screen),
    invoke: {
      id: place.path,
      src: screen.service,
      onDone: buildTransitions(place, screen.done, {
        slot: 'done',
        guard: 'answered',
        action: 'receive',
        ...(screen.save !== undefined && { save: screen.save }),
      }),
      onError: buildTransitions(place, screen.fail, { slot: 'fail', guard: 'failed', action: 'giveUp' }),
    },
  }),
  behaviour: SILENT,

  services: ({ service, with: values, timeout, answer }) => [
    { steps: [], service, with: values, timeout, ...(answer === 'callback' && { isAnsweredLater: true }) },
  ],
  parts: (screen, reader) => {
    reader.save(['save'], screen.save);
    reader.values(['with'], screen.with, 'service', screen.answer === 'callback' ? [CALLBACK_NAME] : []);
    reader.ways(['done'], screen.done);
    reader.ways(['fail'], screen.fail, ['error']);
  },

  card: ({ service, timeout, retry, answer }) => {
    const again = retry ? ` × ${retry + 1}` : '';
    const time =
      answer === 'callback' ? [`callback ${timeout ?? '2m'}`] : timeout === undefined ? [] : [`${timeout}${again}`];
    return { chips: [{ sign: 'service', text: service }, ...time.map((text) => ({ sign: 'time', text }) as const)] };
  },
  steps: ({ done, fail, save }, { path }) => [
    ...waySteps(done, { slot: 'done', event: `xstate.done.actor.${path}`, word: 'done', role: 'on' }, save),
    ...waySteps(fail, { slot: 'fail', event: `xstate.error.actor.${path}`, word: 'fail', role: 'error' }, 'error'),
  ],
  summary: ({ service, answer }) => `Calls ${service}${answer === 'callback' ? ', and waits for a callback' : ''}.`,
};
