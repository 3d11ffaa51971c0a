// Flows that call flows: what goes in and comes out, the ways back, home and out, and whose variables are whose.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow, Screen } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { flowOf, menuTo, type Phone, type PhoneOptions, phone } from './phone.ts';

const test = suite('sub-flows');

const input = (save: string, to: string, more: Partial<Screen & { type: 'input' }> = {}): Screen =>
  ({ type: 'input', text: `Say ${save}`, save, to, ...more }) as Screen;

function calling(flow: Flow, called: readonly Flow[], options: PhoneOptions = {}): Phone {
  return phone(compileFlow(flow, { flows: new Map(called.map((one) => [one.flow, one])) }), options);
}

const framesOf = (caller: Phone) => (caller.context.$frames as readonly JsonObject[] | undefined) ?? [];

const pay = flowOf(
  {
    amount: input('amount', 'note', { accept: { number: true } }),
    note: input('note', 'sure'),
    sure: menuTo('paid', 'left'),
    paid: { type: 'end', text: 'unseen', output: { paid: '=amount', by: '=who', note: '=note' }, track: 'paid' },
    left: { type: 'end', text: 'unseen' },
  },
  {
    flow: 'pay',
    vars: {
      amount: { type: 'number' },
      note: { type: 'string', default: 'none' },
      who: { type: 'string', max: 6 },
      count: { type: 'number', default: 7 },
    },
  },
);

const shop = flowOf(
  {
    start: menuTo('pay'),
    pay: {
      type: 'flow',
      flow: 'pay',
      with: { who: "=name + ' the buyer'" },
      save: 'result',
      done: [
        { when: 'result.paid >= 10', set: { count: '=count + 1' }, to: 'thanks', track: 'much' },
        { when: 'result.paid > 0', to: 'thanks' },
        { to: 'pity' },
      ],
    },
    thanks: { ...menuTo('start'), text: '{{result.by}} paid {{result.paid}}, {{count}}, {{note}}' },
    pity: menuTo('start'),
  },
  {
    flow: 'shop',
    vars: {
      name: { type: 'string', default: 'Ann' },
      result: { type: 'object' },
      count: { type: 'number', default: 0 },
      note: { type: 'string', default: 'of the shop' },
    },
  },
);

test('a flow gets what with says, gives back its output, and its variables are its own', async () => {
  const caller = calling(shop, [pay]);
  await caller.dial();
  assert.is(await caller.say('1'), 'Say amount\n0. Back');
  assert.equal(
    [caller.screen, caller.context.who, caller.context.note, caller.context.count],
    ['pay.amount', 'Ann th', 'none', 7],
  );
  assert.not(Object.hasOwn(caller.context, 'name'));
  assert.equal(
    framesOf(caller).map((frame) => [frame.name, frame.note]),
    [['Ann', 'of the shop']],
  );
  await caller.say('12.5', 'inside');
  assert.is(await caller.say('1'), 'Ann th paid 12.5, 1, of the shop\n1. To start\n0. Back');
  assert.equal(caller.tracked, ['paid', 'much']);
  assert.not(Object.hasOwn(caller.context, '$frames'));
  assert.not(Object.hasOwn(caller.context, '$output'));
  assert.not(Object.hasOwn(caller.context, 'amount'));
});

test('each call begins anew, and an end without output gives nothing', async () => {
  const caller = calling(shop, [pay]);
  await caller.dial();
  await caller.say('1', '3', 'x', '1', '1', '1');
  assert.equal([caller.screen, caller.context.amount, caller.context.note], ['pay.amount', null, 'none']);
  await caller.say('3', 'x', '2');
  assert.equal([caller.screen, caller.context.result], ['pity', null]);
});

test('back leads through the screens of the called flow, then out of it', async () => {
  const caller = calling(shop, [pay]);
  await caller.dial();
  await caller.say('1', '5', 'x');
  for (const screen of ['pay.note', 'pay.amount', 'start']) {
    await caller.say('0');
    assert.is(caller.screen, screen);
  }
  assert.equal([caller.context.note, framesOf(caller)], ['of the shop', []]);
  await caller.say('1');
  assert.is(caller.screen, 'pay.amount');
});

test('behind a flow that has ended lies the screen that called it, not the flow', async () => {
  const caller = calling(shop, [pay]);
  await caller.dial();
  await caller.say('1', '5', 'x', '1');
  assert.is(caller.screen, 'thanks');
  await caller.say('0');
  assert.is(caller.screen, 'start');
});

