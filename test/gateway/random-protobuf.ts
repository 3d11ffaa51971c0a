// Random message types and random bytes of them, from a seed: fields in any order, twice, packed or not, unknown ones.

import {
  create,
  createFileRegistry,
  type DescField,
  type DescMessage,
  type FileRegistry,
  ScalarType,
} from '@bufbuild/protobuf';
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { numbersFrom } from '../support/random.ts';

export interface Random {
  /** From 0 to `below` − 1. */
  int(below: number): number;
  pick<T>(list: readonly T[]): T;
  /** True once in `times`. */
  once(times: number): boolean;
}

export function randomFrom(seed: number): Random {
  const next = numbersFrom(seed);
  const int = (below: number): number => (next() * 2 ** 32) % below;
  return { int, pick: (list) => list[int(list.length)]!, once: (times) => int(times) === 0 };
}

const WELL_KNOWN = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  file_google_protobuf_empty,
].map(({ proto }) => proto);

const WELL_KNOWN_TYPES = [
  ...['Any', 'Timestamp', 'Duration', 'FieldMask', 'Struct', 'Value', 'ListValue', 'Empty'],
  ...['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'].map((name) => `${name}Value`),
];

const SCALARS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 18] as const;
const KEYS = [3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 18] as const;
const MESSAGES = ['M0', 'M1', 'M2', 'M3'];

export interface Schema {
  readonly registry: FileRegistry;
  readonly messages: readonly DescMessage[];
}

/** Four message types that contain each other, an enum, well-known types, maps and oneofs. */
export function randomSchema(random: Random): Schema {
  const proto2 = random.once(4);
  const file = create(FileDescriptorProtoSchema, {
    name: 'random.proto',
    package: 'random',
    syntax: proto2 ? 'proto2' : 'proto3',
    dependency: WELL_KNOWN.map(({ name }) => name),
    enumType: [
      {
        name: 'E',
        value: [enumValue('ZERO', 0), enumValue('ONE', 1), enumValue('LESS', -1), enumValue('FAR', 70_000)],
      },
    ],
    messageType: MESSAGES.map((name) => randomMessage(name, random, proto2)),
  });
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [...WELL_KNOWN, file] }));
  return { registry, messages: MESSAGES.map((name) => registry.getMessage(`random.${name}`)!) };
}

function enumValue(name: string, number: number) {
  return { name, number };
}

type FieldInit = Record<string, unknown> & { name: string; number: number };

function randomMessage(name: string, random: Random, proto2: boolean) {
  const numbers = new Set<number>();
  while (numbers.size < 1 + random.int(8))
    numbers.add(random.once(12) ? 20_000 + random.int(100_000) : 1 + random.int(40));
  const nested: Record<string, unknown>[] = [];
  const oneofs: string[] = [];
  const fields = [...numbers].map((number): FieldInit => {
    const label = random.pick([`f${number}`, `a_${number}`, `some_name${number}`, `X${number}`]);
    const field = { name: label, number, jsonName: protoCamelCase(label) };
    const shape = random.int(proto2 ? 9 : 10);
    if (shape < 2) return mapField(field, { nested, message: name, random });
    if (shape < 5) return { ...field, ...valueType(random), label: Label.REPEATED, ...packing(random) };
    if (shape === 5 && oneofs.length < 3) return oneofField(field, { oneofs, random });
    if (shape === 6 && oneofs.length) return { ...field, ...valueType(random), oneofIndex: 0 };
    return { ...field, ...valueType(random), label: Label.OPTIONAL };
  });
  // Repeated fields of messages and texts cannot be packed.
  for (const field of fields)
    if ([Type.STRING, Type.BYTES, Type.MESSAGE].includes(field.type as Type)) delete field.options;
  const optional = proto2 ? [] : makeOptional(fields, { oneofs, random });
  return { name, field: fields, nestedType: nested, oneofDecl: [...oneofs, ...optional].map((one) => ({ name: one })) };
}

function packing(random: Random) {
  return random.once(3) ? { options: { packed: random.once(2) } } : {};
}

