// Events while a call goes on, and failures: sessions and documents do what an actor of XState does, and say it once.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assign, createActor, createMachine, fromPromise } from 'xstate';
import { SimulatedClock } from '../../lib/clock.ts';
import type { EngineProblem } from '../../lib/engine/engine.ts';
import { lifecycle } from '../../lib/engine/lifecycle/lifecycle.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { type Service, ServiceError, type Services } from '../../lib/engine/service.ts';
import { wakeSession } from '../../lib/engine/session/turn.ts';
import { viewSession } from '../../lib/engine/sessions.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { MINUTE } from './asking.ts';
import { begin, KEY, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('as actors');

const GO = { type: 'GO' };
const CANCEL = { type: 'CANCEL' };

/** A session, with what its engine was told. */
function session(config: object, services: Services, timeoutMs = 5_000) {
  const problems: EngineProblem[] = [];
  const ended: boolean[] = [];
  const machine = compileMachine(createMachine(config as never));
  const calls = new Proxy({}, { get: () => ({ timeoutMs }) });
  const here = place(machineConversation(machine, { calls, shown: 'all' }), {
    services,
    onProblem: (problem) => problems.push(problem),
    onTurn: (turn) => ended.push(turn.ended),
  });
  /** The problems of the machine itself. */
  const told = () =>
    problems.flatMap(({ reason, call, error }) => (reason === 'machine' ? [[call, String(error)]] : []));
  return { ...here, problems, told, ended, view: async () => (await viewSession(here.engine(), KEY))! };
}

/** What an actor of XState makes of the same, with promises that settle at once. */
async function actorOf(config: object, services: Services, events: readonly { type: string }[] = []) {
  const actors = Object.entries(services).map(([name, service]) => [
    name,
    fromPromise(({ input }) => service(input as JsonObject, {} as never)),
  ]);
  const actor = createActor(createMachine(config as never, { actors: Object.fromEntries(actors) } as never));
  actor.subscribe({ error: () => {} });
  actor.start();
  for (const event of events) actor.send(event);
  await settled();
  return actor.getSnapshot() as unknown as { status: string; value: Json; output?: Json; error?: unknown };
}

const sending = {
  id: 'sending',
  initial: 'idle',
  context: { ticks: 0 },
  on: { TICK: { actions: assign({ ticks: ({ context }: { context: { ticks: number } }) => context.ticks + 1 }) } },
  states: {
    idle: { on: { GO: 'sending' } },
    sending: { invoke: { id: 'send', src: 'send', onDone: 'sent', onError: 'idle' }, on: { CANCEL: 'idle' } },
    sent: { on: { CANCEL: 'refunding', LATE: 'refunding' } },
    refunding: {},
  },
};

for (const who of ['the same process', 'another process'])
  for (const keys of [true, false])
    test(`what leaves a state is taken while its call goes on, by ${who}, ${keys ? 'with' : 'without'} turn keys`, async () => {
      const here = session(sending, { send: () => here.clock.wait(9_000).then(() => 1) }, MINUTE);
      const one = here.engine();
      const two = who === 'the same process' ? one : here.engine();
      const said = (turnKey: string) => (keys ? { turnKey } : {});
      await begin(one);
      const go = textOf(say(one, GO, said('go')));
      await settled();
      for (const at of [1, 2]) assert.is(await textOf(say(two, { type: 'TICK' }, said(`tick ${at}`))), '"sending"');
      // Nothing takes it there: it is dropped, and not kept for the state that follows.
      const dropped = textOf(say(two, { type: 'LATE' }, said('late')));
      await settled();
      const cancelled = await textOf(say(two, CANCEL, said('cancel')));
      assert.is(cancelled, '"idle"', 'no time has passed');
      await here.clock.advance(20_000);
      assert.equal([await go, await dropped], ['"idle"', '"idle"']);
      const rest = { state: 'idle', context: { ticks: 2 } };
      assert.equal((await here.view()).rest, rest);
      for (const key of keys ? ['go', 'tick 1', 'cancel'] : []) {
        assert.is(await textOf(say(two, key === 'go' ? GO : CANCEL, { turnKey: key })), '"idle"');
        assert.equal((await here.view()).rest, rest, `${key} again: it was taken before`);
      }
    });

test('an event that comes with others at once is taken once, by whoever is first, and after the answer if that was', async () => {
  const here = session(sending, { send: async () => 1 });
  await begin(here.engine());
  const turns = [GO, CANCEL, { type: 'TICK' }, CANCEL].map((event, at) =>
    say(here.engine(), event, { turnKey: `${at}` }),
  );
  const texts = await Promise.all(turns.map(textOf));
  const { rest } = await here.view();
  assert.is(texts.length, 4);
  assert.equal(rest.context, { ticks: 1 });
});

const pay = (more: object = {}, states: object = {}) => ({
  id: 'pay',
  initial: 'idle',
  context: { receipt: 0 },
  states: {
    idle: { on: { GO: 'paying', BAD: { actions: assign({ receipt: boom }) } } },
    paying: { invoke: { id: 'charge', src: 'pay', onDone: 'paid', ...more }, on: { BACK: 'idle' } },
    paid: {},
    ...states,
  },
});
function boom(): never {
  throw new Error('PIN 4821');
}
const receipt = {
  target: 'paid',
  actions: assign({ receipt: ({ event }) => (event as never as { output: { no: JsonObject } }).output.no.number }),
};
const failing: Service = async () => Promise.reject(new Error('no'));
const fine: Service = async () => ({ ok: true });
const failures: readonly [string, object, Service, object][] = [
  ['a call fails and nothing takes that', pay(), failing, { code: 'ERR_SERVICE', message: 'The service failed.' }],
  [
    'an action throws on a good answer',
    pay({ onDone: receipt, onError: 'unpaid' }, { unpaid: {} }),
    fine,
    { code: 'ERR_MACHINE' },
  ],
  ['a guard does', pay({ onDone: { guard: boom, target: 'paid' }, onError: 'idle' }), fine, { code: 'ERR_MACHINE' }],
  ['an output does', { ...pay({}, { paid: { type: 'final' } }), output: boom }, fine, { code: 'ERR_MACHINE' }],
  [
    'an input of the next call does',
    pay({ onError: 'idle' }, { paid: { invoke: { src: 'pay', input: boom } } }),
    fine,
    { code: 'ERR_MACHINE' },
  ],
];
const counting =
  (service: Service, count: () => void): Service =>
  (...args) => {
    count();
    return service(...args);
  };

for (const [what, config, service, expected] of failures) {
  test(`${what}: the machine has failed, once, in a session`, async () => {
    let calls = 0;
    const services = { pay: counting(service, () => calls++) };
    const theirs = await actorOf(config, services, [GO]);
    calls = 0;
    const here = session(config, services);
    await begin(here.engine());
    const turn = await say(here.engine(), GO, { turnKey: 'go' });
    assert.equal([theirs.status, turn.kind === 'replied' && turn.reply.kind], ['error', 'end']);
    const { rest, ended } = await here.view();
    assert.equal([rest.status, rest.state, ended], [theirs.status, theirs.value, true]);
    assert.equal({ ...rest.error, ...expected }, rest.error);
    assert.not.ok(JSON.stringify([rest, here.stored()]).includes('4821'));
    for (let at = 0; at < 3; at++) {
      await here.clock.advance(MINUTE);
      await wakeSession(here.engine(), KEY);
    }
    assert.is(calls, 1);
    assert.equal(
      here.told().map(([call]) => call),
      ['charge'],
    );
    assert.equal((await here.store.list()).keys, []);
    const again = await say(here.engine(), GO, { turnKey: 'go' });
    assert.equal(
      [again.kind === 'replied' && again.reply, again.kind === 'replied' && again.ending],
      [turn.kind === 'replied' && turn.reply, turn.kind === 'replied' && turn.ending],
    );
    assert.equal(await say(here.engine(), { type: 'BACK' }), { kind: 'refused', reason: 'the session has ended' });
  });

  test(`${what}: the same in a document, for a day`, async () => {
    let calls = 0;
    const told: unknown[] = [];
    const clock = new SimulatedClock();
    const documents = memoryDocuments({ clock });
    const ORDER = { name: 'order', indexes: { due: { fields: ['dueAt'] } } };
    await documents.declare([ORDER]);
    const orders = lifecycle({
      documents,
      kind: ORDER,
      clock,
      machine: compileMachine(createMachine(config as never)),
      calls: { charge: { tries: 1 } },
      services: { pay: counting(service, () => calls++) },
      onProblem: ({ call }) => told.push(call),
    });
    await orders.begin('o', { input: {} });
    const { instance } = await orders.take('o', { decide: () => GO });
    assert.equal(
      [instance.status, { ...instance.error, ...expected }, instance.calling],
      ['error', instance.error, []],
    );
    for (let hour = 0; hour < 24; hour++) {
      await clock.advance(60 * MINUTE);
      assert.is(await orders.sweep(), 0);
    }
    assert.equal([calls, told], [1, ['charge']]);
    assert.is((await rejection(orders.take('o', { decide: () => ({ type: 'BACK' }) }))).code, 'ERR_MACHINE');
  });
}

test('what a machine throws on an input is refused, and the session goes on; on a timer it has failed', async () => {
  const here = session(
    { ...pay(), states: { ...pay().states, paid: { after: { 1000: { actions: assign({ receipt: boom }) } } } } },
    { pay: fine },
  );
  await begin(here.engine());
  assert.is((await rejection(say(here.engine(), { type: 'BAD' }))).code, 'ERR_MACHINE');
  assert.is(await textOf(say(here.engine(), GO)), '"paid"');
  await here.clock.advance(1_000);
  await wakeSession(here.engine(), KEY);
  const { rest, ended } = await here.view();
  assert.equal(
    [rest.state, rest.status, ended, here.stored().dueAt, here.told().length],
    ['paid', 'error', true, null, 1],
  );
});

test('what cannot be stored when it comes by itself ends the machine where it was stored last', async () => {
  const here = session(
    pay({
      onDone: {
        target: 'paid',
        actions: assign({ receipt: ({ event }) => `${(event as never as { output: string }).output}`.repeat(3) }),
      },
    }),
    { pay: async () => here.clock.wait(9_000).then(() => 'x'.repeat(30_000)) },
    MINUTE,
  );
  await begin(here.engine());
  const turn = say(here.engine(), GO);
  for (let at = 0; at < 20; at++) await here.clock.advance(1_000);
  await turn;
  await settled();
  const { rest } = await here.view();
  assert.equal([rest.state, rest.status, rest.error?.code], ['paying', 'error', 'ERR_TURN_LIMIT']);
});

test('a machine that ends by itself has ended everywhere, and its output is told; the last request keeps its reply', async () => {
  const config = {
    id: 'timed',
    initial: 'a',
    context: { n: 3 },
    output: ({ context }: { context: { n: number } }) => ({ total: context.n }),
    states: { a: { after: { 1000: 'z' }, on: { GO: 'z' } }, z: { type: 'final' } },
  };
  const theirs = await actorOf(config, {}, [GO]);
  const here = session(config, {});
  await begin(here.engine(), { turnKey: 'b' });
  await here.clock.advance(1_000);
  await wakeSession(here.engine(), KEY);
  const { rest, ended } = await here.view();
  assert.equal([rest.status, rest.output, ended, here.ended], [theirs.status, theirs.output, true, [false, true]]);
  assert.equal((await here.store.list()).keys, []);
  const reply = { kind: 'continue', text: '"a"' };
  const ending = { status: 'done', output: { total: 3 } };
  assert.equal(await begin(here.engine(), { turnKey: 'b' }), { kind: 'replied', reply, repeated: true, ending });
  const other = session(config, {});
  await begin(other.engine());
  const turn = await say(other.engine(), GO);
  assert.equal(turn.kind === 'replied' && [turn.reply.kind, turn.ending], ['end', ending]);
});

test('any JSON is the input of a call, also after a crash', async () => {
  for (const input of [[1, [2]], 7, 0, 'text', '', false, null, { a: [1] }]) {
    const got: Json[] = [];
    const echo: Service = async (given: Json) => got.push(given);
    const here = session(
      {
        id: 'echo',
        initial: 'a',
        states: { a: { on: { GO: 'b' } }, b: { invoke: { src: 'echo', input: () => input, onDone: 'a' } } },
      },
      { echo },
    );
    await begin(here.engine());
    assert.is(await textOf(say(here.engine(), GO)), '"a"');
    void say(here.doomed({ services: { echo: () => new Promise(() => {}) } }), GO);
    await settled();
    await here.clock.advance(MINUTE);
    await wakeSession(here.engine(), KEY);
    await settled();
    assert.equal(got, [input, input]);
  }
});

test('a service tells its failures by ServiceError: code, words and data, without the secrets of the call', async () => {
  const config = pay(
    { onError: { target: 'unpaid', actions: assign({ receipt: ({ event }) => event.error }) } },
    { unpaid: {} },
  );
  const told = async (error: unknown, secret = false) => {
    const here = place(
      machineConversation(
        compileMachine(
          createMachine({
            ...config,
            states: {
              ...config.states,
              paying: { ...config.states.paying, invoke: { ...config.states.paying.invoke, input: { pin: '4821' } } },
            },
          } as never),
        ),
        { calls: { charge: { secret } } },
      ),
      { services: { pay: async () => Promise.reject(error) } },
    );
    await begin(here.engine(), { inputs: [GO] });
    return here.record().rest.context.receipt;
  };
  const data = { missing: 40 };
  assert.equal(await told(new ServiceError('LOW_BALANCE', 'Too low.', { data })), {
    code: 'LOW_BALANCE',
    message: 'Too low.',
    data,
  });
  assert.equal(await told(new ServiceError('LOW', 'PIN 4821', { data: ['4821'] }), true), {
    code: 'LOW',
    message: 'PIN ****',
    data: ['****'],
  });
  assert.equal(await told(new ServiceError('LOW', 'x', { data: 1n as never })), { code: 'LOW', message: 'x' });
  const hidden = { code: 'ERR_SERVICE', message: 'The service failed.' };
  for (const error of [Object.assign(new Error('PIN 4821'), { code: 'LOW' }), { code: 'LOW' }])
    assert.equal(await told(error), hidden);
  for (const code of ['ERR_LOW', '', '1st', 'a b', 7])
    assert.throws(
      () => new ServiceError(code as never),
      (error: TwinlineError) => error.code === 'ERR_CONFIG',
    );
});

test.run();
