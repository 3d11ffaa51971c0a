// Deadlines that live in the record: they outlast the process, fire once, and never hold up anything else.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyStateMachine, assign, cancel, createMachine, raise } from 'xstate';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { setTimer, type Timer } from '../../lib/engine/machine/timers.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { wakeSession } from '../../lib/engine/session/turn.ts';
import { begin, gate, KEY, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('timers');

const conversation = (machine: AnyStateMachine) => machineConversation(compileMachine(machine));
const count = assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 });

const patience = () =>
  conversation(
    createMachine({
      id: 'patience',
      initial: 'asking',
      context: { n: 0 },
      states: {
        asking: { after: { 1000: 'given up' }, on: { yes: 'thanks' } },
        'given up': { entry: count, on: { yes: 'too late', again: 'asking' } },
        thanks: { on: { again: 'asking' } },
        'too late': {},
      },
    } as never),
  );

test('a timer outlasts the process and fires once, at its moment, in whichever process looks', async () => {
  const here = place(patience());
  await begin(here.engine());
  const { dueAt, revision } = here.stored();
  assert.is(dueAt, here.clock.now() + 1000);
  await here.clock.advance(999);
  assert.equal(await here.store.due(here.clock.now(), 10), []);
  await wakeSession(here.engine(), KEY);
  assert.is(here.stored().revision, revision);
  await here.clock.advance(1);
  assert.equal(await here.store.due(here.clock.now(), 10), [KEY]);
  await Promise.all([here.engine(), here.engine(), here.engine()].map((engine) => wakeSession(engine, KEY)));
  assert.equal(here.record().rest, { state: 'given up', context: { n: 1 } });
  assert.is(here.stored().revision, revision + 1);
  assert.is(here.stored().dueAt, null);
});

test('what a timer did on its own leaves the answer to the last request as it was', async () => {
  const here = place(patience());
  const first = await textOf(begin(here.engine(), { turnKey: 'k' }));
  await here.clock.advance(1000);
  await wakeSession(here.engine(), KEY);
  assert.is(here.record().rest.state, 'given up');
  assert.is(await textOf(begin(here.engine(), { turnKey: 'k' })), first);
});

test('leaving the state cancels its timer', async () => {
  const here = place(patience());
  await begin(here.engine());
  await say(here.engine(), { type: 'yes' });
  assert.is(here.stored().dueAt, null);
  await here.clock.advance(5000);
  await wakeSession(here.engine(), KEY);
  assert.is(here.record().rest.state, 'thanks');
});

test('a timer that was due before an input is fired before it, also when nobody woke the session', async () => {
  const here = place(patience());
  await begin(here.engine());
  await here.clock.advance(1500);
  assert.is(await textOf(say(here.engine(), { type: 'yes' })), '"too late"');
  assert.is(here.record().rest.context.n, 1);
});

test('timers fire in order of time, and of age at the same time', () => {
  const at = (id: string, ms: number): Timer => ({ id, at: ms, event: { type: id } });
  const set = [at('b', 20), at('a', 10), at('c', 20), at('d', 20), at('e', 10), at('b', 30)];
  const timers = set.reduce<readonly Timer[]>(setTimer, []);
  assert.equal(timers.map(({ id }) => id).join(''), 'aebcdb');
});

test('delayed events without an id are each their own; one with an id can be cancelled', async () => {
  const bell = { on: { bell: { actions: count } } };
  const here = place(
    conversation(
      createMachine({
        id: 'bells',
        initial: 'a',
        context: { n: 0 },
        states: {
          a: {
            ...bell,
            entry: [10, 20, 20]
              .map((delay) => raise({ type: 'bell' }, { delay }))
              .concat(raise({ type: 'bell' }, { delay: 5, id: 'x' })),
            exit: cancel('x'),
          },
        },
        on: { stay: '.a' },
      } as never),
    ),
  );
  await begin(here.engine());
  await here.clock.advance(10);
  await wakeSession(here.engine(), KEY);
  assert.is(here.record().rest.context.n, 2);
  await here.clock.advance(10);
  await wakeSession(here.engine(), KEY);
  assert.is(here.record().rest.context.n, 4);
});

test('a delay may be a fraction or past; one that is no number fails the turn', async () => {
  const waiting = (delay: number) =>
    conversation(
      createMachine(
        { id: 'delays', initial: 'a', states: { a: { after: { some: 'b' } }, b: { on: { back: 'a' } } } } as never,
        { delays: { some: delay } },
      ),
    );
  const here = place(waiting(0.5));
  await begin(here.engine());
  assert.is(here.stored().dueAt, here.clock.now() + 1);
  await here.clock.advance(1);
  assert.is(await textOf(say(here.engine(), { type: 'x' })), '"b"');
  assert.is(await textOf(begin(place(waiting(-5)).engine())), '"b"');
  for (const delay of [Number.NaN, Infinity, 1e300])
    assert.is((await rejection(begin(place(waiting(delay)).engine()))).code, 'ERR_MACHINE', String(delay));
});

