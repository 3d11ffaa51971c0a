// What a UCAN may say and in which form, field by field; its root block; the container around it.

import { DID, Signature } from '@ucanto/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inspectToken, type TokenReason, tokenGuard } from '../../lib/delegation/index.ts';
import { DELEGATION_LIMITS } from '../../lib/delegation/limits.ts';
import {
  alice,
  altered,
  bob,
  CBOR,
  cidOf,
  clockAt,
  type Fields,
  IDENTITY,
  link,
  oracle,
  type Part,
  pack,
  part,
  partsOf,
  readReason,
  text,
  varint,
} from './tokens.ts';

type Expected = TokenReason | 'ok';
const test = suite('fields of tokens');
const inspect = (token: string): Promise<string> => readReason(inspectToken(token));

const RAW = [1, 0x55, 0x12, 0x20];
const bytes = Buffer.from('bytes');
const rawLink = () => link(cidOf(bytes, RAW));
const EDDSA = 'eda10340';
const ES256 = '80a4c00640';
const signed = (prefix: string, length = 64) => Buffer.concat([Buffer.from(prefix, 'hex'), Buffer.alloc(length, 1)]);

const FIELDS: readonly (readonly [name: string, change: Fields, expected: Expected])[] = [
  ['another version', { v: '0.9.0' }, 'not-a-ucan'],
  ['a nonce that is no text', { nnc: 1 }, 'not-a-ucan'],
  ['facts of which one is no map', { fct: [{ a: 1 }, 1] }, 'not-a-ucan'],
  ['facts that are no list', { fct: { a: 1 } }, 'not-a-ucan'],
  ['an expiration at 0', { exp: 0 }, 'ok'],
  ['no expiration', { exp: null }, 'ok'],
  ['an expiration below 0', { exp: -1 }, 'not-a-ucan'],
  ['an expiration as bytes', { exp: bytes }, 'not-a-ucan'],
  ['a beginning at a fraction', { nbf: 0.5 }, 'not-a-ucan'],
  ['a beginning that is null', { nbf: null }, 'not-a-ucan'],
  ['an issuer as text', { iss: alice.did() }, 'not-a-ucan'],
  ['an audience as text', { aud: alice.did() }, 'not-a-ucan'],
  ['an audience of no known kind', { aud: Buffer.from([0xed]) }, 'wrong-audience'],
  ['an audience by another DID', { aud: DID.parse('did:web:example.com') }, 'ok'],
  ['a signature as text', { s: 'signature' }, 'not-a-ucan'],
  ['a signature by Ed25519', { s: signed(EDDSA) }, 'ok'],
  ['a signature by P-256', { s: signed(ES256) }, 'ok'],
  ['a signature a byte too short', { s: signed(EDDSA, 63) }, 'not-a-ucan'],
  ['a signature a byte too long', { s: signed(EDDSA, 65) }, 'not-a-ucan'],
  ['a signature by P-256, a byte too long', { s: signed(ES256, 65) }, 'not-a-ucan'],
  ['a signature by RSA as long as others', { s: Signature.create(Signature.RS256, bytes) }, 'not-a-ucan'],
  ...[0, 1, 2, 3].map(
    (at) => ['a signature of no algorithm', { s: signed(flipped(EDDSA, at)) }, 'not-a-ucan'] as const,
  ),
  ['a capability that is no map', { att: [1] }, 'wrong-capability'],
  ['a list as capability', { att: [[]] }, 'wrong-capability'],
  ['a capability beside a good one that is none', { att: [IDENTITY, 1] }, 'wrong-capability'],
  ['a capability without a resource', { att: [{ can: '*' }] }, 'wrong-capability'],
  ['a capability without an ability', { att: [{ with: 'ixo:oracle' }] }, 'wrong-capability'],
  ['an ability in a list', { att: [{ can: ['oracle/talk'], with: 'ixo:oracle' }] }, 'wrong-capability'],
  ['a resource in a list', { att: [{ can: 'oracle/talk', with: ['ixo:oracle'] }] }, 'wrong-capability'],
  ['caveats that are no map', { att: [{ ...IDENTITY, nb: 1 }] }, 'wrong-capability'],
  ['caveats that are null', { att: [{ ...IDENTITY, nb: null }] }, 'wrong-capability'],
  ['empty caveats', { att: [{ ...IDENTITY, nb: {} }] }, 'ok'],
  ['one capability twice', { att: [IDENTITY, { ...IDENTITY }] }, 'wrong-capability'],
  ['proofs that are no list', { prf: {} }, 'not-a-ucan'],
  ['a number as proof', { prf: [1] }, 'wrong-cid'],
  ['null as proof', { prf: [null] }, 'wrong-cid'],
  ['bytes as proof', { prf: [bytes] }, 'wrong-cid'],
  ['a proof under a raw codec', { prf: [rawLink()] }, 'wrong-cid'],
  ['two proofs', { prf: [rawLink(), rawLink()] }, 'too-many-proofs'],
];
for (const [name, change, expected] of FIELDS)
  test(`${name} → ${expected}`, async () => {
    const token = await altered(change);
    assert.is(await inspect(token), expected);
    // Before it matters whom the token is for, and so before ucanto reads any of it.
    const ofAnother = tokenGuard({ audience: bob.did(), clock: clockAt() });
    assert.is(await readReason(ofAnother.checkDelegation(token)), expected === 'ok' ? 'wrong-audience' : expected);
  });

