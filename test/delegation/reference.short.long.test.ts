// The proofs of chains against @ucanto/validator, which is slower and reads the same rules: on random chains both say the
// same, and the bytes that are checked against a signature are those that ucanto writes.

import { isDeepStrictEqual } from 'node:util';
import { Delegation, UCAN } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import { Verifier } from '@ucanto/principal/ed25519';
import { Authorization, capability, claim, Failure, Schema } from '@ucanto/validator';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { prove } from '../../lib/delegation/claim.ts';
import { writeSignedPayload } from '../../lib/delegation/signed-payload.ts';
import { readChain } from '../../lib/delegation/ucan.ts';
import { chooseSize } from '../support/size.ts';
import { alice, bob, CBOR, cidOf, IDENTITY, link, mallory, oracle, p256, text, tokenOf, ucan } from './tokens.ts';

const test = suite('proofs of chains against @ucanto/validator');

const PEOPLE = [alice, bob, mallory];
const CASES = chooseSize({ short: 50, day: 200, whole: 4_000 });

const value = fc.letrec<{ leaf: unknown; any: unknown }>((tie) => ({
  leaf: fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number)),
    fc.string({ unit: 'grapheme' }).filter((text) => !text.startsWith('\ufeff')),
    fc.uint8Array({ maxLength: 9 }),
    fc.uint8Array({ maxLength: 9 }).map((bytes) => link(cidOf(bytes))),
  ),
  any: fc.oneof({ depthSize: 'small' }, tie('leaf'), fc.array(tie('any'), { maxLength: 3 }), map(tie('any'))),
})).any;

function map(values: fc.Arbitrary<unknown>): fc.Arbitrary<{ [name: string]: unknown }> {
  const name = fc
    .string({ unit: 'grapheme' })
    .filter((key) => !['/', '__proto__'].includes(key) && !key.startsWith('\ufeff'));
  return fc.dictionary(name, values, { maxKeys: 4, noNullPrototype: true });
}

const ability = fc.constantFrom('oracle/*', 'oracle/talk', 'oracle/talk/*', 'oracle/talk/loud', 'oracle/read', '*');
// Few values, so that caveats are often the same.
const caveats = fc.option(
  fc.record({ a: fc.constantFrom(1, 2), b: fc.constantFrom<unknown>('x', [1, { c: null }]) }, { requiredKeys: [] }),
  { nil: undefined },
);
const granted = fc.oneof(
  { weight: 8, arbitrary: fc.record({ can: ability, owner: fc.constantFrom(0, 0, 0, 1), nb: caveats }) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);
const step = fc.record({
  // Mostly from the one to whom the step before gave, and so on: at random nearly no chain would hold.
  strays: fc.integer({ min: 0, max: 9 }),
  to: fc.integer({ min: 0, max: 2 }),
  capabilities: fc.array(granted, { minLength: 1, maxLength: 4 }),
  forged: fc.integer({ min: 0, max: 19 }).map((dice) => dice === 0),
});
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;

test(`of ${CASES} random chains each is good or bad to both`, async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
      const token = await chain(steps);
      const read = readChain(Buffer.from(token, 'base64'));
      fc.pre(read.ok);
      const ours = await prove(read, { identity: IDENTITY.with, keys: async () => undefined });
      const outcome = ours.ok ? 'ok' : ours.reason;
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      assert.is(outcome, await judgeByUcanto(token, read.ucans.length));
    }),
    { numRuns: CASES, seed: 20_261_126 },
  );
  // A generator that makes one kind of chain only would find nothing wrong for ever.
  assert.equal(
    [...seen.keys()].sort(),
    ['ok', 'unneeded-proof', 'wrong-chain', 'wrong-signature'],
    JSON.stringify([...seen]),
  );
});

