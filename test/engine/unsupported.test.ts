// What of XState cannot be kept between two events is refused: when the machine is compiled, else by the step that asks for it.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AnyStateMachine,
  assign,
  cancel,
  createMachine,
  enqueueActions,
  forwardTo,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  fromTransition,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
} from 'xstate';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { findLoss } from '../../lib/json/lossless.ts';
import { begin, place, rejection, say, thrown } from './support.ts';

const test = suite('unsupported');

const inside = (state: object) =>
  createMachine({
    id: 'm',
    initial: 'a',
    states: { a: { initial: 'b', states: { b: state } } },
  } as never) as AnyStateMachine;
const child = createMachine({ id: 'child' });
const never = { subscribe: () => ({ unsubscribe: () => {} }) } as never;

const REFUSED: { readonly [what: string]: readonly [object, RegExp] } = {
  'a child that is spawned': [{ entry: spawnChild('job' as never) }, /state "a.b" spawns a child/],
  'a child that is spawned by a transition': [
    { on: { GO: { actions: spawnChild('job' as never) } } },
    /spawns a child/,
  ],
  'a machine': [{ invoke: { src: child } }, /invokes a machine/],
  'a callback': [{ invoke: { src: fromCallback(() => {}) } }, /invokes an actor that is no promise/],
  'an observable': [{ invoke: { src: fromObservable(() => never) } }, /no promise/],
  'an observable of events': [{ invoke: { src: fromEventObservable(() => never) } }, /no promise/],
  'an event that is forwarded': [{ on: { GO: { actions: forwardTo('job') } } }, /sends to another actor/],
  'a transition function': [{ invoke: { src: fromTransition((state) => state, {}) } }, /no promise/],
  'an event for another actor': [{ entry: sendTo('job', { type: 'X' }) }, /sends to another actor/],
  'an event for a parent': [{ always: { guard: () => false, actions: sendParent({ type: 'X' }) } }, /sends to another/],
  'a function as an action': [{ exit: () => assert.unreachable() }, /runs a function as an action/],
  'an id that is no text': [{ entry: raise({ type: 'X' }, { id: 7 as never, delay: 1 }) }, /the id 7/],
  'the same for a cancel': [{ entry: cancel(7 as never) }, /the id 7/],
  'a systemId': [{ invoke: { src: 'job', systemId: 'one' } }, /systemId/],
  'snapshots of a service': [{ invoke: { src: 'job', onSnapshot: 'b' } }, /onSnapshot/],
  'two calls of one id at once': [
    {
      invoke: [
        { id: 'x', src: 'job' },
        { id: 'x', src: 'job' },
      ],
    },
    /invokes "x" while/,
  ],
};

for (const [what, [state, words]] of Object.entries(REFUSED))
  test(`${what} is refused when the machine is compiled`, () => {
    const error = thrown(() => compileMachine(inside(state)));
    assert.is(error.code, 'ERR_CONFIG');
    assert.match(error.message, words);
  });

test('two states with one id, and a function that setup implements, are refused; states that exclude each other may share a call', () => {
  const twins = createMachine({ initial: 'a', states: { a: { id: 'x' }, b: { id: 'x' } } });
  assert.match(thrown(() => compileMachine(twins)).message, /the id "x" of another state/);
  const acting = setup({ actions: { ring: () => assert.unreachable() } }).createMachine({ entry: 'ring' });
  assert.match(thrown(() => compileMachine(acting)).message, /root runs a function as an action, "ring"/);
  const calling = setup({ actors: { child } }).createMachine({ invoke: { src: 'child' } });
  assert.match(thrown(() => compileMachine(calling)).message, /root invokes a machine/);
  const spawning = ({ spawn }: { spawn: (logic: unknown) => unknown }) => ({ ref: spawn(child) });
  const born = createMachine({ context: spawning } as never) as AnyStateMachine;
  assert.match(thrown(() => compileMachine(born).begin()).message, /spawns a child/);
  const call = { invoke: { id: 'x', src: 'job' } };
  compileMachine(createMachine({ initial: 'a', states: { a: call, b: call } } as never) as AnyStateMachine);
});

