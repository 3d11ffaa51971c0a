// What is said of the services that come with Twinline is what they take and answer.

import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accounts } from '../../../lib/account/account.ts';
import { pinVault } from '../../../lib/account/pin.ts';
import { ACCOUNT_KINDS } from '../../../lib/account/records.ts';
import { accountServices } from '../../../lib/account/services.ts';
import { SimulatedClock } from '../../../lib/clock.ts';
import type { ServiceCall } from '../../../lib/engine/service.ts';
import { httpServices } from '../../../lib/http/service.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import { CONTRACTS } from '../../../server/menus/contracts.ts';

const test = suite('contracts of services');

async function openAccounts() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare(ACCOUNT_KINDS);
  const vault = pinVault({ keyring: parseKeyring(randomBytes(32).toString('hex')) });
  return accountServices(accounts({ documents, vault, clock }));
}

const KINDS = { text: 'string', number: 'number', boolean: 'boolean' } as const;

test('every service has one, and no other has', async () => {
  const services = { ...(await openAccounts()), ...httpServices({ hosts: [] }) };
  assert.equal(Object.keys(CONTRACTS).sort(), Object.keys(services).sort());
});

test('accounts answer with the fields that are named, of their kinds', async () => {
  const services = await openAccounts();
  let calls = 0;
  const ask = async (name: string, input: JsonObject): Promise<void> => {
    const call = { session: { id: 's' }, idempotencyKey: `k${calls++}`, signal: new AbortController().signal };
    const answer = (await services[name]!(input, call as unknown as ServiceCall)) as JsonObject;
    for (const [field, value] of Object.entries(answer)) {
      const kind = CONTRACTS[name]!.answer[field] as keyof typeof KINDS | undefined;
      assert.ok(kind, `${name} answers with ${field}`);
      if (value !== null) assert.is(typeof value, KINDS[kind], `${name} ${field}`);
    }
  };
  const phone = '+260971230001';
  const pin = '48291';
  await ask('account.exists', { phone });
  await ask('account.create', { phone, pin, name: 'Ann', lang: 'en' });
  await ask('account.create', { phone, pin });
  await ask('account.create', { phone: '+260971230002', pin: '11111' });
  await ask('account.verifyPin', { phone, pin });
  await ask('account.changePin', { phone, pin, newPin: '59302' });
  await ask('account.changePin', { phone, pin: '59302', newPin: '22222' });
  for (let tries = 0; tries < 4; tries++) await ask('account.verifyPin', { phone, pin: '60417' });
});

test('what a service needs is refused when it is missing', async () => {
  const services = { ...(await openAccounts()), ...httpServices({ hosts: [] }) };
  const call = {
    session: { id: 's', phoneNumber: '+260971230001' },
    idempotencyKey: 'k',
    signal: new AbortController().signal,
  };
  for (const [name, { input }] of Object.entries(CONTRACTS)) {
    if (!Object.values(input).some(({ required }) => required)) continue;
    const failed = await services[name]!({}, call as unknown as ServiceCall).then(
      () => undefined,
      ({ code }: { code: string }) => code,
    );
    assert.is(failed, 'ERR_INPUT', name);
  }
});

test.run();
