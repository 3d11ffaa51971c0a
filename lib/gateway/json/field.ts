// How one field is written as JSON: its key, its values by type and form, its default.

import { type DescEnum, type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { TwinlineError } from '../../errors.ts';
import { gogoOptions } from '../descriptors/gogo.ts';
import { enumDefault, unsetJson } from './default.ts';
import type { TypeWriter } from './dynamic.ts';
import { type FieldPlan, nested, type ObjectPlan, writeList, writeMap, writeSingle } from './object.ts';
import { literal, literalOf } from './out.ts';
import { decimal, rawJson, scalarDefault, scalarWriter, type ValueWriter, whole, wireOf } from './scalars.ts';
import { ascii } from './text.ts';
import { type Job, textOf, varint, WIRE } from './wire.ts';

/**
 * cosmos: names as in the .proto file, everything printed, null for what is not set, as nodes of the Cosmos SDK print.
 * proto3: lowerCamelCase and without defaults, as the Protobuf specification says.
 */
export type JsonForm = 'cosmos' | 'proto3';

/** What fields need to know of the other types. */
export interface Types {
  readonly form: JsonForm;
  /** Its members may be filled in later: types contain each other. */
  typeOf(type: DescMessage): TypeWriter;
  /** JSON of a message with nothing set, in the Cosmos form. */
  defaultOf(type: DescMessage): string;
}

const { IMPLICIT } = FeatureSet_FieldPresence;

/** Fields by number, with everything that stands between them when they are not set. */
export function objectPlan(fields: readonly DescField[], types: Types): ObjectPlan {
  const sorted = [...fields].sort((a, b) => a.number - b.number);
  const plans = sorted.map((field, index) => fieldPlan(field, { index, types }));
  const defaults = sorted.map((field, index) => {
    const value = types.form === 'cosmos' ? unsetJson(field, types.defaultOf) : undefined;
    return value === undefined ? Buffer.alloc(0) : Buffer.concat([plans[index]!.key.bytes, Buffer.from(value)]);
  });
  return withDefaults(plans, defaults);
}

/** The one field that is the whole answer, printed even when it is not set. */
export function onlyField(field: DescField, types: Types): ObjectPlan {
  const plan = { ...fieldPlan(field, { index: 0, types }), omits: false };
  const unset = types.form === 'cosmos' ? (unsetJson(field, types.defaultOf) ?? 'null') : plainUnset(field);
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
  const wire = field.message || fieldKind === 'map' ? WIRE.bytes : wireOf(enumType ? ScalarType.INT32 : field.scalar!);
  return {
    number: field.number,
    index,
    wire,
    packable: list && wire !== WIRE.bytes,
    key: literalOf(`,${JSON.stringify(cosmos ? proto.name : field.jsonName)}:`),
    write: shape[fieldKind],
    value: valueWriter(field, types),
    omits: !cosmos && (list || fieldKind === 'map' || (field.presence === IMPLICIT && !field.oneof)),
    oneof: bitOf(field),
    closed: enumType && !enumType.open && fieldKind !== 'map' ? numbersOf(enumType) : undefined,
    map: fieldKind === 'map' ? mapPlan(field, types) : undefined,
  };
}

// With more than 31 oneofs some share a bit; then fields may be put in order without need, which changes nothing.
function bitOf({ oneof, parent }: DescField): number {
  return oneof ? 1 << (parent.oneofs.indexOf(oneof) % 31) : 0;
}

function numbersOf({ values }: DescEnum): ReadonlySet<number> {
  return new Set(values.map(({ number }) => number));
}

function valueWriter(field: DescField, types: Types): ValueWriter {
  if (field.message) return nested(types.typeOf(field.message));
  if (field.enum) return enumWriter(field.enum, types.form);
  const scalar = field.scalar!;
  if (types.form === 'proto3') return scalarWriter(scalar, field.utf8Validation);
  const { type } = gogoOptions(field);
  if (type === 'json' && scalar === ScalarType.BYTES) return rawJson;
  if (type !== 'plain' && type !== 'json' && wireOf(scalar) === WIRE.bytes) return type === 'decimal' ? decimal : whole;
  return scalarWriter(scalar, false);
}

/** Names of values; the number where there is none. */
export function enumWriter(type: DescEnum, form: JsonForm): ValueWriter {
  const first = type.values[0]?.number ?? 0;
  const names = new Map(
    Object.values(type.value).map((value) => [
      value.number,
      literalOf(JSON.stringify(form === 'cosmos' ? value.name : value.jsonName)),
    ]),
  );
  if (type.typeName === 'google.protobuf.NullValue') return nullWriter;
  return (job) => {
    const number = varint(job) | 0;
    const name = names.get(number);
    if (name) literal(job, name);
    else ascii(job, String(number));
    return number === first;
  };
}

const NULL = literalOf('null');

// Whatever its number.
const nullWriter: ValueWriter = (job) => {
  const number = varint(job);
  literal(job, NULL);
  return number === 0;
};

function mapPlan(field: DescField & { fieldKind: 'map' }, types: Types): NonNullable<FieldPlan['map']> {
  const { mapKey, message, scalar } = field;
  const text = mapKey === ScalarType.STRING;
  const strict = types.form === 'proto3' && field.utf8Validation;
  const valueWire = message ? WIRE.bytes : wireOf(scalar ?? ScalarType.INT32);
  return {
    keyTag: (1 << 3) | wireOf(mapKey),
    key: text ? (job, end) => textOf(job, end, strict) : plainKey(scalarWriter(mapKey, true)),
    unsetKey: text ? '' : mapKey === ScalarType.BOOL ? 'false' : '0',
    valueTag: (2 << 3) | valueWire,
    unset: unsetMapValue(field, types),
  };
}

function unsetMapValue(field: DescField & { fieldKind: 'map' }, types: Types): (job: Job) => void {
  if (field.message) {
    const type = types.typeOf(field.message);
    return (job) => type.write(job, job.at);
  }
  const json = literalOf(field.enum ? enumDefault(field.enum) : scalarDefault(field.scalar));
  return (job) => literal(job, json);
}

// Writes the key as a value, and takes that back.
function plainKey(write: ValueWriter): (job: Job, end: number) => string {
  return (job, end) => {
    const { to } = job;
    write(job, end);
    const text = job.out.toString('latin1', to, job.to);
    job.to = to;
    return text.replaceAll('"', '');
  };
}

function plainUnset(field: DescField): string {
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
      `${field} is a group, which Twinline does not read. Disable the methods that answer with ${field.parent.typeName}.`,
    );
}
