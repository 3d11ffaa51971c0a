// Service calls: announced before they are made, with a key of their own, a deadline, and answers that are plain data.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { callRunner } from '../../lib/engine/calls.ts';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import type { Service } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json/json.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { ASK, asking, MINUTE, patient, withService } from './asking.ts';
import { begin, gate, KEY, place, rejection, say, settled } from './support.ts';

const test = suite('calls');

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
  const until = here.clock.now() + COMMON_LIMITS.callTimeoutMs + ENGINE_LIMITS.turnReserveMs;
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
      session: { id: KEY, conversation: 'asking' },
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

test('every failed try of a service is told with its error', async () => {
  const told: unknown[] = [];
  const here = withService(async () => (undefined as unknown as { b: number }).b);
  const engine = here.engine({ onProblem: (problem) => told.push(problem) });
  await begin(engine, { inputs: [ASK] });
  const problems = told as { readonly error: unknown }[];
  assert.equal(
    problems.map(({ error, ...rest }) => [(error as Error).name, rest]),
    [['TypeError', { key: KEY, reason: 'service', service: 'ask' }]],
  );
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
  assert.is((await errorOf(async () => 'x'.repeat(COMMON_LIMITS.recordChars))).code, 'ERR_INPUT');
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
    [0, ENGINE_LIMITS.callBackoffMs, 3 * ENGINE_LIMITS.callBackoffMs],
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
