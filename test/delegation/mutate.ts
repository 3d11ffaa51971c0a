// A seeded source of broken tokens: it starts from good ones and changes bits, CBOR, fields, names, blocks or the text.

import { Signature } from '@ucanto/core';
import { numbersFrom } from '../support/random.ts';
import { CBOR, cidOf, type Fields, link, type Part, type Parts, pack, part, partsOf, varint } from './tokens.ts';

/** Whole numbers from 0 to below `limit`, the same ones for the same seed. */
export type Dice = (limit: number) => number;

export function diceOf(seed: number): Dice {
  const next = numbersFrom(seed);
  return (limit) => Math.floor(next() * limit);
}

type Mutation = (token: string, dice: Dice) => string;

const pick = <T>(list: readonly T[], dice: Dice): T => list[dice(list.length)]!;

/** By name, every kind of change; most are wrong in one place only, and everything else about them is honest. */
export const MUTATIONS: { readonly [name: string]: Mutation } = {
  'bits of the CAR': (token, dice) => bytesOf(token, (car) => scramble(car, dice)),
  'a byte more or less': (token, dice) => bytesOf(token, (car) => resize(car, dice)),
  'the text': (token, dice) => {
    const at = dice(token.length);
    const odd = pick([...' \n\t=-_+/Aa0.%', '==', 'é', '\0', ''], dice);
    return token.slice(0, at) + odd + token.slice(at + dice(2));
  },
  'the alphabet and its padding': (token, dice) =>
    pick(
      [token.replace(/=+$/, ''), `${token}=`, token.replaceAll('+', '-'), token.replaceAll('/', '_'), ` ${token}`],
      dice,
    ),
  'bits of a UCAN, honestly named': (token, dice) => block(token, dice, (bytes) => scramble(bytes, dice)),
  'size of a UCAN, honestly named': (token, dice) => block(token, dice, (bytes) => resize(bytes, dice)),
  'bits of the signature': (token, dice) =>
    fields(token, dice, (all) => ({ ...all, s: scramble(all.s as Uint8Array, dice) })),
  'a field': (token, dice) => fields(token, dice, (all) => ({ ...all, [pick(Object.keys(all), dice)]: junk(dice) })),
  'a field less': (token, dice) =>
    fields(token, dice, (all) => Object.fromEntries(without(Object.entries(all), dice)) as Fields),
  'a field more': (token, dice) =>
    fields(token, dice, (all) => ({
      ...all,
      [pick(['x', 'fct', 'nnc', 'nbf', 'V', 'S', '', 'prg'], dice)]: pick([[], '', 0, null, {}, junk(dice)], dice),
    })),
  times: (token, dice) =>
    fields(token, dice, (all) => ({
      ...all,
      [pick(['exp', 'nbf'], dice)]: pick([null, 0, 1, -1, 1.5, 2 ** 53, 2 ** 31, '1'], dice),
    })),
  'a capability': (token, dice) => fields(token, dice, (all) => ({ ...all, att: changed(all.att as object[], dice) })),
  'a varsig prefix': (token, dice) =>
    fields(token, dice, (all) => {
      const raw = (all.s as Uint8Array).subarray(-64);
      const codes = [Signature.ES256, Signature.RS256, Signature.ES256K, Signature.BLS12381G1, Signature.EdDSA];
      const size = pick([0, 32, 63, 65], dice);
      return { ...all, s: Buffer.concat([varint(pick(codes, dice)), varint(size), raw]) };
    }),
  'a longer number': (token, dice) => block(token, dice, (bytes) => lengthened(bytes, dice)),
  'two keys swapped': (token, dice) => block(token, dice, swapKeys),
  'a name of a block': (token, dice) =>
    blocks(token, (all) => all.map((one, at) => (at === dice(all.length) ? renamed(one, dice) : one))),
  'names swapped': (token, dice) =>
    blocks(token, ([first, ...rest]) => [{ cid: pick(rest, dice).cid, bytes: first!.bytes }, ...rest]),
  'a block twice': (token, dice) => blocks(token, (all) => [...all, pick(all, dice)]),
  'a block less': (token, dice) => blocks(token, (all) => without(all, dice)),
  'a block more': (token, dice) => blocks(token, (all) => [...all, part(CBOR.encode(junk(dice) as never))]),
  'an empty block': (token) => blocks(token, (all) => [...all, part(new Uint8Array())]),
  'a false circle': (token, dice) => {
    const { roots, blocks: all } = partsOf(token);
    const victim = all[dice(all.length - 1)]!;
    const looped = CBOR.encode({ ...(CBOR.decode(victim.bytes) as object), prf: [link(victim.cid)] });
    return pack({ roots, blocks: all.map((one) => (one === victim ? { cid: one.cid, bytes: looped } : one)) });
  },
  proofs: (token, dice) =>
    fields(token, dice, (all) => ({
      ...all,
      prf: Array.from({ length: 1 + dice(3) }, () => link(cidOf(Buffer.from([dice(256)])))),
    })),
  'the roots': (token, dice) => {
    const { roots, blocks: all } = partsOf(token);
    return pack({ roots: pick([[], [...roots, ...roots], [pick(all.slice(0, -1), dice).cid]], dice), blocks: all });
  },
  'the variant': (token, dice) => {
    const { blocks: all } = partsOf(token);
    const top = link(all.at(-2)!.cid);
    const odd = pick(
      [{ 'ucan@0.9.0': top }, { 'ucan@0.9.1': top, x: 1 }, [top], { 'ucan@0.9.1': [top] }, top, {}],
      dice,
    );
    const variant = part(CBOR.encode(odd as never));
    return pack({ roots: [variant.cid], blocks: [...all.slice(0, -1), variant] });
  },
  'several at once': (token, dice) => {
    const names = Object.keys(MUTATIONS).filter(
      (name) => !['several at once', 'the text', 'the alphabet and its padding'].includes(name),
    );
    try {
      return MUTATIONS[pick(names, dice)]!(MUTATIONS[pick(names, dice)]!(token, dice), dice);
    } catch {
      // What the first one made cannot be taken apart any more.
      return MUTATIONS['bits of the CAR']!(token, dice);
    }
  },
};

