// Sealing: AES-256-GCM bound to a label, texts sealed for the store with a subkey of the keyring, and the canary by which a
// wrong key is noticed at the start.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { TwinlineError } from './errors.ts';
import type { KeyPurpose, Keyring } from './keyring.ts';

/** Bytes of the random value that each sealing uses once. */
export const IV_BYTES = 12;
/** Bytes of the authentication tag; never fewer. */
export const TAG_BYTES = 16;

const VERSION = 'v1';

interface Sealed {
  /** New for every sealing; one key seals at most 2^32 times. */
  readonly iv: Buffer;
  /** The ciphertext and, behind it, the tag. */
  readonly body: Buffer;
}

/** Seals `plain` so that it opens only with the same key and the same label. */
export function sealBytes(key: Buffer, label: readonly string[], plain: Buffer): Sealed {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(lengthPrefixed(label));
  return { iv, body: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]) };
}

/** The plain bytes, or undefined when key, label or any byte is not the one that sealed. */
export function openBytes(key: Buffer, label: readonly string[], { iv, body }: Sealed): Buffer | undefined {
  // A short tag would be accepted as a truncated one, so the length is checked before the cipher sees it.
  if (iv.length !== IV_BYTES || body.length < TAG_BYTES) return undefined;
  const end = body.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(lengthPrefixed(label));
  decipher.setAuthTag(body.subarray(end));
  const plain = decipher.update(body.subarray(0, end));
  try {
    decipher.final();
    return plain;
  } catch {
    plain.fill(0);
    return undefined;
  }
}

/** Exactly `bytes` bytes from their one base64url spelling; undefined for every other text. */
export function decode(text: string, bytes: number): Buffer | undefined {
  const decoded = Buffer.from(text, 'base64url');
  return decoded.length === bytes && decoded.toString('base64url') === text ? decoded : undefined;
}

// Without lengths, ("a", "bc") and ("ab", "c") would be one label.
function lengthPrefixed(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** The purpose and the owner of a sealed text: the label is part of what is authenticated. */
export interface Seal {
  readonly purpose: KeyPurpose;
  readonly label: readonly string[];
}

/** The text to store, `v1$<kid>$<iv>$<ciphertext and tag>`, sealed with the active key. */
export function sealText(keyring: Keyring, { purpose, label }: Seal, text: string): string {
  const { iv, body } = sealBytes(keyring.subkey(purpose)!, [purpose, ...label], Buffer.from(text));
  return [VERSION, keyring.active, iv.toString('base64url'), body.toString('base64url')].join('$');
}

/** The text, or undefined when its key is not configured, it was sealed for another, or a byte is not as it was. */
export function openText(keyring: Keyring, { purpose, label }: Seal, sealed: string): string | undefined {
  const [version, kid = '', iv = '', body = ''] = sealed.split('$');
  const key = version === VERSION ? keyring.subkey(purpose, kid) : undefined;
  const ivBytes = decode(iv, IV_BYTES);
  if (!key || !ivBytes) return undefined;
  return openBytes(key, [purpose, ...label], { iv: ivBytes, body: Buffer.from(body, 'base64url') })?.toString();
}

/** The id of the key that sealed a text; '' when it is no sealed text. */
export function readKeyId(sealed: string): string {
  return sealed.split('$')[1] ?? '';
}

const HOW =
  'Give all instances on this store the same PIN_ENCRYPTION_KEY, or restore the store that belongs to this key.';

/** The text to store at the first start, `v1$<kid>$<iv>$<tag>`: it seals nothing, so it gives nothing away. */
export function canary(keyring: Keyring): string {
  const kid = keyring.active;
  const { iv, body } = sealBytes(pinKey(keyring, kid)!, canaryLabel(kid), Buffer.alloc(0));
  return [VERSION, kid, iv.toString('base64url'), body.toString('base64url')].join('$');
}

/**
 * Whether this keyring made `stored`: `current`, or `older` when the key that made it is no longer the active one (then
 * store a new canary). Throws ERR_CONFIG when that key is missing or is another one; `what` says what it opens.
 */
export function checkCanary(keyring: Keyring, stored: string, what = 'PINs'): 'current' | 'older' {
  const [version, kid = '', iv = '', tag = '', ...rest] = stored.split('$');
  const ivBytes = decode(iv, IV_BYTES);
  const body = decode(tag, TAG_BYTES);
  if (version !== VERSION || rest.length > 0 || !ivBytes || !body)
    throw new TwinlineError('ERR_CONFIG', `The stored canary of the PIN key is damaged. ${HOW}`);
  const key = pinKey(keyring, kid);
  if (!key)
    throw new TwinlineError(
      'ERR_CONFIG',
      `The stored ${what} need the key ${JSON.stringify(kid)}, but only these are configured: ${keyring.ids.join(', ')}. ${HOW}`,
    );
  if (!openBytes(key, canaryLabel(kid), { iv: ivBytes, body }))
    throw new TwinlineError('ERR_CONFIG', `The configured key "${kid}" is not the one that sealed the ${what}. ${HOW}`);
  return kid === keyring.active ? 'current' : 'older';
}

export const pinKey = (keyring: Keyring, kid: string) => keyring.subkey('pin-at-rest/v1', kid);
const canaryLabel = (kid: string) => ['canary', VERSION, kid];