test('what an issuer signed is written as ucanto writes it: caveats, facts, nonce, times, proofs, both algorithms', async () => {
  const wish = fc.record(
    {
      nb: map(value),
      facts: fc.array(map(value), { minLength: 1, maxLength: 2 }),
      nonce: fc.string({ unit: 'grapheme', minLength: 1 }).filter((nonce) => !nonce.startsWith('\ufeff')),
      notBefore: fc.integer({ min: 1, max: 2_000_000_000 }),
      proven: fc.boolean(),
      byP256: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const proof = await ucan({ audience: bob });
  const other = p256();
  await fc.assert(
    fc.asyncProperty(wish, async ({ nb, proven = false, byP256 = false, ...rest }) => {
      const issuer = byP256 ? other : bob;
      const capabilities = [{ can: 'oracle/talk', with: bob.did(), ...(nb && { nb }) }];
      const token = await text({ issuer, capabilities, ...(proven && { proofs: [proof] }), ...rest });
      const read = readChain(Buffer.from(token, 'base64'));
      assert.ok(read.ok, JSON.stringify(read));
      assert.equal(read.ucans[0].capabilities, (await extract(token)).capabilities);
      for (const [at, payload] of (await listSignedPayloads(token)).entries())
        assert.is(writeSignedPayload(read.ucans[at]!.fields, read.ucans[at]!).toString(), payload);
    }),
    { numRuns: CASES, seed: 20_261_127 },
  );
});

test.run();

/** A token of these steps; all but the odd one are about what Alice owns. */
async function chain(steps: readonly Step[]): Promise<string> {
  let issuer = alice;
  let last: API.Delegation | undefined;
  const blocks: Uint8Array[] = [];
  for (const [at, { strays, to, capabilities, forged }] of steps.entries()) {
    const audience = at === steps.length - 1 ? oracle : PEOPLE[to]!;
    const made = await ucan({
      issuer: strays === 0 ? mallory : issuer,
      audience,
      capabilities: without(capabilities.map(writeCapability)),
      ...(last && { proofs: [last] }),
    });
    last = forged ? await forge(made) : made;
    blocks.unshift(last.root.bytes);
    issuer = PEOPLE[to]!;
  }
  return tokenOf(blocks);
}

type Granted = Step['capabilities'][number];

function writeCapability(granted: Granted) {
  if (granted === undefined) return IDENTITY;
  const { can, owner, nb } = granted;
  return { can, with: PEOPLE[owner]!.did(), ...(nb && { nb }) };
}

// Two of one name are refused before anything is proved.
function without(capabilities: readonly { can: string; with: string }[]) {
  return [...new Map(capabilities.map((one) => [`${one.can} ${one.with}`, one])).values()];
}

/** The same, signed by nobody: its proofs stay in it. */
async function forge(made: API.Delegation): Promise<API.Delegation> {
  const fields = CBOR.decode(made.root.bytes) as { s: Uint8Array };
  const signature = Uint8Array.from(fields.s);
  signature[signature.length - 1]! ^= 1;
  const bytes = CBOR.encode({ ...fields, s: signature });
  return Delegation.create({ root: { cid: link(cidOf(bytes)), bytes } as never, blocks: new Map() }) as API.Delegation;
}

/** `ok`, or the word of ours for what ucanto says about a token. */
async function judgeByUcanto(token: string, ucans: number): Promise<string> {
  const first = await extract(token);
  let isForged = false;
  const parse = (did: API.DID) => {
    const verifier = Verifier.parse(did);
    const verify = async (payload: Uint8Array, signature: API.Signature) => {
      const good = await verifier.verify(payload as never, signature as never);
      isForged ||= !good;
      return good;
    };
    return { did: () => did, verify };
  };
  const used = new Set<string>();
  for (const one of first.capabilities) {
    const result = await claim(parserOf(one), [first], {
      principal: { parse } as never,
      authority: oracle.verifier as never,
      canIssue: ({ with: resource }, issuer) => resource === issuer || resource === IDENTITY.with,
      validateAuthorization: () => ({ ok: {} }),
    });
    if (result.error) return isForged ? 'wrong-signature' : 'wrong-chain';
    for (const cid of Authorization.iterate(result.ok)) used.add(`${cid}`);
  }
  return used.size < ucans ? 'unneeded-proof' : 'ok';
}

function parserOf({ can, with: resource }: API.Capability) {
  return capability({
    can,
    with: Schema.literal(resource),
    nb: Schema.dictionary({ value: Schema.unknown() }),
    derives: (claimed, given) => {
      const own = claimed.nb as { [name: string]: unknown };
      const kept = Object.entries(given.nb).every(([name, want]) => isDeepStrictEqual(own[name], want));
      return kept ? { ok: {} } : { error: new Failure('not granted') };
    },
  });
}

/** What ucanto gives a verifier for each UCAN of a token. */
async function listSignedPayloads(token: string): Promise<string[]> {
  const texts: string[] = [];
  for (let at: API.Delegation | undefined = await extract(token); at; at = at.proofs[0] as API.Delegation | undefined) {
    const verify = (payload: Uint8Array) => texts.push(Buffer.from(payload).toString()) > 0;
    void UCAN.verifySignature(at.data, { did: () => at!.issuer.did(), verify } as never);
  }
  return texts;
}

async function extract(token: string): Promise<API.Delegation> {
  const { ok, error } = await Delegation.extract(Buffer.from(token, 'base64'));
  if (error) throw error;
  return ok;
}