test('a called flow has its own keys and labels', async () => {
  const inner = { ...pay, keys: { back: '#' }, labels: { back: 'Undo' } };
  const caller = calling(shop, [inner]);
  await caller.dial();
  assert.is(await caller.say('1'), 'Say amount\n#. Undo');
  await caller.say('1');
  assert.is(await caller.say('0'), 'Choose\n1. To paid\n2. To left\n#. Undo\n00. Home');
  assert.is(caller.context.note, '0');
});

// town → shop → pay, where the shop begins with the call of pay.
const direct = { ...shop, start: 'pay' };
const town = flowOf(
  {
    start: menuTo('visit', 'far'),
    far: menuTo('visit'),
    visit: { type: 'flow', flow: 'shop', save: 'result', done: 'back' },
    back: { ...menuTo('start'), text: 'Back in town: {{result.paid}}{{note}}' },
  },
  { flow: 'town', vars: { note: { type: 'string', default: 'town' }, result: { type: 'object' } } },
);
const shopWithEnd = {
  ...direct,
  screens: { ...shop.screens, thanks: { type: 'end', text: '', output: { paid: '=result.paid' } } },
} as Flow;

test('flows call flows that call flows: values come out level by level', async () => {
  const caller = calling(town, [shopWithEnd, pay]);
  await caller.dial();
  await caller.say('1');
  assert.equal([caller.screen, framesOf(caller).length], ['visit.pay.amount', 2]);
  assert.equal(
    framesOf(caller).map((frame) => frame.note),
    ['town', 'of the shop'],
  );
  assert.is(await caller.say('20', 'inside', '1'), 'Back in town: 20town\n1. To start\n0. Back');
  assert.equal([caller.screen, framesOf(caller)], ['back', []]);
});

test('back leads out of several flows at once when nothing lies behind in between', async () => {
  const caller = calling(town, [shopWithEnd, pay]);
  await caller.dial();
  assert.is(await caller.say('2', '1'), 'Say amount\n0. Back\n00. Home');
  await caller.say('0');
  assert.equal([caller.screen, framesOf(caller), caller.context.note], ['far', [], 'town']);
  await caller.say('1', '5', '0');
  assert.is(caller.screen, 'visit.pay.amount');
});

test('home and exit lead out of several flows at once', async () => {
  const keys = { exit: '*' };
  const caller = calling({ ...town, keys }, [
    { ...shopWithEnd, keys },
    { ...pay, keys },
  ]);
  await caller.dial();
  await caller.say('2', '1', '5', '00');
  assert.equal([caller.screen, framesOf(caller), caller.context.note], ['start', [], 'town']);
  assert.is(await caller.say('1', '5', '*'), 'Goodbye.');
});

test('home works where the outermost flow begins with the call of another', async () => {
  const caller = calling({ ...town, start: 'visit' }, [shopWithEnd, pay]);
  await caller.dial();
  assert.is(await caller.say('5'), 'Say note\n0. Back');
  await caller.say('00');
  assert.equal([caller.screen, caller.context.amount, framesOf(caller).length], ['visit.pay.amount', null, 2]);
});

test('a wall inside of a called flow stands also before what lies behind the flow', async () => {
  const walled = flowOf(
    {
      a: menuTo('wall'),
      wall: { ...input('x', 'done', { accept: { digits: 1 }, attempts: 1, else: 'again' }), back: false },
      again: menuTo('done'),
      done: { type: 'end', text: '' },
    },
    { flow: 'walled', vars: { x: { type: 'string' } } },
  );
  const outer = flowOf({
    start: menuTo('in'),
    in: { type: 'flow', flow: 'walled', done: 'after' },
    after: menuTo('start'),
  });
  const caller = calling(outer, [walled]);
  await caller.dial();
  assert.is(await caller.say('1', '1'), 'Say x');
  assert.is(await caller.say('oops'), 'Choose\n1. To done');
  assert.is(await caller.say('1'), 'Choose\n1. To start');
  const atStart = calling(outer, [{ ...walled, start: 'wall' }]);
  await atStart.dial();
  assert.is(await atStart.say('1', 'oops'), 'Choose\n1. To done');
});

