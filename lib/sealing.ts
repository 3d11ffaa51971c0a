// Sealing: AES-256-GCM bound to a label, texts sealed with a subkey of the keyring, and the canary that reveals a wrong
// key at startup.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { TwinlineError } from './errors.ts';
import type { KeyPurpose, Keyring } from './keyring.ts';

/** Length of the random IV; each is used once. */
export const IV_BYTES = 12;
/** Length of the authentication tag; never shorter. */
export const TAG_BYTES = 16;

const VERSION = 'v1';

interface Sealed {
  /** Fresh for every sealing; a key may seal at most 2^32 times. */
  readonly iv: Buffer;
  /** The ciphertext, followed by the tag. */
  readonly body: Buffer;
}

/** Encrypts `plain` so that it opens only with the same key and label. */
export function sealBytes(key: Buffer, label: readonly string[], plain: Buffer): Sealed {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(lengthPrefixed(label));
  return { iv, body: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]) };
}

/** Decrypts; undefined when the key, the label or any byte differs. */
export function openBytes(key: Buffer, label: readonly string[], { iv, body }: Sealed): Buffer | undefined {
  // Node accepts short tags as truncated ones, so check the length first.
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

/** Decodes canonical base64url of exactly `bytes` bytes; undefined for any other text. */
export function decode(text: string, bytes: number): Buffer | undefined {
  const decoded = Buffer.from(text, 'base64url');
  return decoded.length === bytes && decoded.toString('base64url') === text ? decoded : undefined;
}

// Without length prefixes, ("a", "bc") and ("ab", "c") would be the same label.
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

/** The purpose and owner of a sealed text; both are authenticated. */
export interface Seal {
  readonly purpose: KeyPurpose;
  readonly label: readonly string[];
}

/** Seals a text with the active key, as `v1$<kid>$<iv>$<ciphertext and tag>`. */
export function sealText(keyring: Keyring, { purpose, label }: Seal, text: string): string {
  const { iv, body } = sealBytes(keyring.subkey(purpose)!, [purpose, ...label], Buffer.from(text));
  return [VERSION, keyring.active, iv.toString('base64url'), body.toString('base64url')].join('$');
}

/** Opens a sealed text; undefined when its key is not configured, the seal is another one, or any byte was changed. */
export function openText(keyring: Keyring, { purpose, label }: Seal, text: string): string | undefined {
  const [version, kid = '', iv = '', body = ''] = text.split('$');
  const key = version === VERSION ? keyring.subkey(purpose, kid) : undefined;
  const ivBytes = decode(iv, IV_BYTES);
  if (!key || !ivBytes) return undefined;
  return openBytes(key, [purpose, ...label], { iv: ivBytes, body: Buffer.from(body, 'base64url') })?.toString();
}

/** The same content sealed with the active key; undefined when the text cannot be opened. */
export function resealText(keyring: Keyring, seal: Seal, text: string): string | undefined {
  const content = openText(keyring, seal, text);
  return content === undefined ? undefined : sealText(keyring, seal, content);
}

/** The id of the key that sealed a text; '' when it is not a sealed text. */
export function readKeyId(text: string): string {
  return text.split('$')[1] ?? '';
}

const HOW =
  'Give all instances on this store the same PIN_ENCRYPTION_KEY, or restore the store that belongs to this key.';

/** The text to store at first startup, `v1$<kid>$<iv>$<tag>`. It seals an empty text, so it reveals nothing. */
export function canary(keyring: Keyring): string {
  const kid = keyring.active;
  const { iv, body } = sealBytes(pinKey(keyring, kid)!, canaryLabel(kid), Buffer.alloc(0));
  return [VERSION, kid, iv.toString('base64url'), body.toString('base64url')].join('$');
}

/**
 * Checks the canary `stored`: `current`, or `older` when its key is no longer the active one (then store a new canary).
 * Throws ERR_CONFIG when the key is missing or different; `what` names the data it opens.
 */
export function checkCanary(keyring: Keyring, text: string, what = 'PINs'): 'current' | 'older' {
  const [version, kid = '', iv = '', tag = '', ...rest] = text.split('$');
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

export const pinKey = (keyring: Keyring, kid: string): Buffer | undefined => keyring.subkey('pin-at-rest/v1', kid);
const canaryLabel = (kid: string) => ['canary', VERSION, kid];
