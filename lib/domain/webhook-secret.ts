// Secrets of webhooks: made, sealed for the store, and used to sign what is sent (Standard Webhooks 1.0).

import { createHmac, randomBytes } from 'node:crypto';
import { decode, IV_BYTES, openBytes, sealBytes } from '../aead.ts';
import { TwinlineError } from '../errors.ts';
import type { Keyring } from '../keyring.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const VERSION = 'v1';

/** Whose secret it is: a sealed one opens for no other webhook. */
export interface Owner {
  readonly tenant: string;
  readonly id: string;
}

/** A new secret, `whsec_` and base64 of 32 random bytes. */
export function makeSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The text to store, `v1$<kid>$<iv>$<ciphertext and tag>`. */
export function sealSecret(keyring: Keyring, owner: Owner, secret: string): string {
  const key = keyring.subkey('webhook-secret/v1')!;
  const { iv, body } = sealBytes(key, labelOf(owner), Buffer.from(secret));
  return [VERSION, keyring.active, iv.toString('base64url'), body.toString('base64url')].join('$');
}

/** The secret; throws ERR_CONFIG when the key that sealed it is not configured, or it was sealed for another webhook. */
export function openSecret(keyring: Keyring, owner: Owner, sealed: string): string {
  const [version, kid = '', iv = '', body = ''] = sealed.split('$');
  const key = version === VERSION ? keyring.subkey('webhook-secret/v1', kid) : undefined;
  const ivBytes = decode(iv, IV_BYTES);
  const plain = key && ivBytes && openBytes(key, labelOf(owner), { iv: ivBytes, body: Buffer.from(body, 'base64url') });
  if (plain) return plain.toString();
  throw new TwinlineError(
    'ERR_CONFIG',
    `The secret of webhook ${owner.id} needs the key ${JSON.stringify(kid)}, which is not configured or another one. Give the webhook a new secret.`,
  );
}

export interface Signed {
  /** The same for every try to deliver one message. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers by which a receiver knows the message and that it comes from here. */
export function signatureHeaders(secret: string, { id, timestamp, body }: Signed): { readonly [name: string]: string } {
  const mac = createHmac('sha256', keyBytes(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${mac}` };
}

// A secret that is not in the form of the standard is a key as it stands.
function keyBytes(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret);
}

function labelOf({ tenant, id }: Owner): readonly string[] {
  return ['webhook-secret', VERSION, tenant, id];
}
