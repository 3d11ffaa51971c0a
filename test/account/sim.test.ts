// SIM swaps: who has a caller's number on another SIM, and the PIN, cannot change the PIN for some days.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AccountsOptions, accounts } from '../../lib/account/account.ts';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { pinVault } from '../../lib/account/pin.ts';
import { ACCOUNT_KINDS, ACCOUNTS, isSimNew, noteSim } from '../../lib/account/records.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { markSim } from '../../lib/ussd/dial.ts';
import { KEYS, keyring, quickDigest } from './support.ts';

const test = suite('account/sim');

const PHONE = '+263771234567';
const PIN = '804163';
const NEW_PIN = '730528';
const [OWN, OTHER] = ['648041234567890', '648049876543210'];

async function open() {
  const documents = memoryDocuments();
  await documents.declare(ACCOUNT_KINDS);
  const clock = new SimulatedClock();
  const changes: unknown[] = [];
  const under = (...keys: string[]) => {
    const ring = keyring(...keys);
    const vault = pinVault({ keyring: ring, derive: quickDigest().derive });
    const onSimChange: AccountsOptions['onSimChange'] = (change) => changes.push(change);
    const own = accounts({ documents, vault, clock, onSimChange });
    const sim = (imsi?: string) => ({ sim: imsi && markSim(ring, imsi) });
    return {
      own,
      create: (imsi?: string) => own.create({ phone: PHONE, pin: PIN, ...sim(imsi) }),
      login: async (imsi?: string) => {
        const answer = await own.verifyPin({ phone: PHONE, pin: PIN, ...sim(imsi) });
        return answer.ok ? answer.simChanged === true : 'refused';
      },
      change: async (imsi?: string) => {
        const answer = await own.changePin({ phone: PHONE, pin: PIN, newPin: NEW_PIN, ...sim(imsi) });
        return answer.changed || answer.reason;
      },
    };
  };
  return { under, clock, changes, documents };
}

test('on another SIM the right PIN opens the account and says so, and the PIN stays as it is', async () => {
  const { under, changes, documents } = await open();
  const { create, login, change, own } = under(KEYS.old);
  await create(OWN);
  assert.equal([await login(OWN), await login(OTHER), await login(OTHER)], [false, true, true]);
  assert.is(await change(OTHER), 'sim-changed');
  assert.is(await change(), 'sim-changed', 'a gateway that names no SIM opens no way around');
  assert.ok((await own.verifyPin({ phone: PHONE, pin: PIN })).ok, 'the PIN is the old one');
  const customerId = (await own.standing(PHONE)).customerId;
  assert.equal(changes, [{ phone: PHONE, customerId }]);
  const { items } = await documents.find(ACCOUNTS);
  for (const imsi of [OWN, OTHER]) assert.not.match(JSON.stringify(items), imsi);
});

test('a change of the PIN is refused at once when it is the first that is asked for on another SIM', async () => {
  const { under, changes } = await open();
  const { create, change, login } = under(KEYS.old);
  await create(OWN);
  assert.is(await change(OTHER), 'sim-changed');
  assert.is(changes.length, 1);
  assert.is(await login(OTHER), true);
});

test('a wrong PIN notes nothing, and the first SIM of an account is no change', async () => {
  const { under, changes } = await open();
  const { create, login, change, own } = under(KEYS.old);
  await create();
  await own.verifyPin({ phone: PHONE, pin: '804164', sim: markSim(keyring(KEYS.old), OTHER) });
  assert.is(await login(OWN), false);
  assert.is(await change(OWN), true);
  assert.equal(changes, []);
});

test('after 240 hours all is as before; an operator may end the time', async () => {
  const { under, clock } = await open();
  const { create, login, change, own } = under(KEYS.old);
  await create(OWN);
  await login(OTHER);
  await clock.advance(ACCOUNT_LIMITS.simHoldMs - 1);
  assert.is(await change(OTHER), 'sim-changed');
  await clock.advance(1);
  assert.is(await login(OTHER), false);
  assert.is(await login(OWN), true);
  assert.is((await own.standing(PHONE)).simChangedAt, clock.now());
  assert.ok((await own.unlock(PHONE, 'cli')).unlocked);
  assert.equal([(await own.standing(PHONE)).simChangedAt, await login(OWN)], [null, false]);
  assert.is(await change(OWN), true);
});

test('a change of keys is no change of SIM, and a SIM is known under each key', async () => {
  const { under, changes } = await open();
  await under(KEYS.old).create(OWN);
  const both = under(KEYS.next, KEYS.old);
  assert.is(await both.login(OWN), false);
  const next = under(KEYS.next);
  assert.is(await next.login(OWN), false, 'it moved to the new key');
  assert.equal(changes, []);
  assert.is(await next.login(OTHER), true);
});

test('another SIM is noticed while keys change, and under a key that is gone nothing is compared', () => {
  const known = { mark: 'old:one', changedAt: null };
  assert.equal(noteSim(known, 'next:three old:two', 7), { mark: 'next:three', changedAt: 7 });
  assert.equal(noteSim(known, 'next:three old:one', 7), { mark: 'next:three', changedAt: null });
  assert.equal(noteSim(known, 'next:three', 7), { mark: 'next:three', changedAt: null });
});

test('nobody has to be told of a change', async () => {
  const { documents, clock } = await open();
  const vault = pinVault({ keyring: keyring(KEYS.old), derive: quickDigest().derive });
  const own = accounts({ documents, vault, clock });
  await own.create({ phone: PHONE, pin: PIN, sim: 'old:one' });
  const answer = await own.verifyPin({ phone: PHONE, pin: PIN, sim: 'old:two' });
  assert.ok(answer.ok && answer.simChanged);
});

test('a SIM that took no place is not new, at any time', () => {
  assert.not(isSimNew({ mark: 'old:one', changedAt: null }, 0));
  assert.not(isSimNew(undefined, 0));
});

test.run();
