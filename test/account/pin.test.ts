// A PIN at rest: the form of the record, what opens it, and what it costs.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pinVault, scryptDigest } from '../../lib/account/pin.ts';
import type { ErrorCode, TwinlineError } from '../../lib/errors.ts';
import { canary, checkCanary } from '../../lib/sealing.ts';
import { KEYS, keyring, quickDigest, rejection } from './support.ts';

const test = suite('account/pin');

const PHONE = '+263771234567';
const PIN = '804163';
const old = keyring(KEYS.old);
const vault = pinVault({ keyring: old });
const quick = pinVault({ keyring: old, derive: quickDigest().derive });
const sealed = await vault.seal(PIN, PHONE);

test('a record names version, key and hash, and carries salt, iv and the sealed digest', async () => {
  assert.match(sealed, /^v1\$old\$s14\.8\.1\$[\w-]{22}\$[\w-]{16}\$[\w-]{64}$/);
  assert.is.not(sealed, await quick.seal(PIN, PHONE));
});

test('a PIN opens its own record, as text and as bytes, and no other PIN does', async () => {
  assert.equal(await vault.check(PIN, PHONE, sealed), { match: true });
  const bytes = Buffer.from(PIN);
  assert.equal(await vault.check(bytes, PHONE, sealed), { match: true });
  assert.is(bytes.toString(), PIN, "the caller's bytes are the caller's to zero");
  assert.equal(await vault.check('804164', PHONE, sealed), { match: false });
});

test('records of 4 and 6 digits have the same length', async () => {
  assert.is((await quick.seal('8041', PHONE)).length, (await quick.seal('804163', PHONE)).length);
});

test('the sealed digest is that of scrypt with the salt of the record', async () => {
  const salts: Buffer[] = [];
  const digests: Buffer[] = [];
  const derive = async (pin: Buffer, salt: Buffer) => {
    salts.push(salt);
    const digest = await scryptDigest(pin, salt);
    digests.push(Buffer.from(digest));
    return digest;
  };
  await pinVault({ keyring: old, derive }).check(PIN, PHONE, sealed);
  assert.is(salts[0]?.toString('base64url'), sealed.split('$')[3]);
  assert.is(digests[0]?.length, 32);
  assert.not.match(sealed, digests[0]!.toString('base64url').slice(0, 8));
});

test('a record that was moved to another phone number is refused, also with the right PIN', async () => {
  const error = await rejection(vault.check(PIN, '+263771234568', sealed));
  assert.is(error.code, 'ERR_PIN');
  assert.match(error.message, '"old"');
  assert.not.match(error.message, PIN);
  assert.not.match(error.message, PHONE);
});

test('a record with any bit flipped is refused or does not match', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(sealed.length - 1), fc.nat(6), async (at, bit) => {
      const flipped = String.fromCharCode(sealed.charCodeAt(at) ^ (1 << bit));
      const damaged = sealed.slice(0, at) + flipped + sealed.slice(at + 1);
      // The real hash, so that a flipped salt shows what it does to a match.
      const outcome = await vault.check(PIN, PHONE, damaged).catch((error: TwinlineError) => error.code);
      assert.ok(outcome === 'ERR_PIN' || (typeof outcome === 'object' && !outcome.match), damaged);
    }),
    { numRuns: 150 },
  );
});

test('whatever is no record is refused without hashing and without being quoted', async () => {
  const counted = quickDigest();
  const strict = pinVault({ keyring: old, derive: counted.derive });
  const parts = sealed.split('$');
  const forged = [
    '',
    PIN,
    `v1$${PIN}$s14.8.1$${parts.slice(3).join('$')}x`,
    sealed.replace('v1', 'v2'),
    sealed.replace('s14.8.1', 's1.8.1'),
    `${sealed}$`,
    sealed.slice(0, -1),
    sealed.slice(0, -22),
    `${sealed.slice(0, -1)}=`,
    parts.slice(0, 5).join('$'),
    `${parts.slice(0, 3).join('$')}$$$`,
  ];
  for (const text of forged) {
    const error = await rejection(strict.check(PIN, PHONE, text));
    assert.is(error.code, 'ERR_PIN', text);
    assert.not.match(error.message, PIN);
  }
  assert.is(counted.calls(), 0);
});

test('after a rotation an old record still opens and comes back sealed under the active key', async () => {
  const derived = quickDigest();
  const before = pinVault({ keyring: old, derive: derived.derive });
  const after = pinVault({ keyring: keyring(KEYS.next, KEYS.old), derive: derived.derive });
  const record = await before.seal(PIN, PHONE);
  const { match, reseal } = await after.check(PIN, PHONE, record);
  assert.ok(match);
  assert.match(reseal!, /^v1\$next\$/);
  assert.equal(await after.check(PIN, PHONE, reseal), { match: true });
  assert.equal(await pinVault({ keyring: keyring(KEYS.next), derive: derived.derive }).check(PIN, PHONE, reseal), {
    match: true,
  });
  assert.equal(await after.check('804164', PHONE, record), { match: false }, 'a wrong PIN never reseals');
});

test('a record under a key that is gone is refused by the name of that key', async () => {
  const error = await rejection(pinVault({ keyring: keyring(KEYS.next) }).check(PIN, PHONE, sealed));
  assert.is(error.code, 'ERR_PIN');
  assert.match(error.message, 'the key "old", which is not configured');
});

