// The gate of the gateway: who holds one of its keys.

import { hash } from 'node:crypto';

/** Whether the value of an Authorization header holds a key. */
export type Gate = (authorization: string | undefined) => boolean;

const HASHED = /^sha256:([0-9a-f]{64})$/;
const BEARER = /^Bearer +([\x21-\x7e]{1,256})$/i;

/** Takes keys, or the SHA-256 of keys. Hashes are looked up, so that the time it takes says nothing about a key. */
export function createGate(keys: readonly string[]): Gate {
  const known = new Set(keys.map((key) => HASHED.exec(key)?.[1] ?? hash('sha256', key)));
  return (authorization = '') => {
    const key = BEARER.exec(authorization)?.[1];
    return key !== undefined && known.has(hash('sha256', key));
  };
}