const turning = (actions: unknown, context: object = {}) =>
  compileMachine(
    createMachine({
      id: 'm',
      context,
      initial: 'a',
      states: { a: { on: { GO: { actions } } } },
    } as never) as AnyStateMachine,
  );

const DROPPED: { readonly [what: string]: readonly [unknown, RegExp] } = {
  'spawns in an assign': [
    assign({ ref: ({ spawn }: never) => (spawn as (logic: unknown) => unknown)(child) } as never),
    /spawns a child/,
  ],
  'spawns in enqueueActions': [enqueueActions(({ enqueue }) => enqueue.spawnChild(child as never)), /spawns a child/],
  'sends to an actor that it computes': [
    sendTo((() => ({ id: 'x' })) as never, { type: 'X' } as never),
    /sends to another/,
  ],
  'delays an event under a number': [
    enqueueActions(({ enqueue }) => enqueue.raise({ type: 'X' } as never, { id: 7 as never, delay: 1 })),
    /an id is a text/,
  ],
  'delays an event with a date': [
    raise(() => ({ type: 'X', at: new Date(0) }) as never, { delay: 1 }),
    /"X" holds a Date at "at"/,
  ],
  'puts a date into its context': [assign({ at: new Date(0) } as never), /holds a Date at "at"/],
  'puts a set deep into its context': [assign({ form: { tags: [new Set()] } } as never), /a Set at "form.tags\[0\]"/],
  'puts undefined deep into its context': [assign({ form: { name: undefined } } as never), /undefined at "form.name"/],
  'puts a BigInt into its context': [assign({ sum: 1n } as never), /a bigint at "sum"/],
};

for (const [what, [action, words]] of Object.entries(DROPPED))
  test(`a step that ${what} is an error, and nothing of it is stored`, async () => {
    const here = place(machineConversation(turning(action)));
    await begin(here.engine());
    const { revision } = here.stored();
    const error = await rejection(say(here.engine(), { type: 'GO' }));
    assert.is(error.code, 'ERR_MACHINE' as ErrorCode);
    assert.match(error.message, words);
    assert.is(here.stored().revision, revision);
  });

test('undefined as a variable is kept, and what JSON changes is found with its path, in rings as well', () => {
  const ring: { self?: unknown } = {};
  ring.self = { ring };
  assert.is(findLoss({ a: undefined, b: 1 }, { keepsUndefined: true }), undefined);
  assert.equal(findLoss({ a: undefined }), { path: 'a', what: 'undefined' });
  assert.equal(findLoss([1, { n: Number.NaN }]), { path: '[1].n', what: 'NaN' });
  assert.match(findLoss(ring)!.what, /nested too deep/);
  assert.is(findLoss({ list: [null, true, 'x', -0, Object.create(null)] }), undefined);
});

test('a promise that a machine brings along is called, and a service of its name in its place', async () => {
  const inline = (src: unknown, actors = {}) =>
    machineConversation(
      compileMachine(
        createMachine(
          {
            id: 'm',
            initial: 'a',
            context: {},
            states: {
              a: {
                invoke: {
                  src,
                  input: { n: 1 },
                  onDone: {
                    target: 'b',
                    actions: assign(({ event }: never) => ({ got: (event as { output: number }).output })),
                  },
                },
              },
              b: {},
            },
          } as never,
          { actors } as never,
        ) as AnyStateMachine,
      ),
    );
  const twice = fromPromise(async ({ input }: { input: { n: number } }) => input.n * 2);
  for (const [conversation, services, got] of [
    [inline(twice), {}, 2],
    [inline('twice', { twice }), {}, 2],
    [inline('twice', { twice }), { twice: async () => 9 }, 9],
  ] as const) {
    const here = place(conversation, { services });
    await begin(here.engine());
    assert.equal(here.record().rest, { state: 'b', context: { got } });
  }
});

test.run();
