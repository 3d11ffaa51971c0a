// Flows that call flows: secrets of every level, and calls that cannot be. What goes in and comes out, and the ways back, are in model.test.ts.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow, Screen } from '../../lib/flow/format/flow.ts';
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

test.run();
