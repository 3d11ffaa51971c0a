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

/** How `limit` is read; `most` is the route's. */
export const LIMIT = { name: 'limit', least: 1, usual: 20, reason: 'bad-limit' } as const;

type Given = { readonly [name: string]: string | readonly string[] | undefined };

/** These parameters, where they are given; throws `bad-request` for one that is given more than once. */
export function once<Name extends string>(query: Given, names: readonly Name[]): { readonly [name in Name]?: string } {
  const given = names.filter((name) => query[name] !== undefined);
  const repeated = given.find((name) => typeof query[name] !== 'string');
  if (repeated === undefined) return Object.fromEntries(given.map((name) => [name, query[name]])) as never;
  const reason = repeated === 'cursor' ? 'bad-cursor' : 'bad-request';
  throw refuse(reason, `${repeated} is given more than once. Give it once; filter=in(…) takes several values.`);
}

/** How a record is asked for: `at` a revision or moment, whole (`composed`) or as it is stored. */
export function readView(query: Given): { readonly at?: string; readonly view?: string } {
  const { at, view } = once(query, ['at', 'view']);
  if (view !== undefined && view !== 'composed' && view !== 'plain')
    throw refuse('bad-request', `view=${JSON.stringify(view)} is not one of plain, composed.`);
  return { ...(at !== undefined && { at }), ...(view !== undefined && { view }) };
}
