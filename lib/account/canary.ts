// A small sealed text that is stored at the first start, so that a wrong key is noticed at a start, not by each caller.

import { decode, IV_BYTES, openBytes, sealBytes, TAG_BYTES } from '../aead.ts';
import { TwinlineError } from '../errors.ts';
import type { Keyring } from '../keyring.ts';

const VERSION = 'v1';
const HOW =
  'Give all instances on this store the same PIN_ENCRYPTION_KEY, or restore the store that belongs to this key.';

/** The text to store, `v1$<kid>$<iv>$<tag>`: it seals nothing, so it gives nothing away. */
export function canary(keyring: Keyring): string {
  const kid = keyring.active;
  const { iv, body } = sealBytes(pinKey(keyring, kid)!, label(kid), Buffer.alloc(0));
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
  if (!openBytes(key, label(kid), { iv: ivBytes, body }))
    throw new TwinlineError('ERR_CONFIG', `The configured key "${kid}" is not the one that sealed the ${what}. ${HOW}`);
  return kid === keyring.active ? 'current' : 'older';
}

const pinKey = (keyring: Keyring, kid: string) => keyring.subkey('pin-at-rest/v1', kid);
const label = (kid: string) => ['canary', VERSION, kid];
