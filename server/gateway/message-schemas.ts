// Protobuf messages as JSON Schemas, matching the gateway's output.

import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { readGogoOptions } from '../../lib/gateway/descriptors/options.ts';
import type { JsonForm } from '../../lib/gateway/index.ts';
import type { Schema } from '../../lib/json/schema.ts';

export interface MessageSchemas {
  of(type: DescMessage): Schema;
  /** For a single field. */
  ofField(type: DescMessage, field: string): Schema;
  /** All requested messages and the messages inside them, by full name. */
  listNamed(): { readonly [name: string]: Schema };
}

const TEXT: Schema = { type: 'string' };
const WHOLE: Schema = { type: 'integer' };
const LONG: Schema = { type: 'string', pattern: '^-?[0-9]+$' };
const REAL: Schema = { anyOf: [{ type: 'number' }, { enum: ['NaN', 'Infinity', '-Infinity'] }] };
const YES: Schema = { type: 'boolean' };
const BYTES: Schema = { type: 'string', contentEncoding: 'base64' };
const TIME: Schema = { type: 'string', format: 'date-time' };
const ANY: Schema = { type: 'object', properties: { '@type': TEXT }, additionalProperties: true };

const SCALARS: { readonly [type in ScalarType]: Schema } = {
  [ScalarType.DOUBLE]: REAL,
  [ScalarType.FLOAT]: REAL,
  [ScalarType.INT64]: LONG,
  [ScalarType.UINT64]: LONG,
  [ScalarType.INT32]: WHOLE,
  [ScalarType.FIXED64]: LONG,
  [ScalarType.FIXED32]: WHOLE,
  [ScalarType.BOOL]: YES,
  [ScalarType.STRING]: TEXT,
  [ScalarType.BYTES]: BYTES,
  [ScalarType.UINT32]: WHOLE,
  [ScalarType.SFIXED32]: WHOLE,
  [ScalarType.SFIXED64]: LONG,
  [ScalarType.SINT32]: WHOLE,
  [ScalarType.SINT64]: LONG,
};

const WELL_KNOWN: { readonly [name: string]: Schema } = {
  'google.protobuf.Timestamp': TIME,
  'google.protobuf.Duration': { type: 'string', pattern: 's$' },
  'google.protobuf.Any': ANY,
  'google.protobuf.Struct': { type: 'object', additionalProperties: true },
  'google.protobuf.ListValue': { type: 'array', items: true },
  'google.protobuf.Value': true,
  'google.protobuf.DoubleValue': REAL,
  'google.protobuf.FloatValue': REAL,
  'google.protobuf.Int64Value': LONG,
  'google.protobuf.UInt64Value': LONG,
  'google.protobuf.Int32Value': WHOLE,
  'google.protobuf.UInt32Value': WHOLE,
  'google.protobuf.BoolValue': YES,
  'google.protobuf.StringValue': TEXT,
  'google.protobuf.BytesValue': BYTES,
};

/** For a query parameter, by type name: `uint64`, or a well-known message. */
export function valueSchema(type: string): Schema {
  const scalar = ScalarType[type.toUpperCase() as keyof typeof ScalarType];
  return scalar === undefined ? (WELL_KNOWN[type] ?? TEXT) : SCALARS[scalar];
}

/** Schemas for one JSON form; each message is described once. */
export function messageSchemas(form: JsonForm): MessageSchemas {
  const named = new Map<string, Schema>();
  const isCosmos = form === 'cosmos';

  function of(type: DescMessage): Schema {
    const { typeName } = type;
    // The only well-known type whose JSON differs between the forms.
    if (typeName === 'google.protobuf.FieldMask' && !isCosmos) return TEXT;
    const existing = WELL_KNOWN[typeName] ?? named.get(typeName);
    if (existing !== undefined) return existing;
    const properties: { [name: string]: Schema } = {};
    const schema: Schema = { type: 'object', properties };
    // Register before visiting the fields, because messages can be recursive.
    named.set(typeName, schema);
    for (const field of type.fields) properties[isCosmos ? field.name : field.jsonName] = describeField(field);
    return schema;
  }

  function describeField(field: DescField): Schema {
    if (field.fieldKind === 'list') return { type: 'array', items: describeElement(field) };
    if (field.fieldKind === 'map') return { type: 'object', additionalProperties: describeElement(field) };
    // In the Cosmos form, unset fields and empty bytes are null.
    const isMaybe = isCosmos && (field.message || field.scalar === ScalarType.BYTES || field.proto.proto3Optional);
    return isMaybe ? { anyOf: [describeElement(field), { type: 'null' }] } : describeElement(field);
  }

  function describeElement(field: DescField): Schema {
    if (field.message) return of(field.message);
    // Unknown enum values are numbers.
    if (field.enum)
      return { anyOf: [{ enum: field.enum.values.map((value) => value.name) }, { type: ['integer', 'null'] }] };
    const { type } = readGogoOptions(field);
    if (!isCosmos || type === 'plain') return SCALARS[field.scalar!];
    // Custom Go types: a number as text, or raw JSON.
    return type === 'json' ? true : TEXT;
  }

  return {
    of,
    ofField: (type, name) => {
      const field = type.fields.find((one) => one.name === name)!;
      // As a single field, an unset message is written in both forms.
      return field.fieldKind === 'message'
        ? { anyOf: [describeElement(field), { type: 'null' }] }
        : describeField(field);
    },
    listNamed: () => Object.fromEntries(named),
  };
}
