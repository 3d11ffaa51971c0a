// What callers type and who they are: in no log line, metric, debug answer or error, whatever happens to them.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../../lib/errors.ts';
import { describeError } from '../../../server/telemetry/log.ts';
import { findCanaries } from '../../support/canaries.ts';
import { DIAL, json, withServer } from '../support/serve.ts';

const test = suite('secrecy');

const PIN = '83719';
const PHONE = '260971999888';
const MARK = 'canary';

const CANARIES = new Map(Object.entries({ PIN, PHONE, MARK }));

test('a log at its most talkative holds no PIN, no phone, no text and no session', () =>
  withServer({ env: { LOG_LEVEL: 'trace', OPERATOR_TOKEN: `${MARK}-token` } }, async (server) => {
    const fields = { ...DIAL, sessionId: `${MARK}-session`, phoneNumber: `+${PHONE}` };
    let text = '';
    for (const typed of ['', '2', '2', `${MARK} Moyo`, PIN, PIN, '1', PIN]) {
      text = text === '' ? typed : `${text}*${typed}`;
      await server.ussd({ ...fields, text });
    }
    const session = encodeURIComponent(fields.sessionId);
    const headers = { authorization: `Bearer ${MARK}-token` };
    const debug = await server.ask(`/api/ussd/debug/${session}`, { headers });
    assert.match(debug.text, /Customer id/, 'the dialogue went where it was meant to go');
    const metrics = await server.ask('/metrics', { headers });
    await server.ask(`/api/ussd/debug/${session}?token=${MARK}`, { headers: { authorization: `Bearer ${MARK}` } });
    await server.ask(`/${MARK}/${PHONE}?pin=${PIN}`, { headers: { cookie: MARK, 'x-request-id': 'fine' } });
    await server.ask('/api/ussd', json({ ...fields, phoneNumber: PHONE, text: PIN }));
    await server.ask('/api/ussd', { method: 'POST', body: `{"text":"${PIN}","phoneNumber":"${PHONE}` });
    await server.ask(`/api/ussd/comviva?MSISDN=${PHONE}&input=${PIN}`);
    assert.ok(server.logged.length > 10);
    assert.equal(findCanaries(JSON.stringify(server.logged), CANARIES), []);
    assert.equal(findCanaries(metrics.text, CANARIES), []);
    assert.equal(findCanaries(debug.text, new Map([['PIN', PIN]])), []);
  }));

test('of foreign errors the log has name, code and place; of ours and of the system also the words', () => {
  const foreign = describeError(Object.assign(new Error('pin 83719\n    at forged (x:1)'), { code: 'E_X' }));
  assert.is(foreign.message, undefined);
  assert.equal([foreign.name, foreign.code], ['Error', 'E_X']);
  assert.ok(foreign.at!.length > 0 && !foreign.at!.some((frame) => frame.startsWith('forged')));
  const renamed = new Error('pin 83719\n    at forged (x:1)');
  assert.ok(renamed.stack);
  renamed.message = 'other words';
  assert.equal(describeError(renamed).at, [], 'where the old words end cannot be told');
  assert.ok(describeError(new TypeError()).at!.length > 0, 'without words too');
  const ours = describeError(new TwinlineError('ERR_STORE', 'our words', { cause: new Error('83719') }));
  assert.equal([ours.code, ours.message, ours.cause?.message], ['ERR_STORE', 'our words', undefined]);
  const system = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
  assert.is(describeError(system).message, 'ENOSPC: no space left');
  for (const thrown of ['83719', undefined, null, 7, { pin: '83719' }])
    assert.not.match(JSON.stringify(describeError(thrown)), /83719/);
  assert.not.match(
    JSON.stringify(describeError(Object.assign(new Error(), { code: '83719 x', name: 'a b' }))),
    /83719/,
  );
});

test.run();
