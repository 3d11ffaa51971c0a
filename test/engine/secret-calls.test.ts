// What services say about a secret: masked in answers, left out of errors, and untouched where no secret is.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Service, ServiceCall } from '../../lib/engine/service.ts';
import { holdSecrets, isRewritten, keepSecrets } from '../../lib/engine/session/secret-calls.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { holdsSecret, listRequestSecrets, MASK, redactor } from '../../lib/redact.ts';
import type { Json } from '../../lib/store/store.ts';

const test = suite('secret calls');

const PIN = '83519';
const newCall = (): ServiceCall => ({
  signal: new AbortController().signal,
  idempotencyKey: 'k',
  session: { id: 's' },
});
const maskSecrets = (answer: Json, secrets: readonly string[]) => redactor(secrets).json(answer);
const withPin = () => holdSecrets(newCall(), [PIN]);

async function failure(service: Service, { call = withPin(), own = false } = {}): Promise<TwinlineError> {
  const { bills } = keepSecrets({ bills: service }, { own: () => own }) as { bills: Service };
  return bills({}, call).then(
    () => assert.unreachable() as never,
    (error) => error as TwinlineError,
  );
}

test('the secret is masked wherever it stands in an answer, in each of its forms', () => {
  const hex = Buffer.from(PIN).toString('hex');
  const base64 = Buffer.from(PIN).toString('base64');
  const cases: [Json, Json][] = [
    [PIN, MASK],
    [Number(PIN), MASK],
    [`the PIN ${PIN} is wrong`, `the PIN ${MASK} is wrong`],
    [`pin=${PIN}&x=1`, `pin=${MASK}&x=1`],
    [{ deep: [{ echo: PIN }] }, { deep: [{ echo: MASK }] }],
    [{ [PIN]: 1 }, { [MASK]: 1 }],
    [hex, MASK],
    [base64, '****=='],
  ];
  for (const [answer, masked] of cases.slice(0, -1)) assert.equal(maskSecrets(answer, [PIN]), masked);
  assert.not.ok(holdsSecret(JSON.stringify(maskSecrets({ base64 }, [PIN])), [PIN]));
  assert.is(maskSecrets('0071', ['0071']), MASK);
  assert.is(maskSecrets(71, ['0071']), MASK);
});

test('what is no secret stays as it is: amounts, phones, names, and all of it where the secret is a digit or two', () => {
  const answer = {
    balance: 83519.5,
    text: '83519.50 or 183519',
    phone: '+260983519001',
    ok: true,
    none: null,
    list: [1, 12],
  };
  assert.equal(maskSecrets(answer, [PIN]), answer);
  assert.equal(maskSecrets({ n: 1, text: '1 of 12', list: ['12'] }, ['1', '12']), {
    n: 1,
    text: '1 of 12',
    list: [MASK],
  });
  assert.is(maskSecrets(answer, []), answer);
});

test('eight characters are masked within other words too; of requests, credentials are known by their names', () => {
  assert.is(redactor(['12345678']).text('x12345678y'), `x${MASK}y`);
  assert.is(redactor(['1234567']).text('x1234567y 1234567'), `x1234567y ${MASK}`);
  const basic = Buffer.from('me:a-password').toString('base64');
  const input = {
    url: 'https://user:p%40ssword@example.com/?api_key=key-in-url&page=12345678',
    query: { access_token: 'token-in-query', key: 'maize', crop: 'a long word' },
    headers: { Authorization: `Basic ${basic}`, 'X-Api-Key': 'key-in-header', accept: 'application/json' },
  };
  const found = listRequestSecrets(input);
  for (const secret of ['p@ssword', 'key-in-url', 'token-in-query', basic, 'a-password', 'key-in-header'])
    assert.ok(found.includes(secret), secret);
  const shown = JSON.stringify(redactor(found).json(input));
  for (const word of ['12345678', 'maize', 'a long word', 'application/json', 'example.com']) assert.match(shown, word);
});

test('words of services are left out of the errors of such calls, with all that hangs on them', async () => {
  const quoting: Service[] = [
    () => Promise.reject(new Error(`wrong ${PIN}`)),
    () => Promise.reject(new Error('outer', { cause: new Error(`inner ${PIN}`) })),
    () => Promise.reject(Object.assign(new TypeError('x'), { pin: PIN, code: PIN, name: PIN })),
    () => Promise.reject(Object.assign(new Error('x'), { stack: `Error: x\n    at ${PIN} (/a/${PIN}.js:1:1)` })),
    () => Promise.reject(PIN),
    () => Promise.reject({ message: PIN }),
    () => Promise.reject(undefined),
    () => Promise.reject(new TwinlineError('ERR_SERVICE', `ours, says ${PIN}`)),
    () => Promise.reject(new TwinlineError(PIN as never, 'a code of its own')),
    () => Promise.reject(Object.assign(new Error(`open '/pins/${PIN}'`), { code: 'ENOENT', syscall: 'open' })),
    () => Promise.reject(new AggregateError([new Error(PIN)], PIN)),
  ];
  for (const service of quoting)
    for (const own of [false, true]) {
      const error = await failure(service, { own });
      assert.ok(isRewritten(error), String(own));
      const all = [error.message, error.stack, error.code, JSON.stringify(error), String(error.cause)].join('\n');
      assert.not.match(all, PIN);
    }
  const { code, message } = await failure(() =>
    Promise.reject(Object.assign(new TypeError(PIN), { code: 'ECONNRESET' })),
  );
  assert.is(code, 'ERR_SERVICE');
  assert.match(
    message,
    /^The service "bills" failed \(TypeError, ECONNRESET, .*secret-calls\.test\.ts:\d+:\d+\)\. Its words/,
  );
});

test('our own words stay unless the secret stands in them; so does whether to try again', async () => {
  const own = new TwinlineError('ERR_SERVICE', 'GET http://127.0.0.1/ answered 500.', { cause: { status: 500 } });
  assert.is(await failure(() => Promise.reject(own), { own: true }), own);
  for (const form of [
    PIN,
    '%383519'.slice(2),
    Buffer.from(PIN).toString('base64'),
    Buffer.from(`x${PIN}`).toString('base64'),
  ]) {
    const told = new TwinlineError('ERR_SERVICE', `GET http://127.0.0.1/${form} answered 500.`);
    assert.ok(isRewritten(await failure(() => Promise.reject(told), { own: true })), form);
  }
  const never = Object.defineProperty(new TwinlineError('ERR_SERVICE', PIN), 'retry', { value: false });
  assert.is((await failure(() => Promise.reject(never))).retry, false);
});

test('calls without a secret are not touched', async () => {
  const error = new Error(`about ${PIN}`);
  assert.is(await failure(() => Promise.reject(error), { call: newCall() }), error);
  const { echo } = keepSecrets({ echo: async () => PIN }) as { echo: Service };
  assert.is(await echo({}, newCall()), PIN);
  assert.is(await echo({}, withPin()), MASK);
});

test.run();