const clockwork = () =>
  conversation(
    createMachine({
      id: 'clockwork',
      initial: 'rest',
      states: {
        rest: { on: { wind: 'tick' }, after: { 1000: 'tick' } },
        tick: { after: { 0: 'tock' } },
        tock: { after: { 0: 'tick' } },
      },
    }),
  );

test('timers that set each other off without pause end their machine with ERR_TURN_LIMIT, where an input sets them off', async () => {
  const here = place(clockwork());
  await begin(here.engine());
  const turn = (await say(here.engine(), { type: 'wind' })) as { ending?: { error?: { code: string } } };
  assert.is(turn.ending?.error?.code, 'ERR_TURN_LIMIT');
});

test('and where a sweep does: the session is never due again', async () => {
  const here = place(clockwork());
  await begin(here.engine());
  await here.clock.advance(1000);
  await wakeSession(here.engine(), KEY);
  assert.is(here.record().rest.error?.code, 'ERR_TURN_LIMIT');
  await here.clock.advance(60_000);
  assert.equal(await here.store.due(here.clock.now(), 10), []);
});

test('a session that cannot be read is put off too', async () => {
  const here = place(patience());
  await begin(here.engine());
  await here.clock.advance(1000);
  const { record } = here.stored();
  await wakeSession(here.engine({ conversations: [] }), KEY);
  assert.equal(await here.store.due(here.clock.now(), 10), []);
  assert.is(here.stored().record, record);
});

test('an ended session has no timers left', async () => {
  const here = place(
    conversation(
      createMachine({
        id: 'brief',
        initial: 'a',
        states: { a: { entry: raise({ type: 'late' }, { delay: 500 }), on: { stop: 'b' } }, b: { type: 'final' } },
      }),
    ),
  );
  await begin(here.engine());
  await say(here.engine(), { type: 'stop' });
  assert.is(here.stored().dueAt, null);
  assert.equal(here.record().timers, []);
});

const impatient = (after: number) =>
  conversation(
    createMachine({
      id: 'impatient',
      initial: 'rest',
      states: {
        rest: { on: { ask: 'asking' } },
        asking: { invoke: { id: 'ask', src: 'slow', onDone: 'answered' }, after: { [after]: 'given up' } },
        answered: {},
        'given up': {},
      },
    } as never),
  );

test('a timer of the calling state fires while the turn waits for the call, and the answer is not wanted any more', async () => {
  const slow = gate();
  const here = place(impatient(1000), { services: { slow: slow.service } });
  const engine = here.engine();
  await begin(engine);
  const turn = textOf(say(engine, { type: 'ask' }));
  await settled();
  await here.clock.advance(1000);
  assert.is(await turn, '"given up"');
  slow.answer(1);
  await settled();
  assert.is(here.record().rest.state, 'given up');
});

test('a timer that is due fires before an answer that came at the same moment, or later while nobody looked', async () => {
  const quick = gate();
  const here = place(impatient(1000), { services: { slow: quick.service } });
  let now = here.clock.now();
  // A process that was busy: time has passed, and nothing of its own has run yet.
  const busy = here.engine({ clock: { now: () => now, monotonic: () => now, wait: () => new Promise(() => {}) } });
  await begin(busy);
  const turn = textOf(say(busy, { type: 'ask' }));
  await settled();
  now += 1000;
  quick.answer(1);
  assert.is(await turn, '"given up"');

  const slow = gate();
  const there = place(impatient(1000), { services: { slow: slow.service } });
  const engine = there.engine();
  await begin(engine);
  const late = say(engine, { type: 'ask' }, { deadlineMs: 600 });
  await settled();
  await there.clock.advance(600);
  await late;
  await there.clock.advance(1000);
  slow.answer(1);
  await settled();
  assert.is(there.record().rest.state, 'given up');
});

test('a conversation that says it has ended is not woken any more', async () => {
  const here = place({ ...patience(), render: () => ({ kind: 'end', text: 'bye' }) });
  await begin(here.engine());
  assert.is(here.stored().ended, true);
  assert.is(here.stored().dueAt, null);
});

test('a timer fires in one process while another one makes the call, at once and without waiting for it', async () => {
  const slow = gate();
  const here = place(impatient(10_000), { services: { slow: slow.service } });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  const turn = say(one, { type: 'ask' }, { deadlineMs: 60_000 });
  await settled();
  assert.is(slow.keys.length, 1);
  const { record } = here.stored();
  await here.clock.advance(100);
  await wakeSession(two, KEY);
  assert.is(here.stored().record, record);
  slow.answer(1);
  assert.is(await textOf(turn), '"answered"');
});

test.run();
