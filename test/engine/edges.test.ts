// The edges of turns: what is put off and what is not, how long a race goes on, and what watchers hear of work behind a caller.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assign, createMachine, type EventObject } from 'xstate';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import type { EngineOptions } from '../../lib/engine/engine.ts';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { decodeRecord, encodeRecord, type SessionRecord } from '../../lib/engine/session/record.ts';
import { wakeSession } from '../../lib/engine/session/turn.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { ASK, askAndWait, asking, crash, MINUTE, withService } from './asking.ts';
import { contested, count, counter, UP } from './counting.ts';
import { begin, gate, KEY, place, rejection, say, settled, textOf, thrown } from './support.ts';

const test = suite('edges of turns');

const waking = () =>
  machineConversation(
    compileMachine(
      createMachine({
        id: 'waking',
        initial: 'asleep',
        context: { n: 0 },
        states: {
          asleep: { after: { 1000: 'awake', 5000: 'late' }, on: { look: 'asleep' } },
          awake: { entry: assign({ n: ({ context }) => context.n + 1 }), on: { look: 'awake', sleep: 'asleep' } },
          late: {},
        },
      }),
    ),
    { shown: 'all' },
  );

test('of several timers the earliest is when a session is due', async () => {
  const here = place(waking());
  await begin(here.engine());
  assert.is(here.stored().dueAt, here.clock.now() + 1000);
});

test('a session whose store is away is not put off: it is due as before', async () => {
  const here = place(waking());
  await begin(here.engine());
  await here.clock.advance(1000);
  const { dueAt } = here.stored();
  let isAway = true;
  const store: SnapshotStore = {
    ...here.store,
    commit: async (...args) => {
      if (!isAway) return here.store.commit(...args);
      isAway = false;
      throw new TwinlineError('ERR_STORE', 'away');
    },
  };
  assert.is((await rejection(wakeSession(here.engine({ store }), KEY))).code, 'ERR_STORE');
  assert.is(here.stored().dueAt, dueAt);
});

test('what cannot be read and is not due, or never was, stays as it is', async () => {
  const here = place(waking());
  await begin(here.engine());
  const before = here.stored();
  await wakeSession(here.engine({ conversations: [] }), KEY);
  assert.equal(here.stored(), before, 'due later');
  const still = place(counter());
  await begin(still.engine());
  const { revision } = still.stored();
  await wakeSession(still.engine({ conversations: [] }), KEY);
  assert.equal([still.stored().dueAt, still.stored().revision], [null, revision]);
  await wakeSession(here.engine(), 'nobody');
});

test('a race that is lost often goes on while there is time', async () => {
  const here = place(counter());
  const other = here.engine();
  await begin(other);
  const losses = COMMON_LIMITS.conflictsPerTurn + 8;
  const store = contested(here.store, losses, () => say(other, UP));
  assert.is((await say(here.engine({ store }), UP)).kind, 'replied');
  assert.is(count(here), losses + 1);
});

test('without time left a turn still has its tries, and says how many there were', async () => {
  const here = place(counter());
  const other = here.engine();
  await begin(other);
  const store = contested(here.store, 2 * COMMON_LIMITS.conflictsPerTurn, () => say(other, UP));
  const error = await rejection(say(here.engine({ store }), UP, { deadlineMs: ENGINE_LIMITS.turnReserveMs }));
  assert.is(error.message, `Other writers were first ${COMMON_LIMITS.conflictsPerTurn} times in a row on one session.`);
  assert.is(count(here), COMMON_LIMITS.conflictsPerTurn);
});

test('a wake that loses every race comes to an end', async () => {
  const here = place(waking());
  await begin(here.engine());
  await here.clock.advance(1000);
  const store: SnapshotStore = {
    ...here.store,
    commit: async (_key, expected) => ({ kind: 'conflict', revision: expected + 1 }),
  };
  assert.is((await rejection(wakeSession(here.engine({ store }), KEY))).code, 'ERR_CONFLICT');
});

test('a retry of the last request is one after a timer, too: what the timer did on its own has no key', async () => {
  const here = place(waking());
  await begin(here.engine());
  assert.is(await textOf(say(here.engine(), { type: 'look' }, { turnKey: 'k1' })), '"asleep"');
  await here.clock.advance(1000);
  await wakeSession(here.engine(), KEY);
  assert.is(here.record().rest.state, 'awake');
  const again = await say(here.engine(), { type: 'sleep' }, { turnKey: 'k1' });
  assert.ok(again.kind === 'replied' && again.repeated);
  assert.is(here.record().rest.state, 'awake', 'the retry was not taken as an input');
});

test('watchers hear of what a timer did, as a turn that has not ended', async () => {
  const here = place(waking());
  await begin(here.engine());
  await here.clock.advance(1000);
  const told: unknown[] = [];
  await wakeSession(
    here.engine({ onTurn: ({ turn, rest, ended, revision }) => told.push({ turn, rest, ended, revision }) }),
    KEY,
  );
  const { revision } = here.stored();
  assert.equal(told, [{ turn: 2, rest: { state: 'awake', context: { n: 1 } }, ended: false, revision }]);
  const other = place(waking());
  await begin(other.engine());
  await other.clock.advance(1000);
  const store: SnapshotStore = {
    ...other.store,
    commit: async (_key, expected) => ({ kind: 'conflict', revision: expected + 1 }),
  };
  await rejection(wakeSession(other.engine({ store, onTurn: () => told.push('lost') }), KEY));
  assert.is(told.length, 1, 'nothing is told of what is not stored');
});

