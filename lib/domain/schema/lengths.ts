// Lists and objects that are longer than their schema allows: looked for before anything in them is checked.

import type { Detail } from '../../errors.ts';
import { escapeStep } from '../../json/pointer.ts';
import { isObject } from '../../shape.ts';
import type { Schema } from './parts.ts';

interface Lengths {
  readonly type?: unknown;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

// More names than these beside the ones that are known are no slip of the pen.
const UNKNOWN_NAMES = 100;

/** What is too long, in the words of the schema library; what is too long is not looked into. */
export function lengthProblems(schema: Schema, value: unknown, path = ''): Detail[] {
  if (typeof schema !== 'object') return [];
  const lengths = schema as Lengths;
  const ways = [...(lengths.oneOf ?? []), ...(lengths.anyOf ?? [])].filter((way) => isFor(way, value));
  // A value that may be of several forms of its type is left to the schema.
  const inForms = ways.length === 1 ? lengthProblems(ways[0]!, value, path) : [];
  if (Array.isArray(value)) return [...inForms, ...listProblems(lengths, value, path)];
  return isObject(value) ? [...inForms, ...objectProblems(lengths, value, path)] : [];
}

function isFor(way: Schema, value: unknown): boolean {
  const { type } = way as Lengths;
  return type === (Array.isArray(value) ? 'array' : typeof value);
}

function listProblems({ maxItems, items }: Lengths, list: readonly unknown[], path: string): Detail[] {
  if (maxItems !== undefined && list.length > maxItems)
    return [{ field: path || '/', error: `must NOT have more than ${maxItems} items` }];
  if (items === undefined) return [];
  return list.flatMap((item, at) => lengthProblems(items, item, `${path}/${at}`));
}

function objectProblems(lengths: Lengths, object: { readonly [name: string]: unknown }, path: string): Detail[] {
  const { maxProperties, properties = {}, additionalProperties: others } = lengths;
  const names = Object.keys(object);
  if (maxProperties !== undefined && names.length > maxProperties)
    return [{ field: path || '/', error: `must NOT have more than ${maxProperties} properties` }];
  const unknown = names.filter((name) => !Object.hasOwn(properties, name));
  if (others === false && unknown.length > UNKNOWN_NAMES)
    return [{ field: path || '/', error: `has ${unknown.length} fields that are not known, such as "${unknown[0]}"` }];
  const known = names.filter((name) => Object.hasOwn(properties, name));
  const at = (name: string) => `${path}/${escapeStep(name)}`;
  return [
    ...known.flatMap((name) => lengthProblems(properties[name]!, object[name], at(name))),
    ...(typeof others === 'object' ? unknown.flatMap((name) => lengthProblems(others, object[name], at(name))) : []),
  ];
}
