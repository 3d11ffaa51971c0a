// Tokens in any form but the one: other names, other encodings, other alphabets, with the signature still good.

import { UCAN } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import * as assert from 'uvu/assert';
import type { Case } from './hostile-case.ts';
import {
  alice,
  altered,
  bob,
  CBOR,
  cidOf,
  everything,
  fieldsOf,
  IDENTITY,
  link,
  type Part,
  pack,
  part,
  partsOf,
  talk,
  text,
  tokenOf,
  ucan,
} from './tokens.ts';

const honest = await text();
const { roots, blocks } = partsOf(honest);
const proof = await ucan({ audience: bob, capabilities: [everything(alice)] });
const [top, variant] = blocks as [Part, Part];

export const FORMS: readonly Case[] = [
  {
    name: 'cycle: a UCAN that is its own proof',
    token: async () => {
      const cid = cidOf(Buffer.from('a false name'));
      const bytes = CBOR.encode({ ...(await fieldsOf()), prf: [link(cid)] });
      const named = part(CBOR.encode({ 'ucan@0.9.1': link(cid) }));
      return pack({ roots: [named.cid], blocks: [{ cid, bytes }, named] });
    },
    reason: 'cid-mismatch',
  },
  {
    name: 'proof under a random CID',
    token: async () => {
      const cid = cidOf(Buffer.from('random'));
      const lie = CBOR.encode({ ...(await fieldsOf({ issuer: bob, capabilities: [talk(alice)] })), prf: [link(cid)] });
      const named = part(CBOR.encode({ 'ucan@0.9.1': link(cidOf(lie)) }));
      return pack({ roots: [named.cid], blocks: [{ cid, bytes: proof.root.bytes }, part(lie), named] });
    },
    reason: 'cid-mismatch',
  },
  {
    name: 'duplicate CID',
    token: () => pack({ roots, blocks: [top, top, variant] }),
    reason: 'duplicate-block',
  },
  {
    name: 'root under another CID',
    token: () => {
      const cid = cidOf(Buffer.from('another'));
      return pack({ roots: [cid], blocks: [top, { cid, bytes: variant.bytes }] });
    },
    reason: 'cid-mismatch',
  },
  { name: 'a second root', token: () => pack({ roots: [...roots, top.cid], blocks }), reason: 'not-a-car' },
  { name: 'no root', token: () => pack({ roots: [], blocks }), reason: 'not-a-car' },
  { name: 'root without its block', token: () => pack({ roots, blocks: [top] }), reason: 'missing-block' },
  { name: 'UCAN without its block', token: () => pack({ roots, blocks: [variant] }), reason: 'missing-block' },
  {
    name: 'no variant: the UCAN is the root',
    token: () => pack({ roots: [top.cid], blocks: [top] }),
    reason: 'not-a-ucan',
  },
  { name: 'another version', token: () => tokenOf([top.bytes], 'ucan@0.10.0'), reason: 'not-a-ucan' },
  {
    name: 'unreferenced block',
    token: () => pack({ roots, blocks: [part(Buffer.from([0])), ...blocks] }),
    reason: 'unreferenced-block',
  },
  {
    name: 'identity-hash CID',
    token: () => {
      const cid = Buffer.concat([Buffer.from([1, 0x71, 0, 32]), top.bytes.subarray(0, 32)]);
      return pack({ roots, blocks: [{ cid, bytes: top.bytes }, variant] });
    },
    reason: 'wrong-cid',
  },
  {
    name: 'raw codec',
    token: () => pack({ roots, blocks: [{ cid: cidOf(top.bytes, [1, 0x55, 0x12, 0x20]), bytes: top.bytes }, variant] }),
    reason: 'wrong-cid',
  },
  { name: 'JWT-form block', token: async () => jwtToken(await ucan()), reason: 'wrong-cid' },
  {
    name: 'JWT-form block under the name of DAG-CBOR',
    token: async () => tokenOf([Buffer.from(UCAN.format((await ucan()).data))]),
    reason: 'not-canonical',
  },
  { name: 'unknown key', token: () => altered({ x: 1 }), reason: 'not-a-ucan' },
  { name: 'empty fct', token: () => altered({ fct: [] }), reason: 'not-a-ucan' },
  { name: 'empty nnc', token: () => altered({ nnc: '' }), reason: 'not-a-ucan' },
  { name: 'nbf 0', token: () => altered({ nbf: 0 }), reason: 'not-a-ucan' },
  {
    name: 'no prf',
    token: async () => {
      const { prf: _, ...fields } = await fieldsOf();
      return tokenOf([CBOR.encode(fields)]);
    },
    reason: 'not-a-ucan',
  },
  {
    name: 'a key of an empty optional field, flipped by a bit',
    token: () => altered({ gct: [] }),
    reason: 'not-a-ucan',
  },
  {
    name: 'ability in capitals, which decoders make small',
    token: async () => {
      const fields = await fieldsOf({ capabilities: [talk(alice)] });
      return tokenOf([CBOR.encode({ ...fields, att: [{ can: 'oracle/TALK', with: alice.did() }] })]);
    },
    reason: 'wrong-capability',
  },
  {
    name: 'caveat written as DAG-JSON, which signs the same',
    token: async () => {
      const fields = await fieldsOf({ capabilities: [talk(alice, { key: new Uint8Array([1, 2, 3]) })] });
      return tokenOf([CBOR.encode({ ...fields, att: [talk(alice, { key: { '/': { bytes: 'AQID' } } })] })]);
    },
    reason: 'not-canonical',
  },
  {
    name: 'caveat __proto__, which is lost when it is signed',
    token: async () => {
      const fields = await fieldsOf({ capabilities: [talk(alice, {})] });
      const bytes = CBOR.encode({ ...fields, att: [talk(alice, { x: 1 })] });
      // No object has this as a key of its own that CBOR would encode.
      return tokenOf([replaced(bytes, 'a16178', `a169${Buffer.from('__proto__').toString('hex')}`)]);
    },
    reason: 'not-canonical',
  },
  {
    name: 'extra key in a capability',
    token: () => altered({ att: [{ ...IDENTITY, x: 1 }] }),
    reason: 'wrong-capability',
  },
  { name: 're-ordered keys', token: () => tokenOf([swapped(top.bytes)]), reason: 'not-canonical' },
  {
    name: 'number longer than needed',
    token: () => tokenOf([replaced(top.bytes, '636578701a', '636578701b00000000')]),
    reason: 'not-canonical',
  },
  {
    name: 'bytes behind the UCAN',
    token: () => tokenOf([Buffer.concat([top.bytes, Buffer.from([0])])]),
    reason: 'not-canonical',
  },
  { name: 'broken CBOR', token: () => tokenOf([top.bytes.subarray(0, -1)]), reason: 'not-canonical' },
  {
    name: 'bytes behind the CAR',
    token: () => Buffer.concat([raw(honest), Buffer.from([0])]).toString('base64'),
    reason: 'wrong-cid',
  },
  {
    name: 'length of a block longer than needed',
    token: () => {
      const car = raw(honest);
      const header = 1 + car[0]!;
      const padded = Buffer.from([car[header]! | 0x80, car[header + 1]! | 0x80, 0]);
      return Buffer.concat([car.subarray(0, header), padded, car.subarray(header + 2)]).toString('base64');
    },
    reason: 'not-a-car',
  },
  { name: 'half a CAR', token: () => raw(honest).subarray(0, 200).toString('base64'), reason: 'not-a-car' },
];

