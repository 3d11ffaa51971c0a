// What the guard accepts and what it says about it: ucanto's tokens, times, lifetimes, revocation, memory, P-256.

import { CBOR, Signature } from '@ucanto/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type GuardOptions, type TokenReason, tokenGuard } from '../../lib/delegation/index.ts';
import { DELEGATION_LIMITS } from '../../lib/delegation/limits.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import {
  alice,
  bob,
  chainOf,
  cidOf,
  clockAt,
  everything,
  fieldsOf,
  IDENTITY,
  link,
  NOW,
  oracle,
  p256,
  pack,
  partsOf,
  readReason,
  talk,
  text,
  textOf,
  tokenOf,
  ucan,
  type Wish,
} from './tokens.ts';

const guardOf = (options: Partial<GuardOptions> = {}) =>
  tokenGuard({ audience: oracle.did(), clock: clockAt(), ...options });

const test = suite('token guard');

test('an invocation that ucanto made passes, with who asks, what for, until when and what revokes it', async () => {
  const result = await guardOf().checkInvocation(await text({ capabilities: [talk(alice, { session: 's1' })] }));
  assert.ok(result.ok);
  assert.is(result.issuer, alice.did());
  assert.is(result.expiresAt, NOW + 300);
  assert.equal(result.capability, talk(alice, { session: 's1' }));
  assert.equal(result.capabilities, [result.capability]);
  assert.match(result.revocationKeys[0]!, /^[\w-]{43}$/);
  assert.is(result.revocationKeys.length, 1);
});

const DELEGATIONS: readonly (readonly [name: string, wish: Wish])[] = [
  ['oracle/* on the own DID', { capabilities: [everything(alice)] }],
  ['one ability', { capabilities: [talk(alice)] }],
  ['a deeper ability', { capabilities: [{ can: 'oracle/memory/*', with: alice.did() }] }],
  ['several, with caveats', { capabilities: [IDENTITY, talk(alice, { session: 's1' }), everything(alice)] }],
  ['facts, a nonce and a time to begin', { facts: [{ purpose: 'test' }], nonce: 'n', notBefore: NOW - 60 }],
  [
    'a caveat of every kind of value',
    { capabilities: [talk(alice, { a: [1, -2, 1.5, null, true], b: { c: new Uint8Array([1]) } })] },
  ],
  ['a lifetime of 366 days', { expiration: NOW + DELEGATION_LIMITS.delegationSeconds }],
];
for (const [name, wish] of DELEGATIONS)
  test(`a delegation passes: ${name}`, async () => {
    const result = await guardOf().checkDelegation(await text(wish));
    assert.ok(result.ok, JSON.stringify(result));
    assert.equal(result.capabilities, wish.capabilities ?? [IDENTITY]);
  });

test('base64url and another order of blocks are the same token; nothing else is', async () => {
  const token = await text();
  const { roots, blocks } = partsOf(token);
  const forms = [Buffer.from(token, 'base64').toString('base64url'), pack({ roots, blocks: blocks.toReversed() })];
  const keys = (await passed(guardOf().checkInvocation(token))).revocationKeys;
  for (const form of forms) assert.equal((await passed(guardOf().checkInvocation(form))).revocationKeys, keys);
});

// Seconds from the token's time to the clock's: expired is expired; clocks of issuers may be a minute ahead.
const BOUNDARIES: readonly (readonly [name: string, wish: Wish, reason: TokenReason | 'ok'])[] = [
  ['expires in the next second', { expiration: NOW + 1 }, 'ok'],
  ['valid since this second', { notBefore: NOW }, 'ok'],
  ['valid in 60 seconds', { notBefore: NOW + 60 }, 'ok'],
  ['valid in 61 seconds', { notBefore: NOW + 61 }, 'too-early'],
  ['lives for the longest time', { expiration: NOW + 900 }, 'ok'],
  ['lives for that and 60 seconds', { expiration: NOW + 960 }, 'ok'],
  ['lives for that and 61 seconds', { expiration: NOW + 961 }, 'lives-too-long'],
];
for (const [name, wish, expected] of BOUNDARIES)
  test(`times: ${name} → ${expected}`, async () => {
    assert.is(await readReason(guardOf().checkInvocation(await text(wish))), expected);
  });

test('lifetimes are options, and one that is no number of seconds is refused at once', async () => {
  const guard = guardOf({ maxTtlSeconds: { invocation: 60, delegation: 120 } });
  assert.is(await readReason(guard.checkInvocation(await text({ expiration: NOW + 121 }))), 'lives-too-long');
  assert.is(await readReason(guard.checkDelegation(await text({ expiration: NOW + 181 }))), 'lives-too-long');
  for (const invocation of [0, -1, 1.5, Number.NaN, Infinity])
    assert.throws(
      () => guardOf({ maxTtlSeconds: { invocation } }),
      (error: TwinlineError) =>
        error.code === 'ERR_CONFIG' && /invocation is .* Give a whole number/.test(error.message),
    );
  const brief = guardOf({ maxTtlSeconds: { invocation: 1 } });
  assert.is(await readReason(brief.checkInvocation(await text({ expiration: NOW + 61 }))), 'ok');
  assert.is(await readReason(brief.checkInvocation(await text({ expiration: NOW + 62 }))), 'lives-too-long');
});

