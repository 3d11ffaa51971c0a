// Tokens of other versions of UCAN, written after their specifications: JWTs of 0.8.1 and 0.10.0, envelopes of 1.0.

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { CBOR } from '@ucanto/core';
import { newKey } from './keys.ts';

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const { privateKey } = generateKeyPairSync('ed25519');
const issuer = newKey();

export function jwtToken(ucv: string): string {
  const head = part({ alg: 'EdDSA', typ: 'JWT', ucv });
  const body = part({ iss: issuer.did, aud: 'did:web:example.com', exp: 4_102_444_800, att: [], prf: [] });
  return `${head}.${body}.${sign(null, Buffer.from(`${head}.${body}`), privateKey).toString('base64url')}`;
}

const payload = {
  iss: issuer.did,
  aud: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  sub: issuer.did,
  cmd: '/crud/create',
  pol: [],
  nonce: new Uint8Array(randomBytes(12)),
  exp: 4_102_444_800,
};
// Varsig: Ed25519, SHA-512, DAG-CBOR.
const h = new Uint8Array([0x34, 0xed, 0x01, 0x13, 0x71]);

/** An envelope of a delegation or an invocation, as DAG-CBOR. */
export function envelope(tag: 'ucan/dlg@1.0.0-rc.1' | 'ucan/inv@1.0.0', signatureBytes = 64): Buffer {
  return Buffer.from(CBOR.encode([new Uint8Array(signatureBytes), { h, [tag]: payload }]));
}

/** The same as DAG-JSON. */
export function envelopeJson(): string {
  const bytes = (value: Uint8Array) => ({ '/': { bytes: Buffer.from(value).toString('base64').replace(/=+$/, '') } });
  const body = { ...payload, nonce: bytes(payload.nonce) };
  return JSON.stringify([bytes(new Uint8Array(64)), { h: bytes(h), 'ucan/dlg@1.0.0-rc.1': body }]);
}
