// Secrets of webhooks: made, sealed for the store, and used to sign what is sent (Standard Webhooks 1.0).

import { createHmac, randomBytes } from 'node:crypto';
import { TwinlineError } from '../../errors.ts';
import type { Keyring } from '../../keyring.ts';
import { openText, type Seal, sealerOf, sealText } from '../../sealing.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Whose secret it is: a sealed one opens for no other webhook. */
export interface Owner {
  readonly tenant: string;
  readonly id: string;
}

/** A new secret, `whsec_` and base64 of 32 random bytes. */
export function makeSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The secret as text to store. */
export function sealSecret(keyring: Keyring, owner: Owner, secret: string): string {
  return sealText(keyring, sealOf(owner), secret);
}

/** The secret; throws ERR_CONFIG when the key that sealed it is not configured, or it was sealed for another webhook. */
export function openSecret(keyring: Keyring, owner: Owner, sealed: string): string {
  const secret = openText(keyring, sealOf(owner), sealed);
  if (secret !== undefined) return secret;
  throw new TwinlineError(
    'ERR_CONFIG',
    `The secret of webhook ${owner.id} needs the key ${JSON.stringify(sealerOf(sealed))}, which is not configured or another one. Give the webhook a new secret.`,
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

function sealOf({ tenant, id }: Owner): Seal {
  return { purpose: 'webhook-secret/v1', label: [tenant, id] };
}
