// Texts sealed for the store with a subkey of the keyring: they open only for whom they were sealed.

import { decode, IV_BYTES, openBytes, sealBytes } from './aead.ts';
import type { KeyPurpose, Keyring } from './keyring.ts';

/** For what a text is sealed, and for whom: the label is part of what is authenticated. */
export interface Seal {
  readonly purpose: KeyPurpose;
  readonly label: readonly string[];
}

const VERSION = 'v1';

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
export function sealerOf(sealed: string): string {
  return sealed.split('$')[1] ?? '';
}
