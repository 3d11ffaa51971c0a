// A clock that is set wrong, or set right, while sessions are under way: two hours back, ten years on.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accounts } from '../../lib/account/account.ts';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { pinVault } from '../../lib/account/pin.ts';
import { ACCOUNT_KINDS } from '../../lib/account/records.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { memoryDocuments, memorySnapshots } from '../../lib/store/memory/index.ts';
import { DIAL_AGAIN } from '../../lib/ussd/reply.ts';
import { ussdService } from '../../lib/ussd/service.ts';
import { KEYS, keyring, quickDigest } from '../account/support.ts';
import { flowOf } from '../flow/phone.ts';

const test = suite('clock that jumps');

const HOUR = 3_600_000;
const YEARS = 10 * 365 * 24 * HOUR;
/** So long that the timer of the door, which goes by the real clock, does not end a turn. */
const DEADLINE_MS = 30_000;
const WAIT = 'Please wait.\n1. Continue';

const flow = flowOf(
  {
    first: { type: 'input', text: 'Name?', save: 'name', to: 'ask' },
    ask: { type: 'call', service: 'slow', timeout: '60s', done: 'done', fail: 'failed' },
    done: { type: 'menu', text: 'Done', options: [{ id: 'more', text: 'More', to: 'first' }] },
    failed: { type: 'end', text: 'Failed' },
  },
  { vars: { name: { type: 'string' } } },
);

function door() {
  let answer = () => {};
  let called = () => {};
  const calling = new Promise<void>((resolve) => {
    called = resolve;
  });
  const slow = () =>
    new Promise<boolean>((resolve) => {
      answer = () => resolve(true);
      called();
    });
  const clock = new SimulatedClock();
  const conversation = compileFlow(flow);
  const engine = createEngine({
    store: memorySnapshots({ clock }),
    clock,
    conversations: [conversation],
    services: { slow },
  });
  const gateway = ussdService({ engine, flow: conversation.id, keyring: keyring(KEYS.old), deadlineMs: DEADLINE_MS });
  const send = async (text: string) => {
    const caller = { sessionId: 's', serviceCode: '*1#', phoneNumber: '+260971234567' };
    return (await gateway.turn({ ...caller, text, event: 'turn', mode: 'cumulative' }, 'test')).text;
  };
  return { send, calling, answer: () => answer(), clock };
}

test('two hours back during a call: the caller is told to wait in time, and sees the outcome', async () => {
  const { send, calling, answer, clock } = door();
  await send('');
  const turn = send('Tariro');
  await calling;
  clock.jump(-2 * HOUR);
  await clock.advance(DEADLINE_MS);
  assert.is(await turn, WAIT);
  answer();
  assert.match(await send('Tariro*1'), /^Done/);
});

test('ten years on during a call: the session is over as after any silence, and the next dial is served', async () => {
  const { send, calling, answer, clock } = door();
  await send('');
  const turn = send('Tariro');
  await calling;
  clock.jump(YEARS);
  answer();
  assert.is(await turn, DIAL_AGAIN.text);
  assert.is(await send('Tariro*1'), DIAL_AGAIN.text);
  assert.match(await send(''), /^Name\?/);
});

test('two hours back between turns: the session goes on', async () => {
  const { send, calling, answer, clock } = door();
  await send('');
  clock.jump(-2 * HOUR);
  const turn = send('Tariro');
  await calling;
  answer();
  assert.match(await turn, /^Done/);
});

test('a lock is by the clock on the wall: set back it lasts as much longer, set on it is over, and tries are counted', async () => {
  const clock = new SimulatedClock();
  const documents = memoryDocuments();
  await documents.declare(ACCOUNT_KINDS);
  const own = accounts({
    documents,
    clock,
    vault: pinVault({ keyring: keyring(KEYS.old), derive: quickDigest().derive }),
  });
  const call = { phone: '+260971234567', pin: '804163' };
  await own.create(call);
  const fail = () => own.verifyPin({ ...call, pin: '804164' });
  for (let tries = 0; tries < 3; tries++) await fail();
  clock.jump(-2 * HOUR);
  const back = await own.verifyPin(call);
  assert.ok(!back.ok && back.reason === 'locked');
  assert.is(back.minutes, 120 + ACCOUNT_LIMITS.pinLockMs / 60_000);
  clock.jump(YEARS);
  const wrong = await fail();
  assert.equal([wrong.ok, !wrong.ok && wrong.reason], [false, 'wrong']);
  assert.ok((await own.verifyPin(call)).ok);
  clock.jump(-YEARS);
  for (let tries = 0; tries < 3; tries++) await fail();
  const again = await own.verifyPin(call);
  assert.ok(
    !again.ok && again.reason === 'locked',
    'a clock that was wrong for a while leaves no way around the count',
  );
});

test.run();
