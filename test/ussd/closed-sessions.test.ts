// Sessions that an operator ends: also while a turn of theirs is running in another process, and whatever their phones send then. And
// sessions whose flow has failed.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine, type EngineProblem } from '../../lib/engine/engine.ts';
import { endSession } from '../../lib/engine/sessions.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { UnknownSession } from '../../lib/ussd/dial.ts';
import { closeSession } from '../../lib/ussd/hang-up.ts';
import { ussdKey } from '../../lib/ussd/keys.ts';
import { UNAVAILABLE } from '../../lib/ussd/reply.ts';
import type { UssdRequest } from '../../lib/ussd/request.ts';
import { ussdService } from '../../lib/ussd/service.ts';
import { until } from '../support/until.ts';

const test = suite('closed sessions');

const keyring = parseKeyring('00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210');
const OVER = 'end Your session has ended. Please dial again.';
const flow = compileFlow({
  flow: 'pay',
  version: 1,
  start: 'sum',
  vars: { sum: { type: 'string' } },
  screens: {
    sum: { type: 'input', text: 'How much?', save: 'sum', to: 'send' },
    send: { type: 'call', service: 'pay', with: { sum: '=sum' }, done: 'more', fail: 'more' },
    more: { type: 'menu', text: 'Paid.', options: [{ id: 'again', text: 'Again', to: 'sum' }] },
  },
});

/** Two processes on one store; the service answers when it is let go. */
function place(unknownSession: UnknownSession = 'end') {
  const store = memorySnapshots();
  let paid = 0;
  let letGo = () => {};
  const pay = () => {
    paid++;
    return new Promise<{ ok: true }>((resolve) => {
      letGo = () => resolve({ ok: true });
    });
  };
  const open = () => {
    const engine = createEngine({ store, conversations: [flow], services: { pay }, keyring });
    const gateway = ussdService({ engine, flow: 'pay', keyring, unknownSession });
    const caller = { sessionId: 's', serviceCode: '*1#', phoneNumber: '+260971234567', event: 'turn' } as const;
    const say = async (more: Pick<UssdRequest, 'mode' | 'text'> & Partial<UssdRequest>) => {
      const { kind, text } = await gateway.turn({ ...caller, ...more }, 'test');
      return `${kind} ${text}`;
    };
    return { engine, say, type: (text: string) => say({ mode: 'cumulative', text }) };
  };
  const isPaid = () => until('the service is called', () => paid > 0);
  return { open, isPaid, letGo: () => letGo(), paid: () => paid };
}

const KEY = ussdKey('test', 's');

for (const unknownSession of ['end', 'menu', 'forward'] as const)
  test(`a turn that calls a service elsewhere says that the session has ended, and pays once (${unknownSession})`, async () => {
    const { open, isPaid, letGo, paid } = place(unknownSession);
    const [one, other] = [open(), open()];
    assert.is(await one.type(''), 'continue How much?');
    const running = one.type('5');
    await isPaid();
    assert.is(await closeSession(other.engine, KEY), true);
    letGo();
    assert.is(await running, OVER);
    assert.is(await one.type('5'), OVER, 'the same request again');
    assert.is(await other.type('5*1'), OVER, 'the next answer');
    assert.is(paid(), 1);
    assert.is(await closeSession(one.engine, KEY), false, 'it has ended');
    assert.is(await one.type(''), 'continue How much?', 'a new dial');
  });

test('a turn that runs here is taken first', async () => {
  const { open, isPaid, letGo } = place();
  const { engine, type } = open();
  await type('');
  const running = type('5');
  await isPaid();
  const ending = closeSession(engine, KEY);
  letGo();
  assert.is(await running, 'continue Paid.\n1. Again\n0. Back');
  assert.is(await ending, true);
  assert.is(await type('5*1'), OVER);
});

test('where only the last answer is sent, it begins nothing either', async () => {
  const { open } = place('forward');
  const { engine, say } = open();
  await say({ mode: 'latest', text: '', fresh: true, turnId: '1' });
  assert.is(await closeSession(engine, KEY), true);
  assert.is(await say({ mode: 'latest', text: '7', turnId: '2' }), OVER);
  assert.is(await say({ mode: 'latest', text: '', fresh: true, turnId: '3' }), 'continue How much?');
});

test('an ended session keeps nothing that was typed, and its timers do not fire', async () => {
  const { open } = place();
  const { engine, type } = open();
  await type('');
  await endSession(engine, KEY, { reply: 'Over.', door: {} });
  const stored = (await engine.store.load(KEY))!;
  assert.equal([stored.ended, stored.dueAt, stored.reply], [true, null, 'Over.']);
  assert.match(stored.record, '"c":{}');
  assert.equal((await engine.store.list()).keys, []);
});

test('a flow that goes in circles ends in the words, the outcome and the status of a server that fails; a retry is told the same', async () => {
  const call = (id: string, to: string) => ({ [id]: { type: 'call', service: 'ping', done: to, fail: 'over' } });
  const circle = compileFlow({
    flow: 'circle',
    version: 1,
    start: 'one',
    screens: { ...call('one', 'two'), ...call('two', 'one'), over: { type: 'end', text: 'Over' } },
  } as never);
  const problems: EngineProblem[] = [];
  const onProblem = (problem: EngineProblem) => void problems.push(problem);
  const services = { ping: async () => null };
  const engine = createEngine({ store: memorySnapshots(), conversations: [circle], services, keyring, onProblem });
  const gateway = ussdService({ engine, flow: 'circle', keyring });
  const dial: UssdRequest = {
    ...{ sessionId: 's1', serviceCode: '*1#', phoneNumber: '+260971234567', text: '' },
    ...{ event: 'turn', mode: 'cumulative' },
  };
  // Doors tell the outcome, and the status of USSD_ERROR_STATUS, by the very reply.
  for (const _ of [1, 2]) assert.is(await gateway.turn(dial, 'africastalking'), UNAVAILABLE);
  assert.equal(
    problems.map(({ reason, error, call: id }) => [reason, (error as TwinlineError).code, id]),
    [['machine', 'ERR_TURN_LIMIT', 'one']],
  );
});

test.run();