test('the language goes in with the caller, and with can say another', async () => {
  const spoken = flowOf(
    { a: { ...menuTo('end'), text: { en: 'Hello', sw: 'Habari' } }, end: { type: 'end', text: '' } },
    { flow: 'spoken', langs: ['en', 'sw'], vars: { lang: { type: 'string', default: 'en' } } },
  );
  const outer = (more: Partial<Screen & { type: 'flow' }>) =>
    flowOf(
      { start: menuTo('in'), in: { type: 'flow', flow: 'spoken', done: 'start', ...more } as Screen },
      { langs: ['en', 'sw'], vars: { lang: { type: 'string', default: 'sw' } } },
    );
  for (const [more, expected] of [
    [{}, 'Habari'],
    [{ with: { lang: 'en' } }, 'Hello'],
  ] as const) {
    const caller = calling(outer(more), [spoken]);
    await caller.dial();
    assert.is((await caller.say('1')).split('\n')[0], expected);
    await caller.say('1');
    assert.equal([caller.screen, caller.context.lang], ['start', 'sw']);
  }
});

test('secrets of every level stay out of the record, and their proofs go with their level', async () => {
  const records: string[] = [];
  const secret = { type: 'string', secret: true } as const;
  const inner = flowOf(
    {
      one: input('pin', 'two'),
      two: input('pin2', 'three', { accept: { sameAs: 'pin' } }),
      three: menuTo('end'),
      end: { type: 'end', text: '', output: { ok: true } },
    },
    { flow: 'inner', vars: { pin: secret, pin2: secret } },
  );
  const outer = flowOf(
    {
      ask: input('pin', 'in'),
      in: { type: 'flow', flow: 'inner', done: 'again' },
      again: input('pin3', 'fine', { accept: { sameAs: 'pin' } }),
      fine: menuTo('ask'),
    },
    { vars: { pin: secret, pin3: secret } },
  );
  const caller = calling(outer, [inner], { onRecord: (record) => records.push(record) });
  await caller.dial();
  await caller.say('84913');
  assert.is(caller.screen, 'in.one');
  await caller.say('55512');
  await caller.say('84913');
  assert.is(caller.screen, 'in.two', 'the PIN of the caller is not the one of the called flow');
  await caller.say('55512', '1');
  assert.is(caller.screen, 'again');
  await caller.say('55512');
  assert.is(caller.screen, 'again');
  await caller.say('84913');
  assert.is(caller.screen, 'fine');
  assert.ok(records.length >= 7);
  for (const record of records) assert.not.match(record, /84913|55512/);
});

test('a name that is a secret in one flow and none in another cannot be kept apart, so it is refused', () => {
  const inner = flowOf({ a: menuTo('a') }, { flow: 'inner', vars: { code: { type: 'string', secret: true } } });
  const outer = flowOf({ in: { type: 'flow', flow: 'inner', done: 'in' } }, { vars: { code: { type: 'string' } } });
  assert.throws(
    () => calling(outer, [inner]),
    (error: Error) =>
      error instanceof TwinlineError &&
      error.code === 'ERR_FLOW_INVALID' &&
      /"code" is a secret in "inner"/.test(error.message),
  );
});

test('a flow can be called again right behind its end', async () => {
  const inner = flowOf(
    { ask: input('said', 'end'), end: { type: 'end', text: '', output: { said: '=said' } } },
    { flow: 'inner', vars: { said: { type: 'string' }, all: { type: 'string' } } },
  );
  const outer = flowOf(
    {
      in: {
        type: 'flow',
        flow: 'inner',
        save: 'got',
        done: [{ when: "got.said != 'stop'", set: { all: '=all + got.said' }, to: 'in' }, { to: 'shown' }],
      },
      shown: { ...menuTo('in'), text: '{{all}}' },
    },
    { vars: { got: { type: 'object' }, all: { type: 'string', default: '' } } },
  );
  const caller = calling(outer, [inner]);
  await caller.dial();
  await caller.say('a', 'b');
  assert.equal([caller.screen, framesOf(caller).length, caller.context.said], ['in.ask', 1, null]);
  assert.is(await caller.say('stop'), 'ab\n1. To in');
});

test('a flow that is not loaded, or that calls itself through others, is refused by name', () => {
  const a = flowOf({ in: { type: 'flow', flow: 'b', done: 'in' } }, { flow: 'a' });
  const b = flowOf({ in: { type: 'flow', flow: 'a', done: 'in' } }, { flow: 'b' });
  assert.throws(() => calling(a, []), /calls the flow "b", which is not loaded/);
  assert.throws(() => calling(a, [a, b]), /a → b → a/);
});

test.run();
