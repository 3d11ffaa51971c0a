// `sms.send` against gateways that speak the wire formats of the real ones, and the parts of a text against a model of its bits.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceCall } from '../../lib/engine/service.ts';
import { measureSms } from '../../lib/flow/run/sms-parts.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { readSmsFormat, SMS_FORMATS, type SmsFormat } from '../../lib/sms/format.ts';
import { type SmsGateway, smsServices } from '../../lib/sms/service.ts';

const test = suite('SMS');

const TO = '+254711000111';
const callOf = (key = 'key-1', session: Partial<ServiceCall['session']> = {}): ServiceCall => ({
  session: { id: 's', phoneNumber: TO, ...session },
  idempotencyKey: key,
  signal: new AbortController().signal,
});

interface Got {
  readonly headers: IncomingMessage['headers'];
  readonly fields: JsonObject;
}
type Answer = { readonly status: number; readonly body: Json; readonly type?: string };

/** A gateway on this machine; `serve` judges what it gets. */
async function withGateway<T>(
  serve: (got: Got) => Answer,
  work: (gateway: Pick<SmsGateway, 'url'> & { readonly origin: string }, got: readonly Got[]) => Promise<T>,
): Promise<T> {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const body = await readText(request);
    const isForm = request.headers['content-type'] === 'application/x-www-form-urlencoded';
    const fields = isForm ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body);
    got.push({ headers: request.headers, fields });
    const { status, body: answer, type = 'application/json' } = serve(got.at(-1)!);
    response
      .writeHead(status, { 'content-type': type })
      .end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    return await work({ url: `${origin}/version1/messaging`, origin }, got);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

const outcome = (work: Promise<unknown>) =>
  work.then(
    (answer) => answer,
    ({ code, retry, message }: { code: string; retry: boolean; message: string }) => ({ code, retry, message }),
  );

/** Africa's Talking: a form with user name and number, an API key in a header, 201 with a status for each recipient. */
function africasTalking(statusCode: number | undefined) {
  return ({ headers, fields }: Got): Answer => {
    if (headers.apikey !== 'at-secret' || fields.username !== 'farms')
      return { status: 401, body: 'The supplied authentication is invalid', type: 'text/plain' };
    const data = { Message: 'Sent to 1/1 Total Cost: KES 0.8000' };
    if (statusCode === undefined)
      return { status: 201, body: { SMSMessageData: { Message: 'InvalidSenderId', Recipients: [] } } };
    const recipient = { statusCode, number: fields.to!, status: 'x', cost: 'KES 0.8000', messageId: 'ATXid_1' };
    return { status: 201, body: { SMSMessageData: { ...data, Recipients: [recipient] } } };
  };
}

const AT = { format: SMS_FORMATS.africastalking, fields: { username: 'farms' }, from: 'FARMS' } as const;

test("Africa's Talking gets its form with the key of the account, and says the id of the message", async () => {
  await withGateway(africasTalking(101), async ({ url, origin }, got) => {
    const { 'sms.send': send } = smsServices({ ...AT, url, headers: { [origin]: { apiKey: 'at-secret' } } });
    assert.equal(await send!({ text: 'Asante sana & karibu' }, callOf()), {
      id: 'ATXid_1',
      encoding: 'gsm7',
      parts: 1,
    });
    assert.equal(got[0]!.fields, { username: 'farms', to: TO, message: 'Asante sana & karibu', from: 'FARMS' });
    assert.is(got[0]!.headers['idempotency-key'], 'key-1');
    await send!({ text: 'x', to: '254722000222', from: '40404' }, callOf());
    assert.equal([got[1]!.fields.to, got[1]!.fields.from], ['+254722000222', '40404']);
  });
});

