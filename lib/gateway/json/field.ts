// How a field is written as JSON: its key, its values by type and form, and its default.

import { type DescEnum, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence, isWrapperDesc } from '@bufbuild/protobuf/wkt';
import type { DescField, DescMessage } from '#protobuf';
import { TwinlineError } from '../../errors.ts';
import { readGogoOptions } from '../descriptors/options.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { type FieldPlan, nestedWriter, type ObjectPlan, writeList, writeMap, writeSingle } from './object.ts';
import { createLiteral, writeAscii, writeLiteral } from './output.ts';
import { findWireType, scalarDefault, scalarWriter, writeDecimal, writeRawJson, writeWhole } from './scalars.ts';
import { readText, readVarint, type TypeWriter, type ValueWriter, WIRE, type WriteState } from './wire.ts';

/**
 * cosmos: .proto field names, all fields, null for unset messages, like Cosmos SDK nodes. proto3: lowerCamelCase without
 * defaults, as in the Protobuf specification.
 */
export type JsonForm = 'cosmos' | 'proto3';

/** What a field needs to know about other types. */
export interface Types {
  readonly form: JsonForm;
  /** May return a writer that is completed later, because types can be recursive. */
  getWriter(type: DescMessage): TypeWriter;
  /** The JSON of an empty message in the Cosmos form. */
  getDefault(type: DescMessage): string;
}

const { IMPLICIT } = FeatureSet_FieldPresence;

/** Plans the fields by number, with the defaults to print between them. */
export function objectPlan(fields: readonly DescField[], types: Types): ObjectPlan {
  const sorted = [...fields].sort((a, b) => a.number - b.number);
  const plans = sorted.map((field, index) => fieldPlan(field, { index, types }));
  const defaults = sorted.map((field, index) => {
    const value = types.form === 'cosmos' ? defaultJson(field, types.getDefault) : undefined;
    return value === undefined ? Buffer.alloc(0) : Buffer.concat([plans[index]!.key.bytes, Buffer.from(value)]);
  });
  return withDefaults(plans, defaults);
}

/** Plans a single field as the whole output, printed even when unset. */
export function singleFieldPlan(field: DescField, types: Types): ObjectPlan {
  const plan = { ...fieldPlan(field, { index: 0, types }), omits: false };
  const unset = types.form === 'cosmos' ? (defaultJson(field, types.getDefault) ?? 'null') : defaultProto3(field);
  return withDefaults([plan], [Buffer.concat([plan.key.bytes, Buffer.from(unset)])]);
}

function withDefaults(fields: readonly FieldPlan[], defaults: readonly Buffer[]): ObjectPlan {
  const offsets = [0];
  for (const text of defaults) offsets.push(offsets.at(-1)! + text.length);
  const byNumber = new Map(fields.map((field) => [field.number, field]));
  return { fields, byNumber, defaults: Buffer.concat(defaults), offsets, gaps: new Map() };
}

export function fieldPlan(field: DescField, { index, types }: { index: number; types: Types }): FieldPlan {
  refuseGroups(field);
  const cosmos = types.form === 'cosmos';
  const { fieldKind, proto } = field;
  const list = fieldKind === 'list';
  const enumType = field.enum;
  const shape = { list: writeList, map: writeMap, scalar: writeSingle, enum: writeSingle, message: writeSingle };
  const wire =
    field.message || fieldKind === 'map' ? WIRE.bytes : findWireType(enumType ? ScalarType.INT32 : field.scalar!);
  return {
    number: field.number,
    index,
    wire,
    packable: list && wire !== WIRE.bytes,
    key: createLiteral(`,${JSON.stringify(cosmos ? proto.name : field.jsonName)}:`),
    write: shape[fieldKind],
    value: valueWriter(field, types),
    omits: !cosmos && (list || fieldKind === 'map' || (field.presence === IMPLICIT && !field.oneof)),
    oneof: oneofBit(field),
    closed: enumType && !enumType.open && fieldKind !== 'map' ? listNumbers(enumType) : undefined,
    map: fieldKind === 'map' ? mapPlan(field, types) : undefined,
  };
}

// Beyond 31 oneofs, some share a bit; then fields may be sorted unnecessarily, which is harmless.
function oneofBit({ oneof, parent }: DescField): number {
  return oneof ? 1 << (parent.oneofs.indexOf(oneof) % 31) : 0;
}

function listNumbers({ values }: DescEnum): ReadonlySet<number> {
  return new Set(values.map(({ number }) => number));
}

function valueWriter(field: DescField, types: Types): ValueWriter {
  if (field.message) return nestedWriter(types.getWriter(field.message));
  if (field.enum) return enumWriter(field.enum, types.form);
  const scalar = field.scalar!;
  if (types.form === 'proto3') return scalarWriter(scalar, field.utf8Validation);
  const { type } = readGogoOptions(field);
  if (type === 'json' && scalar === ScalarType.BYTES) return writeRawJson;
  if (type !== 'plain' && type !== 'json' && findWireType(scalar) === WIRE.bytes)
    return type === 'decimal' ? writeDecimal : writeWhole;
  return scalarWriter(scalar, false);
}

/** Writes the name of an enum value, or its number if it has none. */
function enumWriter(type: DescEnum, form: JsonForm): ValueWriter {
  const first = type.values[0]?.number ?? 0;
  const names = new Map(
    Object.values(type.value).map((value) => [
      value.number,
      createLiteral(JSON.stringify(form === 'cosmos' ? value.name : value.jsonName)),
    ]),
  );
  if (type.typeName === 'google.protobuf.NullValue') return nullWriter;
  return (state) => {
    const number = readVarint(state) | 0;
    const name = names.get(number);
    if (name) writeLiteral(state, name);
    else writeAscii(state, String(number));
    return number === first;
  };
}

