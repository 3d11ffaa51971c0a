// Parameters of queries, read strictly.

import { type Reason, refuse } from '../../lib/domain/problems.ts';

export interface NumberRule {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Where the parameter is missing. */
  readonly usual: number;
  /** @default 'bad-request' */
  readonly reason?: Reason;
}

/** A whole number of a query; throws `bad-request` (or what the rule says) for anything else. */
export function wholeNumber(given: unknown, { name, least, most, usual, reason = 'bad-request' }: NumberRule): number {
  if (given === undefined) return usual;
  const value = typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw refuse(reason, `${name}=${JSON.stringify(given)} is not a whole number from ${least} to ${most}.`);
}
