// Where each kind of screen leads, in the words of its machine.

import type { Way as FlowWay, Screen } from '../flow/format/flow.ts';
import type { ScreenNode } from '../flow/run/scope.ts';
import type { Step } from './drawing.ts';

/** Every way on of one screen; `machine` is the name of the outermost flow. */
export function stepsOf(node: ScreenNode, machine: string): Step[] {
  const { screen, scope, path } = node;
  const own = scope.path === '' ? `${path}.` : undefined;
  const steps = STEPS[screen.type] as (screen: Screen, where: Where) => readonly Given[];
  return steps(screen, { path, machine }).map(({ to, mark, ...step }) => ({
    ...step,
    from: path,
    to: scope.path + to,
    // Coverage is of the flow's own screens: those that it calls have tests of their own.
    ...(own !== undefined && mark !== undefined && { mark: own + mark }),
  }));
}

type Given = Omit<Step, 'from'>;
interface Where {
  readonly path: string;
  readonly machine: string;
}

const STEPS: {
  readonly [type in Screen['type']]: (screen: Screen & { type: type }, where: Where) => readonly Given[];
} = {
  menu: ({ options }) =>
    options.map(({ id, to, when }) => ({
      ...{ to, event: `opt.${id}`, label: `opt.${id}`, mark: id, role: 'on' },
      ...(when !== undefined && { guard: when }),
    })),
  input: ({ to, accept, attempts, else: otherwise }) => [
    { to, event: 'text', label: accept ? 'text [valid]' : 'text', mark: 'to', role: 'on' },
    ...(otherwise === undefined || attempts === undefined
      ? []
      : [{ to: otherwise, event: 'text', label: `text [${attempts} refused]`, mark: 'else', role: 'on' } as const]),
  ],
  list: ({ pick }) => (pick ? [{ to: pick.to, event: 'pick', label: 'pick', mark: 'pick', role: 'on' }] : []),
  call: ({ done, fail, save }, { path }) => [
    ...waysOf(done, { slot: 'done', event: `xstate.done.actor.${path}`, word: 'done', role: 'on' }, save),
    ...waysOf(fail, { slot: 'fail', event: `xstate.error.actor.${path}`, word: 'fail', role: 'error' }, 'error'),
  ],
  branch: ({ branch }) => waysOf(branch, { slot: 'branch', event: 'always', word: '', role: 'on' }),
  flow: ({ done, save }, { path, machine }) =>
    waysOf(done, { slot: 'done', event: `xstate.done.state.${machine}.${path}`, word: 'done', role: 'on' }, save),
  end: () => [],
};

// Conditions are mostly about what was answered: its name is left out of labels.
function waysOf(
  ways: string | readonly FlowWay[],
  { slot, word, ...step }: { slot: string; event: string; word: string; role: 'on' | 'error' },
  answer?: string,
): Given[] {
  const list: readonly FlowWay[] = typeof ways === 'string' ? [{ to: ways }] : ways;
  const short = (when: string) =>
    answer === undefined ? when : when.replaceAll(new RegExp(`\\b${answer}\\.`, 'g'), '');
  return list.map(({ to, when }, at) => ({
    ...step,
    to,
    label: when === undefined ? word || 'else' : `${word} [${short(when)}]`.trim(),
    mark: list.length > 1 ? `${slot}[${at}]` : slot,
    ...(when !== undefined && { guard: when }),
  }));
}