function oneofField(field: FieldInit, { oneofs, random }: { oneofs: string[]; random: Random }): FieldInit {
  oneofs.push(`choice${oneofs.length}`);
  return { ...field, ...valueType(random), label: Label.OPTIONAL, oneofIndex: oneofs.length - 1 };
}

// proto3 `optional` is a oneof of its own in descriptors, after all others.
function makeOptional(fields: FieldInit[], { oneofs, random }: { oneofs: string[]; random: Random }): string[] {
  const made: string[] = [];
  for (const field of fields)
    if (
      field.label === Label.OPTIONAL &&
      field.oneofIndex === undefined &&
      field.type !== Type.MESSAGE &&
      random.once(3)
    ) {
      Object.assign(field, { proto3Optional: true, oneofIndex: oneofs.length + made.length });
      made.push(`_${field.name}`);
    }
  return made;
}

function valueType(random: Random): { type: Type; typeName?: string } {
  const kind = random.int(10);
  if (kind < 6) return { type: random.pick(SCALARS) as Type };
  if (kind === 6) return { type: Type.ENUM, typeName: '.random.E' };
  if (kind === 7) return { type: Type.MESSAGE, typeName: `.random.${random.pick(MESSAGES)}` };
  return { type: Type.MESSAGE, typeName: `.google.protobuf.${random.pick(WELL_KNOWN_TYPES)}` };
}

interface MapPlace {
  readonly nested: Record<string, unknown>[];
  readonly message: string;
  readonly random: Random;
}

function mapField(field: FieldInit, { nested, message, random }: MapPlace): FieldInit {
  const name = `Entry${field.number}`;
  const key = { name: 'key', number: 1, label: Label.OPTIONAL, type: random.pick(KEYS) as Type };
  const value = { name: 'value', number: 2, label: Label.OPTIONAL, ...valueType(random) };
  nested.push({ name, field: [key, value], options: { mapEntry: true } });
  return { ...field, label: Label.REPEATED, type: Type.MESSAGE, typeName: `.random.${message}.${name}` };
}

export interface BytesOptions {
  readonly registry: FileRegistry;
  readonly random: Random;
  /** No bytes of length 0: the library cannot tell them from bytes that are not set. @default false */
  readonly noEmptyBytes?: boolean;
  /** No text that is not UTF-8: the writer does not look at entries of a map that others replace. @default false */
  readonly utf8?: boolean;
  readonly depth?: number;
}

/** Bytes of a message of this type. */
export function randomBytes(type: DescMessage, options: BytesOptions): Uint8Array {
  const { random, depth = 0 } = options;
  const writer = new BinaryWriter();
  const special = SPECIAL[type.typeName];
  if (special && !random.once(8)) {
    special(writer, options);
    return writer.finish();
  }
  for (const field of shuffled(type.fields, random)) {
    if (random.once(3) || (depth > 4 && field.message)) continue;
    writeField(writer, field, { ...options, depth: depth + 1 });
    if (random.once(12)) writeField(writer, field, { ...options, depth: depth + 1 });
    if (random.once(12)) writeUnknown(writer, type, random);
  }
  return writer.finish();
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return random.once(2) ? [...list] : [...list].sort(() => random.int(3) - 1);
}

function writeUnknown(writer: BinaryWriter, type: DescMessage, random: Random): void {
  const number = 900 + random.int(50);
  if (type.fields.some((field) => field.number === number)) return;
  const wire = random.pick([
    WireType.Varint,
    WireType.Bit64,
    WireType.LengthDelimited,
    WireType.StartGroup,
    WireType.Bit32,
  ]);
  writer.tag(number, wire);
  if (wire === WireType.Varint) writer.uint64(random.int(1e9));
  if (wire === WireType.Bit64) writer.fixed64(1);
  if (wire === WireType.LengthDelimited) writer.bytes(Buffer.from('unknown'));
  if (wire === WireType.StartGroup) writer.tag(1, WireType.Varint).uint32(7).tag(number, WireType.EndGroup);
  if (wire === WireType.Bit32) writer.fixed32(1);
}

