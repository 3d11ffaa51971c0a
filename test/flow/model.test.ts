// Random flows on the engine beside the model: the same text, screen, variables, ways back and facts after every answer.

import fc, { type Arbitrary } from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AtRest } from '../../lib/engine/machine/transition.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow, Option, Screen, Way } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { markFlow } from '../../lib/flow/testing/coverage.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { chooseSize } from '../support/size.ts';
import { ANSWERS, Endless, Model } from './model.ts';
import { menuTo, phone } from './phone.ts';

const test = suite('model');

const RUNS = chooseSize({ short: 300, day: 3_000, whole: 3_000 });

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'bye'] as const;
const some = <const T extends readonly unknown[]>(...values: T): Arbitrary<T[number]> => fc.constantFrom(...values);
const id = some(...IDS);
const track = some(undefined, undefined, 'seen', 'left');
const when = some(undefined, undefined, 'flag', 'not flag', 'count > 1', "said == '7'", 'got.n == 1');
const set = some(
  undefined,
  undefined,
  { count: '=count + 1' },
  { flag: true },
  { said: '=said', flag: false },
  { lang: 'sw' },
);
const words = some('Here', 'Now {{said}}', { en: 'Hello {{count}}', sw: 'Habari {{count}}' });
const save = some('said', 'other');

/** Without the keys that are undefined, as in a file. */
const clean = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const way: Arbitrary<Way> = fc.record({ to: id, set, track }).map((one) => clean(one) as Way);
const ways: Arbitrary<readonly Way[]> = fc
  .tuple(fc.array(fc.tuple(way, when), { maxLength: 2 }), way)
  .map(([others, last]) => [...others.map(([one, condition]) => clean({ ...one, when: condition ?? 'flag' })), last]);
