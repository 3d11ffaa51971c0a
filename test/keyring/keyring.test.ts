// The operator's key: which texts are one, and what is derived from it.

import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import { hmacSha256, type KeyPurpose, parseKeyring, shortMac } from '../../lib/keyring.ts';

const test = suite('keyring');

const BYTES = Buffer.from('fbf0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6dff', 'hex');
const HEX = BYTES.toString('hex');
const BASE64 = BYTES.toString('base64');
const BASE64URL = BYTES.toString('base64url');
const OTHER = Buffer.from(BYTES).reverse().toString('hex');
const KID = parseKeyring(HEX).active;

const GOOD: readonly (readonly [string, string, readonly string[]])[] = [
  ['64 hex digits', HEX, [KID]],
  ['upper-case hex digits', HEX.toUpperCase(), [KID]],
  ['base64 with padding', BASE64, [KID]],
  ['base64 without padding', BASE64.replace('=', ''), [KID]],
  ['base64url', BASE64URL, [KID]],
  ['a key with an id', `2026-01:${HEX}`, ['2026-01']],
  ['an active key and older ones, with spaces between', ` b:${OTHER} , a:${BASE64URL}\n`, ['b', 'a']],
  ['an id of 32 characters', `${'k'.repeat(32)}:${HEX}`, ['k'.repeat(32)]],
];

for (const [what, text, ids] of GOOD)
  test(`${what} is read`, () => {
    const keyring = parseKeyring(text);
    assert.equal(keyring.ids, ids);
    assert.is(keyring.active, ids[0]);
  });

const BAD: readonly (readonly [string, string, RegExp])[] = [
  ['nothing', '', /Key 1: it must be/],
  ['a passphrase', 'correct horse battery staple', /Key 1: it must be/],
  ['32 characters of text', 'abcdefghijklmnopqrstuvwxyz012345', /Key 1: it must be/],
  ['63 hex digits', HEX.slice(1), /Key 1: it must be/],
  ['65 hex digits', `${HEX}0`, /Key 1: it must be/],
  ['base64 of 31 bytes', BYTES.subarray(1).toString('base64'), /Key 1: it must be/],
  ['base64 of 33 bytes', Buffer.concat([BYTES, BYTES.subarray(0, 1)]).toString('base64'), /Key 1: it must be/],
  ['base64 with stray bits at its end', `${BASE64.slice(0, -2)}9=`, /Key 1: it must be/],
  ['a space inside', `${HEX.slice(0, 32)} ${HEX.slice(32)}`, /Key 1: it must be/],
  ['only zeros', '0'.repeat(64), /Key 1: it is not random/],
  ['one repeated word', 'deadbeef'.repeat(8), /Key 1: it is not random/],
  ['an empty id', `:${HEX}`, /Key 1: its id/],
  ['an id with a dollar sign', `a$b:${HEX}`, /Key 1: its id/],
  ['an id of 33 characters', `${'k'.repeat(33)}:${HEX}`, /Key 1: its id/],
  ['two colons', `a:b:${HEX}`, /Key 1: it must be/],
  ['a broken second key', `${HEX},nonsense`, /Key 2: it must be/],
  ['a comma at the end', `${HEX},`, /Key 2: it must be/],
  ['one id twice', `a:${HEX},a:${OTHER}`, /Key 2: the id "a" is used twice/],
  ['one key twice', `${HEX},${BASE64}`, /Key 2: the id/],
];

for (const [what, text, message] of BAD)
  test(`${what} is refused, and the message holds no part of the key`, () => {
    try {
      parseKeyring(text);
    } catch (error) {
      assert.instance(error, TwinlineError);
      assert.is((error as TwinlineError).code, 'ERR_CONFIG');
      assert.match((error as TwinlineError).message, message);
      for (const secret of [HEX, OTHER, BASE64, BASE64URL, 'correct horse', 'nonsense', 'deadbeef'])
        assert.not.match((error as TwinlineError).message, secret.slice(0, 8));
      return;
    }
    assert.unreachable('it was taken for a key');
  });

test('every purpose and every key gives its own subkey of 32 bytes, and never the key itself', () => {
  const keyring = parseKeyring(`a:${HEX},b:${OTHER}`);
  const purposes: KeyPurpose[] = [
    'pin-at-rest/v1',
    'turn-key/v1',
    'record-seal/v1',
    'secret-proof/v1',
    'phone-index/v1',
  ];
  const subkeys = purposes.flatMap((purpose) => ['a', 'b'].map((id) => keyring.subkey(purpose, id)!));
  assert.ok(subkeys.every((key) => key.length === 32));
  assert.is(new Set([...subkeys.map((key) => key.toString('hex')), HEX, OTHER]).size, 12);
});

test('a subkey is that of the active key unless an id is named, and an unknown id has none', () => {
  const keyring = parseKeyring(`a:${HEX},b:${OTHER}`);
  assert.equal(keyring.subkey('turn-key/v1'), keyring.subkey('turn-key/v1', 'a'));
  assert.is(keyring.subkey('turn-key/v1', 'c'), undefined);
  assert.is(keyring.subkey('turn-key/v1', '__proto__'), undefined);
});

test('whoever zeroes a subkey that was handed out spoils no other', () => {
  const keyring = parseKeyring(HEX);
  const before = Buffer.from(keyring.subkey('turn-key/v1')!);
  keyring.subkey('turn-key/v1')!.fill(0);
  assert.equal(keyring.subkey('turn-key/v1'), before);
});

test('subkeys stay what they were: stored PINs and sessions depend on them', () => {
  // HKDF-SHA-256 (RFC 5869) with no salt and the purpose as info, computed independently.
  const expected = 'e203b7133c9811e01a027440046cd93df496c419e806fbd142be41f549595084';
  assert.is(parseKeyring(HEX).subkey('pin-at-rest/v1')!.toString('hex'), expected);
});

test('a short mac has 16 characters and depends on the key and on where one part ends', () => {
  const key = parseKeyring(HEX).subkey('turn-key/v1')!;
  const other = parseKeyring(OTHER).subkey('turn-key/v1')!;
  assert.match(shortMac(key, ['a', 'bc']), /^[\w-]{16}$/);
  assert.is.not(shortMac(key, ['a', 'bc']), shortMac(other, ['a', 'bc']));
  assert.is(shortMac(key, []).length, 16);
  const parts = fc.array(fc.string({ unit: fc.constantFrom('1', '2', ':', 'a', 'é') }), { maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (one, two) => {
      const same = JSON.stringify(one) === JSON.stringify(two);
      assert.is(shortMac(key, one) === shortMac(key, two), same);
    }),
    { numRuns: 500 },
  );
});

// Keys longer than a block are hashed before.
test('keyed hashes are the HMAC-SHA-256 of Node, for any key and text', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 6_000, maxLength: 6_100 }));
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 140 }), text, (bytes, said) => {
      const key = Buffer.from(bytes);
      assert.is(hmacSha256(key, said), createHmac('sha256', key).update(said).digest('base64url'));
    }),
    { numRuns: 300 },
  );
});

test.run();