function writeField(writer: BinaryWriter, field: DescField, options: BytesOptions): void {
  const { random } = options;
  if (field.fieldKind === 'map') {
    for (let left = random.int(4); left > 0; left--) writeEntry(writer, field, options);
    return;
  }
  if (field.fieldKind !== 'list') {
    writeValue(writer, field, { ...options, number: field.number });
    return;
  }
  const scalar = field.enum ? ScalarType.INT32 : field.scalar;
  const packable = scalar !== undefined && wireOf(scalar) !== WireType.LengthDelimited;
  if (packable && random.once(2)) {
    writer.tag(field.number, WireType.LengthDelimited).fork();
    for (let left = random.int(4); left > 0; left--)
      if (field.enum) writer.int32(random.pick(ENUM));
      else writeScalar(writer, scalar, options);
    writer.join();
  } else
    for (let left = random.int(4); left > 0; left--)
      writeValue(writer, field, { ...options, number: field.number, known: true });
}

function writeEntry(writer: BinaryWriter, field: DescField & { fieldKind: 'map' }, given: BytesOptions): void {
  const options = { ...given, utf8: true };
  const { random } = options;
  writer.tag(field.number, WireType.LengthDelimited).fork();
  const parts = !random.once(6)
    ? ['key', 'value']
    : random.pick([['value', 'key'], ['key'], ['value'], [], ['key', 'key', 'value']]);
  for (const part of parts) {
    if (part === 'key') writeScalar(writer.tag(1, wireOf(field.mapKey)), field.mapKey, options);
    else writeValue(writer, field, { ...options, number: 2, known: true });
  }
  writer.join();
}

const ENUM = [0, 1, -1, 70_000];

// `known`: no value that the enum does not have. In lists the library keeps those that a closed enum does not have,
// although they are unknown fields.
type ValueOptions = BytesOptions & { readonly number: number; readonly known?: boolean };

function writeValue(writer: BinaryWriter, field: DescField, options: ValueOptions): void {
  const { number, random, known = false } = options;
  if (field.message) writer.tag(number, WireType.LengthDelimited).bytes(randomBytes(field.message, options));
  else if (field.enum) writer.tag(number, WireType.Varint).int32(random.pick(known ? ENUM : [...ENUM, 3, -99]));
  else writeScalar(writer.tag(number, wireOf(field.scalar!)), field.scalar!, options);
}

const TEXTS = [
  '',
  'a',
  'some "text"',
  'tab\t and \\ and \u0001',
  'Tariro 😀 ñ',
  '__proto__',
  '2',
  '10',
  '\u2028<&>',
  'x'.repeat(70),
];
const INTS = [0, 1, -1, 127, 128, 300, -300, 2 ** 31 - 1, -(2 ** 31)];
const LONGS = [0n, 1n, -1n, 300n, 2n ** 31n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 40n), 2n ** 32n];
const REALS = [0, -0, 1, 1.5, -2.25, 1024, NaN, Infinity, -Infinity];

function writeScalar(
  writer: BinaryWriter,
  type: ScalarType,
  { random, noEmptyBytes = false, utf8 = false }: BytesOptions,
): void {
  const int = () => random.pick(INTS);
  const unsigned = () => random.pick(INTS) >>> 0;
  const long = () => random.pick(LONGS);
  const ulong = () => BigInt.asUintN(64, random.pick(LONGS));
  const writes: { readonly [Type in ScalarType]: () => unknown } = {
    [ScalarType.INT32]: () => writer.int32(int()),
    [ScalarType.SINT32]: () => writer.sint32(int()),
    [ScalarType.SFIXED32]: () => writer.sfixed32(int()),
    [ScalarType.UINT32]: () => writer.uint32(unsigned()),
    [ScalarType.FIXED32]: () => writer.fixed32(unsigned()),
    [ScalarType.INT64]: () => writer.int64(long()),
    [ScalarType.SINT64]: () => writer.sint64(long()),
    [ScalarType.SFIXED64]: () => writer.sfixed64(long()),
    [ScalarType.UINT64]: () => writer.uint64(ulong()),
    [ScalarType.FIXED64]: () => writer.fixed64(ulong()),
    [ScalarType.BOOL]: () => writer.bool(random.once(2)),
    [ScalarType.FLOAT]: () => writer.float(random.pick(REALS)),
    [ScalarType.DOUBLE]: () => writer.double(random.once(3) ? random.int(1e9) / 7 : random.pick(REALS)),
    [ScalarType.STRING]: () =>
      !utf8 && random.once(60) ? writer.bytes(Buffer.from('61c328', 'hex')) : writer.string(random.pick(TEXTS)),
    [ScalarType.BYTES]: () => writer.bytes(Buffer.alloc((noEmptyBytes ? 1 : 0) + random.int(6), 1 + random.int(250))),
  };
  writes[type]();
}