const options: Arbitrary<readonly Option[]> = fc
  .array(
    fc.record({
      to: id,
      set,
      track,
      when,
      key: some(undefined, undefined, '#', '9'),
      hidden: fc.boolean(),
      words: some(undefined, undefined, ['Yes'], { en: ['no'], sw: ['Hapana', 'h'] }),
    }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((list) =>
    list.map(({ key, hidden, ...one }, at) => {
      const isFirst = list.findIndex((other) => other.key === key) === at;
      const own = key !== undefined && isFirst ? { key, ...(hidden && { hidden }) } : {};
      return clean({ ...one, ...own, id: `o${at}`, text: `Go ${at}` }) as Option;
    }),
  );

const callOf = (calls: readonly string[]): Arbitrary<object> =>
  fc.record({
    type: some('flow'),
    flow: some(...calls, ...(calls.length ? [] : ['none'])),
    save: some(undefined, 'got'),
    with: some(undefined, { said: '=said' }, { lang: 'en' }),
    done: ways,
  });

function screens(calls: readonly string[], hasServices: boolean): Arbitrary<Screen> {
  const error = some(undefined, 'Not so.');
  const back = some(undefined, undefined, undefined, false, ...IDS.slice(0, 3));
  const accept = some(undefined, { digits: 1 }, { sameAs: 'said' });
  const kinds: Arbitrary<object>[] = [
    fc.record({ type: some('menu'), text: words, options, error }),
    fc
      .record({
        type: some('input'),
        text: words,
        save,
        to: id,
        set,
        accept,
        error,
        attempts: some(undefined, 1, 2),
        else: id,
      })
      .map(({ else: last, ...one }) => (one.attempts === undefined ? one : { ...one, else: last })),
    fc.record({
      type: some('list'),
      text: words,
      items: some('items'),
      row: some('row {{row}}'),
      empty: some(undefined, 'None.'),
      pick: some(undefined, { to: 'a' }, { to: 'b', save: 'other', set: { count: '=count + 1' }, track: 'picked' }),
      options: fc.option(options, { nil: undefined }),
    }),
    fc.record({ type: some('branch'), branch: ways }),
    fc.record({
      type: some('call'),
      service: some(...Object.keys(ANSWERS)),
      save,
      done: ways,
      fail: fc.oneof(
        id,
        way.map((one) => [{ ...one, when: "error.code == 'ERR_INPUT'" }, { to: one.to }]),
      ),
    }),
    callOf(calls),
  ];
  const own = some(undefined, undefined, undefined, { back: '1' }, { back: false, exit: '#' }, { home: '3' });
  const weights = [4, 3, 1, 1, hasServices ? 1 : 0, calls.length ? 4 : 0];
  const any = fc.oneof(...kinds.map((arbitrary, at) => ({ weight: weights[at]!, arbitrary })));
  return fc.tuple(any, back, track, own).map(([one, where, name, keys]) => {
    const isAsking = ['menu', 'input', 'list'].includes((one as Screen).type);
    return clean({ ...one, back: where, track: name, ...(isAsking && { keys }) }) as Screen;
  });
}

function flows(name: string, calls: readonly string[], hasServices = true): Arbitrary<Flow> {
  const end = fc
    .record({
      type: some('end'),
      text: words,
      track,
      output: some(undefined, { given: '=said', n: 1 }),
      ends: some(undefined, undefined, undefined, true),
    })
    .map((one) => clean(one) as Screen);
  const any = fc.oneof({ weight: 9, arbitrary: screens(calls, hasServices) }, { weight: 1, arbitrary: end });
  // A called flow often begins with a call, so that several flows are entered and left at once.
  const first =
    calls.length === 1
      ? fc.oneof(
          any,
          callOf(calls).map((one) => clean(one) as Screen),
        )
      : any;
  const list = fc.tuple(first, ...IDS.slice(1, -1).map(() => any));
  const keys = fc.record({
    exit: some('*', '*', false),
    back: some('0', '0', '#', '2', '9', false),
    home: some('00', '77', false),
  });
  const more = fc.record({
    lang: some('en', 'sw'),
    rows: some(['x', 'y'], []),
    labels: some(
      {},
      { back: 'Undo', exit: 'Leave', invalid: 'No.', refused: 'Not that.', goodbye: { en: 'Bye', sw: 'Kwaheri' } },
    ),
    hasEnd: fc.boolean(),
    lastId: some('bye', 'bye', 'goodbye', 'exit'),
  });
  return fc.tuple(list, end, keys, more).map(([all, last, own, { lang, rows, labels, hasEnd, lastId }]): Flow => {
    const flow = {
      flow: name,
      version: 1,
      start: 'a',
      langs: ['en', 'sw'],
      keys: own,
      labels,
      vars: {
        said: { type: 'string', max: 3 },
        other: { type: 'string', max: 2 },
        count: { type: 'number', default: 0 },
        flag: { type: 'boolean', default: false },
        items: { type: 'array', default: rows },
        got: { type: 'object' },
        lang: { type: 'string', default: lang },
      },
      screens: Object.fromEntries([...all, hasEnd ? last : all[0]!].map((screen, at) => [IDS[at]!, screen])),
    };
    return JSON.parse(JSON.stringify(flow).replaceAll('"bye"', `"${lastId}"`)) as Flow;
  });
}

// Each flow begins with the call of the next, so that several are entered and left at once.
function nest(main: Flow, shop: Flow): readonly [Flow, Flow] {
  const { a, e } = { a: menuTo('e'), e: { type: 'flow', flow: 'shop', done: 'a' } } as const;
  return [
    { ...main, screens: { ...main.screens, a, e } },
    { ...shop, screens: { ...shop.screens, a: { ...e, flow: 'pay' } } },
  ];
}

const TYPED = [
  '1',
  '1',
  '1',
  '2',
  '3',
  '0',
  '0',
  '0',
  '00',
  '77',
  '*',
  '#',
  '9',
  '7',
  ' 7 ',
  'word',
  '',
  '98',
  'Exit',
  '\t\u0000',
  '01',
  'YES',
  'No',
  'hapana',
];

const services = Object.fromEntries(
  Object.entries(ANSWERS).map(([name, answer]) => [
    name,
    async () => {
      if (answer === undefined) throw new TwinlineError('ERR_INPUT', 'no');
      return answer;
    },
  ]),
);

test(`${RUNS} flows behave as the model says`, async () => {
  const typing = fc.array(some(...TYPED), { minLength: 12, maxLength: 12 });
  let turns = 0;
  await fc.assert(
    fc.asyncProperty(
      flows('main', ['shop', 'pay']),
      flows('shop', ['pay']),
      flows('pay', []),
      typing,
      some(false, false, true),
      async (anyMain, anyShop, pay, typed, isNested) => {
        const [main, shop] = isNested ? nest(anyMain, anyShop) : [anyMain, anyShop];
        const called = new Map([shop, pay].map((flow) => [flow.flow, flow]));
        const plain = compileFlow(main, { flows: called });
        // Marks for the coverage of tests change nothing.
        const caller = phone(isNested ? plain : { ...plain, machine: markFlow(plain).conversation.machine }, {
          services,
        });
        const model = new Model(main, called);
        const compare = async (shown: () => Promise<string>, said: () => string): Promise<boolean> => {
          let expected: string;
          try {
            expected = said();
          } catch (error) {
            assert.instance(error, Endless);
            return false;
          }
          assert.is(await shown(), expected);
          turns++;
          assert.equal(caller.tracked, model.tracked);
          assert.is(caller.ended, model.ended !== undefined);
          if (caller.ended) return false;
          assert.is(caller.screen, model.path);
          const { $frames = [], ...context } = caller.context as { $frames?: JsonObject[] } & JsonObject;
          const levels = [...$frames, context] as { readonly $stack: Json }[];
          assert.equal(
            levels.map(({ $stack }) => $stack),
            model.stacks,
          );
          for (const name of Object.keys(model.vars)) assert.equal(context[name], model.vars[name], name);
          return true;
        };
        if (
          !(await compare(
            () => caller.dial(),
            () => model.dial(),
          ))
        )
          return;
        for (const input of typed)
          if (
            !(await compare(
              () => caller.say(input),
              () => model.say(input),
            ))
          )
            return;
      },
    ),
    { numRuns: RUNS, seed: Number(process.env.TEST_SEED ?? 1) },
  );
  assert.ok(turns > RUNS * 3, `only ${turns} turns`);
});

test(`Back returns the variables too, and the same answer after it leads to the same place, in ${RUNS} flows`, () => {
  let checked = 0;
  const typing = fc.array(some('1', '1', '2', '3', '7', 'word', '0', '9'), { minLength: 10, maxLength: 10 });
  const look = ({ state, context: { $page, $bad, $undo, ...variables } }: AtRest) => JSON.stringify([state, variables]);
  fc.assert(
    fc.property(flows('main', ['pay'], false), flows('pay', [], false), typing, (main, pay, typed) => {
      const flow = compileFlow(main, { flows: new Map([[pay.flow, pay]]) });
      const say = (rest: AtRest, input: string): AtRest | undefined => {
        const event = flow.read({ ...rest, waiting: false }, input, () => '');
        if (typeof event !== 'object') return rest;
        const next = flow.machine.rest(flow.machine.step(flow.machine.resume(rest), event).live);
        return next.status === undefined ? next : undefined;
      };
      try {
        let rest: AtRest | undefined = flow.machine.rest(flow.machine.begin({}).live);
        if (rest.status !== undefined) return;
        for (const input of typed) {
          const before: AtRest = rest;
          const after = say(before, input);
          if (!after) return;
          rest = after;
          // A fixed way back is a jump.
          if (typeof flow.screens.get(String(after.state))!.screen.back === 'string') continue;
          const [, key] = /^(\S+)\. (?:Back|Undo|Rudi)$/m.exec(flow.render({ ...after, waiting: false }).text) ?? [];
          const behind = key === undefined || look(after) === look(before) ? undefined : say(after, key);
          if (behind?.state !== before.state || String(behind?.context.$stack) !== String(before.context.$stack))
            continue;
          checked++;
          assert.is(look(behind), look(before));
          assert.is(look(say(behind, input)!), look(after));
        }
      } catch (error) {
        // Branches in a circle.
        if (!(error instanceof TwinlineError)) throw error;
      }
    }),
    { numRuns: RUNS * 2, seed: Number(process.env.TEST_SEED ?? 1) },
  );
  assert.ok(checked > RUNS / 4, `only ${checked} times`);
});

test.run();
