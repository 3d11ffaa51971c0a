// Accounts as a flow calls them: what goes in, what comes out, what is refused by name.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accounts } from '../../lib/account/account.ts';
import { pinVault } from '../../lib/account/pin.ts';
import { ACCOUNT_KINDS, ACCOUNTS } from '../../lib/account/records.ts';
import { accountServices } from '../../lib/account/services.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { KEYS, keyring, quickDigest, rejection } from './support.ts';

const test = suite('account/services');

const PHONE = '+263771234567';
const PIN = '804163';

/** Services over an empty store, and how a session with this phone number calls them. */
async function open(phoneNumber: string | undefined = PHONE) {
  const documents = memoryDocuments();
  await documents.declare(ACCOUNT_KINDS);
  const vault = pinVault({ keyring: keyring(KEYS.old), derive: quickDigest().derive });
  const services = accountServices(accounts({ documents, vault, clock: new SimulatedClock() }));
  let calls = 0;
  const session = { id: 'session', ...(phoneNumber && { phoneNumber }) };
  const call = (name: string, input: JsonObject) =>
    services[`account.${name}`]!(input, {
      signal: new AbortController().signal,
      idempotencyKey: `call ${++calls}`,
      session,
    });
  return { call, documents, services };
}

test('a caller makes an account, logs in and changes the PIN', async () => {
  const { call } = await open();
  assert.equal(await call('exists', {}), { ok: true, exists: false });
  const created = (await call('create', { pin: PIN, name: 'Tariro', lang: 'sn-ZW' })) as JsonObject;
  assert.equal(created, { ok: true, created: true, customerId: created.customerId });
  assert.equal(await call('exists', {}), { ok: true, exists: true });
  assert.equal(await call('create', { pin: PIN }), { ok: false, created: false, reason: 'exists' });
  const { customerId } = created;
  assert.equal(await call('verifyPin', { pin: PIN }), { ok: true, customerId, name: 'Tariro', lang: 'sn-ZW' });
  assert.equal(await call('changePin', { pin: PIN, newPin: '730528' }), { ok: true, changed: true });
  assert.equal(await call('verifyPin', { pin: PIN }), { ok: false, reason: 'wrong', remaining: 2 });
});

test('what is typed for a PIN and is none is a bad PIN to a new account and a wrong one to a login', async () => {
  const { call } = await open();
  for (const pin of ['', '12', 'abcd', '1234567']) {
    assert.equal(await call('create', { pin }), { ok: false, created: false, reason: 'bad-pin' });
  }
  await call('create', { pin: PIN });
  assert.equal(await call('verifyPin', { pin: '12' }), { ok: false, reason: 'wrong', remaining: 2 });
  const changed = await call('changePin', { pin: PIN, newPin: '4567' });
  assert.equal(changed, { ok: false, changed: false, reason: 'weak-pin' });
});

test('the phone number may be named in three ways and written with or without its plus', async () => {
  const { call } = await open('+263770000000');
  await call('create', { phone: PHONE, pin: PIN });
  assert.equal(await call('exists', {}), { ok: true, exists: false });
  for (const input of [
    { phone: PHONE },
    { phoneNumber: PHONE },
    { msisdn: '263771234567' },
    { phone: null, msisdn: PHONE },
  ])
    assert.equal(await call('exists', input), { ok: true, exists: true });
});

const REFUSED: readonly (readonly [string, string, JsonObject, RegExp])[] = [
  [
    'a phone number of another type',
    'exists',
    { phone: 263771234567 },
    /account\.exists: "phone" must be a string, not a number/,
  ],
  ['a local phone number', 'exists', { msisdn: '0771234567' }, /"msisdn" must be an international number/],
  [
    'a phone number with digits of another script',
    'exists',
    { phone: '+٢٦٣٧٧١٢٣٤' },
    /"phone" must be an international/,
  ],
  ['an empty phone number', 'exists', { phone: '' }, /"phone" must be an international number/],
  ['no PIN', 'verifyPin', {}, /account\.verifyPin: "pin" is missing/],
  ['a PIN as a number, which loses its zeros', 'create', { pin: 804163 }, /"pin" must be a string, not a number/],
  ['a PIN as a list', 'create', { pin: [PIN] }, /"pin" must be a string, not a list/],
  ['a PIN of a thousand digits', 'verifyPin', { pin: '8'.repeat(1_000) }, /"pin" is longer than 182/],
  ['no new PIN', 'changePin', { pin: PIN }, /"newPin" is missing/],
  ['a name of 65 characters', 'create', { pin: PIN, name: 'é'.repeat(65) }, /"name" must have at most 64/],
  ['a language that is none', 'create', { pin: PIN, lang: 'en\n' }, /"lang" must be a language tag/],
];

for (const [what, name, input, message] of REFUSED)
  test(`${what} is refused by the name of the field, without its value`, async () => {
    const { call } = await open();
    const error = await rejection(call(name, input));
    assert.is(error.code, 'ERR_INPUT');
    assert.match(error.message, message);
    assert.not.match(error.message, PIN);
  });

test('without any phone number the field is named', async () => {
  const { call } = await open('');
  const error = await rejection(call('verifyPin', { pin: PIN }));
  assert.is(error.code, 'ERR_INPUT');
  assert.match(error.message, '"phone" is missing');
});

test('a name is kept as people write it, without what could forge a screen', async () => {
  const { call, documents } = await open();
  await call('create', { pin: PIN, name: ` José-María\u0000\n\u202eEND O’Neill\ud800 ` });
  assert.is((await documents.find(ACCOUNTS)).items[0]?.body.name, 'José-MaríaEND O’Neill');
});

test.run();
