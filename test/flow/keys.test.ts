// One key, one meaning: random menus, lists and inputs are read as a caller reads them, line by line, and every key of every page is typed.

import fc, { type Arbitrary } from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toPath } from '../../lib/engine/machine/state-path.ts';
import type { AtRest } from '../../lib/engine/machine/transition.ts';
import type { Screen } from '../../lib/flow/format/flow.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
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

const menu = fc
  .record({
    to: fc.array(id, { minLength: 1, maxLength: 15 }),
    own: fc.array(fc.constantFrom(undefined, undefined, '1', '5', '9', '#', '*'), { minLength: 15, maxLength: 15 }),
    hidden: fc.nat({ max: 14 }),
  })
  .map((menu): object => ({
    type: 'menu',
    text: 'Choose',
    options: menu.to.map((to, at) => {
      const key = menu.own[at];
      const isHidden = key !== undefined && at === menu.hidden;
      return { id: `o${at}`, text: `Go ${at} to ${to}`, to, ...(key && { key }), ...(isHidden && { hidden: true }) };
    }),
  }));
const list = fc.tuple(fc.constantFrom(...ROWS), id).map(([count, to]): object => ({
  type: 'list',
  text: 'Pick',
  items: `rows${count}`,
  row: 'item {{row}}',
  pick: { save: 'item', to },
}));
const input = fc
  .tuple(fc.constantFrom(undefined, { number: { min: 0, max: 120 } }), id)
  .map(([accept, to]): object => ({ type: 'input', text: 'Say', save: 'said', to, ...(accept && { accept }) }));
const screen: Arbitrary<Screen> = fc
  .tuple(fc.oneof(menu, list, input), own)
  .map(([one, keys]) => ({ ...one, ...(keys && { keys }) }) as Screen);

const vars = {
  item: { type: 'number' },
  said: { type: 'string' },
  ...Object.fromEntries(
    ROWS.map((count) => [`rows${count}`, { type: 'array', default: Array.from({ length: count }, (_, at) => at) }]),
  ),
} as const;
const flows = fc
  .record({ keys, screens: fc.record({ a: screen, b: screen, c: screen, d: screen }) })
  .map(({ keys, screens }) => flowOf(screens, { keys, vars }));

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

const TYPED = [...Array.from({ length: 135 }, (_, at) => String(at)), '00', '#', '*', '98'];

test(`on every page of ${RUNS} flows, a printed key does what its line says, and a key that is not printed nothing`, () => {
  const counts = { pages: 0, typed: 0, unread: 0 };
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
    const printed = new Set(listScreenKeys(flow, rest));
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
  assert.ok(counts.pages > RUNS * 2 && counts.typed > RUNS * 10 && counts.unread > RUNS * 100, JSON.stringify(counts));
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
  return screen.type === 'menu' ? screen.options.filter(({ hidden }) => hidden).map(({ key }) => key) : [];
}

test.run();
