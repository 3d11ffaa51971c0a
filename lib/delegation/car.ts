// The envelope of a token: strict base64 of a CAR with one root and few blocks, each addressed by the one supported CID
// form. Recognises other UCAN formats so that senders get a specific reason.

import { hash } from 'node:crypto';
import { DELEGATION_LIMITS } from './limits.ts';
import { type Refused, refuse } from './reason.ts';

/** The bytes of a CID as a latin1 string, for use as a map key. */
export type CidKey = string;

export interface Car {
  readonly ok: true;
  readonly root: CidKey;
  readonly blocks: ReadonlyMap<CidKey, Uint8Array>;
}

export const CID_BYTES = 36;
/** CIDv1, DAG-CBOR, SHA-256 of 32 bytes: the only supported CID form. */
const CID_PREFIX: Buffer = Buffer.from([0x01, 0x71, 0x12, 0x20]);

// In canonical DAG-CBOR, {roots: [<CID>], version: 1} is exactly HEADER_START, the CID and HEADER_END.
const HEADER_START = Buffer.from('\x3a\xa2\x65roots\x81\xd8\x2a\x58\x25\x00', 'latin1');
const HEADER_END = Buffer.from('\x67version\x01');
const HEADER_BYTES = HEADER_START.length + CID_BYTES + HEADER_END.length;

/** Parses a CAR and checks the hash of every block. Blocks may come in any order. */
export function readCar(input: Uint8Array): Car | Refused {
  const car = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  const root = readHeader(car);
  if (root === undefined) return refuseBytes(car);
  const blocks = new Map<CidKey, Uint8Array>();
  let at = HEADER_BYTES;
  while (at < car.length) {
    const section = readLength(car, at);
    if (!section || section.end > car.length) return refuse('not-a-car');
    if (blocks.size === DELEGATION_LIMITS.tokenBlocks) return refuse('too-many-blocks');
    const cid = car.subarray(section.start, section.start + CID_BYTES);
    const bytes = car.subarray(section.start + CID_BYTES, section.end);
    if (section.end - section.start <= CID_BYTES || !isCid(cid)) return refuse('wrong-cid');
    const key = cid.toString('latin1');
    if (blocks.has(key)) return refuse('duplicate-block');
    if (key.slice(CID_PREFIX.length) !== hash('sha256', bytes, 'binary')) return refuse('cid-mismatch');
    blocks.set(key, bytes);
    at = section.end;
  }
  return { ok: true, root, blocks };
}

export function isCid(bytes: Uint8Array): boolean {
  return bytes.length === CID_BYTES && CID_PREFIX.every((byte, at) => bytes[at] === byte);
}

function readHeader(car: Buffer): CidKey | undefined {
  const cid = car.subarray(HEADER_START.length, HEADER_BYTES - HEADER_END.length);
  const start = car.subarray(0, HEADER_START.length);
  const end = car.subarray(HEADER_BYTES - HEADER_END.length, HEADER_BYTES);
  return start.equals(HEADER_START) && end.equals(HEADER_END) && isCid(cid) ? cid.toString('latin1') : undefined;
}

// An unsigned LEB128 number of at most three bytes (2 MiB), in its shortest form.
function readLength(car: Buffer, at: number): { start: number; end: number } | undefined {
  let length = 0;
  for (let bytes = 0; bytes < 3; bytes++) {
    const byte = car[at + bytes];
    if (byte === undefined) return undefined;
    length |= (byte & 0x7f) << (7 * bytes);
    if (byte < 0x80) {
      const start = at + bytes + 1;
      return byte === 0 && bytes > 0 ? undefined : { start, end: start + length };
    }
  }
  return undefined;
}

/**
 * Decodes padded standard base64 or unpadded base64url; undefined for any other spelling: whitespace, mixed alphabets,
 * missing or extra padding, non-zero trailing bits.
 */
export function strictBytes(text: string): Uint8Array | undefined {
  // Buffer accepts both alphabets and skips invalid characters, so encode again and compare.
  const bytes = Buffer.from(text, 'base64');
  const same = bytes.toString('base64') === text || bytes.toString('base64url') === text;
  return same && bytes.length > 0 ? bytes : undefined;
}

// UCAN 0.8 to 0.10: a JWT of header, payload and signature.
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
// UCAN 1.0: [signature, {"h": …, "ucan/dlg@1.0.0-…": …}], as DAG-CBOR or DAG-JSON. Signatures take up to 512 bytes.
const CBOR_LIST_OF_TWO = 0x82;
const TAG = /ucan\/[a-z/]{1,20}@1\./;
const LOOK_BYTES = 1_024;
// A CIDv1 with the codec of CARs, in multibase base64, base64url, or without its prefix.
const CAR_IN_CID = /^[mu]?AYIE/;

/** Why a text that is not base64 is refused. */
export function refuseText(text: string): Refused {
  if (JWT.test(text)) return refuse('jwt');
  if (text.startsWith('[') && TAG.test(text.slice(0, LOOK_BYTES))) return refuse('ucan-1');
  if (CAR_IN_CID.test(text)) return refuse('car-in-cid');
  return refuse(/\s/.test(text) && strictBytes(text.replace(/\s+/g, '')) ? 'line-breaks' : 'not-base64');
}

/** Why bytes that are not a CAR are refused. */
function refuseBytes(bytes: Buffer): Refused {
  if (CAR_IN_CID.test(bytes.toString('base64', 0, 6))) return refuse('car-in-cid');
  const isEnvelope = bytes[0] === CBOR_LIST_OF_TWO && TAG.test(bytes.toString('latin1', 0, LOOK_BYTES));
  return refuse(isEnvelope ? 'ucan-1' : 'not-a-car');
}
