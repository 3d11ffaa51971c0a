// JSON in one canonical form (RFC 8785): the same content is the same text, so it can be hashed.

import { createHash } from 'node:crypto';
import type { Json } from '../store/store.ts';

/** Members sorted by UTF-16 code units, no white space, numbers and strings as ECMAScript writes them. */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as { readonly [name: string]: Json | undefined };
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name]!)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of the canonical form, in lower-case hexadecimal digits. */
export function canonicalHash(value: Json): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
