// What the account tests share: keys, a quick hash that counts, and the error of a rejected promise.

import { createHash } from 'node:crypto';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../lib/errors.ts';
import { type Keyring, parseKeyring } from '../../lib/keyring.ts';

const random = (name: string) => createHash('sha256').update(name).digest('hex');

/** Two operator keys, as they are configured. */
export const KEYS = { old: `old:${random('old')}`, next: `next:${random('next')}` } as const;

/** A keyring whose first key is the active one. */
export function keyring(...keys: string[]): Keyring {
  return parseKeyring(keys.join(','));
}

/** A hash that takes no time, where the cost is not the matter; and how often it ran. */
export function quickDigest(): { derive: (pin: Buffer, salt: Buffer) => Promise<Buffer>; calls(): number } {
  let calls = 0;
  return {
    derive: async (pin, salt) => {
      calls++;
      return createHash('sha256').update(salt).update(pin).digest();
    },
    calls: () => calls,
  };
}

/** The error that a promise rejects with; fails when it does not. */
export async function rejection(promise: Promise<unknown>): Promise<TwinlineError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.instance(outcome, Error, 'a rejection was expected');
  return outcome as TwinlineError;
}
