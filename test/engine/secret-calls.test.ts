// What services say about a secret: masked in answers, left out of errors, and untouched where no secret is. In which forms a
// secret is found: test/redact.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Service, ServiceCall } from '../../lib/engine/service.ts';
import { holdSecrets, isRewritten, keepSecrets } from '../../lib/engine/session/secret-calls.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { MASK } from '../../lib/redact.ts';

const test = suite('secret calls');

const PIN = '83519';
const newCall = (): ServiceCall => ({
  signal: new AbortController().signal,
  idempotencyKey: 'k',
  session: { id: 's' },
});
const withPin = () => holdSecrets(newCall(), [PIN]);

async function failure(service: Service, { call = withPin(), own = false } = {}): Promise<TwinlineError> {
  const { bills } = keepSecrets({ bills: service }, { own: () => own }) as { bills: Service };
  return bills({}, call).then(
    () => assert.unreachable() as never,
    (error) => error as TwinlineError,
  );
}

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
