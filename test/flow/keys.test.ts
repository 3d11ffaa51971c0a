// One key, one meaning: random menus, lists and inputs are read as a caller reads them, line by line, and every key of every page is typed.

import fc, { type Arbitrary } from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toPath } from '../../lib/engine/machine/state-path.ts';
import type { AtRest } from '../../lib/engine/machine/transition.ts';
import type { Screen } from '../../lib/flow/format/flow.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import { listOptions, listWords } from '../../lib/flow/screens/option.ts';
import { chooseSize } from '../support/size.ts';
import { flowOf } from './phone.ts';

const test = suite('keys');

const RUNS = chooseSize({ short: 40, day: 1_000, whole: 1_000 });
const IDS = ['a', 'b', 'c', 'd'] as const;
const ROWS = [3, 12, 40, 130];

const id = fc.constantFrom(...IDS);
const key = fc.constantFrom('0', '1', '2', '3', '7', '9', '10', '11', '98', '00', '#', '*', false as const);
const keys = fc.record({ back: key, home: key, more: key, exit: key });
const own = fc.option(fc.record({ back: key, exit: key }, { requiredKeys: [] }), { nil: undefined, freq: 3 });

const WORDS = [
  ['ja', 'Nd\u0069o'],
  ['\u00e9t\u00e9'],
  { en: ['yes'] },
  { sw: ['ndiyo'], en: ['aye'] },
  undefined,
  undefined,
];

const options = fc
  .record({
    to: fc.array(id, { minLength: 1, maxLength: 15 }),
    own: fc.array(fc.constantFrom(undefined, undefined, '1', '5', '9', '#', '*'), { minLength: 15, maxLength: 15 }),
    hidden: fc.nat({ max: 14 }),
    worded: fc.nat({ max: 14 }),
    words: fc.constantFrom(...WORDS),
  })
  .map(({ to: ids, own, hidden, worded, words }) =>
    ids.map((to, at) => ({
      id: `o${at}`,
      text: `Go ${at} to ${to}`,
      to,
      ...(own[at] && { key: own[at] }),
      ...(own[at] && at === hidden && { hidden: true }),
      ...(words && at === worded && { words }),
    })),
  );
const menu = options.map((lines): object => ({ type: 'menu', text: 'Choose', options: lines }));
const list = fc
  .tuple(fc.constantFrom(0, ...ROWS), id, fc.boolean(), fc.option(options, { nil: undefined }))
  .map(([count, to, picks, lines]): object => ({
    type: 'list',
    text: 'Pick',
    items: `rows${count}`,
    row: 'item {{row}}',
    ...((picks || !lines) && { pick: { save: 'item', to } }),
    ...(lines && { options: lines }),
  }));
const input = fc
  .tuple(fc.constantFrom(undefined, { number: { min: 0, max: 120 } }), id)
  .map(([accept, to]): object => ({ type: 'input', text: 'Say', save: 'said', to, ...(accept && { accept }) }));
const screen: Arbitrary<Screen> = fc
  .tuple(fc.oneof(menu, list, input), own)
  .map(([one, keys]) => ({ ...one, ...(keys && { keys }) }) as Screen);

const LABELS = { back: 'Back', home: 'Home', more: 'More', exit: 'Exit' };
const vars = {
  item: { type: 'number' },
  said: { type: 'string' },
  lang: { type: 'string', default: 'sw' },
  ...Object.fromEntries(
    [0, ...ROWS].map((count) => [
      `rows${count}`,
      { type: 'array', default: Array.from({ length: count }, (_, at) => at) },
    ]),
  ),
} as const;
const flows = fc
  .record({ keys, screens: fc.record({ a: screen, b: screen, c: screen, d: screen }) })
  .map(({ keys, screens }) => flowOf(screens, { keys, vars, langs: ['en', 'sw'], labels: LABELS }));

interface Look {
  readonly screen: string;
  readonly text: string;
  /** Label by key, of the lines that begin with one. */
  readonly lines: readonly (readonly [key: string, label: string])[];
}

function look(flow: CompiledFlow, rest: AtRest): Look {
  const { text } = flow.render({ ...rest, waiting: false });
  const lines = text.split('\n').flatMap((line) => {
    const [, typed, label] = /^(\S+)\. (.+)$/.exec(line) ?? [];
    return typed === undefined ? [] : [[typed, label!] as const];
  });
  return { screen: toPath(rest.state), text, lines };
}

function type(flow: CompiledFlow, rest: AtRest, typed: string): AtRest {
  const event = flow.read({ ...rest, waiting: false }, typed, () => '');
  assert.ok(typeof event === 'object');
  return flow.machine.rest(flow.machine.step(flow.machine.resume(rest), event).live);
}

const TYPED = [...Array.from({ length: 150 }, (_, at) => String(at)), '00', '#', '*', '98', 'yes', 'nope'];