const LONG = DELEGATION_LIMITS.resourceChars;
const ABILITIES: { readonly [expected: string]: readonly string[] } = {
  ok: ['*', 'oracle/talk', 'oracle/*', 'oracle/a/b', 'oracle/a/*', 'a1._-b/c', `oracle/${'a'.repeat(LONG - 7)}`],
  'wrong-capability': [
    ...['', 'oracle', 'oracle/', '/talk', 'oracle//talk', '**', 'oracle/**', 'oracle/ta*', 'oracle/*/talk'],
    ...['Oracle/talk', 'oracle/TALK/b/c', ' oracle/talk', 'oracle/talk ', 'oracle/talk\n', 'oracle/ä', 'oracle/*x'],
    `oracle/${'a'.repeat(LONG - 6)}`,
  ],
};
const RESOURCES: { readonly [expected: string]: readonly string[] } = {
  ok: [
    'ixo:oracle',
    'did:web:example.com',
    'https://example.com/a?b',
    'a1+.-:x',
    'ixo:a*b',
    `ixo:${'a'.repeat(LONG - 4)}`,
  ],
  'wrong-capability': [
    ...['', 'ixo', 'ixo:', ':x', '1ixo:x', 'IXO:x', ' ixo:x', 'ixo:x ', 'ixo:x y', 'ixo:x\n', 'ixo:ä', 'http://['],
    ...['ixo:*', 'ucan:*', 'ixo:a/*', 'a ixo:x', `ixo:${'a'.repeat(LONG - 3)}`],
  ],
};
for (const [expected, abilities] of Object.entries(ABILITIES))
  test(`the form of abilities: ${expected}`, async () => {
    for (const can of abilities)
      assert.is(await inspect(await altered({ att: [{ ...IDENTITY, can }] })), expected, can);
  });
for (const [expected, resources] of Object.entries(RESOURCES))
  test(`the form of resources: ${expected}`, async () => {
    for (const resource of resources)
      assert.is(await inspect(await altered({ att: [{ can: '*', with: resource }] })), expected, resource);
  });

const honest = await text();
const car = Buffer.from(honest, 'base64');
const { roots, blocks } = partsOf(honest);
const [top, variant] = blocks as [Part, Part];
const below = (root: unknown): string => {
  const named = part(root instanceof Buffer ? root : CBOR.encode(root as never));
  return pack({ roots: [named.cid], blocks: [top, named] });
};

