// Service calls: announced before they are made, made once, and found again after a crash under the same key.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyStateMachine, assign, createMachine } from 'xstate';
import { callRunner } from '../../lib/engine/calls.ts';
import { type Conversation, type MachineOptions, machineConversation } from '../../lib/engine/conversation.ts';
import type { Service } from '../../lib/engine/service.ts';
import { compileMachine } from '../../lib/engine/transition.ts';
import { takeTurn, wakeSession } from '../../lib/engine/turn.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { Json, SnapshotStore } from '../../lib/store/store.ts';
import { begin, gate, KEY, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('calls');

/** As a menu does: says `wait` while a call goes on, and takes nothing before its outcome was shown. */
function patient(machine: AnyStateMachine, options: MachineOptions = {}): Conversation {
  const plain = machineConversation(compileMachine(machine), options);
  return {
    ...plain,
    waitText: () => 'wait',
    read: (view, input, prove) => (view.waiting ? undefined : plain.read(view, input, prove)),
  };
}

const keep = assign({ got: ({ event }: { event: unknown }) => (event as { output: Json }).output });
const keepError = assign({ got: ({ event }: { event: unknown }) => (event as { error: Json }).error });

const asking = () =>
  createMachine({
    id: 'asking',
    initial: 'idle',
    context: { got: null, n: 0 },
    states: {
      idle: { on: { ask: 'asked', stop: 'over' } },
      asked: {
        entry: assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 }),
        invoke: {
          id: 'ask',
          src: 'ask',
          input: ({ context }: { context: { n: number } }) => ({ n: context.n }),
          onDone: { target: 'answered', actions: keep },
          onError: { target: 'failed', actions: keepError },
        },
        on: { stop: 'over' },
      },
      answered: { on: { ask: 'asked', stop: 'over' } },
      failed: { on: { ask: 'asked' } },
      over: { type: 'final' },
    },
  } as never);

const ASK = { type: 'ask' };
const MINUTE = 60_000;
const options = (policy: object): MachineOptions => ({ calls: { ask: policy } });
const withService = (ask: Service, policy: object = {}) =>
  place(patient(asking(), options(policy)), { services: { ask } });

test('the intent is in the store before the service is called, and is gone with the outcome', async () => {
  const seen: unknown[] = [];
  const here = withService(async (input, { idempotencyKey, session }) => {
    const { calls, busy, rest } = here.record();
    seen.push({ calls, busy, state: rest.state, input, idempotencyKey, session });
    return 'fine';
  });
  const engine = here.engine();
  await begin(engine);
  const before = here.stored();
  const until = here.clock.now() + LIMITS.callTimeoutMs + LIMITS.turnReserveMs;
  await say(engine, ASK, { turnKey: 'k1' });
  const [first] = seen as { idempotencyKey: string }[];
  const key = first!.idempotencyKey;
  assert.match(key, /^[\w-]{22}$/);
  assert.equal(seen, [
    {
      calls: [{ id: 'ask', service: 'ask', key, until, input: { n: 1 } }],
      busy: 'k1',
      state: 'asked',
      input: { n: 1 },
      idempotencyKey: key,
      session: { id: KEY },
    },
  ]);
  assert.is(here.stored().revision, before.revision + 2);
  assert.equal(here.record().calls, []);
  assert.is(here.record().busy, undefined);
  assert.equal(here.record().rest.context, { got: 'fine', n: 1 });
});

test('an answer that is stored is kept nowhere else', async () => {
  const keys: string[] = [];
  const here = withService(async (_input, { idempotencyKey }) => keys.push(idempotencyKey));
  const engine = here.engine();
  await begin(engine, { inputs: [ASK] });
  assert.is(keys.length, 1);
  assert.is(engine.calls.find(keys[0]!), undefined);
});

test('a store that refuses the intent keeps the service from being called', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await begin(here.engine());
  const away: SnapshotStore = {
    ...here.store,
    commit: async () => Promise.reject(new TwinlineError('ERR_STORE', 'away')),
  };
  assert.is((await rejection(say(here.engine({ store: away }), ASK))).code, 'ERR_STORE');
  assert.is(ask.keys.length, 0);
});

