// Tokens whose issuers, keys or signatures are not what they say.

import { DID, Signature } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import { Absentee } from '@ucanto/principal';
import * as rsa from '@ucanto/principal/rsa';
import type { Case } from './hostile-case.ts';
import { alice, altered, bob, fieldsOf, oddSigner, p256, text } from './tokens.ts';

const zeros = Buffer.alloc(64);
const rsaSigner = await rsa.generate();
const secp = 'did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme';
const web = (did: string) => oddSigner(did, { code: Signature.EdDSA, sign: () => zeros });

export const KEYS: readonly Case[] = [
  { name: 'RSA issuer', token: () => text({ issuer: rsaSigner as API.Signer }), reason: 'issuer-unsupported' },
  { name: 'secp256k1 issuer', token: () => text({ issuer: web(secp) }), reason: 'issuer-unsupported' },
  {
    name: 'P-256 issuer with a foreign signature',
    token: () => text({ issuer: p256({ foreign: true }) }),
    reason: 'wrong-signature',
  },
  { name: 'did:web issuer', token: () => text({ issuer: web('did:web:example.com') }), reason: 'issuer-unsupported' },
  { name: 'did:ixo issuer', token: () => text({ issuer: web('did:ixo:entity:1') }), reason: 'issuer-unsupported' },
  {
    name: 'did:mailto issuer',
    token: () => text({ issuer: web('did:mailto:example.com:me') }),
    reason: 'issuer-unsupported',
  },
  {
    name: 'did:key as a text, a second form of the same DID',
    token: () => altered({ iss: Buffer.concat([Buffer.from([0x9d, 0x1a]), Buffer.from(alice.did().slice(4))]) }),
    reason: 'issuer-unsupported',
  },
  { name: 'issuer of one byte', token: () => altered({ iss: Buffer.from([0xed]) }), reason: 'issuer-unsupported' },
  {
    name: 'key of 33 bytes',
    token: () => altered({ iss: Buffer.concat([DID.parse(alice.did()), Buffer.from([0])]) }),
    reason: 'issuer-unsupported',
  },
  {
    name: 'signature code swapped',
    token: async () =>
      altered({ s: Signature.create(Signature.ES256, Signature.view((await fieldsOf()).s as never).raw) }),
    reason: 'wrong-signature',
  },
  {
    name: 'signature of another algorithm',
    token: () => altered({ s: Signature.create(Signature.RS256, Buffer.alloc(256)) }),
    reason: 'not-a-ucan',
  },
  {
    name: 'absentee: no signature',
    token: () => text({ issuer: Absentee.from({ id: alice.did() }) as unknown as API.Signer }),
    reason: 'not-a-ucan',
  },
  {
    name: 'zero signature',
    token: () => altered({ s: Signature.create(Signature.EdDSA, zeros) }),
    reason: 'wrong-signature',
  },
  {
    name: 'signature of another token',
    token: async () => altered({ s: (await fieldsOf({ nonce: 'x' })).s }),
    reason: 'wrong-signature',
  },
  {
    name: 'issuer whose key is no point of the curve',
    token: () =>
      altered({
        iss: Buffer.concat([Buffer.from('802402', 'hex'), Buffer.alloc(32, 0xff)]),
        s: Signature.create(Signature.ES256, zeros),
      }),
    reason: 'wrong-signature',
  },
  { name: 'issuer changed', token: () => altered({ iss: DID.parse(bob.did()) }), reason: 'wrong-signature' },
  {
    name: 'signature with the group order added, which lenient verifiers accept',
    token: async () => {
      const { s } = (await fieldsOf()) as { s: Uint8Array };
      return altered({ s: Buffer.concat([s.subarray(0, 36), plusOrder(s.subarray(36))]) });
    },
    reason: 'wrong-signature',
  },
];

// S + L: with a check of S < L left out, it is as good as S.
function plusOrder(s: Uint8Array): Buffer {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const value = BigInt(`0x${Buffer.from(s).reverse().toString('hex')}`) + order;
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}