/** Whether two texts are the same token: the same blocks under the same names, in whatever order and alphabet. */
export function isSame(one: string, other: string): boolean {
  const inOrder = (token: string) => {
    const { roots, blocks: all } = partsOf(token);
    return JSON.stringify([roots, all.map(({ cid, bytes }) => Buffer.concat([cid, bytes]).toString('hex')).sort()]);
  };
  try {
    return inOrder(one) === inOrder(other);
  } catch {
    return false;
  }
}

function bytesOf(token: string, change: (car: Buffer) => Uint8Array): string {
  return Buffer.from(change(Buffer.from(token, 'base64'))).toString('base64');
}

function blocks(token: string, change: (all: readonly Part[]) => readonly Part[]): string {
  const parts = partsOf(token);
  return pack({ ...parts, blocks: change(parts.blocks) });
}

// Changes one UCAN, and names everything that refers to it anew: only its signature can tell.
function block(token: string, dice: Dice, change: (bytes: Uint8Array) => Uint8Array): string {
  const { blocks: all } = partsOf(token);
  const at = dice(all.length - 1);
  const made: Part[] = [];
  for (const [place, one] of all.entries())
    made.push(place < at ? one : part(place === at ? change(one.bytes) : relinked(one, all[place - 1]!, made.at(-1)!)));
  return pack({ roots: [made.at(-1)!.cid], blocks: made } satisfies Parts);
}

function relinked({ bytes }: Part, before: Part, after: Part): Buffer {
  const text = Buffer.from(bytes).toString('latin1');
  return Buffer.from(
    text.replace(Buffer.from(before.cid).toString('latin1'), () => Buffer.from(after.cid).toString('latin1')),
    'latin1',
  );
}

function fields(token: string, dice: Dice, change: (fields: Fields) => Fields): string {
  return block(token, dice, (bytes) => CBOR.encode(change(CBOR.decode(bytes) as Fields)));
}

function scramble(bytes: Uint8Array, dice: Dice): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let times = 1 + dice(3); times > 0; times--) copy[dice(copy.length)]! ^= 1 << dice(8);
  return copy;
}

function resize(bytes: Uint8Array, dice: Dice): Uint8Array {
  const at = dice(bytes.length);
  const length = 1 + dice(4);
  return dice(2) === 0
    ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
    : Buffer.concat([bytes.subarray(0, at), Buffer.from(Array.from({ length }, () => dice(256))), bytes.subarray(at)]);
}

function without<T>(list: readonly T[], dice: Dice): T[] {
  const gone = dice(list.length);
  return list.filter((_, at) => at !== gone);
}

function renamed({ cid, bytes }: Part, dice: Dice): Part {
  const prefixes = [
    [1, 0x55, 0x12, 0x20],
    [1, 0x71, 0, 0x20],
    [1, 0x71, 0x1b, 0x20],
    [0, 0x71, 0x12, 0x20],
    [1, 0x71, 0x12, 0x1f],
  ];
  return { cid: dice(2) === 0 ? cidOf(bytes, pick(prefixes, dice)) : scramble(cid, dice), bytes };
}

function changed(att: readonly object[], dice: Dice): unknown[] {
  const [first, ...rest] = att;
  const odd = [
    { can: '*' },
    { with: 'ucan:*' },
    { can: 'oracle/*' },
    { nb: {} },
    { nb: { x: 1 } },
    { nb: null },
    { x: 1 },
    { can: 'ORACLE/talk' },
    { with: 'did:key:z6Mk' },
  ];
  return pick(
    [
      [{ ...first, ...pick(odd, dice) }, ...rest],
      [...att, ...structuredClone(att)],
      [],
      [first, structuredClone(first)],
      [[]],
      [null],
    ],
    dice,
  );
}

function junk(dice: Dice): unknown {
  const values = [
    null,
    true,
    0,
    -1,
    1.5,
    '',
    'x',
    [],
    {},
    new Uint8Array(dice(80)),
    [[[]]],
    { '': [] },
    'did:key:z6Mk',
    2 ** 40,
  ];
  return pick(values, dice);
}

// Writes a short length or number as a longer one, somewhere.
function lengthened(bytes: Uint8Array, dice: Dice): Uint8Array {
  const at = dice(bytes.length);
  const first = bytes[at]!;
  const info = first & 0x1f;
  const longer = info < 24 ? [(first & 0xe0) | 24, info] : [(first & 0xe0) | 25, 0];
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(longer), bytes.subarray(at + 1)]);
}

// `s` and `v` are the two keys of one letter, the first two of each UCAN.
function swapKeys(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const version = text.slice(text.indexOf('av'), text.indexOf('av') + 8);
  return Buffer.from(`${text[0]}${version}${text.slice(1).replace(version, '')}`, 'latin1');
}