test("what Africa's Talking answers decides: accepted, refused for good, or to be tried again; no word quotes number or text", async () => {
  const judge = (statusCode: number | undefined, apiKey = 'at-secret') =>
    withGateway(africasTalking(statusCode), ({ url, origin }) => {
      const { 'sms.send': send } = smsServices({ ...AT, url, headers: { [origin]: { apiKey } } });
      return outcome(send!({ text: 'Your code is 4711' }, callOf()));
    });
  for (const status of [100, 101, 102]) assert.is(((await judge(status)) as JsonObject).id, 'ATXid_1', String(status));
  type Refusal = readonly [statusCode: number | undefined, retry: boolean, apiKey?: string];
  const refusals: readonly Refusal[] = [
    ...[401, 402, 403, 404, 405, 406, 407, 409, undefined].map((one): Refusal => [one, false]),
    ...[500, 501].map((one): Refusal => [one, true]),
    [101, false, 'wrong'],
  ];
  for (const [statusCode, retry, apiKey] of refusals) {
    const failure = (await judge(statusCode, apiKey)) as { code: string; retry: boolean; message: string };
    assert.equal([failure.code, failure.retry], ['ERR_SERVICE', retry], String(statusCode));
    assert.not.match(failure.message, /Your code|254711000|at-secret/);
  }
});

test('Twilio gets a form with its names, Infobip nested JSON; both say ids in their own places', async () => {
  const twilio = ({ headers }: Got): Answer =>
    headers.authorization === 'Basic c2lkOnRva2Vu'
      ? { status: 201, body: { sid: 'SM1', status: 'queued', error_code: null } }
      : { status: 401, body: { code: 20003, message: 'Authenticate' } };
  await withGateway(twilio, async ({ url, origin }, got) => {
    const headers = { [origin]: { authorization: 'Basic c2lkOnRva2Vu' } };
    const { 'sms.send': send } = smsServices({ url, format: SMS_FORMATS.twilio, from: '+15005550006', headers });
    assert.is(((await send!({ text: 'Hi' }, callOf())) as JsonObject).id, 'SM1');
    assert.equal(got[0]!.fields, { To: TO, Body: 'Hi', From: '+15005550006' });
  });
  const infobip = (groupName: string) => (): Answer => ({
    status: 200,
    body: { messages: [{ messageId: 'ib-1', status: { groupName }, destination: TO.slice(1) }] },
  });
  await withGateway(infobip('PENDING'), async ({ url }, got) => {
    const { 'sms.send': send } = smsServices({ url, format: SMS_FORMATS.infobip });
    assert.is(((await send!({ text: 'Hi' }, callOf())) as JsonObject).id, 'ib-1');
    assert.equal(got[0]!.fields, { messages: [{ destinations: [{ to: TO.slice(1) }], content: { text: 'Hi' } }] });
  });
  await withGateway(infobip('REJECTED'), async ({ url }) => {
    const failure = await outcome(
      smsServices({ url, format: SMS_FORMATS.infobip })['sms.send']!({ text: 'Hi' }, callOf()),
    );
    assert.is((failure as { code: string }).code, 'ERR_SERVICE');
  });
});

test('a gateway that honours Idempotency-Key sends each message once, however often it is tried', async () => {
  const sent = new Map<string, Json>();
  let tries = 0;
  const serve = ({ headers, fields }: Got): Answer => {
    sent.set(String(headers['idempotency-key']), fields);
    return tries++ === 0 ? { status: 503, body: null } : { status: 200, body: { id: 7 } };
  };
  await withGateway(serve, async ({ url }) => {
    const { 'sms.send': send } = smsServices({ url, format: SMS_FORMATS.json });
    const first = (await outcome(send!({ text: 'Hi' }, callOf('k')))) as { retry: boolean };
    assert.is(first.retry, true);
    assert.equal(await send!({ text: 'Hi' }, callOf('k')), { id: '7', encoding: 'gsm7', parts: 1 });
    assert.is(sent.size, 1);
  });
});

