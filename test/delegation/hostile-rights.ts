// Tokens that are well made, and are too old, too early, for somebody else or for too much.

import { Signature } from '@ucanto/core';
import type { Case } from './hostile-case.ts';
import {
  alice,
  altered,
  bob,
  CBOR,
  everything,
  fieldsOf,
  IDENTITY,
  mallory,
  NOW,
  oracle,
  talk,
  text,
  tokenOf,
  ucan,
} from './tokens.ts';

const proof = await ucan({ audience: bob, capabilities: [everything(alice)] });
const WITH_PROOF = { issuer: bob, capabilities: [talk(bob)], proofs: [proof] };
const CHAIN = { audience: bob, capabilities: [everything(alice)] };

export const TIMES: readonly Case[] = [
  { name: 'expired a second ago', token: () => text({ expiration: NOW - 1 }), reason: 'expired' },
  { name: 'expires this very second', token: () => text({ expiration: NOW }), reason: 'expired' },
  { name: 'not valid before tomorrow', token: () => text({ notBefore: NOW + 86_400 }), reason: 'too-early' },
  { name: 'never expires', token: () => text({ expiration: Infinity }), reason: 'endless' },
  { name: 'expires in 7 days', token: () => text({ expiration: NOW + 604_800 }), reason: 'lives-too-long' },
  { name: 'expires at a fraction of a second', token: () => altered({ exp: NOW + 60.5 }), reason: 'not-a-ucan' },
  { name: 'expires at a text', token: () => altered({ exp: `${NOW + 60}` }), reason: 'not-a-ucan' },
  { name: 'expires before 1970', token: () => altered({ exp: -1 }), reason: 'not-a-ucan' },
  {
    name: 'a delegation that never expires',
    token: () => text({ expiration: Infinity, capabilities: [everything(alice)] }),
    reason: 'endless',
    kind: 'delegation',
  },
  {
    name: 'a delegation of seven days used as Bearer',
    token: () => text({ expiration: NOW + 604_800, capabilities: [everything(alice)] }),
    reason: 'lives-too-long',
  },
  {
    name: 'a delegation of five minutes used as Bearer',
    token: () => text({ capabilities: [everything(alice)] }),
    reason: 'wrong-capability',
  },
];

