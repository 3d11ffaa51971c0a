// The machine adapter: what a step says must be done, how a rest becomes live again, and what it refuses to resume.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assign, cancel, createActor, createMachine, emit, fromPromise, raise, sendTo } from 'xstate';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { thrown } from './support.ts';

const test = suite('transition');

const shop = () =>
  compileMachine(
    createMachine({
      id: 'shop',
      initial: 'open',
      context: { count: 0 },
      states: {
        open: {
          initial: 'idle',
          on: { close: 'closed', both: 'two' },
          states: { idle: { on: { pick: 'full' } }, full: {}, last: { type: 'history' } },
        },
        closed: { on: { reopen: 'open.last', leave: 'gone' } },
        two: { type: 'parallel', states: { left: { initial: 'a', states: { a: {}, b: {} } }, right: {} } },
        gone: { type: 'final' },
      },
    }),
  );

test('a step names what must be done, in order, and does nothing of it', () => {
  const machine = compileMachine(
    createMachine({
      id: 'effects',
      initial: 'a',
      context: { n: 7 },
      states: {
        a: { on: { go: 'b' } },
        b: {
          entry: [
            { type: 'seen', params: { at: 'b' } },
            raise({ type: 'soon' }, { id: 'soon', delay: 50 }),
            cancel('soon'),
            sendTo(({ self }) => self, { type: 'later' }),
            sendTo(({ self }) => self, { type: 'muchLater' }, { id: 'much', delay: 99 }),
            emit({ type: 'told', n: 1 }),
          ],
          after: { 1000: 'a' },
          invoke: { id: 'ask', src: 'service', input: ({ context }) => ({ n: context.n }) },
        },
      },
    }),
  );
  const { live, effects } = machine.step(machine.begin().live, { type: 'go' });
  const after = 'xstate.after.1000.effects.b';
  assert.equal(effects.slice(0, 6), [
    { type: 'fact', name: 'seen', params: { at: 'b' } },
    { type: 'timer', id: 'soon', delayMs: 50, event: { type: 'soon' } },
    { type: 'cancel', id: 'soon' },
    { type: 'send', event: { type: 'later' } },
    { type: 'timer', id: 'much', delayMs: 99, event: { type: 'muchLater' } },
    { type: 'fact', name: 'told', params: { type: 'told', n: 1 } },
  ]);
  assert.equal(effects.slice(-2), [
    { type: 'timer', id: after, delayMs: 1000, event: { type: after } },
    { type: 'call', id: 'ask', service: 'service', input: { n: 7 } },
  ]);
  assert.equal(machine.calling(live), ['ask']);
});

test('what looks like an actor in the variables is left as it is', () => {
  const machine = shop();
  const context = { a: { xstate$$type: 1, id: 'x' } };
  const history = { 'shop.open.last': ['shop.open.full'] };
  const live = machine.resume({ state: 'closed', context, history });
  assert.equal(machine.rest(live), { state: 'closed', context: { a: { xstate$$type: 1, id: 'x' } }, history });
});

test('a guard that throws gives ERR_MACHINE with its cause, and leaves no effects to the next step', () => {
  const machine = compileMachine(
    createMachine({
      id: 'broken',
      initial: 'a',
      states: {
        a: {
          on: {
            go: { target: 'b', actions: ['told'], guard: () => true },
            bad: { guard: () => JSON.parse('{') as boolean, target: 'b' },
            worse: {
              actions: [
                'told',
                assign(() => {
                  throw new RangeError('no');
                }),
              ],
            },
            quiet: {},
          },
        },
        b: {},
      },
    }),
  );
  const { live } = machine.begin();
  for (const type of ['bad', 'worse']) {
    const error = thrown(() => machine.step(live, { type }));
    assert.is(error.code, 'ERR_MACHINE');
    assert.instance(error.cause, Error);
  }
  assert.equal(machine.step(live, { type: 'quiet' }).effects, []);
  assert.equal(machine.step(live, { type: 'go' }).effects, [{ type: 'fact', name: 'told', params: null }]);
});

test('an error of a call that no transition takes puts the machine into the status error, as in XState', () => {
  const machine = compileMachine(
    createMachine({ id: 'deaf', initial: 'a', states: { a: { invoke: { id: 'x', src: 'service' } } } }),
  );
  const error = { code: 'E', message: '' };
  const { live } = machine.step(machine.begin().live, { type: 'xstate.error.actor.x', error } as never);
  const rest = { state: 'a', context: {}, status: 'error', error };
  assert.equal(machine.rest(live), rest);
  assert.equal(machine.rest(machine.step(machine.resume(machine.rest(live)), { type: 'go' }).live), rest);
});

test('a machine that is passed in stays as it is', () => {
  const count = ENGINE_LIMITS.microstepsPerStep + 50;
  const machine = createMachine({
    context: { n: 0 },
    initial: 'up',
    states: {
      up: {
        always: [
          { guard: ({ context }) => context.n === count, target: 'done' },
          { target: 'up', reenter: true, actions: assign({ n: ({ context }) => context.n + 1 }) },
        ],
      },
      done: { invoke: { src: 'missing' } },
    },
  });
  const compiled = compileMachine(machine);
  assert.throws(() => compiled.begin(), /microsteps/);
  assert.is(
    createActor(machine.provide({ actors: { missing: fromPromise(async () => 0) } }))
      .start()
      .getSnapshot().value,
    'done',
  );
  assert.equal(machine.implementations.actors, {});
});

test.run();
