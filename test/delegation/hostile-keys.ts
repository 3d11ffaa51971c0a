// Tokens whose issuers, keys or signatures are not what they say.

import { DID, Signature } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import { Absentee } from '@ucanto/principal';
import * as rsa from '@ucanto/principal/rsa';
import { type Case, refused } from './hostile-case.ts';
import { alice, altered, bob, fieldsOf, oddSigner, p256, text } from './tokens.ts';

const zeros = Buffer.alloc(64);
const rsaSigner = await rsa.generate();
const secp = 'did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme';
const by = (did: string) => text({ issuer: oddSigner(did, { code: Signature.EdDSA, sign: () => zeros }) });

export const KEYS: readonly Case[] = [
  ...refused('issuer-unsupported', {
    'RSA issuer': () => text({ issuer: rsaSigner as API.Signer }),
    'secp256k1 issuer': () => by(secp),
    'did:web issuer': () => by('did:web:example.com'),
    'did:ixo issuer': () => by('did:ixo:entity:1'),
    'did:mailto issuer': () => by('did:mailto:example.com:me'),
    'did:key as a text, a second form of the same DID': () =>
      altered({ iss: Buffer.concat([Buffer.from([0x9d, 0x1a]), Buffer.from(alice.did().slice(4))]) }),
    'issuer of one byte': () => altered({ iss: Buffer.from([0xed]) }),
    'key of 33 bytes': () => altered({ iss: Buffer.concat([DID.parse(alice.did()), Buffer.from([0])]) }),
  }),
  ...refused('not-a-ucan', {
    'signature of another algorithm': () => altered({ s: Signature.create(Signature.RS256, Buffer.alloc(256)) }),
    'absentee: no signature': () => text({ issuer: Absentee.from({ id: alice.did() }) as unknown as API.Signer }),
  }),
  ...refused('wrong-signature', {
    'P-256 issuer with a foreign signature': () => text({ issuer: p256({ foreign: true }) }),
    'signature code swapped': async () =>
      altered({ s: Signature.create(Signature.ES256, Signature.view((await fieldsOf()).s as never).raw) }),
    'zero signature': () => altered({ s: Signature.create(Signature.EdDSA, zeros) }),
    'signature of another token': async () => altered({ s: (await fieldsOf({ nonce: 'x' })).s }),
    'issuer whose key is no point of the curve': () =>
      altered({
        iss: Buffer.concat([Buffer.from('802402', 'hex'), Buffer.alloc(32, 0xff)]),
        s: Signature.create(Signature.ES256, zeros),
      }),
    'issuer changed': () => altered({ iss: DID.parse(bob.did()) }),
    'signature with the group order added, which lenient verifiers accept': async () => {
      const { s } = (await fieldsOf()) as { s: Uint8Array };
      return altered({ s: Buffer.concat([s.subarray(0, 36), plusOrder(s.subarray(36))]) });
    },
  }),
];

// S + L: with a check of S < L left out, it is as good as S.
function plusOrder(s: Uint8Array): Buffer {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const value = BigInt(`0x${Buffer.from(s).reverse().toString('hex')}`) + order;
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}
