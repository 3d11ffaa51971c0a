// What a vote is held on, and its hash: a domain that differs in it is another one than the voters have seen.

import { canonicalHash } from '../../json/canonical.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import type { StoredDomain } from './record.ts';

/** The fields that a vote is held on. */
export const MATERIAL = ['type', 'class', 'controllers', 'properties', 'relationships'] as const;

/** Of everything that is material about a domain; see MATERIAL. */
export function materialHash(body: Pick<StoredDomain, (typeof MATERIAL)[number]>): string {
  return canonicalHash(Object.fromEntries(MATERIAL.map((field) => [field, body[field]])) as JsonObject);
}

/** Of the domain together with the package that a proposal brings along. */
export function packageHash(material: string, content: Json | undefined): string {
  return canonicalHash({ material, package: content ?? null });
}
