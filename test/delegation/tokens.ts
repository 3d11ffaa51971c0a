// Tokens for tests: made by ucanto itself, taken apart into blocks, and put together again honestly or not.

import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { CBOR, DID, decodeLink, delegate, Signature } from '@ucanto/core';
import type * as API from '@ucanto/interface';
import * as ed25519 from '@ucanto/principal/ed25519';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Capability } from '../../lib/delegation/index.ts';

/** The moment of all tests, in seconds since 1970; ucanto's own clock is never asked for it. */
export const NOW = 1_900_000_000;
export const clockAt = (seconds = NOW): SimulatedClock => new SimulatedClock(seconds * 1000);

const person = (seed: number): Promise<ed25519.EdSigner> => ed25519.derive(new Uint8Array(32).fill(seed));
export const [alice, bob, mallory, oracle] = await Promise.all([person(1), person(2), person(3), person(4)]);

export const IDENTITY = { can: '*', with: 'ixo:oracle' } as const;
export const talk = (who: API.Principal, nb?: Capability['nb']): Capability => ({
  can: 'oracle/talk',
  with: who.did(),
  ...(nb && { nb }),
});
export const everything = (who: API.Principal) => ({ can: 'oracle/*', with: who.did() });

export interface Wish {
  readonly issuer?: API.Signer;
  readonly audience?: API.Principal;
  readonly capabilities?: readonly object[];
  readonly expiration?: number;
  readonly notBefore?: number;
  readonly nonce?: string;
  readonly facts?: readonly object[];
  readonly proofs?: readonly API.Proof[];
}

/** A delegation by ucanto; by default Alice's identity for the oracle, for five minutes. */
export function ucan({ issuer = alice, audience = oracle, ...wish }: Wish = {}): Promise<API.Delegation> {
  const { capabilities = [IDENTITY], expiration = NOW + 300, ...rest } = wish;
  return delegate({ issuer, audience, capabilities, expiration, ...rest } as never) as Promise<API.Delegation>;
}

/** As text, the way ucanto writes it. */
export async function text(wish: Wish = {}): Promise<string> {
  return textOf(await ucan(wish));
}

export async function textOf(delegation: API.Delegation): Promise<string> {
  return Buffer.from((await delegation.archive()).ok!).toString('base64');
}

/** What a token is made of: any bytes under any name. */
export interface Parts {
  readonly roots: readonly Uint8Array[];
  readonly blocks: readonly Part[];
}

export interface Part {
  readonly cid: Uint8Array;
  readonly bytes: Uint8Array;
}

export function partsOf(token: string): Parts {
  const car = Buffer.from(token, 'base64');
  const header = lengthAt(car, 0);
  const { roots } = CBOR.decode(car.subarray(header.start, header.end)) as { roots: { bytes: Uint8Array }[] };
  const blocks: Part[] = [];
  for (let at = header.end; at < car.length; ) {
    const { start, end } = lengthAt(car, at);
    blocks.push({ cid: car.subarray(start, start + 36), bytes: car.subarray(start + 36, end) });
    at = end;
  }
  return { roots: roots.map(({ bytes }) => bytes), blocks };
}

/** A CAR of these parts, as base64; checks nothing. */
export function pack({ roots, blocks }: Parts): string {
  const header = CBOR.encode({ roots: roots.map((cid) => decodeLink(cid)), version: 1 } as never);
  const sections = blocks.map(({ cid, bytes }) => Buffer.concat([varint(cid.length + bytes.length), cid, bytes]));
  return Buffer.concat([varint(header.length), header, ...sections]).toString('base64');
}

/** The CID of these bytes; another codec or hash makes a name that the guard does not accept. */
export function cidOf(bytes: Uint8Array, prefix: readonly number[] = [1, 0x71, 0x12, 0x20]): Uint8Array {
  return Buffer.concat([Buffer.from(prefix), createHash('sha256').update(bytes).digest()]);
}

export const part = (bytes: Uint8Array): Part => ({ cid: cidOf(bytes), bytes });
export const link = (cid: Uint8Array) => decodeLink(cid);

/** A token of these UCAN blocks, the first on top: honest names, ucanto's order. */
export function tokenOf(blocks: readonly Uint8Array[], version = 'ucan@0.9.1'): string {
  const variant = part(CBOR.encode({ [version]: link(cidOf(blocks[0]!)) }));
  return pack({ roots: [variant.cid], blocks: [...blocks.map(part).reverse(), variant] });
}

/** The fields of a token's UCAN as CBOR has them. */
export type Fields = Record<string, unknown>;

export async function fieldsOf(wish: Wish = {}): Promise<Fields> {
  return CBOR.decode((await ucan(wish)).root.bytes) as unknown as Fields;
}

/** The same token with other fields, honestly named; the signature stays. */
export async function altered(change: Fields, wish: Wish = {}): Promise<string> {
  return tokenOf([CBOR.encode({ ...(await fieldsOf(wish)), ...change })]);
}

/** `count` UCANs, each the proof of the one before; Alice issues the last, and the first is for `oracle`. */
export async function chainOf(count: number, capabilities: readonly object[] = [everything(alice)]) {
  const people = [
    alice,
    ...(await Promise.all(Array.from({ length: count - 1 }, (_, at) => person(100 + at)))),
    oracle,
  ];
  let proof: API.Delegation | undefined;
  for (let at = 0; at < count; at++)
    proof = await ucan({
      issuer: people[at]!,
      audience: people[at + 1]!,
      capabilities,
      proofs: proof ? [proof] : [],
    });
  return proof!;
}

/** A signer by any DID with any algorithm: its signatures are what `sign` says. */
export function oddSigner(did: string, { code, sign }: { code: number; sign: (payload: Uint8Array) => Uint8Array }) {
  return {
    did: () => did,
    signatureCode: code,
    signatureAlgorithm: ALGORITHMS[code],
    sign: (payload: Uint8Array) => Signature.create(code, sign(payload)),
  } as unknown as API.Signer;
}

/** A signer by a new P-256 key; with `foreign`, its signatures are by another. */
export function p256({ foreign = false } = {}): API.Signer {
  const [own, other] = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  const { x, y } = own!.publicKey.export({ format: 'jwk' });
  const odd = Buffer.from(y!, 'base64url').at(-1)! & 1;
  const point = Buffer.concat([Buffer.from([0x80, 0x24, 2 + odd]), Buffer.from(x!, 'base64url')]);
  const key = (foreign ? other! : own!).privateKey;
  return oddSigner(DID.decode(point).did(), {
    code: Signature.ES256,
    sign: (payload) => sign('sha256', payload, { key, dsaEncoding: 'ieee-p1363' }),
  });
}

const ALGORITHMS: { readonly [code: number]: string } = {
  [Signature.EdDSA]: 'EdDSA',
  [Signature.ES256]: 'ES256',
  [Signature.RS256]: 'RS256',
};

/** `ok`, or why a token was refused. */
export async function readReason(result: Promise<Answered> | Answered): Promise<string> {
  const settled = await result;
  return settled.ok ? 'ok' : settled.reason;
}

type Answered = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export { CBOR };

function lengthAt(car: Buffer, at: number): { start: number; end: number } {
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = car[at++];
    if (byte === undefined) throw new Error('This CAR ends early.');
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { start: at, end: at + length };
  }
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    bytes.push(left < 128 ? left : (left % 128) | 0x80);
    if (left < 128) return Buffer.from(bytes);
  }
}
