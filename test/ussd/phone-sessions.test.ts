// A phone has at most three sessions: a flood of session ids from one number keeps no more than that.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../lib/engine/engine.ts';
import { sessionKeys } from '../../lib/engine/sessions.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import { DIAL_AGAIN, ussdService } from '../../lib/ussd/service.ts';
import { conversation } from '../simulation/machine.ts';

const test = suite('sessions of a phone');

const keyring = parseKeyring('00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210');

function door() {
  let crowded = 0;
  const engine = createEngine({ store: memorySnapshots(), conversations: [conversation], keyring });
  const gateway = ussdService({ engine, flow: conversation.id, keyring, onCrowded: () => crowded++ });
  const send = async (sessionId: string, text = '', phoneNumber = '+260971234567') => {
    const request = { sessionId, serviceCode: '*123#', phoneNumber, text, event: 'turn', mode: 'cumulative' } as const;
    const { kind, text: shown } = await gateway.turn(request, 'test');
    return `${kind} ${shown}`;
  };
  const live = async () => (await sessionKeys(engine, { prefix: 'ussd:', limit: 1_000 })).length;
  return { send, live, crowded: () => crowded };
}

test('the fourth session of a phone ends its oldest one, and no other', async () => {
  const { send, crowded } = door();
  await send('other', '', '+260977777777');
  for (const id of ['one', 'two', 'three']) await send(id);
  assert.is(await send('one', 'a1'), 'continue one:a1');
  assert.is(crowded(), 0);
  await send('four');
  assert.is(crowded(), 1);
  assert.is(await send('one', 'a1*a2'), `end ${DIAL_AGAIN.text}`);
  for (const id of ['two', 'three', 'four']) assert.is(await send(id, 'a1'), `continue ${id}:a1`);
  assert.is(await send('other', 'a1', '+260977777777'), 'continue other:a1');
});

test('sessions that are over do not count', async () => {
  const { send, crowded } = door();
  await send('one');
  for (let at = 0; at < 10; at++) {
    await send(`short${at}`);
    assert.is(await send(`short${at}`, 'q'), `end short${at}:q`);
  }
  assert.is(await send('one', 'a1'), 'continue one:a1');
  assert.is(await send('short9', 'q'), 'end short9:q', 'the end is told again');
  assert.is(crowded(), 0);
});

test('a retry of a dial, and a dial under the same id, are no further session', async () => {
  const { send, crowded } = door();
  for (const id of ['one', 'two', 'three', 'three', 'two', 'three']) await send(id);
  assert.is(crowded(), 0);
  assert.is(await send('one', 'a1'), 'continue one:a1');
});

test('a flood of sessions of one phone keeps three of them', async () => {
  const { send, live, crowded } = door();
  await Promise.all(Array.from({ length: 200 }, (_, at) => send(`flood${at}`)));
  assert.equal([await live(), crowded()], [3, 197]);
});

test.run();
