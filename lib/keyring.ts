// The key that operators give (PIN_ENCRYPTION_KEY): parsed once, and a separate subkey derived for every purpose.

import { createHash, createHmac, hash, hkdfSync } from 'node:crypto';
import { TwinlineError } from './errors.ts';
import { requireGiven } from './given.ts';

/** What a subkey is for; one master key never does two jobs. */
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
  | 'webhook-secret/v1'
  | 'page-pass/v1'
  | 'operator-pass/v1'
  | 'chat-user/v1'
  | 'inspector/v1'
  | 'audit/v1'
  | 'delegation-at-rest/v1';

/** Keys by their purpose: the first seals, all of them open. */
export interface Keyring {
  /** Id of the key that seals; the others only open what was sealed before a rotation. */
  readonly active: string;
  readonly ids: readonly string[];
  /** A copy of the 32 bytes derived for `purpose` from key `id` (default: the active one); undefined when it is unknown. */
  subkey(purpose: KeyPurpose, id?: string): Buffer | undefined;
}

const HOW = 'Generate one with: openssl rand -hex 32';

/**
 * Reads `[kid:]key[,[kid:]key…]`; a key is 64 hex digits or base64/base64url of exactly 32 bytes, the first is active.
 * The default kid is the first 8 hex digits of the key's SHA-256. Throws ERR_CONFIG; no message holds any part of a key.
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
    // A copy: a caller that zeroes what it was given must not zero the key of the others.
    return Buffer.from(derived);
  };
  return { active: ids[0]!, ids, subkey };
}

/** Base64url of the first 12 bytes of HMAC-SHA-256 over the parts, each preceded by its length. */
export function shortMac(key: Buffer, parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += `${part.length}:${part}`;
  return hmacSha256(key, text).slice(0, 16);
}

const BLOCK = 64;
const TEXT_BYTES = 16_384;
const VIEWS_KEPT = 2_048;

interface Pads {
  /** The inner padded key, and room for the text behind it. */
  readonly inner: Buffer;
  /** The beginnings of `inner` by length: to make such a view costs as much as to hash it. */
  readonly views: Buffer[];
  /** The outer padded key, and room for the inner hash behind it. */
  readonly outer: Buffer;
}

const pads = new WeakMap<Buffer, Pads>();

/**
 * HMAC-SHA-256 (RFC 2104) in base64url. A turn takes four of them, and `createHmac` spends most of its time on making
 * an object for each: here the two padded keys are made once, and each hash is one call.
 */
export function hmacSha256(key: Buffer, text: string): string {
  if (key.length > BLOCK || text.length * 3 > TEXT_BYTES)
    return createHmac('sha256', key).update(text).digest('base64url');
  let known = pads.get(key);
  if (!known) {
    known = { inner: padKey(key, 0x36, TEXT_BYTES), views: [], outer: padKey(key, 0x5c, 32) };
    pads.set(key, known);
  }
  const { inner, views, outer } = known;
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
  const named = colon >= 0 ? part.slice(0, colon) : undefined;
  const key = decodeKey(part.slice(colon + 1));
  if (named !== undefined && !/^[\w.-]{1,32}$/.test(named))
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
    throw new TwinlineError('ERR_CONFIG', `Key ${position}: it is not random: few of its bytes differ. ${HOW}`);
  return { kid: named ?? createHash('sha256').update(key).digest('hex').slice(0, 8), key };
}

// 64 hex digits are tried first: they are valid base64 (of 48 bytes) too.
function decodeKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const plain = text.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Buffer.from(plain, 'base64');
  const exact = bytes.toString('base64').replace(/=+$/, '') === plain;
  return exact && bytes.length === 32 ? bytes : undefined;
}