test('every call has a key of its own: in each turn, pass through the state and dial, also after silence', async () => {
  const keys: string[] = [];
  const here = withService(async (_input, call) => {
    keys.push(call.idempotencyKey);
    return null;
  });
  const engine = here.engine();
  await begin(engine, { inputs: [ASK, ASK] });
  await say(engine, ASK);
  await say(engine, { type: 'stop' });
  await begin(engine, { inputs: [ASK] });
  await here.clock.advance(MINUTE * 60);
  await begin(engine, { inputs: [ASK, ASK] });
  assert.is(keys.length, 6);
  assert.is(new Set(keys).size, 6);
});

const errorOf = async (ask: Service, policy: object = {}) => {
  const here = withService(ask, policy);
  const engine = here.engine();
  await begin(engine);
  const turn = say(engine, ASK, { deadlineMs: 10 * MINUTE });
  for (let i = 0; i < 20; i++) await here.clock.advance(1000);
  await turn;
  return here.record().rest.context.got as { code: string; message: string };
};

test('a service that fails tells the machine a code, and none of its own words', async () => {
  const rejected = await errorOf(async () => Promise.reject(new Error('PIN 1234 is wrong')));
  assert.equal(rejected, { code: 'ERR_SERVICE', message: 'The service failed.' });
  const threw = await errorOf(() => {
    throw new Error('at once');
  });
  assert.is(threw.code, 'ERR_SERVICE');
  const ours = await errorOf(async () => Promise.reject(new TwinlineError('ERR_NOT_FOUND', 'No account.')));
  assert.equal(ours, { code: 'ERR_NOT_FOUND', message: 'No account.' });
});

test('a service that is not registered, or whose answer is no JSON or too long, is a failed call', async () => {
  const here = place(patient(asking()), { services: {} });
  await begin(here.engine(), { inputs: [ASK] });
  assert.is((here.record().rest.context.got as { code: string }).code, 'ERR_SERVICE_UNKNOWN');
  const circle: unknown[] = [];
  circle.push(circle);
  for (const answer of [10n, circle]) assert.is((await errorOf(async () => answer as never)).code, 'ERR_SERVICE');
  assert.is((await errorOf(async () => 'x'.repeat(LIMITS.recordChars))).code, 'ERR_INPUT');
});

test('a call is tried again under the same key, at most as often as its policy says', async () => {
  const keys: string[] = [];
  const at: number[] = [];
  const failing: Service = async (_input, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    at.push(here.clock.now());
    throw new Error('no');
  };
  const here = withService(failing, { retries: 2 });
  await begin(here.engine());
  const turn = say(here.engine(), ASK);
  await settled();
  await here.clock.advance(1000);
  await turn;
  assert.equal(
    at.map((time) => time - at[0]!),
    [0, LIMITS.callBackoffMs, 3 * LIMITS.callBackoffMs],
  );
  assert.is(new Set(keys).size, 1);
  let tries = 0;
  await errorOf(
    async () => {
      tries++;
      throw new TwinlineError('ERR_INPUT', 'will never work');
    },
    { retries: 2 },
  );
  assert.is(tries, 1, 'an error that cannot go away is not tried again');
});

test('a call that takes too long is aborted and has failed; what it says later is ignored', async () => {
  const slow = gate();
  const signals: AbortSignal[] = [];
  const ask: Service = (input, call) => {
    signals.push(call.signal);
    return slow.service(input, call);
  };
  const error = await errorOf(ask, { timeoutMs: 3000 });
  assert.is(error.code, 'ERR_TIMEOUT');
  assert.is(signals[0]!.aborted, true);
  slow.answer('too late');
  await settled();
  const quick = withService(async (_input, call) => {
    signals.push(call.signal);
    return 1;
  });
  await begin(quick.engine(), { inputs: [ASK] });
  await settled();
  assert.is(signals[1]!.aborted, false, 'a call that answered is not aborted');
});

