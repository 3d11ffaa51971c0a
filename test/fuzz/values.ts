// Random values that fit a JSON Schema of the OpenAPI document, and values that fit none.

import fc, { type Arbitrary } from 'fast-check';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: { readonly [name: string]: Schema | boolean };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly examples?: readonly unknown[];
}

export type Schemas = { readonly [name: string]: Schema };

const ITEMS_MAX = 3;
const LENGTH_MAX = 40;
const DEPTH_MAX = 5;

/** Names in `<<>>` stand for what a server has; they are replaced when the request is sent. */
const FORMATS: { readonly [format: string]: Arbitrary<string> } = {
  did: fc.constantFrom('<<did>>', '<<verified>>', '<<protocol>>', 'did:ixo:owner', 'did:ixo:entity:0'),
  'did-reference': fc.constantFrom('<<did>>', '<<did>>#x', '<<protocol>>'),
  'date-time': fc.constantFrom('2026-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00+14:00'),
  uri: fc.constantFrom('https://a.example/', 'urn:x', 'did:ixo:owner'),
};

/** Fields in which a phone gateway sends what a caller types. */
const PIN_FIELDS = new Set(['text', 'input', 'Message', 'USERDATA', 'userData']);

/** Text, numbers, shapes and sizes at which readers of JSON fail. */
export const HOSTILE: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, '', '\0', '\u202e', '\ud83d\ude00', '__proto__', '$ne', 'a.b', {}, [], [[]]),
  fc.constantFrom<unknown>(0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e300, 5e-324, '1e999', '-0', 'NaN'),
  fc.constantFrom<unknown>({ $gt: '' }, { $where: '1' }, { 'a.b': 1 }, { toString: 1 }, { length: 1e9 }),
  fc.constantFrom('x'.repeat(257), '\u00e9'.repeat(5_000), 'a*'.repeat(500), '../'.repeat(20), '\'"<script>'),
  fc.integer({ min: 20, max: 60 }).map((depth) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Values that the schema allows, as far as it is read here. */
export function valuesOf(schema: Schema, schemas: Schemas, depth = 0): Arbitrary<unknown> {
  if (schema.$ref) return namedValuesOf(schema.$ref.split('/').at(-1)!, schemas, depth);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.oneOf ?? (schema.properties ? undefined : schema.anyOf);
  if (choices) return fc.oneof(...choices.map((one) => valuesOf(one, schemas, depth)));
  if (schema.allOf) return valuesOf(Object.assign({}, schema, ...schema.allOf, { allOf: undefined }), schemas, depth);
  const own = TYPES[typeOf(schema)]?.(schema, schemas, depth) ?? fc.jsonValue({ maxDepth: 2 });
  return schema.examples ? fc.oneof(fc.constantFrom(...schema.examples), own) : own;
}

const made = new WeakMap<Schemas, Map<string, Arbitrary<unknown>>>();

function namedValuesOf(name: string, schemas: Schemas, depth: number): Arbitrary<unknown> {
  const kept = made.get(schemas) ?? new Map<string, Arbitrary<unknown>>();
  made.set(schemas, kept);
  const key = `${name} ${depth}`;
  const values = kept.get(key) ?? valuesOf(schemas[name] ?? {}, schemas, depth);
  kept.set(key, values);
  return values;
}

function typeOf({ type, properties }: Schema): string {
  const name = typeof type === 'object' ? type[0] : type;
  return name ?? (properties ? 'object' : 'any');
}

const TYPES: { readonly [type: string]: (schema: Schema, schemas: Schemas, depth: number) => Arbitrary<unknown> } = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum = -(2 ** 31), maximum = 2 ** 31 }) =>
    fc.oneof(
      fc.constantFrom(minimum, maximum),
      fc.integer({ min: Math.ceil(minimum), max: Math.min(maximum, 2 ** 52) }),
    ),
  number: ({ minimum = -1e9, maximum = 1e9 }) => fc.double({ min: minimum, max: maximum, noNaN: true }),
  string: texts,
  array: ({ items = {}, minItems = 0, maxItems = ITEMS_MAX }, schemas, depth) =>
    fc.array(valuesOf(items, schemas, depth + 1), {
      minLength: minItems,
      maxLength: Math.max(minItems, Math.min(maxItems, depth < DEPTH_MAX ? ITEMS_MAX : 0)),
    }),
  object: ({ properties = {}, required = [] }, schemas, depth) => {
    const kept = Object.entries(properties).filter(
      (entry): entry is [string, Schema] =>
        typeof entry[1] === 'object' && (depth < DEPTH_MAX || required.includes(entry[0])),
    );
    const fields = Object.fromEntries(
      kept.map(([name, one]) => {
        const own = valuesOf(one, schemas, depth + 1);
        return [name, PIN_FIELDS.has(name) ? fc.oneof(own, fc.constantFrom('<<pin>>', '1*<<pin>>')) : own];
      }),
    );
    return fc.record(fields, { requiredKeys: required.filter((name) => Object.hasOwn(fields, name)) });
  },
};

function texts({ format = '', pattern, minLength = 0, maxLength = LENGTH_MAX }: Schema): Arbitrary<string> {
  if (FORMATS[format]) return FORMATS[format];
  if (pattern)
    try {
      return fc.stringMatching(new RegExp(pattern));
    } catch {
      // A pattern that fast-check cannot turn round: any text of this length.
    }
  return fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, LENGTH_MAX)) });
}
