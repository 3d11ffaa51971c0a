// Tokens that cost a careless validator seconds, gigabytes or its life.

import type * as API from '@ucanto/interface';
import { AS_DELEGATION, BY_ROOT, type Case, refused } from './hostile-case.ts';
import {
  alice,
  altered,
  bob,
  chainOf,
  everything,
  IDENTITY,
  link,
  type Part,
  pack,
  part,
  partsOf,
  talk,
  text,
  textOf,
  tokenOf,
  ucan,
} from './tokens.ts';

const honest = await text();
const { roots, blocks } = partsOf(honest);
const [top] = blocks as [Part, Part];

const abilities = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ can: `oracle/a${at}`, with: alice.did() }));

const caveats = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${10 + at}`, at]));

const junk = Array.from({ length: 800 }, (_, at) => part(Buffer.from([0x18, 24 + (at % 232), at >> 8])));

export const BOMBS: readonly Case[] = [
  ...refused(
    'too-many-proofs',
    {
      'diamond: two proofs per level, 14 levels': diamond,
      '200 proofs of one UCAN': () => altered({ prf: Array.from({ length: 200 }, () => link(top.cid)) }),
    },
    AS_DELEGATION,
  ),
  ...refused(
    'too-deep',
    {
      'chain of 9': async () => textOf(await chainOf(9)),
      'chain of 60': async () => textOf(await chainOf(60)),
    },
    { ...AS_DELEGATION, ...BY_ROOT },
  ),
  ...refused(
    'too-many-capabilities',
    { '17 capabilities': () => text({ capabilities: abilities(17) }) },
    AS_DELEGATION,
  ),
  ...refused(
    'wrong-chain',
    {
      '16 capabilities in each of 8 UCANs, each with caveats of which the last is missing': manyComparisons,
      'the longest chain with the most ways, and none that leads to a root': deadEnds,
    },
    { ...AS_DELEGATION, ...BY_ROOT },
  ),
  ...refused('too-many-blocks', { 'junk blocks': () => pack({ roots, blocks: [...junk, ...blocks] }) }, AS_DELEGATION),
  ...refused(
    'not-canonical',
    {
      '400 capabilities': () => altered({ att: Array.from({ length: 400 }, () => ({ ...IDENTITY })) }),
      'lists in lists': () => tokenOf([Buffer.alloc(40_000, 0x81)]),
    },
    AS_DELEGATION,
  ),
  ...refused('not-canonical', {
    'a list that claims to be 2^32 long': () => tokenOf([Buffer.from('9affffffff', 'hex')]),
  }),
  ...refused('too-long', { 'a header field of 1 MB': () => 'A'.repeat(1_048_576) }, AS_DELEGATION),
  ...refused('too-long', { 'one character more than an invocation may have': () => 'A'.repeat(16_385) }),
];

// At each level each of the sixteen is compared with fifteen that nearly grant it before the one that does; the last one is
// not granted by the owner.
async function manyComparisons(): Promise<string> {
  const [CLAIMED, CAVEATS] = [16, 4];
  const below = (at: number) => `oracle/${'a/'.repeat(at)}`;
  const claimed = Array.from({ length: CLAIMED }, (_, at) => ({
    can: `${below(CLAIMED)}x${at}`,
    with: alice.did(),
    nb: caveats(CAVEATS - 1),
  }));
  const nested = claimed.map((one, at) => ({ ...one, can: `${below(CLAIMED - at)}*`, nb: caveats(CAVEATS) }));
  const middle = [...nested.slice(1), everything(alice)];
  let proof = await ucan({ issuer: alice, audience: bob, capabilities: claimed.slice(0, -1) });
  for (let level = 1; level < 7; level++)
    proof = await ucan({ issuer: bob, audience: bob, capabilities: middle, proofs: [proof] });
  return text({ issuer: bob, capabilities: claimed, proofs: [proof] });
}

async function diamond(): Promise<string> {
  let level: API.Delegation[] = await Promise.all(
    ['a', 'b'].map((nonce) => ucan({ audience: alice, nonce, capabilities: [everything(alice)] })),
  );
  for (let depth = 1; depth < 14; depth++) {
    const proofs = level;
    level = await Promise.all(
      ['a', 'b'].map((nonce) => ucan({ audience: alice, nonce, capabilities: [everything(alice)], proofs })),
    );
  }
  return text({ capabilities: [everything(alice)], proofs: level });
}

// Four levels of two abilities that both match, from somebody who was never given anything.
async function deadEnds(): Promise<string> {
  const two = [everything(alice), { can: 'oracle/talk', with: alice.did() }];
  let last = await ucan({ issuer: alice, audience: bob, capabilities: [{ can: 'oracle/read', with: alice.did() }] });
  for (let level = 0; level < 4; level++)
    last = await ucan({ issuer: bob, audience: bob, capabilities: two, proofs: [last] });
  return text({ issuer: bob, capabilities: [talk(alice)], proofs: [last] });
}