test('without watchers of facts, or of turns, nothing goes wrong', async () => {
  const here = place(counter());
  const problems: unknown[] = [];
  const onProblem = ({ reason, error }: { reason: string; error?: unknown }) => problems.push([reason, String(error)]);
  const turns: number[] = [];
  await begin(here.engine({ onProblem }));
  await say(here.engine({ onProblem }), UP);
  await say(here.engine({ onProblem, onTurn: ({ turn }) => turns.push(turn) }), UP);
  assert.equal([problems, turns], [[], [3]]);
});

test('a watcher that throws is told as work behind the caller, or to nobody', async () => {
  const here = place(counter());
  const problems: unknown[] = [];
  const onTurn = () => {
    throw new Error('a watcher');
  };
  await begin(here.engine({ onTurn }));
  await say(here.engine({ onTurn, onProblem: ({ key, reason }) => problems.push([key, reason]) }), UP);
  assert.equal(problems, [[KEY, 'background']]);
});

test('an input interrupts only what is waited for', async () => {
  const ask = gate();
  const asked: unknown[] = [];
  const plain = machineConversation(compileMachine(asking()));
  const here = place(
    {
      ...plain,
      takesWhileCalling: false,
      interrupt: (view, input) => {
        asked.push(input);
        return plain.read(view, input, () => '') as EventObject;
      },
    },
    { services: { ask: ask.service } },
  );
  await begin(here.engine());
  const first = say(here.engine(), ASK, { deadlineMs: 1000 });
  await settled();
  assert.equal(asked, [], 'nothing goes on yet');
  await here.clock.advance(1000);
  await first;
  await say(here.engine(), { type: 'stop' });
  assert.equal(asked, [{ type: 'stop' }]);
});

test('after a crash and its retry, the next input is taken at once: nobody was told to wait', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await crash(here);
  const again = textOf(say(here.engine(), ASK, { turnKey: 'k1' }));
  await settled();
  ask.skip();
  ask.answer('yes');
  assert.is(await again, '"answered"');
  await say(here.engine(), { type: 'stop' }, { turnKey: 'k2' });
  assert.ok(here.stored().ended);
});

test('an outcome that a closed store refuses is given up at once, and told as work behind the caller', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  const problems: unknown[] = [];
  const onProblem: EngineOptions['onProblem'] = ({ reason, error }) =>
    problems.push([reason, (error as TwinlineError).reason]);
  const engine = here.engine({ onProblem });
  await begin(engine);
  await askAndWait(here, engine);
  await here.store.close();
  ask.answer('nobody keeps it');
  await settled();
  assert.equal(problems, [['background', 'closed']], 'before any time has passed');
  await here.clock.advance(MINUTE);
  assert.is(problems.length, 1);
});

test('a machine that fails while its session is read fails the turn; one that lacks the state does not', async () => {
  const plain = counter();
  const here = place(plain);
  await begin(here.engine());
  const failing = (error: Error) => {
    const machine = {
      ...plain.machine,
      resume: () => {
        throw error;
      },
    };
    return here.engine({ conversations: [{ ...plain, machine } as never] });
  };
  assert.is((await rejection(say(failing(new Error('broken')), UP))).message, 'broken');
  const other = new TwinlineError('ERR_MACHINE', 'broken');
  assert.is((await rejection(say(failing(other), UP))).message, 'broken');
  assert.equal(await say(failing(new TwinlineError('ERR_RECORD', 'no such state')), UP), {
    kind: 'unreadable',
    reason: 'unknown-state',
  });
});

const RECORD: SessionRecord = {
  conversation: 'shop',
  version: 3,
  hash: 'abc',
  rest: { state: 'open', context: { x: '' } },
  turn: 4,
  startedAt: 1_700_000_000_000,
  door: {},
  timers: [],
  calls: [],
};

test('a record of exactly as many characters as are allowed is kept; one more is refused, and both numbers are told', () => {
  const encode = (chars: number) =>
    encodeRecord(KEY, { ...RECORD, rest: { state: 'open', context: { x: 'y'.repeat(chars) } } }, undefined);
  const room = COMMON_LIMITS.recordChars - encode(0).length;
  assert.is(encode(room).length, COMMON_LIMITS.recordChars);
  const error = thrown(() => encode(room + 1));
  assert.is(error.code, 'ERR_TURN_LIMIT');
  assert.is(
    error.message,
    `Cannot keep a session of "shop": its record has ${COMMON_LIMITS.recordChars + 1} characters, the limit is ${COMMON_LIMITS.recordChars}. Keep less in variables, or page what a service answers.`,
  );
});

test('a record with a field of another kind is malformed', () => {
  const call = { id: 'ask', service: 'ask', key: 'k', until: 1, input: { n: 1 } };
  const decode = (more: object) => {
    const raw = JSON.parse(encodeRecord(KEY, { ...RECORD, calls: [call] }, undefined)) as object;
    return decodeRecord(KEY, JSON.stringify({ ...raw, ...more }), []);
  };
  assert.type(decode({}), 'object');
  assert.type(decode({ k: [{ ...call, sealed: 'x' }], o: 'k1' }), 'object');
  for (const more of [{ r: '2' }, { o: 7 }, { k: [{ ...call, until: 'x' }] }, { k: [{ ...call, sealed: 7 }] }])
    assert.is(decode(more), 'malformed', JSON.stringify(more));
  assert.is(decode({ r: 2 }), 'future');
});

test('a record that names any of our keys, and that none of them sealed, was changed', () => {
  const [one, two] = ['one', 'two'].map((kid, at) => ({ kid, key: Buffer.alloc(32, at + 1) })) as [never, never];
  const forged = encodeRecord(KEY, RECORD, { kid: 'two', key: Buffer.alloc(32, 9) });
  assert.is(decodeRecord(KEY, forged, [one, two]), 'tampered');
  assert.is(decodeRecord(KEY, forged, [one]), 'other-key');
});

test.run();