test('a slow call: told to wait in time, called once, the next input shows the outcome, the one after is taken', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  const engine = here.engine();
  await begin(engine);
  const turn = textOf(say(engine, ASK));
  await settled();
  await here.clock.advance(8000 - LIMITS.turnReserveMs);
  assert.is(await turn, 'wait');
  ask.answer('at last');
  await settled();
  assert.is(here.record().rest.state, 'answered');
  assert.is(await textOf(say(engine, { type: 'stop' })), '"answered"');
  assert.is(here.stored().ended, false);
  await say(engine, { type: 'stop' });
  assert.is(here.stored().ended, true);
  assert.is(ask.keys.length, 1);
});

test('who asks too early waits again, in this process and in another, and the call is still made once', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: 5 * MINUTE });
  const [one, two] = [here.engine({ ttlSeconds: 3600 }), here.engine({ ttlSeconds: 3600 })];
  await begin(one);
  for (const engine of [one, one, two, one, two]) {
    const turn = textOf(say(engine, ASK));
    await settled();
    await here.clock.advance(8000);
    assert.is(await turn, 'wait');
  }
  const last = textOf(say(two, ASK));
  await settled();
  ask.answer('ready');
  await settled();
  await here.clock.advance(100);
  assert.is(await last, '"answered"');
  assert.is(ask.keys.length, 1);
});

test('a turn that waited long for another process and then loses one race is taken anew, not refused', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  const one = here.engine();
  await begin(one);
  const first = say(one, ASK, { deadlineMs: MINUTE });
  await settled();
  let races = 1;
  const store: SnapshotStore = {
    ...here.store,
    commit: async (key, expected, next) => {
      if (races-- > 0) await here.store.commit(key, expected, here.stored());
      return here.store.commit(key, expected, next);
    },
  };
  const second = textOf(say(here.engine({ store }), ASK));
  await here.clock.advance(8000);
  assert.is(await second, 'wait');
  ask.answer(1);
  await settled();
  await here.clock.advance(1000);
  await first;
  assert.is(here.record().rest.state, 'answered');
});

test('an outcome that comes after the end changes nothing', async () => {
  const ask = gate();
  const here = place(machineConversation(compileMachine(asking()), options({ timeoutMs: MINUTE })), {
    services: { ask: ask.service },
  });
  const engine = here.engine();
  await begin(engine);
  const turn = say(engine, ASK);
  await settled();
  await here.clock.advance(8000);
  await turn;
  // A begin in the same place is what ends the waiting one.
  await begin(engine, { inputs: [{ type: 'stop' }] });
  const over = here.stored();
  assert.is(over.ended, true);
  ask.answer('nobody is there');
  await settled();
  assert.equal(here.stored(), over);
  assert.is(engine.calls.size, 0);
});

test('a state that is left does not want its answer any more', async () => {
  const ask = gate();
  const machine = asking();
  const here = place(machineConversation(compileMachine(machine), options({ timeoutMs: MINUTE })), {
    services: { ask: ask.service },
  });
  const engine = here.engine();
  await begin(engine);
  const turn = say(engine, ASK);
  await settled();
  await here.clock.advance(8000);
  await turn;
  assert.is(here.record().calls.length, 1);
  const leaving = say(engine, { type: 'stop' });
  await settled();
  await here.clock.advance(8000);
  await leaving;
  assert.is(here.record().calls.length, 1, 'what is said while a call goes on is not heard before its outcome');
});

test('a crash between intent and outcome: the same request makes the call again under the same key', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await begin(here.engine());
  void say(here.doomed(), ASK, { turnKey: 'k1' });
  await settled();
  // The first process is gone; nobody else takes its call before its lease has ended.
  const early = textOf(say(here.engine(), ASK, { turnKey: 'k1', deadlineMs: 2000 }));
  await here.clock.advance(1500);
  assert.is(await early, 'wait');
  assert.is(ask.keys.length, 1);
  await here.clock.advance(MINUTE);
  const again = textOf(say(here.engine(), ASK, { turnKey: 'k1' }));
  await settled();
  assert.is(ask.keys.length, 2);
  assert.is(ask.keys[0], ask.keys[1]);
  ask.skip();
  ask.answer('yes');
  assert.is(await again, '"answered"');
  assert.equal(here.record().rest.context, { got: 'yes', n: 1 });
});

