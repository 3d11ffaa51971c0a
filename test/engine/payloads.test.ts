// What callers send is JSON: what JSON would change is refused with its path, at every door of the engine, before anything is stored.

import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyStateMachine, createMachine } from 'xstate';
import { SimulatedClock } from '../../lib/clock.ts';
import { later } from '../../lib/engine/later.ts';
import { lifecycle } from '../../lib/engine/lifecycle/lifecycle.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { completeCall } from '../../lib/engine/session/complete.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { begin, KEY, place, rejection, say } from './support.ts';

const test = suite('payloads');

class Money {
  amount = 5;
}
const ring: { self?: unknown } = {};
ring.self = ring;
let deep: unknown = 'bottom';
for (let depth = 0; depth < 300; depth++) deep = [deep];

/** Values that JSON would change, and the words of the refusal. */
const CHANGED: readonly (readonly [unknown, RegExp])[] = [
  [new Date(0), /a Date at "v"/],
  [[1, undefined], /undefined at "v\[1\]"/],
  [{ name: undefined }, /undefined at "v\.name"/],
  [[{ sum: Number.NaN }], /NaN at "v\[0\]\.sum"/],
  [-Infinity, /-Infinity at "v"/],
  [new Map(), /a Map at "v"/],
  [new Money(), /a Money at "v"/],
  [1n, /a bigint at "v"/],
  [() => 1, /a function at "v"/],
  [Buffer.from('x'), /a Buffer at "v"/],
  [ring, /nested too deep, or in itself/],
  [deep, /nested too deep, or in itself/],
  [new Array(1_000_001).fill(0), /more than 1000000 values/],
];

const states = {
  idle: { on: { GO: 'paying', '*': {} } },
  paying: { invoke: { id: 'pay', src: 'pay', onDone: 'idle', onError: 'idle' } },
};
const machine = compileMachine(createMachine({ id: 'm', initial: 'idle', states }) as AnyStateMachine);
const keyring = parseKeyring(randomBytes(32).toString('hex'));
const tokens: string[] = [];
const services = {
  pay: async (_input: unknown, call: Parameters<typeof later>[0]) => {
    const answer = later(call, { within: 60_000 });
    tokens.push(answer.token);
    return answer;
  },
};

test('a session refuses what it is begun with, its events, and answers of its calls; a member without a value is none', async () => {
  const here = place(machineConversation(machine, { read: () => ({ type: 'X', v: new Date(0) }), render: () => 'x' }), {
    services,
    keyring,
  });
  const engine = here.engine();
  for (const [v, words] of CHANGED) {
    for (const options of [{ input: { v } as JsonObject }, { inputs: [{ type: 'GO' }, { type: 'X', v } as Json] }]) {
      const error = await rejection(begin(engine, options));
      assert.is(error.code, 'ERR_INPUT');
      assert.match(error.message, words);
      assert.is(await here.store.load(KEY), undefined);
    }
  }
  await begin(engine, { inputs: [{ type: 'GO', v: undefined } as unknown as Json] });
  const { revision } = here.stored();
  for (const [v, words] of CHANGED) {
    for (const work of [
      say(engine, { type: 'X', v } as Json),
      completeCall(engine, tokens[0]!, { ok: true, output: { v } as Json }),
    ]) {
      const error = await rejection(work);
      assert.is(error.code, 'ERR_INPUT');
      assert.match(error.message, words);
    }
  }
  assert.match((await rejection(say(engine, 'read'))).message, /a Date at "v"/);
  assert.is(here.stored().revision, revision);
});

test('a lifecycle refuses them as well, and events that belong to XState', async () => {
  const THING = { name: 'thing', indexes: { due: { fields: ['dueAt'] } } };
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare([THING]);
  const things = lifecycle({ documents, kind: THING, machine, clock, services, keyring });
  for (const [v, words] of CHANGED)
    for (const beginning of [{ input: { v } }, { input: {}, body: { v } }]) {
      const error = await rejection(things.begin('one', beginning as never));
      assert.is(error.code, 'ERR_INPUT');
      assert.match(error.message, words);
      assert.is(await documents.get(THING, 'one'), undefined);
    }
  await things.begin('one', { input: { v: undefined } as never });
  const { revision } = (await documents.get(THING, 'one'))!;
  for (const [v, words] of CHANGED) {
    const error = await rejection(things.take('one', { decide: () => ({ type: 'X', v }) as never }));
    assert.is(error.code, 'ERR_INPUT');
    assert.match(error.message, words);
  }
  for (const type of ['xstate.stop', 'xstate.done.actor.pay', '*', ''])
    assert.match((await rejection(things.take('one', { decide: () => ({ type }) }))).message, /takes events/);
  assert.is((await documents.get(THING, 'one'))!.revision, revision);
});

test.run();
