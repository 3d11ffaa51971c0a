// Turns: a request is answered once and repeated as it was; what doors see and decide; what a failure leaves behind.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import type { Engine } from '../../lib/engine/engine.ts';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { type Decision, type SessionState, type TurnResult, takeTurn } from '../../lib/engine/session/turn.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { flowFixture } from '../support/flow-fixture.ts';
import { contested, count, counter, UP } from './counting.ts';
import { begin, gate, KEY, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('turn');

/** The number of what is visited, in words that change with every turn. */
const visits = flowFixture('visits');

test('a repeated request gets the same bytes and changes nothing', async () => {
  const here = place(compileFlow(visits));
  const engine = here.engine();
  await begin(engine, { turnKey: 'a' });
  const first = await say(engine, '1', { turnKey: 'b' });
  const stored = here.stored();
  for (const other of [engine, here.engine()]) {
    const again = await say(other, '1', { turnKey: 'b' });
    assert.equal(again, { kind: 'replied', reply: first.kind === 'replied' && first.reply, repeated: true });
  }
  assert.is(here.stored(), stored);
  assert.is(first.kind === 'replied' && first.reply.text, 'Visit 1\n1. Again\n2. Out');
});

test('the end is repeated too', async () => {
  const here = place(compileFlow(visits));
  await begin(here.engine());
  const end = await say(here.engine(), '2', { turnKey: 'z' });
  const reply = { kind: 'end', text: 'Bye after 0' };
  const move = { flow: 'visits', version: 1, from: 'home', to: 'bye', language: 'en', stayMs: 0 };
  const ending = { status: 'done' };
  assert.equal(end, { kind: 'replied', reply, repeated: false, move, ending });
  await here.clock.advance((ENGINE_LIMITS.endedSessionSeconds - 1) * 1000);
  assert.equal(await say(here.engine(), '2', { turnKey: 'z' }), { kind: 'replied', reply, repeated: true, ending });
  assert.equal(await say(here.engine(), '1', { turnKey: 'y' }), { kind: 'refused', reason: 'the session has ended' });
  await here.clock.advance(1000);
  assert.equal(await say(here.engine(), '2', { turnKey: 'z' }), {
    kind: 'refused',
    reason: 'there is no such session',
  });
});

test('a new dial with the same key goes on counting turns, with a new birth and new variables', async () => {
  const here = place(counter());
  const engine = here.engine();
  await begin(engine, { inputs: [UP] });
  const { startedAt: born } = here.record();
  await say(engine, { type: 'off' });
  await here.clock.advance(5);
  await begin(engine);
  const { turn, startedAt: later, rest } = here.record();
  assert.is(turn, 3);
  assert.is(later, born + 5);
  assert.equal(rest.context, { n: 0 });
});

test('the end of the last dial is not repeated as if it went on, while a new one begins', async () => {
  const ask = gate();
  const machine = createMachine({
    id: 'dial',
    initial: 'a',
    states: { a: { invoke: { id: 'x', src: 'ask', onDone: 'b' } }, b: { on: { off: 'c' } }, c: { type: 'final' } },
  } as never);
  const here = place(machineConversation(compileMachine(machine)), { services: { ask: ask.service } });
  const first = begin(here.engine());
  await settled();
  ask.answer(1);
  await first;
  await say(here.engine(), { type: 'off' }, { turnKey: 'last' });
  const second = begin(here.engine(), { turnKey: 'new' });
  await settled();
  const late = await takeTurn(here.engine(), {
    key: KEY,
    turnKey: 'last',
    decide: (): Decision => ({ kind: 'refuse', reason: 'of the last dial' }),
  });
  assert.equal(late, { kind: 'refused', reason: 'of the last dial' });
  ask.answer(2);
  assert.is(await textOf(second), '"b"');
});

test('a begin takes its inputs one after the other, and stops to listen at the end', async () => {
  const here = place(compileFlow(visits));
  assert.is(await textOf(begin(here.engine(), { inputs: ['1', '1', '7', '1'] })), 'Visit 3\n1. Again\n2. Out');
  const ended = await begin(here.engine(), { inputs: ['2', '1', '1'] });
  assert.equal(ended.kind === 'replied' && ended.reply, { kind: 'end', text: 'Bye after 0' });
});

test('an ended machine takes nothing any more, also not what it would take in every state', async () => {
  const here = place(counter());
  await begin(here.engine(), { inputs: [{ type: 'off' }, { type: 'reset' }] });
  assert.is(here.stored().ended, true);
  assert.is(here.record().rest.state, 'off');
});

test('a door can refuse, or ask for the last answer once more', async () => {
  const here = place(counter());
  const engine = here.engine();
  const decided = (decision: Decision) => takeTurn(engine, { key: KEY, decide: () => decision });
  assert.equal(await decided({ kind: 'repeat' }), { kind: 'refused', reason: 'there is nothing to repeat' });
  assert.equal(await decided({ kind: 'input', input: UP }), { kind: 'refused', reason: 'there is no such session' });
  await begin(engine);
  const stored = here.stored();
  const again = await decided({ kind: 'repeat' });
  assert.equal(again, { kind: 'replied', reply: { kind: 'continue', text: stored.reply }, repeated: true });
  assert.equal(await decided({ kind: 'refuse', reason: 'no' }), { kind: 'refused', reason: 'no' });
  assert.is(here.stored(), stored);
});

test('a door sees nothing, then what it remembers and how many turns were taken, then that the session ended', async () => {
  const here = place(counter());
  const seen: SessionState[] = [];
  const decided = (decision: Decision): Promise<TurnResult> =>
    takeTurn(here.engine(), {
      key: KEY,
      decide: (found) => {
        seen.push(found);
        return decision;
      },
    });
  await decided({ kind: 'begin', conversation: 'counter', door: { text: 'a' } });
  await decided({ kind: 'input', input: UP });
  await decided({ kind: 'input', input: { type: 'off' }, door: { text: 'b' } });
  await decided({ kind: 'refuse', reason: 'over' });
  assert.equal(seen, [
    { kind: 'none' },
    { kind: 'live', door: { text: 'a' }, turn: 1 },
    { kind: 'live', door: { text: 'a' }, turn: 2 },
    { kind: 'ended', door: { text: 'b' }, turn: 3 },
  ]);
});

const failures: readonly [string, string, string][] = [
  ['a machine that throws', 'bad', 'ERR_MACHINE'],
  ['a circle of transitions', 'spin', 'ERR_TURN_LIMIT'],
  ['a machine that talks to itself without end', 'chatter', 'ERR_TURN_LIMIT'],
];
for (const [what, type, code] of failures)
  test(`${what} fails its turn with ${code}; nothing of it is kept, and the session goes on`, async () => {
    const here = place(counter());
    const engine = here.engine();
    await begin(engine);
    const stored = here.stored();
    assert.is((await rejection(say(engine, { type }))).code, code);
    assert.is(here.stored(), stored);
    await say(engine, UP);
    assert.is(count(here), 1);
  });

test('only events with a type of their own are taken from outside', async () => {
  const here = place(counter());
  await begin(here.engine());
  const types = ['', '*', 'xstate.stop', 'xstate.init', 'xstate.done.actor.x', 5, null];
  for (const type of types) assert.is((await rejection(say(here.engine(), { type }))).code, 'ERR_INPUT', String(type));
  for (const input of ['up', null, ['up'], 1, {}])
    assert.is((await rejection(say(here.engine(), input))).code, 'ERR_INPUT');
  assert.is(count(here), 0);
});

test('a conversation that is not loaded is ERR_FLOW_UNKNOWN', async () => {
  const here = place(counter());
  const begun = takeTurn(here.engine(), { key: KEY, decide: () => ({ kind: 'begin', conversation: 'constructor' }) });
  const error = await rejection(begun);
  assert.is(error.code, 'ERR_FLOW_UNKNOWN');
  assert.match(error.message, /Loaded: counter\./);
});

test('watchers are told after the turn is stored, once, and cannot make it fail', async () => {
  const here = place(counter());
  const told: unknown[] = [];
  const problems: unknown[] = [];
  const other = here.engine();
  await begin(other);
  const engine = here.engine({
    store: contested(here.store, 2, () => say(other, UP)),
    onFact: ({ name, key }) => told.push([name, key, count(here)]),
    onTurn: ({ turn, revision, events, rest, ended }) => {
      told.push({ turn, revision, events, rest, ended });
      throw new Error('a watcher');
    },
    onProblem: ({ error }) => problems.push((error as Error).message),
  });
  assert.is((await say(engine, UP)).kind, 'replied');
  assert.equal(told, [
    ['counted', KEY, 3],
    { turn: 4, revision: 4, events: ['up'], rest: { state: 'on', context: { n: 3 } }, ended: false },
  ]);
  assert.equal(problems, ['a watcher']);
});

test('an engine is idle when no turn and no call is running', async () => {
  const ask = gate();
  const machine = createMachine({
    id: 'slow',
    initial: 'a',
    states: { a: { invoke: { id: 'x', src: 'ask', onDone: 'b' } }, b: {} },
  } as never);
  const here = place(machineConversation(compileMachine(machine), { calls: { x: { timeoutMs: 60_000 } } }), {
    services: { ask: ask.service },
  });
  const engine: Engine = here.engine();
  const turn = begin(engine);
  await settled();
  await here.clock.advance(8000);
  await turn;
  let isIdle = false;
  void engine.idle().then(() => {
    isIdle = true;
  });
  await here.clock.advance(10);
  assert.is(isIdle, false);
  ask.answer(1);
  await here.clock.advance(10);
  assert.is(isIdle, true);
  assert.is(here.record().rest.state, 'b');
});

test.run();
