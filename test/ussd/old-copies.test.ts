// Copies of messages that come after later ones: in dialects that send only what was typed last, their number tells.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../lib/engine/engine.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { UssdRequest } from '../../lib/ussd/request.ts';
import { ussdService } from '../../lib/ussd/service.ts';
import { conversation } from '../simulation/machine.ts';

const test = suite('old copies');

const keyring = parseKeyring('00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210');

function phone() {
  const engine = createEngine({ store: memorySnapshots(), conversations: [conversation], keyring });
  const gateway = ussdService({ engine, flow: conversation.id, keyring });
  const caller = { sessionId: 's', serviceCode: '*123#', phoneNumber: '+260971234567', event: 'turn' } as const;
  return async (number: number, text: string, fresh = false): Promise<string> => {
    const request: UssdRequest = { ...caller, mode: 'latest', text, fresh, turnId: `${number}` };
    const { kind, text: shown } = await gateway.turn(request, 'test');
    return `${kind} ${shown}`;
  };
}

test('a copy of an older message changes nothing, and is shown what was answered last', async () => {
  const send = phone();
  await send(1, '', true);
  await send(2, 'a2');
  assert.is(await send(3, 'a3'), 'continue s:a2,a3');
  assert.is(await send(2, 'a2'), 'continue s:a2,a3');
  assert.is(await send(4, 'a4'), 'continue s:a2,a3,a4');
  assert.is(await send(4, 'a4'), 'continue s:a2,a3,a4');
});

test('a copy of an older message after the end is shown the end', async () => {
  const send = phone();
  await send(1, '', true);
  await send(2, 'a2');
  assert.is(await send(3, 'q3'), 'end s:a2,q3');
  assert.is(await send(2, 'a2'), 'end s:a2,q3');
});

test('a new dial under the same id counts its messages anew', async () => {
  const send = phone();
  await send(1, '', true);
  await send(2, 'a2');
  assert.is(await send(1, '', true), 'continue s:');
  assert.is(await send(2, 'a7'), 'continue s:a7');
});

test.run();