const ROOTS: readonly (readonly [name: string, root: unknown, expected: Expected])[] = [
  ['one link', { 'ucan@0.9.1': link(top.cid) }, 'ok'],
  ['two keys', { 'ucan@0.9.1': link(top.cid), x: 1 }, 'not-a-ucan'],
  ['a list', [link(top.cid)], 'not-a-ucan'],
  ['a link alone', link(top.cid), 'not-a-ucan'],
  ['null', null, 'not-a-ucan'],
  ['a number', 1, 'not-a-ucan'],
  ['null under its key', { 'ucan@0.9.1': null }, 'not-a-ucan'],
  ['bytes under its key', { 'ucan@0.9.1': top.cid }, 'not-a-ucan'],
  ['a link of a raw codec', { 'ucan@0.9.1': rawLink() }, 'wrong-cid'],
  ['no canonical value', Buffer.from('1817', 'hex'), 'not-canonical'],
];
for (const [name, root, expected] of ROOTS)
  test(`root block: ${name} → ${expected}`, async () => assert.is(await inspect(below(root)), expected));

test('every byte of the header counts, and its root has the one kind of CID', async () => {
  const length = 1 + car[0]!;
  const digest = car.indexOf(roots[0]!) + 4;
  for (let at = 0; at < length; at++) {
    const other = Buffer.from(car);
    other[at]! ^= 1;
    const expected = at >= digest && at < digest + 32 ? 'missing-block' : 'not-a-car';
    assert.is(await inspect(other.toString('base64')), expected, `byte ${at}`);
  }
  for (const end of [1, digest, length - 1])
    assert.is(await inspect(car.subarray(0, end).toString('base64')), 'not-a-car', `${end} bytes`);
  assert.is(await inspect(car.subarray(0, length).toString('base64')), 'missing-block', 'a header alone');
});

test('a block has bytes under a name of one kind, and its length may be any', async () => {
  const withBlock = (block: Part) => inspect(pack({ roots, blocks: [block, ...blocks] }));
  assert.is(await withBlock(part(Buffer.alloc(0))), 'wrong-cid', 'a name without bytes');
  for (const length of [1, 91, 92, 93, 128 * 3 - 36, 16_384 - 36])
    assert.is(await withBlock(part(Buffer.alloc(length, 1))), 'unreferenced-block', `${length} bytes`);
  for (const at of [0, 1, 2, 3]) {
    const { cid, bytes: content } = part(bytes);
    const other = Buffer.from(cid);
    other[at]! ^= 1;
    assert.is(await withBlock({ cid: other, bytes: content }), 'wrong-cid', `byte ${at}`);
  }
});

test('a container that ends within a length or a block is none', async () => {
  const begin = 1 + car[0]!;
  for (const rest of [[0x80], [0x80, 0x80], [0xff, 0xff, 0xff, 0x01], [...varint(60), 1], [37, ...top.cid]])
    assert.is(
      await inspect(Buffer.concat([car.subarray(0, begin), Buffer.from(rest)]).toString('base64')),
      'not-a-car',
      rest.join(),
    );
});

test('up to its limits a token is read: characters, blocks, capabilities', async () => {
  const guard = tokenGuard({ audience: oracle.did(), clock: clockAt() });
  const { invocationChars, delegationChars, tokenBlocks, capabilitiesPerUcan } = DELEGATION_LIMITS;
  assert.is(await readReason(guard.checkInvocation('A'.repeat(invocationChars))), 'not-a-car');
  assert.is(await readReason(guard.checkDelegation('A'.repeat(delegationChars))), 'not-a-car');
  assert.is(await readReason(guard.checkDelegation('A'.repeat(delegationChars + 4))), 'too-long');
  const junk = (count: number) => Array.from({ length: count }, (_, at) => part(Buffer.from([at])));
  assert.is(await inspect(pack({ roots, blocks: [...junk(tokenBlocks - 2), ...blocks] })), 'unreferenced-block');
  assert.is(await inspect(pack({ roots, blocks: [...junk(tokenBlocks - 1), ...blocks] })), 'too-many-blocks');
  const att = Array.from({ length: capabilitiesPerUcan }, (_, at) => ({ can: `oracle/a${at}`, with: alice.did() }));
  assert.is(await inspect(await altered({ att })), 'ok');
  assert.is(await inspect(pack({ roots: [variant.cid], blocks: [variant, top] })), 'ok');
});

test.run();

function flipped(prefix: string, at: number): string {
  const changed = Buffer.from(prefix, 'hex');
  changed[at]! ^= 1;
  return changed.toString('hex');
}