test('a crash while a call held a secret: nothing of it is stored, and the call has failed', async () => {
  const ask = gate();
  const here = withService(ask.service, { secret: true });
  await begin(here.engine());
  void say(here.doomed(), ASK, { turnKey: 'k1' });
  await settled();
  assert.is(here.record().calls[0]!.input, undefined);
  await here.clock.advance(MINUTE);
  assert.is(await textOf(say(here.engine(), ASK, { turnKey: 'k1' })), '"failed"');
  assert.is(ask.keys.length, 1);
});

test('a crash between call and commit: the same key again, and the same process does not even ask again', async () => {
  const keys: string[] = [];
  const here = withService(async (_input, { idempotencyKey }) => keys.push(idempotencyKey), { secret: true });
  const plain = withService(async (_input, { idempotencyKey }) => keys.push(idempotencyKey));
  for (const { engine: newEngine, store, clock } of [here, plain]) {
    const isHere = store === here.store;
    let commits = 0;
    const breaking: SnapshotStore = {
      ...store,
      commit: (...args) => {
        commits++;
        const isGone = isHere ? commits === 3 : commits >= 3;
        return isGone ? Promise.reject(new TwinlineError('ERR_STORE', 'gone')) : store.commit(...args);
      },
    };
    const engine = newEngine({ store: breaking });
    await begin(engine);
    keys.length = 0;
    assert.is((await rejection(say(engine, ASK, { turnKey: 'k1' }))).code, 'ERR_STORE');
    assert.is(keys.length, 1);
    if (!isHere) await clock.advance(MINUTE);
    const answer = await textOf(say(isHere ? engine : newEngine(), ASK, { turnKey: 'k1' }));
    assert.is(answer, '"answered"');
    assert.is(keys.length, isHere ? 1 : 2);
    assert.is(new Set(keys).size, 1);
  }
});

test('two processes take the same request at once: the service is called once and both answer the same bytes', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await begin(here.engine());
  const turns = [here.engine(), here.engine()].map((engine) => say(engine, ASK, { turnKey: 'k1' }));
  await settled();
  ask.answer('one');
  await settled();
  await here.clock.advance(200);
  const [one, two] = await Promise.all(turns);
  assert.is(ask.keys.length, 1);
  assert.equal(
    [one!.kind === 'replied' && one!.reply, two!.kind === 'replied' && two!.reply],
    [
      { kind: 'continue', text: '"answered"' },
      { kind: 'continue', text: '"answered"' },
    ],
  );
});

test('an answer is not lost when another writer was first while the call went on', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE, secret: true });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  const first = textOf(say(one, ASK, { turnKey: 'k1', deadlineMs: MINUTE }));
  await settled();
  const other = textOf(say(two, ASK, { turnKey: 'k2', deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await other, 'wait');
  ask.answer('mine');
  await settled();
  await here.clock.advance(1000);
  assert.is(await first, '"answered"');
  assert.equal(here.record().rest.context, { got: 'mine', n: 1 });
  assert.is(ask.keys.length, 1);
});

