// Invalid input at the USSD route: 200, the exact text, and no session, whatever is wrong with fields or body.

import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readText } from '../../../lib/ussd/request.ts';
import { readUssdBody } from '../../../server/ussd/body.ts';
import { DIAL, json, readMetric, sharedServer } from '../support/serve.ts';

const test = suite('ussd input');
const server = sharedServer(test, { env: { USSD_UNKNOWN_SESSION: 'menu' } });

const MENU = 'CON Welcome to Twinline\n1. Know more\n2. Account\n*. Exit';
const INVALID = 'END Invalid input. Please try again.';
function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
let dials = 0;
const dial = () => server().ussd({ ...DIAL, sessionId: `fresh-${dials++}` });

const long = (count: number) => 'x'.repeat(count);
/** One of each kind; test/ussd/request.test.ts has all that a field may not be. */
const BAD = [
  { sessionId: long(101) },
  { sessionId: { $ne: null } },
  { text: long(183) },
  { text: undefined },
  { phoneNumber: '254712345678' },
  { serviceCode: '*2233#\n' },
];

test('a field that breaks a rule is invalid input: 200, the exact text, and no session', async () => {
  for (const fields of BAD) {
    const answer = await server().ask('/api/ussd', json({ ...DIAL, ...fields }));
    assert.equal([answer.status, answer.text], [200, INVALID], JSON.stringify(fields));
  }
  assert.is(((await server().ask('/api/ussd/sessions')).json() as { count: number }).count, 0);
});

test('a text that is too long is told from other invalid input, in the metric and in the log, without a sign of it', async () => {
  const series = 'twinline_ussd_turns_total{dialect="africastalking",outcome="too-long"}';
  const before = await readMetric(server(), series);
  assert.is(await server().ussd({ ...DIAL, text: `48291*${long(183)}` }), INVALID);
  assert.is(await readMetric(server(), series), before + 1);
  const { message } = thrownBy(() => readText(`48291*${long(183)}`));
  assert.match(message, 'at most 182 characters, but is a string of 189 characters');
  assert.match(message, 'let the gateway send the last answer only');
  assert.not.match(message, '48291');
});

const BODIES: Readonly<Record<string, { body: string | Buffer; headers?: Record<string, string> }>> = {
  'malformed JSON': { body: '{"sessionId":' },
  'a JSON list': { body: '[]' },
  'JSON that repeats a name': { body: JSON.stringify(DIAL).replace('{', '{"text":"1",') },
  __proto__: { body: JSON.stringify(DIAL).replace('{', '{"__proto__":{"a":1},') },
  nothing: { body: '' },
  'invalid UTF-8': { body: Buffer.from(JSON.stringify({ ...DIAL, text: '\xff' }), 'latin1') },
  'more than 8 KiB': { body: JSON.stringify({ ...DIAL, extra: long(8_192) }) },
  'more than 1 MiB': { body: JSON.stringify({ ...DIAL, extra: long(1_200_000) }) },
  'any encoding': { body: JSON.stringify(DIAL), headers: { 'content-encoding': 'gzip' } },
  'a form with broken percents': { body: 'sessionId=%zz&serviceCode=*1#&phoneNumber=+260971230001&text=' },
};

for (const [what, { body, headers = {} }] of Object.entries(BODIES))
  test(`a body with ${what} is invalid input`, async () => {
    const answer = await server().ask('/api/ussd', { method: 'POST', body, headers });
    assert.equal([answer.status, answer.text], [200, INVALID]);
    assert.is(await dial(), MENU, 'and the next request is served');
  });

test('a body that comes in pieces is read whole', async () => {
  const body = JSON.stringify({ ...DIAL, sessionId: 'pieces', extra: 'é'.repeat(50) });
  const bytes = Buffer.from(body);
  const at = bytes.indexOf(0xc3) + 1;
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(`${server().url}/api/ussd`, { method: 'POST', agent: false }, (res) => {
      let all = '';
      res.on('data', (chunk) => {
        all += chunk;
      });
      res.on('end', () => resolve(all));
    });
    sent.on('error', reject);
    sent.write(bytes.subarray(0, at), () => sent.end(bytes.subarray(at)));
  });
  assert.is(text, MENU);
});

test('a body that ends without its end is nobody’s, and is waited for by nobody', async () => {
  for (const error of [undefined, new Error('reset')]) {
    const stream = Object.assign(new PassThrough(), { headers: {} });
    const body = readUssdBody(stream as never);
    stream.write('{"sess');
    stream.destroy(error);
    assert.equal(await body, { kind: 'gone' });
  }
});

test.run();
