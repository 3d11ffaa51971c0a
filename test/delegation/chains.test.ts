// Chains with issuers whose keys have to be found: which of them pass, how many signatures are checked, and how long what
// passed is remembered.

import { createHash } from 'node:crypto';
import { DID } from '@ucanto/core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type GuardOptions, type ResolveKeys, tokenGuard } from '../../lib/delegation/index.ts';
import { DELEGATION_LIMITS } from '../../lib/delegation/limits.ts';
import { alice, bob, clockAt, type everything, NOW, oracle, readReason, textOf, ucan } from './tokens.ts';

const test = suite('chains');

const SITE = 'did:web:example.com';
const OTHER = 'did:web:example.org';
const byWeb = (did: `did:${string}:${string}` = SITE) => alice.withDID(did);
const find: ResolveKeys = async () => [alice.did()];

const guardOf = (options: Partial<GuardOptions> = {}) =>
  tokenGuard({
    audience: oracle.did(),
    clock: clockAt(),
    accepted: { resource: 'root' },
    methods: { web: find },
    ...options,
  });

type Person = Parameters<typeof everything>[0] & Parameters<typeof textOf>[0]['issuer'];

/** A token that goes through these hands; the first owns what it is about, the last sends it to the service. */
async function passOn(people: readonly object[], { abilities = ['oracle/*'], expiration = NOW + 3_600 } = {}) {
  const [owner] = people as [Person];
  let proof: Awaited<ReturnType<typeof ucan>> | undefined;
  for (const [at, issuer] of people.entries())
    proof = await ucan({
      issuer: issuer as never,
      audience: (people[at + 1] ?? oracle) as never,
      capabilities: abilities.map((can) => ({ can, with: owner.did() })),
      expiration,
      proofs: proof ? [proof] : [],
    });
  return textOf(proof!);
}

test('every issuer of a chain must be of a kind that is accepted, wherever it stands', async () => {
  for (const people of [
    [byWeb(), bob],
    [bob, byWeb()],
    [bob, byWeb(), alice],
  ]) {
    const token = await passOn(people);
    assert.is(await readReason(guardOf().checkDelegation(token)), 'ok');
    assert.is(await readReason(guardOf({ methods: {} }).checkDelegation(token)), 'issuer-unsupported');
  }
});

test('a chain of keys is remembered until it expires, also behind the time that found keys are', async () => {
  const clock = clockAt();
  const guard = guardOf({ clock });
  const token = await passOn([alice, bob]);
  const first = await guard.checkDelegation(token);
  assert.ok(first.ok);
  await clock.advance(3_599_000);
  assert.is(await guard.checkDelegation(token), first);
  await clock.advance(1_000);
  assert.is(await readReason(guard.checkDelegation(token)), 'expired');
});

test('a chain with one issuer whose keys were found is remembered for five minutes', async () => {
  for (const people of [
    [byWeb(), bob],
    [bob, byWeb()],
  ]) {
    const clock = clockAt();
    let asked = 0;
    const methods = { web: async () => [alice.did()].slice(asked++) };
    const guard = guardOf({ clock, methods });
    const token = await passOn(people);
    const first = await guard.checkDelegation(token);
    assert.ok(first.ok);
    await clock.advance(DELEGATION_LIMITS.issuerKeysFreshMs - 1_000);
    assert.is(await guard.checkDelegation(token), first);
    await clock.advance(1_000);
    assert.is.not(await readReason(guard.checkDelegation(token)), 'ok', 'its keys are other ones now');
    assert.is(asked, 2);
  }
});

test('a chain with an issuer whose keys were found is forgotten when it expires before', async () => {
  const clock = clockAt();
  const guard = guardOf({ clock });
  const token = await passOn([byWeb(), bob], { expiration: NOW + 10 });
  assert.ok((await guard.checkDelegation(token)).ok);
  await clock.advance(10_000);
  assert.is(await readReason(guard.checkDelegation(token)), 'expired');
});

// Seven that did not sign, and the one that did.
const strangers = Array.from({ length: 7 }, (_, at) =>
  DID.decode(Buffer.concat([Buffer.from('ed01', 'hex'), createHash('sha256').update(String(at)).digest()])).did(),
);

test('sixteen signatures are checked for a token and no more, each once for all of its capabilities', async () => {
  const methods = { web: async () => [...strangers, alice.did()] };
  const two = [byWeb(SITE), byWeb(OTHER)];
  const abilities = ['oracle/read', 'oracle/talk'];
  assert.is(await readReason(guardOf({ methods }).checkDelegation(await passOn(two, { abilities }))), 'ok');
  const three = await passOn([bob, ...two]);
  assert.is(await readReason(guardOf({ methods }).checkDelegation(three)), 'wrong-signature');
  const fewer = { web: async () => [...strangers.slice(1), alice.did()] };
  assert.is(await readReason(guardOf({ methods: fewer }).checkDelegation(three)), 'ok');
});

test('a chain of eight with sixteen capabilities in each passes, however many ways lead through it', async () => {
  const abilities = Array.from({ length: 16 }, (_, at) => `oracle/a${at}`);
  const people = [alice, ...Array.from({ length: 7 }, () => bob)];
  assert.is(await readReason(guardOf().checkDelegation(await passOn(people, { abilities }))), 'ok');
});

test('a key of an issuer that is none is left aside', async () => {
  const methods = { web: async () => ['did:key:zz', 'nonsense', alice.did()] };
  assert.is(await readReason(guardOf({ methods }).checkDelegation(await passOn([byWeb()]))), 'ok');
  const junk = { web: async () => ['did:key:zz', 'nonsense'] };
  assert.is(await readReason(guardOf({ methods: junk }).checkDelegation(await passOn([byWeb()]))), 'wrong-signature');
});

test('of a token that is refused nobody asks whether it was revoked', async () => {
  let asked = 0;
  const revoked = async () => {
    asked++;
    return false;
  };
  const stranger = { web: async () => [bob.did()] };
  const token = await passOn([byWeb()]);
  assert.is(await readReason(guardOf({ revoked, methods: stranger }).checkDelegation(token)), 'wrong-signature');
  assert.is(asked, 0);
  assert.is(await readReason(guardOf({ revoked }).checkDelegation(token)), 'ok');
  assert.is(asked, 1);
});

test('an issuer without a key is not found', async () => {
  const methods = { web: async () => [] };
  assert.is(await readReason(guardOf({ methods }).checkDelegation(await passOn([byWeb()]))), 'issuer-unresolved');
});

test('a service with a DID of its own may ask itself, with a key of its document', async () => {
  const capabilities = [{ can: 'oracle/talk', with: SITE }];
  const token = await textOf(await ucan({ issuer: byWeb() as never, audience: byWeb() as never, capabilities }));
  assert.is(await readReason(guardOf({ audience: SITE }).checkInvocation(token)), 'ok');
  const stranger = { web: async () => [bob.did()] };
  const guard = guardOf({ audience: SITE, methods: stranger });
  assert.is(await readReason(guard.checkInvocation(token)), 'wrong-signature');
});

test.run();
