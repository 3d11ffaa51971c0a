// The operator's key (PIN_ENCRYPTION_KEY): parsed once, with a separate subkey derived for every purpose.

import { createHash, createHmac, hash, hkdfSync } from 'node:crypto';
import { TwinlineError } from './errors.ts';
import { requireGiven } from './given.ts';

/** What a subkey is for. No derived key serves two purposes. */
export type KeyPurpose =
  | 'pin-at-rest/v1'
  | 'turn-key/v1'
  | 'record-seal/v1'
  | 'secret-proof/v1'
  | 'call-input/v1'
  | 'call-token/v1'
  | 'session-private/v1'
  | 'phone-index/v1'
  | 'phone-sessions/v1'
  | 'sim/v1'
  | 'caller-memory/v1'
  | 'webhook-secret/v1'
  | 'page-pass/v1'
  | 'preview/v1'
  | 'operator-pass/v1'
  | 'chat-user/v1'
  | 'inspector/v1'
  | 'audit/v1'
  | 'delegation-at-rest/v1';

/** A set of master keys: the first one seals, all of them open. */
export interface Keyring {
  /** Id of the key that seals; the others only open data sealed before a rotation. */
  readonly active: string;
  readonly ids: readonly string[];
  /** A copy of the 32 bytes derived for `purpose` from key `id` (default: the active one); undefined when it is unknown. */
  subkey(purpose: KeyPurpose, id?: string): Buffer | undefined;
}

const HOW = 'Generate one with: openssl rand -hex 32';

/**
 * Parses `[kid:]key[,[kid:]key…]`. A key is 64 hex digits or base64/base64url of exactly 32 bytes; the first is active.
 * The default kid is the first 8 hex digits of the key's SHA-256. Throws ERR_CONFIG; the message never contains key
 * material.
 * @example
 * import { randomBytes } from 'node:crypto';
 *
 * const keyring = parseKeyring(`2026:${randomBytes(32).toString('hex')}`);
 * keyring.active; // → '2026'
 * parseKeyring('secret'); // throws ERR_CONFIG
 */
export function parseKeyring(text: string): Keyring {
  requireGiven('read keys', { text }, { text: 'text' });
  const masters = new Map<string, Buffer>();
  for (const [at, part] of text.split(',').entries()) {
    const { kid, key } = parseKey(part.trim(), at + 1);
    if (masters.has(kid))
      throw new TwinlineError('ERR_CONFIG', `Key ${at + 1}: the id "${kid}" is used twice. Give each key its own id.`);
    masters.set(kid, key);
  }
  const ids = [...masters.keys()];
  const subkeys = new Map<string, Buffer>();
  const subkey = (purpose: KeyPurpose, id = ids[0]!): Buffer | undefined => {
    const name = `${purpose} ${id}`;
    const master = masters.get(id);
    if (!master) return undefined;
    const derived = subkeys.get(name) ?? Buffer.from(hkdfSync('sha256', master, '', purpose, 32));
    subkeys.set(name, derived);
    // A copy, so that a caller who zeroes it does not zero the shared key.
    return Buffer.from(derived);
  };
  return { active: ids[0]!, ids, subkey };
}

/** Base64url of the first 12 bytes of HMAC-SHA-256 over the length-prefixed parts. */
export function shortMac(key: Buffer, parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += `${part.length}:${part}`;
  return hmacSha256(key, text).slice(0, 16);
}

const BLOCK = 64;
const TEXT_BYTES = 16_384;
const VIEWS_KEPT = 2_048;

interface Pads {
  /** The inner padded key, followed by room for the text. */
  readonly inner: Buffer;
  /** Views of `inner` by text length, cached because creating one costs as much as hashing it. */
  readonly views: Buffer[];
  /** The outer padded key, followed by room for the inner hash. */
  readonly outer: Buffer;
}

const pads = new WeakMap<Buffer, Pads>();

/**
 * HMAC-SHA-256 (RFC 2104) in base64url. A turn computes four, and `createHmac` spends most of its time creating
 * objects; caching the padded keys makes each hash a single call.
 */
export function hmacSha256(key: Buffer, text: string): string {
  if (key.length > BLOCK || text.length * 3 > TEXT_BYTES)
    return createHmac('sha256', key).update(text).digest('base64url');
  let padded = pads.get(key);
  if (!padded) {
    padded = { inner: padKey(key, 0x36, TEXT_BYTES), views: [], outer: padKey(key, 0x5c, 32) };
    pads.set(key, padded);
  }
  const { inner, views, outer } = padded;
  const length = inner.write(text, BLOCK, 'utf8');
  const view = views[length] ?? inner.subarray(0, BLOCK + length);
  if (length < VIEWS_KEPT) views[length] = view;
  outer.write(hash('sha256', view, 'binary'), BLOCK, 'binary');
  return hash('sha256', outer, 'base64url');
}

function padKey(key: Buffer, pad: number, room: number): Buffer {
  const bytes = Buffer.alloc(BLOCK + room);
  key.copy(bytes);
  for (let at = 0; at < BLOCK; at++) bytes[at]! ^= pad;
  return bytes;
}

function parseKey(part: string, position: number): { kid: string; key: Buffer } {
  const colon = part.indexOf(':');
  const id = colon >= 0 ? part.slice(0, colon) : undefined;
  const key = decodeKey(part.slice(colon + 1));
  if (id !== undefined && !/^[\w.-]{1,32}$/.test(id))
    throw new TwinlineError(
      'ERR_CONFIG',
      `Key ${position}: its id must be 1 to 32 letters, digits, dots, dashes or underscores.`,
    );
  if (!key)
    throw new TwinlineError(
      'ERR_CONFIG',
      `Key ${position}: it must be 64 hex digits or base64 of exactly 32 bytes. ${HOW}`,
    );
  if (new Set(key).size < 16)
    throw new TwinlineError('ERR_CONFIG', `Key ${position}: it is not random: too few distinct bytes. ${HOW}`);
  return { kid: id ?? createHash('sha256').update(key).digest('hex').slice(0, 8), key };
}

// Try hex first: 64 hex digits are also valid base64 (of 48 bytes).
function decodeKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const plain = text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Buffer.from(plain, 'base64');
  const exact = bytes.toString('base64').replace(/=+$/, '') === plain;
  return exact && bytes.length === 32 ? bytes : undefined;
}