test(`on every page of ${RUNS} flows, a printed key does what its line says, a word what its option says, and a key that is not printed nothing`, () => {
  const counts = { pages: 0, typed: 0, unread: 0, words: 0 };
  const check = (flow: CompiledFlow, rest: AtRest, behind: readonly string[]) => {
    const { screen, lines, text } = look(flow, rest);
    const { type: kind } = flow.flow.screens[screen]!;
    counts.pages++;
    assert.is(new Set(lines.map(([typed]) => typed)).size, lines.length, text);
    for (const [typed, label] of lines) {
      counts.typed++;
      const next = type(flow, rest, typed);
      const after = look(flow, next);
      const says = `${typed}. ${label} on\n${text}\nleads to ${after.screen}\n${after.text}`;
      const [, target] = /^Go \d+ to (\w)$/.exec(label) ?? [];
      const [, row] = /^item (\d+)$/.exec(label) ?? [];
      if (target !== undefined) assert.is(after.screen, target, says);
      else if (row !== undefined) assert.is(next.context.item, Number(row), says);
      else if (label === 'Back') assert.is(after.screen, behind.at(-1), says);
      else if (label === 'Home') assert.equal([after.screen, next.context.$stack], ['a', []], says);
      else if (label === 'More') assert.equal([after.screen, after.text === text], [screen, false], says);
      else assert.equal([label, next.status], ['Exit', 'done'], says);
    }
    const options = listOptions(flow.flow.screens[screen]!);
    const visible = options.filter(({ hidden }) => !hidden);
    const below = lines.filter(([, label]) => label.startsWith('Go '));
    if (kind === 'list' && options.length <= 3) assert.is(below.length, visible.length, `on every page\n${text}`);
    const words = options.flatMap(({ to, words = [] }) =>
      listWords(words).flatMap(([, list]) => list.map((word) => [word, to] as const)),
    );
    for (const [word, to] of words)
      for (const typed of [word, ` ${word.toUpperCase()} `, word.normalize('NFD')]) {
        counts.words++;
        assert.is(toPath(type(flow, rest, typed).state), to, `${typed} on\n${text}`);
      }
    const printed = new Set([...listScreenKeys(flow, rest), ...words.map(([word]) => word)]);
    const exit = { ...flow.flow.keys, ...(flow.flow.screens[screen] as { keys?: object }).keys }.exit;
    const silent = new Set<unknown>(kind === 'input' ? [exit] : listHidden(flow.flow.screens[screen]!));
    const isAway = screen !== 'a' || behind.length > 0;
    for (const typed of TYPED) {
      if (printed.has(typed) || silent.has(typed)) continue;
      if (typed === flow.flow.keys!.home && kind !== 'input' && isAway) {
        assert.is(toPath(type(flow, rest, typed).state), 'a', 'home works on menus and lists');
        continue;
      }
      counts.unread++;
      const next = type(flow, rest, typed);
      const says = `${typed} on\n${text}`;
      if (kind === 'input') assert.is(isTaken(next, typed), true, says);
      else assert.equal([toPath(next.state), next.context.$bad], [screen, Number(rest.context.$bad) + 1], says);
    }
  };
  fc.assert(
    fc.property(flows, fc.array(fc.nat(), { minLength: 5, maxLength: 5 }), (source, choices) => {
      const flow = compileFlow(source);
      let rest = flow.machine.rest(flow.machine.begin({}).live);
      let behind: string[] = [];
      for (const choice of choices) {
        check(flow, rest, behind);
        const { screen, lines } = look(flow, rest);
        const isAsked = flow.flow.screens[screen]!.type === 'input';
        const [typed, label] = isAsked || !lines.length ? ['55', ''] : lines[choice % lines.length]!;
        rest = type(flow, rest, typed);
        if (rest.status !== undefined) return;
        if (label === 'Home') behind = [];
        else if (label === 'Back') behind = behind.slice(0, -1);
        else if (toPath(rest.state) !== screen) behind = [...behind, screen];
      }
    }),
    { numRuns: RUNS, seed: Number(process.env.TEST_SEED ?? 1) },
  );
  assert.ok(
    counts.pages > RUNS * 2 && counts.typed > RUNS * 10 && counts.unread > RUNS * 100 && counts.words > RUNS,
    JSON.stringify(counts),
  );
});

/** Whether the answer is saved, or refused. */
function isTaken({ context }: AtRest, typed: string): boolean {
  const { said } = context;
  return context.$bad === 1 || said === typed || (typeof said === 'number' && said === Number(typed));
}

/** What is printed on any page of this screen: the numbers of its lines count on each. */
function listScreenKeys(flow: CompiledFlow, rest: AtRest): string[] {
  const first = { ...rest, context: { ...rest.context, $page: 0 } };
  const typed: string[] = [];
  for (let page = 0, last = ''; page < 99; page++) {
    const { lines, text } = look(flow, { ...first, context: { ...first.context, $page: page } });
    if (text === last) break;
    last = text;
    typed.push(...lines.filter(([, label]) => /^(Go|item) /.test(label)).map(([one]) => one));
  }
  return [...typed, ...look(flow, rest).lines.map(([one]) => one)];
}

function listHidden(screen: Screen): unknown[] {
  return listOptions(screen)
    .filter(({ hidden }) => hidden)
    .map(({ key }) => key);
}

test.run();
