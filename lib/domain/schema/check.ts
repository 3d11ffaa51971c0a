// Checks bodies against their JSON Schemas: every error at once, in words, by field; and first of all whether they are too long.

import type { Detail } from '../../errors.ts';
import { isObject } from '../../given.ts';
import { escapeStep } from '../../json/reader.ts';
import type { Schema } from '../../json/schema.ts';
import { invalid } from '../problems.ts';

/** The value as what the schema describes; throws `invalid` with every error. */
export async function checkShape<T>(schema: Schema, value: unknown, what: string): Promise<T> {
  const all = await listProblems(schema, value);
  if (!all.length) return value as T;
  throw invalid(`${what} cannot be taken: ${all.length} problem${all.length > 1 ? 's' : ''}, see the details.`, all);
}

/** The errors of `value`; empty when it is valid. When a list or object is too long, only that is reported. */
export async function listProblems(schema: Schema, value: unknown): Promise<Detail[]> {
  const tooLong = lengthProblems(schema, value);
  if (tooLong.length) return tooLong;
  const { validate } = await import('./validate.ts');
  return validate(schema, value);
}

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

// An object with more unknown fields than these gets one error for all of them.
const UNKNOWN_NAMES = 100;

/** Lists and objects that are too long, in the words of ajv. They are reported before anything in them is validated. */
export function lengthProblems(schema: Schema, value: unknown, path = ''): Detail[] {
  if (typeof schema !== 'object') return [];
  const lengths = schema as Lengths;
  const type = Array.isArray(value) ? 'array' : typeof value;
  const ways = [...(lengths.oneOf ?? []), ...(lengths.anyOf ?? [])].filter((way) => (way as Lengths).type === type);
  // When several alternatives are of the value's type, ajv decides between them.
  const inWay = ways.length === 1 ? lengthProblems(ways[0]!, value, path) : [];
  if (Array.isArray(value)) return [...inWay, ...listLengthProblems(lengths, value, path)];
  return isObject(value) ? [...inWay, ...objectProblems(lengths, value, path)] : [];
}

function listLengthProblems({ maxItems, items }: Lengths, list: readonly unknown[], path: string): Detail[] {
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
  const declared = names.filter((name) => Object.hasOwn(properties, name));
  const at = (name: string) => `${path}/${escapeStep(name)}`;
  return [
    ...declared.flatMap((name) => lengthProblems(properties[name]!, object[name], at(name))),
    ...(typeof others === 'object' ? unknown.flatMap((name) => lengthProblems(others, object[name], at(name))) : []),
  ];
}
