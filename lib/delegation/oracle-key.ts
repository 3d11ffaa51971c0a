// The key (ORACLE_KEY) with which a service signs its own tokens, and its DID.

import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { parse } from '@ucanto/principal/ed25519';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import { ed25519Did } from './principal.ts';

/** An Ed25519 key for signing. Printing it or writing it as JSON reveals nothing private. */
export interface OracleKey {
  /** Its did:key. */
  readonly did: string;
  /** Returns a signature of 64 bytes. */
  sign(payload: Uint8Array): Uint8Array;
}

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_BYTES = 32;

/**
 * Parses a key in ucanto's string format: `M` and base64 of the private and public key. Throws ERR_CONFIG when it is
 * invalid or its halves do not match; the message never contains key material.
 * @example
 * parseOracleKey(process.env.ORACLE_KEY!).did.slice(0, 12); // → 'did:key:z6Mk'
 * parseOracleKey('secret'); // throws ERR_CONFIG
 */
export function parseOracleKey(text: string): OracleKey {
  requireGiven('read a key', { text }, { text: 'text' });
  try {
    const signer = parse(text);
    const key = makeOracleKey((signer as unknown as { secret: Uint8Array }).secret);
    if (key.did === signer.did()) return key;
  } catch {
    // Swallowed: ucanto's message may contain parts of the key.
  }
  throw new TwinlineError(
    'ERR_CONFIG',
    'Cannot use the key of the agent service: it is not an Ed25519 key in ucanto’s string format, or its halves do not belong together. Generate one with: npx twinline config --new-keys',
  );
}

/** The key for a 32-byte secret. */
export function makeOracleKey(secret: Uint8Array): OracleKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-PUBLIC_BYTES);
  return { did: ed25519Did(publicKey), sign: (payload) => sign(null, payload, key) };
}

/**
 * The did:key of a key in ucanto's string format. Throws ERR_CONFIG.
 * @example
 * didOfKey(process.env.ORACLE_KEY!).startsWith('did:key:z6Mk'); // → true
 */
export function didOfKey(text: string): string {
  return parseOracleKey(text).did;
}