test('a text that looks like a place of the format is sent as it is', async () => {
  await withGateway(
    () => ({ status: 200, body: null }),
    async ({ url }, got) => {
      const { 'sms.send': send } = smsServices({ url, format: SMS_FORMATS.json, from: 'F' });
      assert.is(((await send!({ text: '{from} {key} {to} $& $1' }, callOf())) as JsonObject).id, null);
      assert.is(got[0]!.fields.text, '{from} {key} {to} $& $1');
    },
  );
});

test('what cannot be sent is refused before the gateway is asked; a simulated phone sends nothing', async () => {
  await withGateway(
    () => ({ status: 200, body: null }),
    async ({ url }, got) => {
      const { 'sms.send': send } = smsServices({ url, format: SMS_FORMATS.json });
      const bad: readonly JsonObject[] = [
        ...[{}, { text: '' }, { text: ' ' }, { text: 5 }, { text: 'x', to: '0711000111' }, { text: 'x', to: 7 }],
        ...[{ text: 'x', from: 1 }, { text: 'x', sender: 'y' }, { text: 'x'.repeat(153 * 10 + 1) }],
      ];
      for (const input of bad)
        assert.is(
          ((await outcome(send!(input, callOf()))) as { code: string }).code,
          'ERR_INPUT',
          JSON.stringify(input),
        );
      assert.equal(await send!({ text: 'x'.repeat(1_530) }, callOf('k', { simulated: true })), {
        id: null,
        encoding: 'gsm7',
        parts: 10,
      });
      assert.is(got.length, 0);
    },
  );
  const failure = (await outcome(smsServices(undefined)['sms.send']!({ text: 'x' }, callOf()))) as {
    retry: boolean;
    message: string;
  };
  assert.is(failure.retry, false);
  assert.match(failure.message, 'SMS_URL');
});

test('formats of the operator are checked: a name, or all of what the form says', () => {
  for (const name of Object.keys(SMS_FORMATS)) assert.ok(readSmsFormat(name));
  const own: SmsFormat = { type: 'json', body: { m: '{text}' }, status: '/s', accepted: ['ok'], busy: ['later'] };
  assert.equal(readSmsFormat(own), own);
  const wrong: readonly unknown[] = [
    ...['toString', '', 'AT', null, [], 3, {}, { type: 'xml', body: {} }, { type: 'form', body: { a: { b: '{to}' } } }],
    ...[
      { ...own, accepted: undefined },
      { ...own, status: 's' },
      { ...own, id: 4 },
      { ...own, extra: 1 },
      { ...own, busy: [{}] },
    ],
  ];
  for (const format of wrong) assert.is(readSmsFormat(format), undefined, JSON.stringify(format));
});

// 3GPP TS 23.040: a message has 140 octets, and each part of a longer one 6 of them as its header.
test('the parts of a text are as many as its bits need, and no character is cut in two', () => {
  const gsm = 'aZ 9é£@\n{€';
  const wide = 'aé茶😀';
  const count = (characters: readonly string[], bits: (character: string) => number) => {
    const sizes = characters.map(bits);
    const sum = sizes.reduce((all, size) => all + size, 0);
    if (sum <= 140 * 8) return 1;
    let parts = 1;
    let left = 134 * 8;
    for (const size of sizes) {
      if (size > left) [parts, left] = [parts + 1, 134 * 8];
      left -= size;
    }
    return parts;
  };
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...gsm), { maxLength: 700 }), (characters) => {
      const bits = (character: string) => ('{€'.includes(character) ? 14 : 7);
      assert.equal(measureSms(characters.join('')), { encoding: 'gsm7', parts: count(characters, bits) });
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...wide), { maxLength: 300 }), (characters) => {
      const text = `茶${characters.join('')}`;
      const bits = (character: string) => character.length * 16;
      assert.equal(measureSms(text), { encoding: 'ucs2', parts: count(['茶', ...characters], bits) });
    }),
  );
});

test.run();
