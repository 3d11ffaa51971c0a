// Tokens in any form but the one: other names, other encodings, other alphabets, with the signature still good.

import { UCAN } from '@ucanto/core';
import * as assert from 'uvu/assert';
import { type Case, refused } from './hostile-case.ts';
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
const RAW = [1, 0x55, 0x12, 0x20];

const named = (bytes: Uint8Array) => part(CBOR.encode({ 'ucan@0.9.1': link(cidOf(bytes)) }));
const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

export const FORMS: readonly Case[] = [
  ...refused('cid-mismatch', {
    'cycle: a UCAN that is its own proof': async () => {
      const cid = cidOf(Buffer.from('a false name'));
      const bytes = CBOR.encode({ ...(await fieldsOf()), prf: [link(cid)] });
      const root = named(Buffer.from('a false name'));
      return pack({ roots: [root.cid], blocks: [{ cid, bytes }, root] });
    },
    'proof under a random CID': async () => {
      const cid = cidOf(Buffer.from('random'));
      const lie = CBOR.encode({ ...(await fieldsOf({ issuer: bob, capabilities: [talk(alice)] })), prf: [link(cid)] });
      const root = named(lie);
      return pack({ roots: [root.cid], blocks: [{ cid, bytes: proof.root.bytes }, part(lie), root] });
    },
    'root under another CID': () => {
      const cid = cidOf(Buffer.from('another'));
      return pack({ roots: [cid], blocks: [top, { cid, bytes: variant.bytes }] });
    },
  }),
  ...refused('duplicate-block', { 'duplicate CID': () => pack({ roots, blocks: [top, top, variant] }) }),
  ...refused('missing-block', {
    'root without its block': () => pack({ roots, blocks: [top] }),
    'UCAN without its block': () => pack({ roots, blocks: [variant] }),
  }),
  ...refused('unreferenced-block', {
    'unreferenced block': () => pack({ roots, blocks: [part(Buffer.from([0])), ...blocks] }),
  }),
  ...refused('wrong-cid', {
    'identity-hash CID': () => {
      const cid = Buffer.concat([Buffer.from([1, 0x71, 0, 32]), top.bytes.subarray(0, 32)]);
      return pack({ roots, blocks: [{ cid, bytes: top.bytes }, variant] });
    },
    'raw codec': () => pack({ roots, blocks: [{ cid: cidOf(top.bytes, RAW), bytes: top.bytes }, variant] }),
    'JWT-form block': async () => {
      const bytes = Buffer.from(UCAN.format((await ucan()).data));
      const cid = cidOf(bytes, RAW);
      const root = part(CBOR.encode({ 'ucan@0.9.1': link(cid) }));
      return pack({ roots: [root.cid], blocks: [{ cid, bytes }, root] });
    },
    'bytes behind the CAR': () => base64Of(Buffer.concat([raw(honest), Buffer.from([0])])),
  }),
  ...refused('not-a-car', {
    'a second root': () => pack({ roots: [...roots, top.cid], blocks }),
    'no root': () => pack({ roots: [], blocks }),
    'length of a block longer than needed': () => {
      const car = raw(honest);
      const header = 1 + car[0]!;
      const padded = Buffer.from([car[header]! | 0x80, car[header + 1]! | 0x80, 0]);
      return base64Of(Buffer.concat([car.subarray(0, header), padded, car.subarray(header + 2)]));
    },
    'half a CAR': () => base64Of(raw(honest).subarray(0, 200)),
  }),
  ...refused('not-a-ucan', {
    'no variant: the UCAN is the root': () => pack({ roots: [top.cid], blocks: [top] }),
    'another version': () => tokenOf([top.bytes], 'ucan@0.10.0'),
    'unknown key': () => altered({ x: 1 }),
    'empty fct': () => altered({ fct: [] }),
    'empty nnc': () => altered({ nnc: '' }),
    'nbf 0': () => altered({ nbf: 0 }),
    'no prf': async () => {
      const { prf: _, ...fields } = await fieldsOf();
      return tokenOf([CBOR.encode(fields)]);
    },
    'a key of an empty optional field, flipped by a bit': () => altered({ gct: [] }),
  }),
  ...refused('wrong-capability', {
    'ability in capitals, which decoders make small': () =>
      altered({ att: [{ can: 'oracle/TALK', with: alice.did() }] }, { capabilities: [talk(alice)] }),
    'extra key in a capability': () => altered({ att: [{ ...IDENTITY, x: 1 }] }),
  }),
  ...refused('not-canonical', {
    'JWT-form block under the name of DAG-CBOR': async () => tokenOf([Buffer.from(UCAN.format((await ucan()).data))]),
    'caveat written as DAG-JSON, which signs the same': () =>
      altered(
        { att: [talk(alice, { key: { '/': { bytes: 'AQID' } } })] },
        { capabilities: [talk(alice, { key: new Uint8Array([1, 2, 3]) })] },
      ),
    'caveat __proto__, which is lost when it is signed': async () => {
      const fields = await fieldsOf({ capabilities: [talk(alice, {})] });
      const bytes = CBOR.encode({ ...fields, att: [talk(alice, { x: 1 })] });
      // No object has this as a key of its own that CBOR would encode.
      return tokenOf([replaced(bytes, 'a16178', `a169${Buffer.from('__proto__').toString('hex')}`)]);
    },
    're-ordered keys': () => tokenOf([swapped(top.bytes)]),
    'number longer than needed': () => tokenOf([replaced(top.bytes, '636578701a', '636578701b00000000')]),
    'bytes behind the UCAN': () => tokenOf([Buffer.concat([top.bytes, Buffer.from([0])])]),
    'broken CBOR': () => tokenOf([top.bytes.subarray(0, -1)]),
  }),
];

export const TEXTS: readonly Case[] = [
  ...refused('line-breaks', {
    whitespace: () => `${honest.slice(0, 76)}\n${honest.slice(76)}`,
    'a space at the end': () => `${honest} `,
    'a line break at the end': () => `${honest}\r\n`,
  }),
  ...refused('not-base64', {
    'mixed alphabets and a space': () => `${mixed()} `,
    'mixed alphabets': mixed,
    'characters that base64 does not have': () => `${honest.slice(0, 100)}!${honest.slice(100)}`,
    'a character too many': () => `${honest}A`,
    'bits behind the end': trailingBits,
    'an empty text': () => '',
  }),
  ...refused('not-a-car', { 'random bytes': () => Buffer.from('3f'.repeat(300), 'hex').toString('base64') }),
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
