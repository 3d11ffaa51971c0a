// Keys and DIDs against published vectors: RFC 8032 by name, the did:key method, and what is no accepted key.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DID } from '@ucanto/core';
import * as ed25519 from '@ucanto/principal/ed25519';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../lib/delegation/index.ts';
import { DELEGATION_LIMITS } from '../../lib/delegation/limits.ts';
import { issuerKey, readPrincipal } from '../../lib/delegation/principal.ts';

type Row = readonly string[];
const vectors = (name: string) => JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'));
const rfc8032 = vectors('ed25519-rfc8032').vectors as readonly Row[];
const didKey = vectors('did-key') as {
  readonly ed25519: { readonly vectors: readonly Row[] };
  readonly p256: { readonly vectors: readonly Row[] };
  readonly otherKinds: readonly string[];
};

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const varsig = (signature: Uint8Array): Uint8Array => Buffer.concat([hex('eda10340'), signature]);
/** Of what stands behind `did:web:`. */
const LONGEST = DELEGATION_LIMITS.resourceChars - 'did:web:'.length;
const keyDid = (publicKey: Uint8Array): string => DID.decode(Buffer.concat([hex('ed01'), publicKey])).did();

const test = suite('keys and DIDs');

for (const [name, secret, publicKey, message, signature] of rfc8032)
  test(`RFC 8032, 7.1, ${name}: signs and verifies as the standard says`, async () => {
    const key = issuerKey(keyDid(hex(publicKey!)))!;
    assert.ok(key.verify(hex(message!), varsig(hex(signature!))));
    const own = parseOracleKey(ed25519.format(await ed25519.derive(hex(secret!))));
    assert.is(own.did, keyDid(hex(publicKey!)));
    assert.is(Buffer.from(own.sign(hex(message!))).toString('hex'), signature);
    for (const at of [0, 31, 32, 63]) {
      const wrong = hex(signature!);
      wrong[at]! ^= 1;
      assert.not.ok(key.verify(hex(message!), varsig(wrong)), `byte ${at}`);
    }
    assert.not.ok(key.verify(hex(`${message}00`), varsig(hex(signature!))));
    assert.not.ok(key.verify(hex(message!), hex(signature!)), 'without the name of its algorithm');
  });

for (const [seed, did] of didKey.ed25519.vectors)
  test(`did:key of the Ed25519 seed ${seed!.slice(-4)}`, async () => {
    assert.is(parseOracleKey(ed25519.format(await ed25519.derive(hex(seed!)))).did, did);
    assert.ok(issuerKey(did!));
    assert.is(readPrincipal(DID.parse(did as `did:key:${string}`)), did);
  });

for (const [x, y, did] of didKey.p256.vectors)
  test(`did:key of the P-256 key ${x!.slice(0, 6)}`, () => {
    const odd = Buffer.from(y!, 'base64url').at(-1)! & 1;
    const bytes = Buffer.concat([hex('8024'), Buffer.from([2 + odd]), Buffer.from(x!, 'base64url')]);
    assert.is(readPrincipal(bytes), did);
    assert.ok(issuerKey(did!));
  });

test('keys of other kinds, other spellings and broken ones are no keys, and nothing throws', () => {
  const [[, good]] = didKey.ed25519.vectors as [Row];
  const odd = [
    ...['', 'did:key:', 'did:key:z', 'did:key:z0', 'did:key:zz', good!.slice(0, -1), `${good}1`, ` ${good}`],
    ...[`${good}#key`, good!.replace('did:key:z', 'did:key:z1'), good!.replace('did:key:z', 'did:key:u')],
    'did:web:example.com',
    `did:key:z${'1'.repeat(5_000)}`,
    // No point of the curve has this x.
    DID.decode(Buffer.concat([hex('802402'), Buffer.alloc(32, 0xff)])).did(),
    // Longer and shorter than a key.
    ...[31, 33].map((length) => keyDid(Buffer.alloc(length, 1))),
  ];
  for (const did of [...didKey.otherKinds, ...odd]) assert.is(issuerKey(did), undefined, did);
});

test('a DID in a UCAN has one form', () => {
  const named = (text: string) => readPrincipal(Buffer.concat([hex('9d1a'), Buffer.from(text)]));
  const good = ['web:example.com', 'web:example.com%3A8080:users:a', 'ixo:entity:1', 'mailto:example.com:a'];
  for (const text of [...good, `web:${'a'.repeat(LONGEST)}`]) assert.is(named(text), `did:${text}`);
  const bad = [
    ...['', 'web', 'web:', 'key:z6Mk', 'web:a b', 'web:é', 'WEB:a', 'web:a%3a80', 'web:a/b', 'web:a#b', 'web:a\n'],
    ...['WEB:did:web:a', 'web:a%3:b', 'web:a%3', 'web:a%G0:b', 'web:a%3G:b', 'web:a%:b'],
  ];
  for (const text of [...bad, `web:${'a'.repeat(LONGEST + 1)}`]) assert.is(named(text), undefined, text);
  for (const bytes of [[], [0xed], [0xed, 1], [0xed, 0x81, 0], Array(34).fill(0)])
    assert.is(readPrincipal(Uint8Array.from(bytes)), undefined);
});

test('a key is made once, and only the latest thousand are kept', () => {
  const dids = Array.from({ length: DELEGATION_LIMITS.issuerKeysKept + 1 }, (_, at) =>
    keyDid(createHash('sha256').update(String(at)).digest()),
  );
  const first = issuerKey(dids[0]!);
  assert.is(issuerKey(dids[0]!), first);
  for (const did of dids.slice(1)) issuerKey(did);
  assert.is.not(issuerKey(dids[0]!), first);
});

test('a key of the service shows nothing of itself, and a broken one is refused without a word of it', async () => {
  const text = ed25519.format(await ed25519.derive(Buffer.alloc(32, 9)));
  const other = ed25519.format(await ed25519.derive(Buffer.alloc(32, 8)));
  assert.equal(JSON.parse(JSON.stringify(parseOracleKey(text))), { did: parseOracleKey(text).did });
  const bytesOf = (key: string) => Buffer.from(key.slice(1), 'base64');
  const halves = Buffer.concat([bytesOf(text).subarray(0, 34), bytesOf(other).subarray(34)]).toString('base64');
  const broken = [
    ...['', 'M', text.slice(1), `Z${text.slice(1)}`, text.replace('MgC', 'MgA'), text.slice(0, -8), `${text}AAAA`],
    ...[`M${halves}`, 'canary'],
  ];
  for (const bad of broken)
    try {
      parseOracleKey(bad);
      assert.unreachable(bad);
    } catch (error) {
      assert.is((error as { code: string }).code, 'ERR_CONFIG');
      assert.is((error as Error).cause, undefined);
      if (bad.length > 4) assert.not.ok(String((error as Error).message).includes(bad.slice(0, 12)));
    }
});

test.run();