test('an unknown phone costs one hash like a known one, and never matches', async () => {
  const counted = quickDigest();
  const counting = pinVault({ keyring: old, derive: counted.derive });
  assert.equal(await counting.check(PIN, PHONE, undefined), { match: false });
  assert.is(counted.calls(), 1);
  await counting.check('000000', PHONE, await counting.seal(PIN, PHONE));
  assert.is(counted.calls(), 3);
});

test('only 4 to 6 digits can be sealed', async () => {
  for (const pin of ['', '123', '1234567', '12a4', '１２３４', '12 34', '1234\n', '-123']) {
    const error = await rejection(quick.seal(pin, PHONE));
    assert.is(error.code, 'ERR_PIN');
    assert.is(error.message, 'A PIN must be 4 to 6 digits. Ask for another one.');
  }
});

test('a damaged record names its key only when that is one of ours', async () => {
  const [version, , ...rest] = sealed.split('$');
  const message = async (kid: string, last = '') =>
    (await rejection(quick.check(PIN, PHONE, [version, kid, ...rest].join('$') + last))).message;
  assert.match(await message('old', 'x'), 'sealed under the key "old"');
  for (const kid of ['no id', 'id!', '!id', 'i'.repeat(33), '']) {
    const said = await message(kid);
    assert.match(said, 'sealed under an unknown key');
    if (kid) assert.not.match(said, kid);
  }
});

test('too many checks at once are refused, and the others all finish', async () => {
  let running = 0;
  let most = 0;
  const derive = async (pin: Buffer, salt: Buffer) => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
    return quickDigest().derive(pin, salt);
  };
  const small = pinVault({ keyring: old, workers: 2, queue: 3, derive });
  const checks = Array.from({ length: 10 }, () => small.check(PIN, PHONE, undefined));
  const codes = await Promise.all(
    checks.map(
      (check): Promise<ErrorCode | 'done'> =>
        check.then(() => 'done' as const).catch((error: TwinlineError) => error.code),
    ),
  );
  assert.is(codes.filter((code) => code === 'done').length, 5);
  assert.is(codes.filter((code) => code === 'ERR_BUSY').length, 5);
  assert.is(most, 2);
  const waiting = Array.from({ length: 6 }, () => small.check(PIN, PHONE, undefined));
  assert.match((await rejection(Promise.all(waiting))).message, 'PIN checks');
  await Promise.allSettled(waiting);
  assert.equal(await small.check(PIN, PHONE, undefined), { match: false }, 'places are free again');
});

test('a hash that fails frees its place', async () => {
  const failing = pinVault({
    keyring: old,
    workers: 1,
    queue: 0,
    derive: () => Promise.reject(new Error('no memory')),
  });
  for (let tries = 0; tries < 3; tries++)
    assert.match((await rejection(failing.check(PIN, PHONE, undefined))).message, 'no memory');
});

test('the event loop goes on while PINs are checked', async () => {
  let ticks = 0;
  let on = true;
  const tick = () => {
    ticks++;
    if (on) setImmediate(tick);
  };
  setImmediate(tick);
  await Promise.all([vault.check(PIN, PHONE, sealed), vault.check(PIN, PHONE, undefined)]);
  on = false;
  assert.ok(ticks > 50, `${ticks} turns of the event loop during two checks`);
});

test('the bytes of PIN and digest are zero after use', async () => {
  const seen: Buffer[] = [];
  const derive = async (pin: Buffer, salt: Buffer) => {
    const digest = await quickDigest().derive(pin, salt);
    seen.push(pin, digest);
    return digest;
  };
  const watched = pinVault({ keyring: old, derive });
  await watched.check(PIN, PHONE, await watched.seal(PIN, PHONE));
  assert.is(seen.length, 4);
  assert.ok(seen.every((bytes) => bytes.every((byte) => byte === 0)));
});

test('an alias stands for one phone number under one key and does not show it', () => {
  assert.is(vault.alias(PHONE), quick.alias(PHONE));
  assert.is.not(vault.alias(PHONE), vault.alias('+263771234568'));
  assert.is.not(vault.alias(PHONE), pinVault({ keyring: keyring(KEYS.next) }).alias(PHONE));
  assert.match(vault.alias(PHONE), /^[\w-]{16}$/);
});

test('a canary tells the key that made it from every other', () => {
  const text = canary(old);
  assert.is(checkCanary(old, text), 'current');
  assert.is(checkCanary(keyring(KEYS.next, KEYS.old), text), 'older');
  const wrong: readonly (readonly [string, string, RegExp])[] = [
    [KEYS.next, text, /need the key "old", but only these are configured: next/],
    [KEYS.next.replace('next', 'old'), text, /key "old" is not the one that sealed/],
    [KEYS.old, text.replace('v1', 'v2'), /damaged/],
    [KEYS.old, text.slice(0, -1), /damaged/],
    [KEYS.old, '', /damaged/],
    [KEYS.old, sealed, /damaged/],
  ];
  for (const [keys, stored, message] of wrong) {
    try {
      checkCanary(keyring(keys), stored);
    } catch (error) {
      assert.is((error as TwinlineError).code, 'ERR_CONFIG');
      assert.match((error as Error).message, message);
      continue;
    }
    assert.unreachable(`${message} was expected`);
  }
});

test.run();
