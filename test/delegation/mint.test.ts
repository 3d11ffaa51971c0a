// Tokens of our own: ucanto accepts them, the guard accepts them, and what was not granted is not minted.

import { Delegation } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import * as ed25519 from '@ucanto/principal/ed25519';
import { access, capability, Schema } from '@ucanto/validator';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../lib/clock.ts';
import {
  inspectToken,
  mintDelegation,
  mintInvocation,
  parseOracleKey,
  tokenGuard,
} from '../../lib/delegation/index.ts';
import { alice, bob, clockAt, everything, mallory, NOW, oracle, talk, text, ucan, type Wish } from './tokens.ts';

const key = parseOracleKey(ed25519.format(oracle));
const clock = clockAt();
const proofs = [await text({ capabilities: [everything(alice)] })];
/** By the service for another one: what Alice has let it do. */
const mint = (more: Partial<Parameters<typeof mintInvocation>[0]> = {}) =>
  mintInvocation({ key, audience: bob.did(), capability: talk(alice), proofs, expiresIn: 60, clock, ...more });

const test = suite('minted tokens');

test('what the key mints, @ucanto/validator accepts: an invocation within what a user delegated', async () => {
  // ucanto knows only the clock of the system.
  const now = Math.floor(Date.now() / 1000);
  const raw = await text({ capabilities: [everything(alice)], expiration: now + 600 });
  const token = await mint({ proofs: [raw], clock: systemClock });
  const { ok: invocation } = await Delegation.extract(new Uint8Array(Buffer.from(token, 'base64')));
  const result = await access(invocation as never, {
    capability: capability({ can: 'oracle/talk', with: Schema.did(), nb: Schema.struct({}) }),
    authority: bob,
    principal: ed25519.Verifier,
    validateAuthorization: () => ({ ok: {} }),
  });
  assert.ok(result.ok, result.error?.message);
  assert.is(result.ok.issuer.did(), oracle.did());
  assert.is(result.ok.proofs[0]!.issuer.did(), alice.did());
});

test('the guard of the other service accepts it, and each is different', async () => {
  const guard = tokenGuard({ audience: bob.did(), clock, accepted: { resource: 'root' } });
  const tokens = await Promise.all([mint(), mint()]);
  assert.is.not(tokens[0], tokens[1]);
  for (const token of tokens) {
    const result = await guard.checkInvocation(token);
    assert.ok(result.ok, JSON.stringify(result));
    assert.is(result.issuer, oracle.did());
    assert.is(result.expiresAt, NOW + 60);
  }
});

test('a delegation minted here passes here, and says what it was asked to', async () => {
  const own = parseOracleKey(ed25519.format(alice));
  const capabilities = [everything(alice)];
  const token = await mintDelegation({
    key: own,
    audience: oracle.did(),
    capabilities,
    expiresIn: 3_600,
    notBefore: NOW,
    clock,
  });
  const result = await tokenGuard({ audience: oracle.did(), clock }).checkDelegation(token);
  assert.ok(result.ok, JSON.stringify(result));
  assert.equal(result.capabilities, capabilities);
  const inspected = inspectToken(token);
  assert.ok(inspected.ok);
  const [said] = inspected.chain;
  assert.is(said.notBefore, NOW);
  assert.is(said.expiration, NOW + 3_600);
  assert.is(said.revocationKey, result.revocationKeys[0], 'what is inspected is revoked by the same key');
});

test('a proof that expires earlier shortens what is minted under it', async () => {
  const raw = await text({ capabilities: [everything(alice)], expiration: NOW + 30 });
  const inspected = inspectToken(await mint({ proofs: [raw] }));
  assert.ok(inspected.ok);
  assert.equal(
    inspected.chain.map(({ expiration }) => expiration),
    [NOW + 30, NOW + 30],
  );
});

const under = async (wish: Wish) => ({ proofs: [await text({ capabilities: [everything(alice)], ...wish })] });
const claiming = (can: string) => ({ capability: { can, with: alice.did() } });

const REFUSED: readonly (readonly [name: string, options: Parameters<typeof mint>[0], message: RegExp])[] = [
  ['another user’s resource', { capability: talk(mallory) }, /does not grant oracle\/talk/],
  ['another ability', claiming('store/add'), /does not grant store\/add/],
  ['every ability', claiming('*'), /does not grant \*/],
  ['a dropped caveat', await under({ capabilities: [talk(alice, { session: 's1' })] }), /does not grant/],
  ['a proof for somebody else', await under({ audience: bob }), /is for did:key:\w+, not for/],
  ['an expired proof', await under({ expiration: NOW - 1 }), /has expired/],
  ['a proof that is no token', { proofs: ['canary'] }, /is not a valid token/],
  ['two proofs', { proofs: [...proofs, ...proofs] }, /one/],
  ['no time at all', { expiresIn: 0, proofs: [] }, /expiresIn is 0/],
  ['an audience that is no DID', { audience: 'bob', proofs: [] }, /not a DID/],
  ['an ability in capitals', { capability: { can: 'oracle/TALK', with: 'x' }, proofs: [] }, /lower-case/],
];
for (const [name, options, message] of REFUSED)
  test(`it does not mint: ${name}`, async () => {
    const error = await mint(options).catch((reason: Error & { code: string }) => reason);
    assert.is((error as { code?: string }).code, 'ERR_INPUT');
    assert.match((error as Error).message, message);
    assert.not.ok((error as Error).message.includes('canary'), 'no token in a message');
  });

test('inspecting checks nothing but that it is a token', async () => {
  const proof = await ucan({ audience: bob, capabilities: [everything(alice)], expiration: Infinity });
  const inspected = inspectToken(
    await text({ issuer: bob, audience: mallory, proofs: [proof], nonce: 'n', facts: [{ a: 1 }] }),
  );
  assert.ok(inspected.ok);
  const [top, below] = inspected.chain as [API.Delegation, API.Delegation] & typeof inspected.chain;
  assert.is(top.nonce, 'n');
  assert.equal(top.facts, [{ a: 1 }]);
  assert.is(below!.expiration as unknown, null);
  assert.equal(inspectToken('x y'), { ok: false, reason: 'not-base64' });
  assert.equal(inspectToken('A'.repeat(70_000)), { ok: false, reason: 'too-long' });
});

test.run();
