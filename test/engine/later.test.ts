// Answers that come from outside: once, on any instance with the same store and keys, until their time is over.

import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assign, createMachine } from 'xstate';
import { SimulatedClock } from '../../lib/clock.ts';
import { later } from '../../lib/engine/later.ts';
import { lifecycle } from '../../lib/engine/lifecycle/lifecycle.ts';
import { type MachineOptions, machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import type { Service } from '../../lib/engine/service.ts';
import { completeCall } from '../../lib/engine/session/complete.ts';
import { wakeSession } from '../../lib/engine/session/turn.ts';
import { viewSession } from '../../lib/engine/sessions.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { begin, gate, KEY, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('later answers');

const keep = assign({ got: ({ event }) => (event as never as { output: unknown; error: unknown }).output ?? event });
const machine = compileMachine(
  createMachine({
    id: 'shop',
    initial: 'idle',
    context: { got: null as unknown },
    states: {
      idle: { on: { PAY: 'paying' } },
      paying: {
        invoke: {
          id: 'pay',
          src: 'pay',
          onDone: { target: 'paid', actions: keep },
          onError: { target: 'unpaid', actions: assign({ got: ({ event }) => event.error }) },
        },
        on: { CANCEL: 'idle' },
      },
      paid: {},
      unpaid: {},
    },
  } as never),
);

const WITHIN = 3_600_000;
const keyring = parseKeyring(randomBytes(32).toString('hex'));
const PAY = { type: 'PAY' };
const yes = (output: unknown) => ({ ok: true, output }) as never;

function bank() {
  const tokens: string[] = [];
  const keys: string[] = [];
  const pay: Service = async (_input, call) => {
    const answer = later(call, { within: WITHIN });
    tokens.push(answer.token);
    keys.push(call.idempotencyKey);
    return answer;
  };
  return { pay, tokens, keys };
}

function open(pay: Service, options: MachineOptions = {}) {
  const problems: unknown[] = [];
  const onProblem = ({ error }: { error?: unknown }) => problems.push(String(error));
  const here = place(machineConversation(machine, options), { services: { pay }, keyring, onProblem });
  return { ...here, problems, standing: async () => (await viewSession(here.engine(), KEY))!.rest };
}

test('the turn replies at once, the call waits across restarts, and one answer is taken, once, by any instance', async () => {
  const { pay, tokens, keys } = bank();
  const { engine, clock, standing, stored } = open(pay);
  await begin(engine());
  assert.is(await textOf(say(engine(), PAY, { turnKey: 'k' })), '"paying"');
  // Long after the time of a call, and of a session that is silent: nothing is made again.
  for (let at = 0; at < 10; at++) {
    await clock.advance(WITHIN / 12);
    await wakeSession(engine(), KEY);
  }
  assert.is(keys.length, 1);
  assert.equal((await standing()).state, 'paying');
  const [one, two] = [engine(), engine()];
  const outcomes = await Promise.all(
    [one, two, one].map((each) => completeCall(each, tokens[0]!, yes({ receipt: 7 }))),
  );
  assert.equal(outcomes.sort(), ['already-completed', 'already-completed', 'completed']);
  assert.equal([(await standing()).state, (await standing()).context], ['paid', { got: { receipt: 7 } }]);
  const { revision } = stored();
  assert.is(await completeCall(engine(), tokens[0]!, yes(0)), 'already-completed');
  assert.is(stored().revision, revision);
  assert.is(await textOf(say(engine(), PAY, { turnKey: 'k' })), '"paying"', 'the request is answered as it was');
});

test('its time is over: the call has failed with ERR_TIMEOUT, and an answer comes too late', async () => {
  const { pay, tokens, keys } = bank();
  const { engine, clock, standing, stored } = open(pay);
  await begin(engine(), { inputs: [PAY] });
  assert.is(stored().dueAt, clock.now() + WITHIN);
  await clock.advance(WITHIN);
  assert.is(await completeCall(engine(), tokens[0]!, yes(1)), 'not-waiting', 'before anybody has looked, too');
  await wakeSession(engine(), KEY);
  await settled();
  assert.equal([(await standing()).state, keys.length], ['unpaid', 1]);
  assert.is(((await standing()).context.got as { code: string }).code, 'ERR_TIMEOUT');
});

test('a state that is left waits no more; a failure comes with its code and data', async () => {
  const { pay, tokens } = bank();
  const { engine, standing } = open(pay);
  await begin(engine(), { inputs: [PAY] });
  assert.is(await textOf(say(engine(), { type: 'CANCEL' })), '"idle"');
  assert.is(await completeCall(engine(), tokens[0]!, yes(1)), 'not-waiting');
  await say(engine(), PAY);
  const error = { code: 'DECLINED', message: 'The card was declined.', data: { card: 'a' } };
  assert.is(await completeCall(engine(), tokens[0]!, yes(1)), 'not-waiting', 'it names the call of before');
  assert.is(await completeCall(engine(), tokens[1]!, { ok: false, error }), 'completed');
  assert.equal((await standing()).context.got, error);
});

test('an answer may come before the service has returned, and after its process has died', async () => {
  const slow = gate();
  let token = '';
  const pay: Service = async (input, call) => {
    ({ token } = later(call, { within: WITHIN }));
    return slow.service(input, call);
  };
  const early = open(pay);
  await begin(early.engine());
  const turn = textOf(say(early.engine(), PAY));
  await settled();
  assert.is(await completeCall(early.engine(), token, yes('soon')), 'completed');
  slow.answer('its own');
  await settled();
  await early.clock.advance(1_000);
  assert.is(await turn, '"paid"');
  assert.equal((await early.standing()).context, { got: 'soon' });
  const dead = open(pay);
  await begin(dead.engine());
  void say(dead.doomed(), PAY);
  await settled();
  assert.is(await completeCall(dead.engine(), token, yes('after')), 'completed');
  assert.equal((await dead.standing()).context, { got: 'after' });
});

test('a token is of its keys and its calls: another one is refused, and nothing shows it', async () => {
  const { pay, tokens } = bank();
  const { engine, stored, problems } = open(async (input, call) => {
    const answer = await pay(input, call);
    throw Object.assign(new Error(`${tokens[0]} ${JSON.stringify(answer)}`), { answer });
  });
  await begin(engine(), { inputs: [PAY] });
  const token = tokens[0]!;
  assert.match(token, /^[\w-]{60,}$/);
  assert.not.ok(`${problems}${stored().record}`.includes(token), 'an error that quotes it is told without words');
  const foreign = engine({ keyring: parseKeyring(randomBytes(32).toString('hex')) });
  for (const [on, text] of [
    [foreign, token],
    [engine(), `${token.slice(0, -2)}AA`],
    [engine(), ''],
    [engine(), 'x'.repeat(1e5)],
  ] as const)
    assert.is((await rejection(completeCall(on, text, yes(1)))).code, 'ERR_INPUT');
  const circle: unknown[] = [];
  circle.push(circle);
  const bad = [
    null,
    { ok: 'yes' },
    yes(circle),
    { ok: false },
    { ok: false, error: { code: 'ERR_MINE', message: '' } },
  ];
  for (const answer of bad)
    assert.is((await rejection(completeCall(engine(), token, answer as never))).code, 'ERR_INPUT');
});

test('without keys, for a copy of the call, or a time that is none, the service is told, and its call has failed', async () => {
  const wrong: Service[] = [
    async (_input, call) => later({ ...call }, { within: 1_000 }),
    async (_input, call) => later(call, { within: 0.5 }),
    async (_input, call) => later(call, { within: 1e12 }),
  ];
  for (const pay of wrong) {
    const { engine, standing, problems } = open(pay);
    await begin(engine(), { inputs: [PAY] });
    assert.match(String(problems), /Cannot answer a call later/);
    assert.is((await standing()).state, 'unpaid');
  }
  const bare = place(machineConversation(machine), { services: { pay: bank().pay } });
  await begin(bare.engine(), { inputs: [PAY] });
  assert.is((bare.record().rest.context.got as { code: string }).code, 'ERR_CONFIG');
  assert.is((await rejection(completeCall(bare.engine(), 'x', yes(1)))).code, 'ERR_CONFIG');
});

test('in documents it is the same', async () => {
  const { pay, tokens, keys } = bank();
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  const ORDER = { name: 'order', indexes: { due: { fields: ['dueAt'] } } };
  await documents.declare([ORDER]);
  const open = () => lifecycle({ documents, kind: ORDER, machine, clock, keyring, services: { pay } });
  const decide = () => PAY;
  for (const id of ['a', 'b']) {
    await open().begin(id, { input: {} });
    assert.is((await open().take(id, { decide })).instance.state, 'paying');
  }
  await clock.advance(WITHIN - 1);
  assert.is(await open().sweep(), 0);
  assert.is(await open().completeCall(tokens[0]!, yes('in time')), 'completed');
  assert.is(await open().completeCall(tokens[0]!, yes('again')), 'already-completed');
  await clock.advance(1);
  assert.is(await open().completeCall(tokens[1]!, yes('late')), 'not-waiting');
  const [a, b] = [await open().read('a'), await open().read('b')];
  assert.equal(
    [a!.context, (b!.context as { got: { code: string } }).got.code, keys.length],
    [{ got: 'in time' }, 'ERR_TIMEOUT', 2],
  );
  const other = lifecycle({ documents, kind: { ...ORDER, name: 'other' }, machine, clock, keyring });
  assert.is((await rejection(other.completeCall(tokens[0]!, yes(1)))).code, 'ERR_INPUT');
});

test.run();