test('an event is not taken twice when another request was told to wait while its call went on', async () => {
  const ask = gate();
  const here = place(machineConversation(compileMachine(asking()), options({ timeoutMs: MINUTE })), {
    services: { ask: ask.service },
  });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  const first = textOf(say(one, ASK, { turnKey: 'k1', deadlineMs: MINUTE }));
  await settled();
  const other = textOf(say(two, { type: 'look' }, { turnKey: 'k2', deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await other, '"asked"');
  ask.answer('once');
  await settled();
  await here.clock.advance(1000);
  assert.is(await first, '"answered"');
  assert.equal(here.record().rest.context, { got: 'once', n: 1 });
  assert.is(ask.keys.length, 1);
});

test('who was told to wait sees the outcome before an input is taken, also when another request had it', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  const first = textOf(say(one, ASK, { turnKey: 'k1', deadlineMs: MINUTE }));
  await settled();
  const other = textOf(say(two, ASK, { turnKey: 'k2', deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await other, 'wait');
  ask.answer(1);
  await settled();
  await here.clock.advance(1000);
  assert.is(await first, '"answered"');
  assert.is(await textOf(say(two, { type: 'stop' }, { turnKey: 'k3' })), '"answered"');
  assert.is(here.stored().ended, false);
  await say(two, { type: 'stop' }, { turnKey: 'k4' });
  assert.is(here.stored().ended, true);
});

test('an outcome reaches the record when the turn that waited for it has nothing more to say', async () => {
  const ask = gate();
  const here = withService(ask.service, { timeoutMs: MINUTE, secret: true });
  const [one, two] = [here.engine(), here.engine()];
  await begin(one);
  // As a door does that has seen a later request since.
  const first = takeTurn(one, {
    key: KEY,
    deadlineMs: MINUTE,
    decide: (seen) => (seen.kind === 'live' && seen.turn > 1 ? { kind: 'repeat' } : { kind: 'input', input: ASK }),
  });
  await settled();
  const other = textOf(say(two, ASK, { deadlineMs: 1000 }));
  await here.clock.advance(1000);
  assert.is(await other, 'wait');
  ask.answer('mine');
  await settled();
  assert.is(await textOf(first), 'wait');
  assert.is(here.record().rest.state, 'answered');
});

test('an outcome that could not be stored is stored when the store is back, and its request is not taken twice', async () => {
  const ask = gate();
  const here = withService(ask.service, { secret: true });
  let commits = 0;
  const store: SnapshotStore = {
    ...here.store,
    commit: (...args) =>
      ++commits === 3 ? Promise.reject(new TwinlineError('ERR_STORE', 'gone')) : here.store.commit(...args),
  };
  const engine = here.engine({ store });
  await begin(engine);
  const turn = rejection(say(engine, ASK, { turnKey: 'k1' }));
  await settled();
  ask.answer('kept');
  assert.is((await turn).code, 'ERR_STORE');
  await settled();
  assert.is(here.record().rest.state, 'answered');
  assert.is(await textOf(say(here.engine(), ASK, { turnKey: 'k1' })), '"answered"');
  assert.equal(here.record().rest.context, { got: 'kept', n: 1 });
});

test('whoever wakes the session makes a dead call again; the request that began it gets its outcome, and only once', async () => {
  const ask = gate();
  const here = place(machineConversation(compileMachine(asking())), { services: { ask: ask.service } });
  await begin(here.engine());
  void say(here.doomed(), ASK, { turnKey: 'k1' });
  await settled();
  const lease = here.record().calls[0]!.until;
  assert.is(here.stored().dueAt, lease);
  await here.clock.advance(lease - here.clock.now());
  const engine = here.engine();
  await wakeSession(engine, KEY);
  assert.is(ask.keys.length, 2);
  assert.ok(here.stored().dueAt! > lease);
  ask.skip();
  ask.answer('after all');
  await settled();
  assert.equal(here.record().rest, { state: 'answered', context: { got: 'after all', n: 1 } });
  // The event is not taken a second time.
  assert.is(await textOf(say(engine, ASK, { turnKey: 'k1' })), '"answered"');
  assert.is(here.record().rest.context.n, 1);
  assert.is(ask.keys.length, 2);
  assert.is(here.record().busy, undefined);
});

test('a dead call with a secret fails when the session is woken', async () => {
  const ask = gate();
  const here = withService(ask.service, { secret: true });
  await begin(here.engine());
  void say(here.doomed(), ASK);
  await settled();
  await here.clock.advance(MINUTE);
  await wakeSession(here.engine(), KEY);
  await settled();
  assert.is(here.record().rest.state, 'failed');
  assert.is(here.stored().dueAt, null);
});

test('after a crash the outcome is shown before any input is taken, also when requests carry no key', async () => {
  const ask = gate();
  const here = withService(ask.service);
  await begin(here.engine());
  void say(here.doomed(), ASK);
  await settled();
  await here.clock.advance(MINUTE);
  const turn = textOf(say(here.engine(), { type: 'stop' }));
  await settled();
  ask.skip();
  ask.answer('x');
  assert.is(await turn, '"answered"');
});

const calling = (loop: 'ask' | 'rest') =>
  createMachine({
    id: 'loop',
    initial: 'idle',
    states: {
      idle: { on: { ask: 'one' } },
      one: { invoke: { id: 'ask', src: 'ask', onDone: 'two' } },
      two: { invoke: { id: 'again', src: 'ask', onDone: loop === 'ask' ? 'one' : 'idle' } },
    },
  } as never);

test(`calls that lead to each other end after ${LIMITS.hopsPerTurn} with ERR_TURN_LIMIT, also behind the caller's back`, async () => {
  let calls = 0;
  const slow = gate();
  const ask: Service = async (input, call) => (calls++ === 0 ? slow.service(input, call) : null);
  const problems: unknown[] = [];
  const here = place(patient(calling('ask'), options({ timeoutMs: MINUTE })), {
    services: { ask },
    onProblem: ({ error }) => problems.push((error as TwinlineError).code),
  });
  const engine = here.engine();
  await begin(engine);
  const turn = textOf(say(engine, ASK));
  await settled();
  await here.clock.advance(8000);
  assert.is(await turn, 'wait');
  slow.answer(null);
  for (let i = 0; i < 50; i++) await settled();
  assert.equal(problems, ['ERR_TURN_LIMIT']);
  assert.is(calls, LIMITS.hopsPerTurn + 1);
  calls = 1;
  const quick = place(patient(calling('ask')), { services: { ask } });
  await begin(quick.engine());
  assert.is((await rejection(say(quick.engine(), ASK))).code, 'ERR_TURN_LIMIT');
});

test('a call that leads to another one behind the caller shows the end of both', async () => {
  const ask = gate();
  const here = place(patient(calling('rest'), options({ timeoutMs: MINUTE })), { services: { ask: ask.service } });
  const engine = here.engine();
  await begin(engine);
  const turn = textOf(say(engine, ASK));
  await settled();
  await here.clock.advance(8000);
  assert.is(await turn, 'wait');
  ask.answer(1);
  await settled();
  assert.is(here.record().rest.state, 'two');
  ask.answer(2);
  await settled();
  assert.is(await textOf(say(engine, ASK)), '"idle"');
  assert.is(ask.keys.length, 2);
});

test('an ended machine waits for no call, also not for one of the machine itself', async () => {
  const machine = createMachine({
    id: 'brief',
    initial: 'a',
    invoke: { id: 'always', src: 'never' },
    states: { a: { invoke: { id: 'ask', src: 'ask', onDone: 'b' } }, b: { type: 'final' } },
  });
  const services = { ask: async () => 1, never: () => new Promise<Json>(() => {}) };
  const here = place(patient(machine), { services });
  const result = await begin(here.engine());
  assert.is(result.kind === 'replied' && result.reply.kind, 'end');
  assert.equal(here.record().calls, []);
});

test('answers are kept until they are stored, or until nobody can want them any more', async () => {
  const { clock } = place(patient(asking()));
  const runner = callRunner({ ask: async () => 1 }, clock);
  const request = (key: string, lease: number) => ({
    call: { id: 'ask', service: 'ask', key, until: clock.now() + lease },
    input: {},
    policy: { timeoutMs: 1000, retries: 0, secret: false },
    session: { id: KEY },
  });
  const answer = runner.start(request('a', 2000));
  assert.is(runner.size, 1);
  assert.is(runner.find('a'), answer);
  assert.is(runner.start(request('a', 2000)), answer);
  await answer;
  assert.is(runner.size, 0);
  assert.is(runner.find('a'), answer);
  runner.forget('a');
  assert.is(runner.find('a'), undefined);
  await runner.start(request('b', 2000));
  await clock.advance(2000);
  await runner.start(request('c', 2000));
  assert.is(runner.find('b'), undefined);
  assert.ok(runner.find('c'));
});

test.run();
