// AES-256-GCM bound to a label, and strict base64url: the two things that every sealed text here is made of.

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Bytes of the random value that each sealing uses once. */
export const IV_BYTES = 12;
/** Bytes of the authentication tag; never fewer. */
export const TAG_BYTES = 16;

export interface Sealed {
  /** 12 random bytes, new for every sealing; one key seals at most 2^32 times. */
  readonly iv: Buffer;
  /** The ciphertext and, behind it, the 16 bytes of the tag. */
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
  // A short tag would be accepted as a truncated one, so the length is settled before the cipher sees it.
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
