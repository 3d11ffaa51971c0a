// What the domain service says of JSON that it cannot keep.

import type { TwinlineError } from '../errors.ts';
import type { JsonFlaw } from '../json/reader.ts';
import { invalid, refuse } from './problems.ts';

/** The refusal of `what` (such as "The body"): `invalid` names the place of a number, the rest is `bad-request`. */
export function refuseFlaw({ kind, words, pointer }: JsonFlaw, what: string): TwinlineError {
  if (kind !== 'number') return refuse('bad-request', `${what} ${words}.`);
  return invalid(`${what} ${words}.`, [{ field: pointer || '/', error: words.replace('has', 'is') }]);
}
