// The kind `flow`: another flow runs here, and comes back when it has ended.

import { listWays, type Values, type Way } from '../format/way.ts';
import {
  type AnyScreen,
  type ScreenKeys,
  type ScreenKind,
  type ScreenPlace,
  SILENT,
  type StateConfig,
} from './kind.ts';
import { buildTransitions, entryTrack, meta, waySteps } from './transitions.ts';

export interface FlowScreen extends AnyScreen {
  readonly type: 'flow';
  readonly flow: string;
  readonly with?: Values;
  readonly save?: string;
  readonly done: string | readonly Way[];
}

export const flow: ScreenKind<FlowScreen> = {
  schema: {
    about: 'Another flow runs here.',
    description: 'Another flow runs here, and comes back when it has ended.',
    required: ['flow', 'done'],
    properties: {
      flow: { description: 'Name of the other flow.', type: 'string', examples: ['login'] },
      with: {
        description:
          'Variables of the other flow that get these values; a string that begins with `=` is an expression.',
        $ref: '#/definitions/values',
        examples: [{ phoneNumber: '=phoneNumber' }],
      },
      save: { description: "The variable that keeps the other flow's output.", type: 'string', examples: ['login'] },
      done: {
        description: 'Where it goes on: a screen id, or ways of which the first that holds is taken.',
        $ref: '#/definitions/ways',
      },
    } satisfies ScreenKeys<FlowScreen>,
    snippet: { flow: '$1', done: '$2' },
  },

  waits: false,
  targets: ({ done }) => listWays(done).map(({ to }) => to),

  state: (screen, place) => ({ meta: meta(place, screen), ...entryTrack(screen) }),
  behaviour: SILENT,

  parts: (screen, reader) => {
    reader.save(['save'], screen.save);
    reader.set(['with'], screen.with, screen.flow);
    reader.ways(['done'], screen.done);
  },

  card: (screen) => ({ rows: [{ sign: 'flow', text: screen.flow }] }),
  steps: ({ done, save }, { path }) =>
    waySteps(done, { slot: 'done', event: returnEvent(path), word: 'done', role: 'on' }, save),
  summary: (screen) => `Runs the flow ${screen.flow}.`,
};

/** The flow that a screen calls, in the machine of the caller. */
export interface CalledFlow {
  readonly id: string;
  /** Its variables with their defaults. */
  readonly vars: Values;
  /** Target of a transition to its first screen. */
  readonly target: string;
  /** Nothing lies behind its first screen. */
  readonly isWalled: boolean;
}

/** The state of a screen that calls a flow: it is left at once for the first screen of that flow. */
export function callingState(
  screen: FlowScreen,
  place: ScreenPlace,
  { id, vars, target, isWalled }: CalledFlow,
): StateConfig {
  const { entry = [], ...state } = flow.state(screen, place) as { entry?: readonly unknown[] };
  const params = {
    of: id,
    at: place.path,
    vars,
    ...(screen.with && { with: screen.with, by: place.flow }),
    ...(isWalled && { barrier: true }),
  };
  return { ...state, entry: [...entry, { type: 'enterFlow', params }], always: [{ target }] };
}

/** The event of the machine by which a flow that has ended comes back to the screen that called it. */
export const returnEvent = (path: string): string => `return.${path}`;

/** Where it goes on after the called flow: transitions of the machine, which is in a state of that flow. */
export function returningWays(screen: FlowScreen, place: ScreenPlace): StateConfig[] {
  const inside = { ...place, waits: true, target: (id: string) => `.${place.target(id)}` };
  return buildTransitions(inside, screen.done, {
    slot: 'done',
    guard: 'returned',
    action: 'leaveFlow',
    ...(screen.save !== undefined && { save: screen.save }),
  });
}
