// What the drawing of a flow shows for each kind of screen: the lines on its card, and its transitions.

import type { Flow, Way as FlowWay, MenuScreen, Screen, Text } from '../flow/format/flow.ts';
import type { ScreenNode } from '../flow/run/scope.ts';
import { cutLine, type SingleTransition } from './drawing.ts';

const LINE_CHARS = 30;
const TEXT_LINES = 2;
const OPTIONS = 9;

/** The lines of a screen, cut to fit a card. */
export function screenLines(flow: Flow, screen: Screen): string[] {
  const lang = flow.langs?.[0] ?? 'en';
  switch (screen.type) {
    case 'menu':
      return [...textLines(screen.text, lang), ...optionLines(screen, lang)];
    case 'input':
    case 'end':
      return textLines(screen.text, lang);
    case 'list':
      return [...textLines(screen.text, lang), cutLine(`• ${plain(screen.row, lang)}`, LINE_CHARS)];
    case 'call':
    case 'branch':
      return [];
    case 'flow':
      return [cutLine(`flow ${screen.flow}`, LINE_CHARS)];
  }
}

// Conditional options are numbered at run time, so they get a bullet.
function optionLines({ options }: MenuScreen, lang: string): string[] {
  const isFixed = options.every(({ when }) => when === undefined);
  let number = 0;
  const lines = options.map(({ key, text }) => {
    const sign = key !== undefined ? `${key}.` : isFixed ? `${++number}.` : '•';
    return cutLine(`${sign} ${plain(text, lang)}`, LINE_CHARS);
  });
  return lines.length > OPTIONS ? [...lines.slice(0, OPTIONS - 1), `… ${lines.length - OPTIONS + 1} more`] : lines;
}

function textLines(text: Text, lang: string): string[] {
  const lines = plain(text, lang)
    .split('\n')
    .flatMap((line) => wrapLine(line.trim()));
  if (lines.length <= TEXT_LINES) return lines.filter((line) => line !== '');
  const words = lines[TEXT_LINES - 1]!.split(' ');
  while (words.length > 1 && words.join(' ').length + 2 > LINE_CHARS) words.pop();
  return [...lines.slice(0, TEXT_LINES - 1), `${words.join(' ')} …`];
}

function wrapLine(line: string): string[] {
  const lines: string[] = [];
  let at = '';
  for (const word of line.split(/\s+/)) {
    if (at !== '' && at.length + 1 + word.length > LINE_CHARS) {
      lines.push(cutLine(at, LINE_CHARS));
      at = word;
    } else at = at === '' ? word : `${at} ${word}`;
  }
  return [...lines, cutLine(at, LINE_CHARS)];
}

// Shortens `{{name|trunc:20}}` to `{name}`.
function plain(text: Text, lang: string): string {
  const source = typeof text === 'string' ? text : (text[lang] ?? Object.values(text)[0] ?? '');
  return source.replace(/\{\{\s*([^|{}\s]+)[^{}]*\}\}/g, '{$1}');
}

/** All transitions of a screen; `machine` is the name of the outermost flow. */
export function screenSteps(node: ScreenNode, machine: string): SingleTransition[] {
  const { screen, scope, path } = node;
  const own = scope.path === '' ? `${path}.` : undefined;
  const steps = STEPS[screen.type] as (screen: Screen, where: StateContext) => readonly StepTarget[];
  return steps(screen, { path, machine }).map(({ to, mark, ...step }) => ({
    ...step,
    from: path,
    to: scope.path + to,
    // Coverage is measured for the flow's own screens; called flows have their own tests.
    ...(own !== undefined && mark !== undefined && { mark: own + mark }),
  }));
}

type StepTarget = Omit<SingleTransition, 'from'>;
interface StateContext {
  readonly path: string;
  readonly machine: string;
}

const STEPS: {
  readonly [type in Screen['type']]: (screen: Screen & { type: type }, where: StateContext) => readonly StepTarget[];
} = {
  menu: ({ options }) =>
    options.map(({ id, to, when }) => ({
      to,
      event: `opt.${id}`,
      label: `opt.${id}`,
      mark: id,
      role: 'on',
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
    ...waySteps(done, { slot: 'done', event: `xstate.done.actor.${path}`, word: 'done', role: 'on' }, save),
    ...waySteps(fail, { slot: 'fail', event: `xstate.error.actor.${path}`, word: 'fail', role: 'error' }, 'error'),
  ],
  branch: ({ branch }) => waySteps(branch, { slot: 'branch', event: 'always', word: '', role: 'on' }),
  flow: ({ done, save }, { path, machine }) =>
    waySteps(done, { slot: 'done', event: `xstate.done.state.${machine}.${path}`, word: 'done', role: 'on' }, save),
  end: () => [],
};

// Guards mostly refer to the call's answer, so labels omit its name.
function waySteps(
  ways: string | readonly FlowWay[],
  { slot, word, ...step }: { slot: string; event: string; word: string; role: 'on' | 'error' },
  answer?: string,
): StepTarget[] {
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
