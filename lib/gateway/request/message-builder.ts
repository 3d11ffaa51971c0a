// A request message that is being put together from texts: fields by path, each set once, then its bytes.

import { type DescField, type DescMessage, type DescOneof, ScalarType } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { named } from './named.ts';
import {
  enumParser,
  isZero,
  MESSAGE_PARSERS,
  type Parse,
  scalarParser,
  type Value,
  WRAPPERS,
  wireTypeOf,
  writeScalar,
} from './values.ts';

/** One message of the draft. */
export interface Draft {
  readonly type: DescMessage;
  readonly values: Map<DescField, Value | Value[] | Map<Value, Value> | Draft>;
  readonly oneofs: Map<DescOneof, DescField>;
}

export function createDraft(type: DescMessage): Draft {
  return { type, values: new Map(), oneofs: new Map() };
}

/** The fields from a message to a value inside it. */
export type FieldPath = readonly DescField[];

/**
 * The fields that a path such as `owner.id` goes through, by their names in the .proto file or in JSON; undefined when
 * there is none of that name. Throws an Error when the path goes on in something that is not a single message.
 */
export function fieldPath(type: DescMessage, path: string): FieldPath | undefined {
  const fields: DescField[] = [];
  let inside: DescMessage | undefined = type;
  for (const name of path.split('.')) {
    if (!inside) throw new Error(`invalid path: ${JSON.stringify(fields.at(-1)!.name)} is not a message`);
    const field: DescField | undefined = fieldOf(inside, name);
    if (!field) return undefined;
    fields.push(field);
    inside = field.fieldKind === 'message' ? field.message : undefined;
  }
  return fields;
}

function fieldOf({ fields }: DescMessage, name: string): DescField | undefined {
  return fields.find((field) => field.name === name) ?? fields.find((field) => field.jsonName === name);
}

/**
 * Sets the value at the end of a path from its texts; with `key`, one entry of a map. Throws an Error when the field
 * takes no text, one text only, has a value already, or belongs to a oneof that has one.
 */
export function setValue(
  draft: Draft,
  path: FieldPath,
  { texts, key }: { texts: readonly string[]; key?: string },
): void {
  const field = path.at(-1)!;
  const inner = open(draft, path.slice(0, -1));
  takeOneof(inner, field);
  if (field.fieldKind === 'map' || key !== undefined) setEntry(inner, field, { texts, key });
  else if (field.fieldKind === 'list') addElements(inner, field, texts);
  else setSingle(inner, field, texts);
}

function addElements(draft: Draft, field: DescField, texts: readonly string[]): void {
  const parse = parserOf(field);
  const list = (draft.values.get(field) as Value[] | undefined) ?? [];
  for (const text of texts) list.push(named(`parsing list ${JSON.stringify(field.name)}`, () => parse(text)));
  draft.values.set(field, list);
}

function setSingle(draft: Draft, field: DescField, texts: readonly string[]): void {
  const name = JSON.stringify(field.name);
  const parse = parserOf(field);
  if (texts.length > 1 || draft.values.has(field))
    throw new Error(`too many values for field ${name}${texts.length > 1 ? `: ${few(texts)}` : ''}`);
  draft.values.set(
    field,
    named(`parsing field ${name}`, () => parse(texts[0]!)),
  );
}

/** The bytes of the draft, its fields by number. Values that Protobuf leaves away are left away. */
export function encodeDraft(draft: Draft): Buffer {
  const writer = new BinaryWriter();
  encodeInto(writer, draft);
  const { buffer, byteOffset, byteLength } = writer.finish();
  return Buffer.from(buffer, byteOffset, byteLength);
}

function encodeInto(writer: BinaryWriter, { values }: Draft): void {
  const fields = values.size > 1 ? [...values.keys()].sort((a, b) => a.number - b.number) : values.keys();
  for (const field of fields) encodeField(writer, field, values.get(field)!);
}

function open(draft: Draft, path: FieldPath): Draft {
  let at = draft;
  for (const field of path) {
    takeOneof(at, field);
    const there = at.values.get(field);
    if (there instanceof Uint8Array) throw new Error(`too many values for field ${JSON.stringify(field.name)}`);
    const next = (there as Draft | undefined) ?? createDraft(field.message!);
    at.values.set(field, next);
    at = next;
  }
  return at;
}