test('revocation reaches remembered tokens at once, and every twin of them', async () => {
  const revoked = new Set<string>();
  const guard = guardOf({ revoked: (keys) => keys.some((key) => revoked.has(key)) });
  const token = await text({ capabilities: [talk(alice)] });
  const { roots, blocks } = partsOf(token);
  const twins = [
    token,
    Buffer.from(token, 'base64').toString('base64url'),
    pack({ roots, blocks: blocks.toReversed() }),
  ];
  const [key] = (await passed(guard.checkInvocation(token))).revocationKeys;
  revoked.add(key!);
  for (const twin of twins) assert.is(await readReason(guard.checkInvocation(twin)), 'revoked');
  assert.ok((await guard.checkInvocation(await text({ capabilities: [talk(alice)], nonce: 'new' }))).ok);
});

test('the same content signed once more is revoked too', async () => {
  const wish = { capabilities: [everything(alice)] };
  const guard = guardOf();
  const once = await passed(guard.checkDelegation(await text(wish)));
  const issuer = p256();
  const two = await Promise.all([1, 2].map(() => text({ issuer, capabilities: [everything(issuer)] })));
  assert.is.not(two[0], two[1], 'ECDSA signatures differ');
  const keys = await Promise.all(two.map(async (one) => (await passed(guard.checkDelegation(one))).revocationKeys[0]));
  assert.is(keys[0], keys[1]);
  assert.is.not(keys[0], once.revocationKeys[0]);
});

test('when nobody knows whether it was revoked, a token does not pass', async () => {
  const revoked = () => Promise.reject(new Error('away'));
  assert.is(await readReason(guardOf({ revoked }).checkInvocation(await text())), 'unavailable');
});

test('a revoked proof takes the tokens below it with it, under whatever name it is sent', async () => {
  const proof = await ucan({ audience: bob, capabilities: [everything(alice)] });
  const [key] = (
    await passed(tokenGuard({ audience: bob.did(), clock: clockAt() }).checkDelegation(await textOf(proof)))
  ).revocationKeys;
  const token = await text({ issuer: bob, capabilities: [talk(alice)], proofs: [proof] });
  const root = { resource: 'root' } as const;
  assert.ok((await guardOf({ accepted: root }).checkInvocation(token)).ok);
  const guard = guardOf({ accepted: root, revoked: (keys) => keys.includes(key!) });
  assert.is(await readReason(guard.checkInvocation(token)), 'revoked');
});

test('where the roots of chains count, a chain passes with the key of each of its UCANs', async () => {
  for (const length of [1, 2, 8]) {
    const guard = guardOf({ accepted: { resource: 'root' } });
    const result = await passed(guard.checkDelegation(await textOf(await chainOf(length))));
    assert.is(new Set(result.revocationKeys).size, length);
    assert.equal(result.capabilities, [everything(alice)]);
  }
});

test('a chain lives as long as its first link to break', async () => {
  const clock = clockAt();
  const proof = await ucan({ audience: bob, capabilities: [everything(alice)], expiration: NOW + 20 });
  const token = await text({ issuer: bob, capabilities: [talk(alice)], proofs: [proof], expiration: NOW + 300 });
  const guard = guardOf({ clock, accepted: { resource: 'root' } });
  assert.is((await passed(guard.checkInvocation(token))).expiresAt, NOW + 20);
  await clock.advance(20_000);
  assert.is(await readReason(guard.checkInvocation(token)), 'expired');
});

test('one good signature of an issuer does not vouch for another by the same issuer', async () => {
  const given = await ucan({ issuer: bob, audience: alice, capabilities: [everything(bob)] });
  const middle = await fieldsOf({ audience: alice, capabilities: [everything(bob)], proofs: [given] });
  const forged = CBOR.encode({ ...middle, s: Signature.create(Signature.EdDSA, Buffer.alloc(64, 1)) });
  const real = await ucan({ capabilities: [talk(bob)], proofs: [link(cidOf(forged)) as never] });
  const token = tokenOf([real.root.bytes, forged, given.root.bytes]);
  assert.is(await readReason(guardOf({ accepted: { resource: 'root' } }).checkInvocation(token)), 'wrong-signature');
});

test('a token remembered as an invocation is not taken for a delegation', async () => {
  const guard = guardOf({ maxTtlSeconds: { invocation: 900, delegation: 60 } });
  const token = await text({ expiration: NOW + 900 });
  assert.ok((await guard.checkInvocation(token)).ok);
  assert.is(await readReason(guard.checkDelegation(token)), 'lives-too-long');
});

test('a guard that was not told whose resources count takes those of the issuer only', async () => {
  const proof = await ucan({ audience: bob, capabilities: [everything(alice)] });
  const token = await text({ issuer: bob, capabilities: [talk(alice)], proofs: [proof] });
  assert.is(await readReason(guardOf().checkInvocation(token)), 'wrong-capability');
});

test('another service accepts its own abilities', async () => {
  const guard = guardOf({ accepted: { namespace: 'memory', identity: 'ixo:memory' } });
  const memory = { can: 'memory/read', with: alice.did() };
  assert.ok((await guard.checkInvocation(await text({ capabilities: [memory] }))).ok);
  assert.is(await readReason(guard.checkInvocation(await text())), 'wrong-capability');
});

test.run();

async function passed<T extends { readonly ok: boolean }>(result: Promise<T>): Promise<Extract<T, { ok: true }>> {
  const settled = await result;
  assert.ok(settled.ok, JSON.stringify(settled));
  return settled as Extract<T, { ok: true }>;
}