const NULL = createLiteral('null');

// NullValue is null, whatever its number.
const nullWriter: ValueWriter = (state) => {
  const number = readVarint(state);
  writeLiteral(state, NULL);
  return number === 0;
};

function mapPlan(field: DescField & { fieldKind: 'map' }, types: Types): NonNullable<FieldPlan['map']> {
  const { mapKey, message, scalar } = field;
  const text = mapKey === ScalarType.STRING;
  const strict = types.form === 'proto3' && field.utf8Validation;
  const valueWire = message ? WIRE.bytes : findWireType(scalar ?? ScalarType.INT32);
  return {
    keyTag: (1 << 3) | findWireType(mapKey),
    key: text ? (state, end) => readText(state, end, strict) : textKeyReader(scalarWriter(mapKey, true)),
    unsetKey: text ? '' : mapKey === ScalarType.BOOL ? 'false' : '0',
    valueTag: (2 << 3) | valueWire,
    unset: unsetMapValue(field, types),
  };
}

function unsetMapValue(field: DescField & { fieldKind: 'map' }, types: Types): (state: WriteState) => void {
  if (field.message) {
    const type = types.getWriter(field.message);
    return (state) => type.write(state, state.at);
  }
  const json = createLiteral(field.enum ? enumDefault(field.enum) : scalarDefault(field.scalar));
  return (state) => writeLiteral(state, json);
}

// Writes the key to the output, reads it back and undoes the write.
function textKeyReader(write: ValueWriter): (state: WriteState, end: number) => string {
  return (state, end) => {
    const { to } = state;
    write(state, end);
    const text = state.out.toString('latin1', to, state.to);
    state.to = to;
    return text.replaceAll('"', '');
  };
}

function defaultProto3(field: DescField): string {
  if (field.fieldKind === 'list') return '[]';
  if (field.fieldKind === 'map') return '{}';
  if (field.message || field.presence !== IMPLICIT || field.oneof) return 'null';
  return field.enum ? enumDefault(field.enum) : scalarDefault(field.scalar);
}

function refuseGroups(field: DescField): void {
  const delimited = field.message && 'delimitedEncoding' in field && field.delimitedEncoding;
  if (delimited)
    throw new TwinlineError(
      'ERR_CONFIG',
      `${field} is a group, which Twinline does not support. Disable the methods that return ${field.parent.typeName}.`,
    );
}

// The JSON of empty well-known types; all others are objects.
const WELL_KNOWN: { readonly [name: string]: string } = {
  'google.protobuf.Timestamp': '"1970-01-01T00:00:00Z"',
  'google.protobuf.Duration': '"0s"',
  'google.protobuf.Struct': '{}',
  'google.protobuf.ListValue': '[]',
  'google.protobuf.Value': 'null',
  'google.protobuf.Any': 'null',
};

const GO_YEAR_1 = '"0001-01-01T00:00:00Z"';

/** Returns the JSON of an empty message. */
type GetDefault = (type: DescMessage) => string;

/**
 * Computes the JSON of empty messages in the Cosmos form. The result throws ERR_CONFIG where `nullable = false` makes it
 * infinite or too long.
 */
export function createDefaults(): GetDefault {
  const cache = new Map<DescMessage, string>();
  const under = new Set<DescMessage>();
  const getDefault: GetDefault = (type) => {
    const cached = cache.get(type) ?? WELL_KNOWN[type.typeName];
    if (cached !== undefined) return cached;
    if (isWrapperDesc(type)) return defaultScalar(type.fields[0].scalar);
    if (under.has(type)) throw endlessDefault(type, 'contains itself with nullable = false');
    under.add(type);
    const members = type.fields.flatMap((field) => {
      const value = defaultJson(field, getDefault);
      return value === undefined ? [] : [`${JSON.stringify(field.name)}:${value}`];
    });
    const json = `{${members}}`;
    under.delete(type);
    if (json.length > GATEWAY_LIMITS.gatewayDefaultChars)
      throw endlessDefault(type, `is longer than ${GATEWAY_LIMITS.gatewayDefaultChars} characters when empty`);
    cache.set(type, json);
    return json;
  };
  return getDefault;
}

/** What the Cosmos form prints for an unset field; undefined for nothing. */
function defaultJson(field: DescField, getDefault: GetDefault): string | undefined {
  if (field.fieldKind === 'list') return '[]';
  if (field.fieldKind === 'map') return '{}';
  if (field.oneof) return undefined;
  const { nullable, stdtime, type } = readGogoOptions(field);
  if (field.fieldKind === 'message') {
    if (nullable) return 'null';
    return stdtime ? GO_YEAR_1 : getDefault(field.message);
  }
  if (field.presence !== IMPLICIT && nullable) return 'null';
  // A Go struct: nil as a pointer, otherwise "0" when empty.
  if (type === 'decimal' || type === 'whole') return nullable ? 'null' : '"0"';
  return field.fieldKind === 'enum' ? enumDefault(field.enum) : defaultScalar(field.scalar);
}

function defaultScalar(type: ScalarType): string {
  return type === ScalarType.BYTES ? 'null' : scalarDefault(type);
}

/** JSON of the first value of an enum. */
function enumDefault(type: DescEnum): string {
  return type.typeName === 'google.protobuf.NullValue' ? 'null' : JSON.stringify(type.values[0]!.name);
}

function endlessDefault(type: DescMessage, why: string): TwinlineError {
  return new TwinlineError(
    'ERR_CONFIG',
    `The message ${type.typeName} has no Cosmos form: it ${why}. Correct the descriptors.`,
  );
}
