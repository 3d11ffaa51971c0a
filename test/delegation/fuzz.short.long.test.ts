// Broken tokens: none passes but as the token it was made from, none throws, none takes long.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TOKEN_REASONS, tokenGuard } from '../../lib/delegation/index.ts';
import { chooseSize } from '../support/size.ts';
import { assertCheap } from './cost.ts';
import { diceOf, isSame, MUTATIONS } from './mutate.ts';
import { alice, bob, chainOf, clockAt, everything, IDENTITY, NOW, oracle, talk, text, textOf, ucan } from './tokens.ts';

/** The seed of a failure is in its message. */
const CASES = chooseSize({ short: 2_000, day: 8_000, whole: 25_000 });
const SEED = 20_260_501;

const proof = await ucan({ audience: bob, capabilities: [everything(alice), IDENTITY] });
const SOURCES = await Promise.all([
  text(),
  text({
    capabilities: [talk(alice, { session: 's1', list: [1, 2.5, 'x', null], bytes: new Uint8Array([1, 2]) })],
    nonce: 'n',
    notBefore: NOW - 9,
  }),
  text({ capabilities: [everything(alice), IDENTITY, talk(alice)], facts: [{ why: 'test' }] }),
  text({ issuer: bob, capabilities: [talk(alice)], proofs: [proof] }),
  textOf(await chainOf(4)),
]);

// Found by other tests, or by more cases.
const RARE = [
  ...[
    'jwt',
    'ucan-1',
    'car-in-cid',
    'line-breaks',
    'busy',
    'unavailable',
    'revoked',
    'too-long',
    'too-many-blocks',
    'too-deep',
    'lives-too-long',
  ],
  ...['issuer-unresolved', 'unneeded-proof', 'too-many-capabilities', 'wrong-chain', 'wrong-audience', 'too-early'],
  'issuer-unsupported',
];

const test = suite('fuzzed tokens');

test(`of ${CASES} broken tokens none passes, none throws, none takes long`, async () => {
  const guard = tokenGuard({ audience: oracle.did(), clock: clockAt(), accepted: { resource: 'root' } });
  for (const source of SOURCES) assert.ok((await guard.checkDelegation(source)).ok, 'the sources are good');
  const names = Object.keys(MUTATIONS);
  const seen = new Set<string>();
  for (let at = 0; at < CASES; at++) {
    // Lets timers run, such as those that watch over tests.
    if (at % 1_000 === 0) await new Promise(setImmediate);
    const dice = diceOf(SEED + at);
    const name = names[at % names.length]!;
    const source = SOURCES[dice(SOURCES.length)]!;
    const token = MUTATIONS[name]!(source, dice);
    const about = `case ${at} (seed ${SEED + at}), ${name}`;
    await assertCheap(about, async () => {
      const result = await guard.checkDelegation(token);
      assert.ok(!result.ok || isSame(token, source), `${about}: passed`);
      seen.add(result.ok ? 'passed' : result.reason);
    });
  }
  // A mutator that has gone blind would find nothing wrong for ever.
  const missing = Object.keys(TOKEN_REASONS).filter((reason) => !seen.has(reason) && !RARE.includes(reason));
  assert.equal(missing, [], [...seen].join());
});

test('of all single bits of a token, none can be flipped', async () => {
  const guard = tokenGuard({ audience: oracle.did(), clock: clockAt() });
  const car = Buffer.from(SOURCES[0]!, 'base64');
  for (let bit = 0; bit < car.length * 8; bit++) {
    car[bit >> 3]! ^= 1 << (bit & 7);
    assert.not.ok((await guard.checkInvocation(car.toString('base64'))).ok, `bit ${bit}`);
    car[bit >> 3]! ^= 1 << (bit & 7);
  }
});

test.run();
