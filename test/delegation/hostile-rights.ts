// Tokens that are well made, and are too old, too early, for somebody else or for too much.

import { Signature } from '@ucanto/core';
import { AS_DELEGATION, BY_ROOT, type Case, refused } from './hostile-case.ts';
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
  type Wish,
} from './tokens.ts';

const proof = await ucan({ audience: bob, capabilities: [everything(alice)] });
const WITH_PROOF = { issuer: bob, capabilities: [talk(bob)], proofs: [proof] };
const CHAIN = { audience: bob, capabilities: [everything(alice)] };
const claiming = (can: string, resource: string = alice.did()) => text({ capabilities: [{ can, with: resource }] });
/** What Bob says under a proof that Alice gave him. */
const under = async (wish: Wish, capabilities: readonly object[] = [talk(alice)]) =>
  text({ issuer: bob, capabilities, proofs: [await ucan({ ...CHAIN, ...wish })] });
const IN_S1 = talk(alice, { session: 's1' });

export const TIMES: readonly Case[] = [
  ...refused('expired', {
    'expired a second ago': () => text({ expiration: NOW - 1 }),
    'expires this very second': () => text({ expiration: NOW }),
  }),
  ...refused('too-early', { 'not valid before tomorrow': () => text({ notBefore: NOW + 86_400 }) }),
  ...refused('endless', { 'never expires': () => text({ expiration: Infinity }) }),
  ...refused('lives-too-long', {
    'expires in 7 days': () => text({ expiration: NOW + 604_800 }),
    'a delegation of seven days used as Bearer': () =>
      text({ expiration: NOW + 604_800, capabilities: [everything(alice)] }),
  }),
  ...refused('not-a-ucan', {
    'expires at a fraction of a second': () => altered({ exp: NOW + 60.5 }),
    'expires at a text': () => altered({ exp: `${NOW + 60}` }),
    'expires before 1970': () => altered({ exp: -1 }),
  }),
  ...refused(
    'endless',
    { 'a delegation that never expires': () => text({ expiration: Infinity, capabilities: [everything(alice)] }) },
    AS_DELEGATION,
  ),
  ...refused('wrong-capability', {
    'a delegation of five minutes used as Bearer': () => text({ capabilities: [everything(alice)] }),
  }),
];

export const RIGHTS: readonly Case[] = [
  ...refused('wrong-audience', { 'wrong audience': () => text({ audience: bob }) }),
  ...refused('wrong-capability', {
    'resource of another user': () => text({ capabilities: [talk(bob)] }),
    'another ability': () => claiming('store/add'),
    'an ability that only begins like ours': () => claiming('oracles/talk'),
    'every ability on the own DID': () => claiming('*'),
    'every ability on ucan:*': () => claiming('*', 'ucan:*'),
    'every ability on ixo:*': () => claiming('*', 'ixo:*'),
    'an ability other than * on the identity': () => claiming('oracle/talk', 'ixo:oracle'),
    'two capabilities': () => text({ capabilities: [IDENTITY, talk(alice)] }),
    'an attestation for others': () => claiming('ucan/attest', oracle.did()),
    'a proof for the resource of another, where only the own one counts': () =>
      text({ issuer: bob, capabilities: [talk(alice)], proofs: [proof] }),
  }),
  ...refused(
    'wrong-capability',
    {
      'a good capability beside one of another service': () =>
        text({ capabilities: [IDENTITY, { can: 'store/add', with: alice.did() }] }),
    },
    AS_DELEGATION,
  ),
  ...refused(
    'wrong-capability',
    { 'a proof of everything (ucan:*)': () => under({ capabilities: [{ can: '*', with: 'ucan:*' }] }) },
    BY_ROOT,
  ),
  ...refused(
    'wrong-capability',
    {
      'one capability under two caveats, only one of them granted': () =>
        under({ capabilities: [IN_S1] }, [IN_S1, talk(alice)]),
    },
    { ...AS_DELEGATION, ...BY_ROOT },
  ),
  ...refused('not-a-ucan', { 'no capability': () => altered({ att: [] }) }),
  ...refused(
    'wrong-chain',
    {
      'stolen delegation: its audience is not the issuer of the invocation': () =>
        text({ issuer: mallory, capabilities: [talk(alice)], proofs: [proof] }),
      'proof that is about the resource of somebody else': async () => {
        const given = await ucan(CHAIN);
        const other = await ucan({ issuer: bob, audience: mallory, capabilities: [everything(bob)], proofs: [given] });
        return text({ issuer: mallory, capabilities: [talk(alice)], proofs: [other] });
      },
      'more than the proof grants': () => under({ capabilities: [{ can: 'oracle/read', with: alice.did() }] }),
      'caveat escalation': () => under({ capabilities: [IN_S1] }, [talk(alice, { session: 's2' })]),
      'caveat omission': () => under({ capabilities: [IN_S1] }),
    },
    BY_ROOT,
  ),
  ...refused('expired', { 'expired proof': () => under({ expiration: NOW - 1 }) }, BY_ROOT),
  ...refused('too-early', { 'proof that is not valid yet': () => under({ notBefore: NOW + 3_600 }) }, BY_ROOT),
  ...refused('endless', { 'proof that never expires': () => under({ expiration: Infinity }) }, BY_ROOT),
  ...refused(
    'missing-proof',
    { 'missing proof': () => text({ issuer: bob, capabilities: [talk(alice)], proofs: [proof.cid] }) },
    BY_ROOT,
  ),
  ...refused('unneeded-proof', {
    'a proof that nothing needs': () => text({ issuer: bob, proofs: [proof] }),
    'a proof where only the own resource counts, with a signature that is not looked at any more': async () => {
      const s = Signature.create(Signature.EdDSA, Buffer.alloc(64));
      return tokenOf([CBOR.encode({ ...(await fieldsOf(WITH_PROOF)), s }), proof.root.bytes]);
    },
    'a proof where only the own resource counts, by an issuer whose keys cannot be found': () =>
      under({ issuer: alice.withDID('did:web:example.com') }, [talk(bob)]),
  }),
  ...refused(
    'unneeded-proof',
    { 'a proof that nothing needs, where the roots of chains count': () => text({ issuer: bob, proofs: [proof] }) },
    BY_ROOT,
  ),
];