export const TEXTS: readonly Case[] = [
  { name: 'whitespace', token: () => `${honest.slice(0, 76)}\n${honest.slice(76)}`, reason: 'not-base64' },
  { name: 'a space at the end', token: () => `${honest} `, reason: 'not-base64' },
  { name: 'mixed alphabets', token: () => mixed(), reason: 'not-base64' },
  {
    name: 'characters that base64 does not have',
    token: () => `${honest.slice(0, 100)}!${honest.slice(100)}`,
    reason: 'not-base64',
  },
  { name: 'a character too many', token: () => `${honest}A`, reason: 'not-base64' },
  { name: 'bits behind the end', token: trailingBits, reason: 'not-base64' },
  { name: 'an empty text', token: () => '', reason: 'not-base64' },
  { name: 'random bytes', token: () => Buffer.from('3f'.repeat(300), 'hex').toString('base64'), reason: 'not-a-car' },
];

function raw(token: string): Buffer {
  return Buffer.from(token, 'base64');
}

function replaced(bytes: Uint8Array, from: string, to: string): Buffer {
  const before = Buffer.from(bytes).toString('hex');
  assert.ok(before.includes(from));
  return Buffer.from(before.replace(from, to), 'hex');
}

// `v` behind `s`: the same fields, sorted otherwise.
function swapped(bytes: Uint8Array): Buffer {
  const version = `617665${Buffer.from('0.9.1').toString('hex')}`;
  const rest = Buffer.from(bytes).toString('hex').slice(2).replace(version, '');
  return Buffer.from(`a7${version}${rest}`, 'hex');
}

function jwtToken(delegation: API.Delegation): string {
  const bytes = Buffer.from(UCAN.format(delegation.data));
  const cid = cidOf(bytes, [1, 0x55, 0x12, 0x20]);
  const named = part(CBOR.encode({ 'ucan@0.9.1': link(cid) }));
  return pack({ roots: [named.cid], blocks: [{ cid, bytes }, named] });
}

function mixed(): string {
  const url = honest.replace('+', '-').replace('/', '_');
  assert.ok(url !== honest && /[-_]/.test(url) && /[+/]/.test(url));
  return url;
}

async function trailingBits(): Promise<string> {
  for (let length = 0; length < 6; length++) {
    const token = await text({ nonce: 'n'.repeat(length + 1) });
    if (token.endsWith('=='))
      return `${token.slice(0, -3)}${String.fromCharCode(token.charCodeAt(token.length - 3) + 1)}==`;
  }
  throw new Error('no token ends with two signs');
}
