// What happens to an account between the steps of a call: overload, another call, another key, an account that is gone.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AccountsOptions, accounts } from '../../lib/account/account.ts';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { type PinVault, pinVault } from '../../lib/account/pin.ts';
import { ACCOUNT_KINDS, ACCOUNTS } from '../../lib/account/records.ts';
import type { SprayAlarm } from '../../lib/account/spray.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { KEYS, keyring, quickDigest, rejection } from './support.ts';

const test = suite('account/meanwhile');

const PHONE = '+263771234567';
const STRANGER = '+263779999999';
const PIN = '804163';
const WRONG = '804164';
const NEW_PIN = '730528';
const call = { phone: PHONE, pin: PIN };

async function open() {
  const documents = memoryDocuments();
  await documents.declare(ACCOUNT_KINDS);
  const clock = new SimulatedClock();
  const { derive } = quickDigest();
  const vault = pinVault({ keyring: keyring(KEYS.old), derive });
  const over = (options: Partial<AccountsOptions> = {}) => accounts({ documents, vault, clock, ...options });
  return { documents, clock, vault, derive, over, own: over() };
}

/** The vault, with something that happens after each check of a PIN. */
function after(vault: PinVault, happens: () => Promise<unknown>): PinVault {
  return {
    ...vault,
    check: async (...given) => {
      const result = await vault.check(...given);
      await happens();
      return result;
    },
  };
}

test('an account without a name has an empty one', async () => {
  const { own } = await open();
  await own.create(call);
  const { name, lang } = (await own.verifyPin(call)) as { name: string; lang: null };
  assert.equal([name, lang], ['', null]);
});

test('when no customer id is free, the creation is given up after as many tries as a turn has', async () => {
  let drawn = 0;
  const { over } = await open();
  const own = over({ id: () => `C${Math.min(++drawn, 2)}` });
  await own.create(call);
  await own.create({ ...call, phone: STRANGER });
  drawn = 2;
  const error = await rejection(own.create({ ...call, phone: '+263770000001' }));
  assert.equal([error.code, drawn - 2], ['ERR_CONFLICT', COMMON_LIMITS.conflictsPerTurn + 1]);
  assert.match(error.message, 'Could not find a free customer id');
});

test('a change that fails for overload, after the old PIN was right, counts as no failure', async () => {
  const { own, over, vault } = await open();
  await own.create(call);
  await own.verifyPin({ ...call, pin: WRONG });
  const busy = over({ vault: { ...vault, seal: () => Promise.reject(new TwinlineError('ERR_BUSY', 'full')) } });
  assert.is((await rejection(busy.changePin({ ...call, newPin: NEW_PIN }))).code, 'ERR_BUSY');
  assert.is((await own.standing(PHONE)).failuresInRow, 0);
});

test('a PIN that was changed during a login is not put back under the new key', async () => {
  const { own, over, documents, derive } = await open();
  await own.create(call);
  const rotated = pinVault({ keyring: keyring(KEYS.next, KEYS.old), derive });
  const late = over({ vault: after(rotated, () => own.changePin({ ...call, newPin: NEW_PIN })) });
  assert.ok((await late.verifyPin(call)).ok);
  assert.ok((await own.verifyPin({ ...call, pin: NEW_PIN })).ok);
  assert.not((await own.verifyPin(call)).ok);
  assert.is(await documents.count(ACCOUNTS), 1);
});

test('an account that is removed during a login or a change does not come back', async () => {
  const { own, over, documents, vault, derive } = await open();
  await own.create(call);
  const [stored] = (await documents.find(ACCOUNTS)).items;
  const remove = () => documents.remove(ACCOUNTS, stored!.id);
  const rotated = pinVault({ keyring: keyring(KEYS.next, KEYS.old), derive });
  assert.ok((await over({ vault: after(rotated, remove) }).verifyPin(call)).ok);
  assert.not(await own.exists(PHONE));
  for (const idempotencyKey of [undefined, 'change 1']) {
    await own.create(call);
    const [again] = (await documents.find(ACCOUNTS)).items;
    const gone = after(vault, () => documents.remove(ACCOUNTS, again!.id));
    const change = { ...call, newPin: NEW_PIN, ...(idempotencyKey && { idempotencyKey }) };
    assert.is((await rejection(over({ vault: gone }).changePin(change))).code, 'ERR_CONFLICT');
    assert.not(await own.exists(PHONE));
  }
});

test('of two changes the later says that another one was first', async () => {
  const { own, over, vault } = await open();
  await own.create(call);
  const late = over({ vault: after(vault, () => own.changePin({ ...call, newPin: '615830' })) });
  const error = await rejection(late.changePin({ ...call, newPin: NEW_PIN }));
  assert.is(error.code, 'ERR_CONFLICT');
  assert.match(error.message, 'Another call changed this PIN');
});

test('a change for a number without an account is answered like one with a wrong PIN, with a key too', async () => {
  const { own } = await open();
  const change = { phone: STRANGER, pin: PIN, newPin: NEW_PIN, idempotencyKey: 'change 1' };
  assert.equal(await own.changePin(change), { changed: false, reason: 'wrong', remaining: 2 });
});

test('a change that is refused for a new SIM ends the run of wrong PINs, for the PIN was right', async () => {
  const { own } = await open();
  await own.create({ ...call, sim: 'old:one' });
  await own.verifyPin({ ...call, pin: WRONG });
  const change = { ...call, newPin: NEW_PIN, sim: 'old:two' };
  assert.equal(await own.changePin(change), { changed: false, reason: 'sim-changed' });
  assert.is((await own.standing(PHONE)).failuresInRow, 0);
  assert.is.not((await own.standing(PHONE)).simChangedAt, null);
});

test('guesses that come to no check are no checks for the alarm', async () => {
  const alarms: SprayAlarm[] = [];
  const { over, vault } = await open();
  let isBusy = false;
  const check: PinVault['check'] = (...given) =>
    isBusy ? Promise.reject(new TwinlineError('ERR_BUSY', 'full')) : vault.check(...given);
  const own = over({ vault: { ...vault, check }, onAlarm: (alarm) => alarms.push(alarm) });
  for (let n = 0; n < 51; n++) {
    const guess = { phone: `+2637812345${n + 10}`, pin: WRONG };
    isBusy = true;
    await rejection(own.verifyPin(guess));
    isBusy = false;
    await own.verifyPin(guess);
  }
  assert.equal(alarms, [{ kind: 'spray', failures: 51, ratio: 1 }]);
});

test('while guesses are slowed, a number that is locked is told so', async () => {
  const { own } = await open();
  await own.create(call);
  for (let tries = 0; tries < 3; tries++) await own.verifyPin({ ...call, pin: WRONG });
  for (let n = 0; n < 48; n++) await own.verifyPin({ phone: `+2637812345${n + 10}`, pin: WRONG });
  const answer = await own.verifyPin(call);
  assert.ok(!answer.ok && answer.reason === 'locked');
  assert.is(ACCOUNT_LIMITS.sprayFailures, 50, 'the 51 failures above are more');
});

test.run();