function wireOf(type: ScalarType): WireType {
  const bits32 = [ScalarType.FLOAT, ScalarType.FIXED32, ScalarType.SFIXED32];
  const bits64 = [ScalarType.DOUBLE, ScalarType.FIXED64, ScalarType.SFIXED64];
  if (bits32.includes(type)) return WireType.Bit32;
  if (bits64.includes(type)) return WireType.Bit64;
  return type === ScalarType.STRING || type === ScalarType.BYTES ? WireType.LengthDelimited : WireType.Varint;
}

type Special = (writer: BinaryWriter, options: BytesOptions) => void;

// Mostly valid ones; the others come about when these are passed over.
const SPECIAL: { readonly [name: string]: Special } = {
  'google.protobuf.Timestamp': (writer, { random }) => {
    const seconds = random.pick([
      0n,
      -1n,
      1_700_000_000n,
      -62_135_596_800n,
      253_402_300_799n,
      951_782_400n,
      4_107_542_400n,
      -2_203_977_600n,
    ]);
    writer
      .tag(1, 0)
      .int64(seconds)
      .tag(2, 0)
      .int32(random.pick([0, 0, 5, 1_000, 120_000_000, 999_999_999]));
  },
  'google.protobuf.Duration': (writer, { random }) => {
    const sign = random.once(2) ? 1 : -1;
    writer.tag(1, 0).int64(sign * random.pick([0, 1, 90, 315_576_000_000]));
    writer.tag(2, 0).int32(sign * random.pick([0, 0, 5, 500_000_000, 1_000, 999_999_999]));
  },
  'google.protobuf.FieldMask': (writer, { random }) => {
    for (let left = random.int(3); left > 0; left--)
      writer.tag(1, 2).string(random.pick(['a', 'some_name', 'a.b_c', 'x1']));
  },
  'google.protobuf.Any': (writer, options) => {
    const { random, registry } = options;
    const name = random.pick([
      ...MESSAGES.map((one) => `random.${one}`),
      ...WELL_KNOWN_TYPES.map((one) => `google.protobuf.${one}`),
    ]);
    writer.tag(1, 2).string(`type.googleapis.com/${name}`);
    const inside = { ...options, depth: (options.depth ?? 0) + 1 };
    writer
      .tag(2, 2)
      .bytes((options.depth ?? 0) > 4 ? new Uint8Array() : randomBytes(registry.getMessage(name)!, inside));
  },
  'google.protobuf.Value': (writer, options) => {
    const { random, depth = 0, registry } = options;
    const kind = random.int(depth > 4 ? 4 : 6);
    if (kind === 0) writer.tag(1, 0).int32(0);
    if (kind === 1) writer.tag(2, 1).double(random.pick([0, 1.5, -7]));
    if (kind === 2) writer.tag(3, 2).string(random.pick(TEXTS));
    if (kind === 3) writer.tag(4, 0).bool(random.once(2));
    const deeper = { ...options, depth: depth + 1 };
    if (kind === 4) writer.tag(5, 2).bytes(randomBytes(registry.getMessage('google.protobuf.Struct')!, deeper));
    if (kind === 5) writer.tag(6, 2).bytes(randomBytes(registry.getMessage('google.protobuf.ListValue')!, deeper));
  },
};