export const RIGHTS: readonly Case[] = [
  { name: 'wrong audience', token: () => text({ audience: bob }), reason: 'wrong-audience' },
  { name: 'resource of another user', token: () => text({ capabilities: [talk(bob)] }), reason: 'wrong-capability' },
  {
    name: 'another ability',
    token: () => text({ capabilities: [{ can: 'store/add', with: alice.did() }] }),
    reason: 'wrong-capability',
  },
  {
    name: 'an ability that only begins like ours',
    token: () => text({ capabilities: [{ can: 'oracles/talk', with: alice.did() }] }),
    reason: 'wrong-capability',
  },
  {
    name: 'every ability on the own DID',
    token: () => text({ capabilities: [{ can: '*', with: alice.did() }] }),
    reason: 'wrong-capability',
  },
  {
    name: 'every ability on ucan:*',
    token: () => text({ capabilities: [{ can: '*', with: 'ucan:*' }] }),
    reason: 'wrong-capability',
  },
  {
    name: 'every ability on ixo:*',
    token: () => text({ capabilities: [{ can: '*', with: 'ixo:*' }] }),
    reason: 'wrong-capability',
  },
  {
    name: 'an ability other than * on the identity',
    token: () => text({ capabilities: [{ can: 'oracle/talk', with: 'ixo:oracle' }] }),
    reason: 'wrong-capability',
  },
  { name: 'no capability', token: () => altered({ att: [] }), reason: 'not-a-ucan' },
  {
    name: 'two capabilities',
    token: () => text({ capabilities: [IDENTITY, talk(alice)] }),
    reason: 'wrong-capability',
  },
  {
    name: 'an attestation for others',
    token: () => text({ capabilities: [{ can: 'ucan/attest', with: oracle.did() }] }),
    reason: 'wrong-capability',
  },
  {
    name: 'stolen delegation: its audience is not the issuer of the invocation',
    token: () => text({ issuer: mallory, capabilities: [talk(alice)], proofs: [proof] }),
    reason: 'wrong-chain',
    resource: 'root',
  },
  {
    name: 'expired proof',
    token: async () => {
      const old = await ucan({ ...CHAIN, expiration: NOW - 1 });
      return text({ issuer: bob, capabilities: [talk(alice)], proofs: [old] });
    },
    reason: 'expired',
    resource: 'root',
  },
  {
    name: 'proof that is not valid yet',
    token: async () => {
      const early = await ucan({ ...CHAIN, notBefore: NOW + 3_600 });
      return text({ issuer: bob, capabilities: [talk(alice)], proofs: [early] });
    },
    reason: 'too-early',
    resource: 'root',
  },
  {
    name: 'proof that never expires',
    token: async () => {
      const endless = await ucan({ ...CHAIN, expiration: Infinity });
      return text({ issuer: bob, capabilities: [talk(alice)], proofs: [endless] });
    },
    reason: 'endless',
    resource: 'root',
  },
  {
    name: 'proof that is about the resource of somebody else',
    token: async () => {
      const given = await ucan(CHAIN);
      const other = await ucan({ issuer: bob, audience: mallory, capabilities: [everything(bob)], proofs: [given] });
      return text({ issuer: mallory, capabilities: [talk(alice)], proofs: [other] });
    },
    reason: 'wrong-chain',
    resource: 'root',
  },
  {
    name: 'a good capability beside one of another service',
    token: () => text({ capabilities: [IDENTITY, { can: 'store/add', with: alice.did() }] }),
    reason: 'wrong-capability',
    kind: 'delegation',
  },
  {
    name: 'missing proof',
    token: () => text({ issuer: bob, capabilities: [talk(alice)], proofs: [proof.cid] }),
    reason: 'missing-proof',
    resource: 'root',
  },
  {
    name: 'more than the proof grants',
    token: async () => {
      const less = await ucan({ ...CHAIN, capabilities: [{ can: 'oracle/read', with: alice.did() }] });
      return text({ issuer: bob, capabilities: [talk(alice)], proofs: [less] });
    },
    reason: 'wrong-chain',
    resource: 'root',
  },
  {
    name: 'caveat escalation',
    token: () => withCaveats({ session: 's2' }),
    reason: 'wrong-chain',
    resource: 'root',
  },
  { name: 'caveat omission', token: () => withCaveats(undefined), reason: 'wrong-chain', resource: 'root' },
  {
    name: 'a proof of everything (ucan:*)',
    token: async () => {
      const all = await ucan({ audience: bob, capabilities: [{ can: '*', with: 'ucan:*' }] });
      return text({ issuer: bob, capabilities: [talk(alice)], proofs: [all] });
    },
    reason: 'wrong-capability',
    resource: 'root',
  },
  {
    name: 'a proof that nothing needs',
    token: () => text({ issuer: bob, proofs: [proof] }),
    reason: 'unneeded-proof',
  },
  {
    name: 'a proof where only the own resource counts, with a signature that is not looked at any more',
    token: async () => {
      const s = Signature.create(Signature.EdDSA, Buffer.alloc(64));
      return tokenOf([CBOR.encode({ ...(await fieldsOf(WITH_PROOF)), s }), proof.root.bytes]);
    },
    reason: 'unneeded-proof',
  },
  {
    name: 'a proof where only the own resource counts, by an issuer whose keys cannot be found',
    token: async () => {
      const far = await ucan({ ...CHAIN, issuer: alice.withDID('did:web:example.com') });
      return text({ issuer: bob, capabilities: [talk(bob)], proofs: [far] });
    },
    reason: 'unneeded-proof',
  },
  {
    name: 'a proof for the resource of another, where only the own one counts',
    token: () => text({ issuer: bob, capabilities: [talk(alice)], proofs: [proof] }),
    reason: 'wrong-capability',
  },
  {
    name: 'a proof that nothing needs, where the roots of chains count',
    token: () => text({ issuer: bob, proofs: [proof] }),
    reason: 'unneeded-proof',
    resource: 'root',
  },
  {
    name: 'one capability under two caveats, only one of them granted',
    token: async () => {
      const some = await ucan({ ...CHAIN, capabilities: [talk(alice, { session: 's1' })] });
      return text({ issuer: bob, capabilities: [talk(alice, { session: 's1' }), talk(alice)], proofs: [some] });
    },
    reason: 'wrong-capability',
    kind: 'delegation',
    resource: 'root',
  },
];

async function withCaveats(nb: Record<string, unknown> | undefined): Promise<string> {
  const some = await ucan({ ...CHAIN, capabilities: [talk(alice, { session: 's1' })] });
  return text({ issuer: bob, capabilities: [talk(alice, nb)], proofs: [some] });
}
