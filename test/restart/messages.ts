// What the restart loop and its writers tell each other, and what they write: texts that show when they are torn.

import { createHash } from 'node:crypto';
import type { Json } from '../../lib/json/json.ts';
import type { Kind } from '../../lib/store/store.ts';

/** The last revision that was acknowledged, by session key or document id. */
export type Acknowledged = { readonly [name: string]: number };

/** To a writer: what must be there, and where in the feed of changes to begin. */
export interface Task {
  readonly sessions: Acknowledged;
  readonly documents: Acknowledged;
  readonly after: number;
}

/** From a writer. */
export type Told =
  /** All of the task is there, and this is what there is. */
  | ({ readonly kind: 'checked' } & Task)
  | { readonly kind: 'broken'; readonly what: string }
  | { readonly kind: 'session' | 'document'; readonly name: string; readonly revision: number };

export const SESSIONS = 6;
export const DOCUMENTS = 3;
export const KIND: Kind = { name: 'restarted', indexes: { revision: { fields: ['revision'] } } };

/** Of a few bytes up to several pages of a database. */
export function textOf(name: string, revision: number): string {
  const sum = createHash('sha256').update(`${name} ${revision}`).digest('hex');
  return `${name} ${revision} ${sum.repeat(1 + ((revision * 7) % 150))}`;
}

export const bodyOf = (name: string, revision: number): { readonly [field: string]: Json } => ({
  revision,
  text: textOf(name, revision),
});
