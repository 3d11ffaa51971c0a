// New keys of users and services.

import { type OracleKey, parseOracleKey } from '../../lib/delegation/oracle-key.ts';
import { makeOracleKey } from '../../server/config/data-dir.ts';

/** An Ed25519 key that nobody has had before. */
export function newKey(): OracleKey {
  return parseOracleKey(makeOracleKey());
}
