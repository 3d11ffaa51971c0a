// What the Cosmos form prints for fields that are not set.

import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { TwinlineError } from '../../errors.ts';
import { gogoOptions } from '../descriptors/gogo.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { scalarDefault } from './scalars.ts';

const { IMPLICIT } = FeatureSet_FieldPresence;

// The JSON of well-known types with nothing set; the others are objects of their fields.
const WELL_KNOWN: { readonly [name: string]: string } = {
  'google.protobuf.Timestamp': '"1970-01-01T00:00:00Z"',
  'google.protobuf.Duration': '"0s"',
  'google.protobuf.Struct': '{}',
  'google.protobuf.ListValue': '[]',
  'google.protobuf.Value': 'null',
  'google.protobuf.Any': 'null',
  'google.protobuf.DoubleValue': '0',
  'google.protobuf.FloatValue': '0',
  'google.protobuf.Int64Value': '"0"',
  'google.protobuf.UInt64Value': '"0"',
  'google.protobuf.Int32Value': '0',
  'google.protobuf.UInt32Value': '0',
  'google.protobuf.BoolValue': 'false',
  'google.protobuf.StringValue': '""',
  'google.protobuf.BytesValue': 'null',
};

const GO_YEAR_1 = '"0001-01-01T00:00:00Z"';

/** The JSON of a message with nothing set. */
export type DefaultOf = (type: DescMessage) => string;

/**
 * Gives the JSON of messages with nothing set, in the Cosmos form. It throws ERR_CONFIG where `nullable = false` would
 * make that endless or longer than a limit.
 */
export function messageDefaults(): DefaultOf {
  const known = new Map<DescMessage, string>();
  const under = new Set<DescMessage>();
  const defaultOf: DefaultOf = (type) => {
    const found = known.get(type) ?? WELL_KNOWN[type.typeName];
    if (found !== undefined) return found;
    if (under.has(type)) throw endless(type, 'contains itself by nullable = false');
    under.add(type);
    const json = `{${[...type.fields].flatMap((field) => {
      const value = unsetJson(field, defaultOf);
      return value === undefined ? [] : [`${JSON.stringify(field.name)}:${value}`];
    })}}`;
    under.delete(type);
    if (json.length > GATEWAY_LIMITS.gatewayDefaultChars)
      throw endless(type, `is longer than ${GATEWAY_LIMITS.gatewayDefaultChars} characters with nothing set`);
    known.set(type, json);
    return json;
  };
  return defaultOf;
}

/** What the Cosmos form prints for a field that is not set; undefined: nothing. */
export function unsetJson(field: DescField, defaultOf: DefaultOf): string | undefined {
  if (field.fieldKind === 'list') return '[]';
  if (field.fieldKind === 'map') return '{}';
  if (field.oneof) return undefined;
  const { nullable, stdtime, type } = gogoOptions(field);
  if (field.fieldKind === 'message') {
    if (nullable) return 'null';
    return stdtime ? GO_YEAR_1 : defaultOf(field.message);
  }
  if (field.presence !== IMPLICIT && nullable) return 'null';
  // A struct of Go: a pointer to it may be nil, and with nothing in it it is "0".
  if (type === 'decimal' || type === 'whole') return nullable ? 'null' : '"0"';
  return field.fieldKind === 'enum' ? enumDefault(field.enum) : zero(field.scalar);
}

function zero(type: ScalarType): string {
  return type === ScalarType.BYTES ? 'null' : scalarDefault(type);
}

/** JSON of the first value of an enum. */
export function enumDefault(type: DescEnum): string {
  return type.typeName === 'google.protobuf.NullValue' ? 'null' : JSON.stringify(type.values[0]!.name);
}

function endless(type: DescMessage, why: string): TwinlineError {
  return new TwinlineError(
    'ERR_CONFIG',
    `The message ${type.typeName} cannot be written in the Cosmos form: it ${why}. Correct the descriptors.`,
  );
}
