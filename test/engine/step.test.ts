// The pure step under sessions and lifecycles: one event and what follows from it, as data.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyStateMachine, assign, createMachine, raise, sendTo } from 'xstate';
import { answerEvent, begin, type MachineState, step } from '../../lib/engine/machine/step.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { TwinlineError } from '../../lib/errors.ts';

const test = suite('step');

const T0 = 1_700_000_000_000;
const BANK = { id: 'bank' };
const sendSelf = (type: string) => sendTo(({ self }) => self, { type });
const note = assign(({ context, event }) => ({
  log: [...(context as { log: unknown[] }).log, [event.type, (event as { at?: number }).at ?? null]],
}));

const machine = compile({
  id: 'order',
  initial: 'open',
  context: { log: [] },
  states: {
    open: {
      after: { 500: 'late' },
      on: {
        pay: { target: 'paying', actions: [note, { type: 'order.paid', params: { sum: 3 } }] },
        twice: { actions: [note, sendSelf('again')] },
        again: { target: 'paying', actions: note },
        loop: { actions: sendSelf('loop') },
        timers: { actions: Array.from({ length: 65 }, (_, at) => raise({ type: 'x' }, { delay: at, id: `${at}` })) },
        never: { actions: raise({ type: 'x' }, { delay: Number.NaN }) },
      },
    },
    paying: {
      invoke: {
        id: 'bank',
        src: 'bank',
        input: { sum: 3 },
        onDone: { target: 'paid', actions: note },
        onError: 'open',
      },
      on: { leave: 'open' },
    },
    late: { on: { pay: 'paying' } },
    paid: { type: 'final' },
  },
});

test('a step gives the next rest, timers, calls and facts, and changes nothing that it was given', () => {
  const first = begin(machine, {}, { at: T0 });
  assert.equal(
    first.timers.map(({ at, event }) => [at, event.type]),
    [[T0 + 500, 'xstate.after.500.order.open']],
  );
  assert.equal(first.transitions, [{ event: 'xstate.init', from: null, to: 'open' }]);
  const before = JSON.stringify(plain(first));
  const paying = step(machine, first, { type: 'pay' }, { at: T0 + 1 });
  assert.is(JSON.stringify(plain(first)), before);
  assert.equal(paying.timers, []);
  assert.equal(paying.newCalls, [{ type: 'call', id: 'bank', service: 'bank', input: { sum: 3 }, hops: 0 }]);
  assert.equal(paying.facts, [{ name: 'order.paid', params: { sum: 3 } }]);
  assert.equal(paying.transitions, [{ event: 'pay', from: 'open', to: 'paying' }]);
});

test('an answer leads on; a call of a state that was left is waited for no more, and an ended machine takes nothing', () => {
  const pending = { ...step(machine, begin(machine, {}, { at: T0 }), { type: 'pay' }, { at: T0 }), calls: [BANK] };
  assert.equal(step(machine, pending, { type: 'unknown' }, { at: T0 }).calls, [BANK]);
  assert.equal(step(machine, pending, { type: 'leave' }, { at: T0 }).calls, []);
  const paid = step(machine, pending, answerEvent('bank', { ok: true, output: 1 }), { at: T0 });
  assert.equal([paid.live.value, paid.live.status, paid.calls], ['paid', 'done', []]);
  const after = step(machine, paid, { type: 'pay' }, { at: T0 });
  assert.equal([after.isTaken, after.live, after.transitions], [false, paid.live, []]);
});

test('events that a machine sends to itself are taken in the same step, with the same stamp, and are counted', () => {
  const stamp = (event: { type: string }) => ({ ...event, at: T0 });
  const result = step(machine, begin(machine, {}, { at: T0 }), { type: 'twice' }, { at: T0, hops: 4, stamp });
  assert.equal(result.live.context.log, [
    ['twice', T0],
    ['again', T0],
  ]);
  assert.is(result.newCalls[0]?.hops, 5);
  assert.equal(
    result.transitions.map(({ event, to }) => [event, to]),
    [
      ['twice', 'open'],
      ['again', 'paying'],
    ],
  );
});

test('a machine that never rests, too many timers, or a delay that is no time end the step with an error', () => {
  const open = begin(machine, {}, { at: T0 });
  // What it throws on an event that it has sent to itself stands in the result, which is as it was before that event.
  const codeOf = (type: string, hops = 0) =>
    code(() => {
      const { fault, live } = step(machine, open, { type }, { at: T0, hops });
      if (fault === undefined) return;
      assert.is(live.status, 'active');
      throw fault;
    });
  assert.is(codeOf('loop'), 'ERR_TURN_LIMIT');
  assert.is(codeOf('timers'), 'ERR_TURN_LIMIT');
  assert.is(codeOf('never'), 'ERR_MACHINE');
  assert.is(codeOf('twice', machine.longestChain - 1), undefined);
  assert.is(codeOf('twice', machine.longestChain), 'ERR_TURN_LIMIT');
});

test.run();

function compile(config: object) {
  return compileMachine(createMachine(config as never) as AnyStateMachine);
}

function plain({ live, timers, calls }: MachineState) {
  return { rest: machine.rest(live), timers, calls };
}

function code(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as TwinlineError).code;
  }
}