function takeOneof(draft: Draft, field: DescField): void {
  const { oneof } = field;
  if (!oneof) return;
  const taken = draft.oneofs.get(oneof);
  if (taken && (taken !== field || !field.message))
    throw new Error(`field already set for oneof ${JSON.stringify(oneof.name)}`);
  draft.oneofs.set(oneof, field);
}

function setEntry(
  draft: Draft,
  field: DescField,
  { texts, key }: { texts: readonly string[]; key?: string | undefined },
): void {
  const name = JSON.stringify(field.name);
  if (field.fieldKind !== 'map') throw new Error(`field ${name} is not a map`);
  if (key === undefined) throw new Error(`field ${name} is a map: write ${field.name}[key]=value`);
  const map = (draft.values.get(field) as Map<Value, Value> | undefined) ?? new Map<Value, Value>();
  const parsedKey = named(`parsing map key ${name}`, () => scalarParser(field.mapKey)(key));
  if (texts.length > 1 || map.has(parsedKey))
    throw new Error(`more than one value provided for key ${JSON.stringify(key)} in map ${name}`);
  map.set(
    parsedKey,
    named(`parsing map value ${name}`, () => parserOf(field)(texts[0]!)),
  );
  draft.values.set(field, map);
}

const parsers = new WeakMap<DescField, Parse>();

/** Parses one value of a field, of its elements, or of its entries; throws an Error for messages no text stands for. */
export function parserOf(field: DescField): Parse {
  const known = parsers.get(field) ?? compileParser(field);
  parsers.set(field, known);
  return known;
}

function compileParser(field: DescField): Parse {
  if (field.enum) return enumParser(field.enum);
  if (!field.message) return scalarParser(field.scalar!);
  const { typeName } = field.message;
  const wrapped = WRAPPERS.get(typeName);
  if (wrapped !== undefined) return (text) => encodeWrapped(wrapped, scalarParser(wrapped)(text));
  const parse = Object.hasOwn(MESSAGE_PARSERS, typeName) ? MESSAGE_PARSERS[typeName] : undefined;
  if (!parse) throw new Error(`unsupported message type: ${JSON.stringify(typeName)}`);
  return parse;
}

function encodeWrapped(type: ScalarType, value: Value): Uint8Array {
  const writer = new BinaryWriter();
  if (!isZero(value)) writeScalar(writer.tag(1, wireTypeOf(type)), type, value);
  return writer.finish();
}

const { IMPLICIT } = FeatureSet_FieldPresence;

function encodeField(writer: BinaryWriter, field: DescField, value: Value | Value[] | Map<Value, Value> | Draft): void {
  if (value instanceof Map) for (const [key, one] of value) encodeEntry(writer, field, { key, value: one });
  else if (Array.isArray(value)) encodeList(writer, field, value);
  else if (isDraft(value)) {
    encodeInto(writer.tag(field.number, WireType.LengthDelimited).fork(), value);
    writer.join();
  } else if (field.message || field.oneof || field.presence !== IMPLICIT || !isZero(value))
    writeOne(writer, field.number, { type: typeOf(field), value });
}

function isDraft(value: Value | Draft): value is Draft {
  return typeof value === 'object' && !(value instanceof Uint8Array);
}

function encodeList(writer: BinaryWriter, field: DescField, values: readonly Value[]): void {
  const type = typeOf(field);
  if (field.fieldKind === 'list' && field.packed && wireTypeOf(type) !== WireType.LengthDelimited) {
    writer.tag(field.number, WireType.LengthDelimited).fork();
    for (const value of values) writeScalar(writer, type, value);
    writer.join();
  } else for (const value of values) writeOne(writer, field.number, { type, value });
}

function encodeEntry(writer: BinaryWriter, field: DescField, { key, value }: { key: Value; value: Value }): void {
  if (field.fieldKind !== 'map') return;
  writer.tag(field.number, WireType.LengthDelimited).fork();
  writeOne(writer, 1, { type: field.mapKey, value: key });
  writeOne(writer, 2, { type: typeOf(field), value });
  writer.join();
}

function writeOne(writer: BinaryWriter, number: number, { type, value }: { type: ScalarType; value: Value }): void {
  writeScalar(writer.tag(number, wireTypeOf(type)), type, value);
}

// Messages are their bytes already, and enums travel as numbers.
function typeOf(field: DescField): ScalarType {
  if (field.message) return ScalarType.BYTES;
  return field.enum ? ScalarType.INT32 : field.scalar!;
}

function few(texts: readonly string[]): string {
  const text = texts.join(', ');
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
