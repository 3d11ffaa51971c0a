// Flows that call flows: secrets of every level, and calls that cannot be. What goes in and comes out, and the ways back, are in model.test.ts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow, Screen } from '../../lib/flow/format/flow.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { flowOf, menuTo, type Phone, type PhoneOptions, phone } from './phone.ts';

const test = suite('sub-flows');

const input = (save: string, to: string, more: Partial<Screen & { type: 'input' }> = {}): Screen =>
  ({ type: 'input', text: `Say ${save}`, save, to, ...more }) as Screen;

function calling(flow: Flow, called: readonly Flow[], options: PhoneOptions = {}): Phone {
  return phone(compileFlow(flow, { flows: new Map(called.map((one) => [one.flow, one])) }), options);
}

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
  assert.is(caller.screen, 'inner.one');
  await caller.say('55512');
  await caller.say('84913');
  assert.is(caller.screen, 'inner.two', 'the PIN of the caller is not the one of the called flow');
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

test('a flow that is not loaded, or that calls itself through others, is refused by name', () => {
  const a = flowOf({ in: { type: 'flow', flow: 'b', done: 'in' } }, { flow: 'a' });
  const b = flowOf({ in: { type: 'flow', flow: 'a', done: 'in' } }, { flow: 'b' });
  assert.throws(() => calling(a, []), /calls the flow "b", which is not loaded/);
  assert.throws(() => calling(a, [a, b]), /a → b → a/);
});

test('a called flow is part of the machine once, however often it is called', () => {
  const [levels, calls] = [5, 10];
  const flows = [...Array(levels + 1).keys()].map((level): Flow => {
    const name = { flow: `f${level}` };
    const end: Screen = { type: 'end', text: '' };
    if (level === levels)
      return flowOf({ ask: input('pin', 'end'), end }, { ...name, vars: { pin: { type: 'string' } } });
    const ids = [...Array(calls).keys()].map((at) => `call${at}`);
    const next: Screen = { type: 'flow', flow: `f${level + 1}`, done: 'end' };
    return flowOf({ menu: menuTo(...ids), ...Object.fromEntries(ids.map((id) => [id, next])), end }, name);
  });
  const screens = flows.reduce((sum, flow) => sum + Object.keys(flow.screens).length, 0);
  const compiled = compileFlow(flows[0]!, { flows: new Map(flows.map((flow) => [flow.flow, flow])) });
  const goodbye = 1;
  assert.is(compiled.screens.size, screens + goodbye);
  assert.is(Object.keys(compiled.machine.source.states).length, screens + goodbye);
});

test('what is called goes on where it was called, from each of several places, and its variables begin anew', async () => {
  const inner = flowOf(
    { ask: input('said', 'end'), end: { type: 'end', text: '', output: { said: '=said' } } },
    { flow: 'inner', vars: { said: { type: 'string', default: 'nothing' } } },
  );
  const call = (done: string): Screen => ({ type: 'flow', flow: 'inner', save: 'got', done });
  const outer = flowOf(
    {
      menu: menuTo('one', 'two'),
      one: call('first'),
      two: call('second'),
      first: menuTo('two'),
      second: menuTo('one'),
    },
    { vars: { got: { type: 'object' } } },
  );
  const caller = calling(outer, [inner]);
  await caller.dial();
  for (const [key, said, screen] of [
    ['2', 'x', 'second'],
    ['1', 'y', 'first'],
    ['1', 'z', 'second'],
  ] as const) {
    await caller.say(key);
    assert.equal([caller.screen, caller.context.said], ['inner.ask', 'nothing']);
    await caller.say(said);
    assert.equal([caller.screen, caller.context.got, '$frames' in caller.context], [screen, { said }, false]);
  }
});

test('a session is in as many flows as it may be, each called by the one before; one more is refused', async () => {
  const chain = [...Array(FLOW_LIMITS.flowLevels + 1).keys()].map((at) => {
    const next: Screen = { type: 'flow', flow: `f${at + 1}`, done: 'end' };
    const first = at < FLOW_LIMITS.flowLevels ? next : input('said', 'end');
    return flowOf(
      { in: first, end: { type: 'end', text: `End of ${at}` } },
      { flow: `f${at}`, vars: { said: { type: 'string' } } },
    );
  });
  assert.throws(() => calling(chain[0]!, chain), /f15 → f16 and what that calls are more than 16 flows/);
  const caller = calling(chain[1]!, chain);
  await caller.dial();
  assert.is(caller.screen, 'f16.in');
  assert.is(await caller.say('x'), 'End of 1');
});

test('an end that `ends` shows its words in a called flow, and closes the session', async () => {
  const order = (ends: boolean) =>
    flowOf(
      { yes: menuTo('done'), done: { type: 'end', text: 'Your order number is A4.', ...(ends && { ends }) } },
      { flow: 'shop' },
    );
  const main = flowOf({ shop: { type: 'flow', flow: 'shop', done: 'bye' }, bye: { type: 'end', text: 'Thank you.' } });
  const talk = async (shop: Flow) => {
    const caller = phone(compileFlow(main, { flows: new Map([['shop', shop]]) }));
    await caller.dial();
    return [await caller.say('1'), caller.ended, caller.screen];
  };
  assert.equal(await talk(order(true)), ['Your order number is A4.', true, 'shop.done']);
  assert.equal(await talk(order(false)), ['Thank you.', true, 'bye']);
});

test.run();
