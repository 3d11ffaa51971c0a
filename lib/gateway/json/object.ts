// Converts messages, lists and maps from wire format to JSON in one pass, without intermediate objects.

import { createLiteral, type Literal, writeByte, writeLiteral, writeText } from './output.ts';
import {
  enterMessage,
  type MessageWriter,
  OUT_OF_ORDER,
  readLength,
  readTag,
  readVarint,
  skipField,
  unreadableReply,
  type ValueWriter,
  WIRE,
  type WriteState,
} from './wire.ts';

export interface FieldPlan {
  readonly number: number;
  /** Index among the message's fields, by number. */
  readonly index: number;
  readonly wire: number;
  /** Whether values may be packed into one record. */
  readonly packable: boolean;
  /** `,"name":` */
  readonly key: Literal;
  /** Writes the value after the key; true when it is the default. */
  readonly write: FieldWriter;
  /** Writes a single value, list element or map value. */
  readonly value: ValueWriter;
  /** Whether a default value is omitted. */
  readonly omits: boolean;
  /** The bit of the field's oneof, or 0. */
  readonly oneof: number;
  /** The numbers of a closed enum; other values count as unknown fields. */
  readonly closed: ReadonlySet<number> | undefined;
  readonly map: MapPlan | undefined;
}

/** Called after the tag has been read into `state.tag`. */
export type FieldWriter = (field: FieldPlan, state: WriteState, end: number) => boolean;

interface MapPlan {
  readonly keyTag: number;
  readonly key: (state: WriteState, end: number) => string;
  readonly unsetKey: string;
  readonly valueTag: number;
  /** Writes the value of an entry that has none. */
  readonly unset: (state: WriteState) => void;
}

export interface ObjectPlan {
  readonly fields: readonly FieldPlan[];
  readonly byNumber: ReadonlyMap<number, FieldPlan>;
  /** Concatenated `,"name":default` of all fields that are printed even when unset. */
  readonly defaults: Buffer;
  /** Where each field's part starts, plus the end of the last. */
  readonly offsets: readonly number[];
  /** Cached slices of `defaults`. */
  readonly gaps: Map<number, Literal>;
}

/** Writes an object: `{` fields `}`. */
export function writeObject(plan: ObjectPlan, state: WriteState, end: number): void {
  const start = state.to;
  writeFields(plan, state, end);
  closeObject(state, start);
}

/** Turns the output since `start`, which is empty or starts with a comma, into an object. */
export function closeObject(state: WriteState, start: number): void {
  if (state.to === start) writeByte(state, 0x7b);
  else state.out[start] = 0x7b;
  writeByte(state, 0x7d);
}

/** Writes `,"name":value` for every field. */
export function writeFields(plan: ObjectPlan, state: WriteState, end: number): void {
  const { fields } = plan;
  let next = 0;
  let seenFields = 0;
  let oneofs = 0;
  while (state.at < end) {
    const tag = readTag(state);
    const number = tag >>> 3;
    const field = fields[next]?.number === number ? fields[next] : plan.byNumber.get(number);
    if (field === undefined || !acceptsTag(field, tag)) {
      skipField(state, tag, end);
      continue;
    }
    if (field.closed !== undefined && skipUnknownEnum(field.closed, state, tag)) continue;
    if ((oneofs & field.oneof) !== 0 || (field.index < next && isLate(plan, field, seenFields))) throw OUT_OF_ORDER;
    if (!state.ordered) oneofs |= field.oneof;
    if (field.index > next) writeLiteral(state, getGap(plan, next, field.index));
    if (field.index >= next) next = field.index + 1;
    seenFields |= 1 << field.index;
    const mark = state.to;
    writeLiteral(state, field.key);
    if (field.write(field, state, end) && field.omits) state.to = mark;
  }
  if (state.at > end) throw unreadableReply('a field reaches beyond its message');
  if (next < fields.length) writeLiteral(state, getGap(plan, next, fields.length));
}

// A late field is fine if it occurs once and its default has not been printed. The first 31 fields are tracked; beyond those,
// the order decides.
function isLate({ offsets }: ObjectPlan, { index }: FieldPlan, seenFields: number): boolean {
  return index > 30 || (seenFields & (1 << index)) !== 0 || offsets[index] !== offsets[index + 1];
}

/** Whether a record with this tag belongs to the field; with another wire type it is an unknown field. */
export function acceptsTag(field: FieldPlan, tag: number): boolean {
  const wire = tag & 7;
  return tag >>> 3 === field.number && (wire === field.wire || (wire === WIRE.bytes && field.packable));
}

/** The defaults of a range of fields. */
function getGap({ defaults, offsets, gaps }: ObjectPlan, from: number, to: number): Literal {
  const place = from * offsets.length + to;
  const cached = gaps.get(place);
  if (cached) return cached;
  const gap = createLiteral(defaults.subarray(offsets[from]!, offsets[to]!));
  gaps.set(place, gap);
  return gap;
}

/** Skips a value that the closed enum lacks. */
function skipUnknownEnum(numbers: ReadonlySet<number>, state: WriteState, tag: number): boolean {
  if ((tag & 7) !== WIRE.varint) return false;
  const { at } = state;
  if (!numbers.has(readVarint(state))) return true;
  state.at = at;
  return false;
}

export const writeSingle: FieldWriter = (field, state, end) => field.value(state, end);

/** All consecutive elements, packed or not. */
export const writeList: FieldWriter = (field, state, end) => {
  writeByte(state, 0x5b);
  const start = state.to;
  for (;;) {
    if ((state.tag & 7) === field.wire) writeElement(field, state, end);
    else {
      const until = readLength(state, end);
      while (state.at < until) writeElement(field, state, until);
      if (state.at > until) throw unreadableReply('a packed list reaches beyond its length');
    }
    if (state.at >= end) break;
    const { at } = state;
    if (acceptsTag(field, readTag(state))) continue;
    state.at = at;
    break;
  }
  writeByte(state, 0x5d);
  return state.to === start + 1;
};

function writeElement(field: FieldPlan, state: WriteState, end: number): void {
  if (field.closed !== undefined && skipUnknownEnum(field.closed, state, WIRE.varint)) return;
  // A list is empty as long as the output ends with its opening bracket, because no element ends with one.
  if (state.out[state.to - 1] !== 0x5b) writeByte(state, 0x2c);
  field.value(state, end);
}

interface Range {
  readonly at: number;
  readonly end: number;
}

/** All consecutive entries, sorted by key; the last of duplicate keys wins. */
export const writeMap: FieldWriter = (field, state, end) => {
  const entries = new Map<string, Range>();
  for (;;) {
    readEntry(field.map!, state, { end, entries });
    if (state.at >= end) break;
    const { at } = state;
    const tag = readTag(state);
    if (acceptsTag(field, tag)) continue;
    state.at = at;
    break;
  }
  const { at } = state;
  writeByte(state, 0x7b);
  const start = state.to;
  for (const key of [...entries.keys()].sort()) {
    if (state.to !== start) writeByte(state, 0x2c);
    writeText(state, key);
    writeByte(state, 0x3a);
    const value = entries.get(key)!;
    state.at = value.at < 0 ? value.end : value.at;
    if (value.at < 0) field.map!.unset(state);
    else field.value(state, value.end);
  }
  writeByte(state, 0x7d);
  state.at = at;
  return false;
};

function readEntry(
  map: MapPlan,
  state: WriteState,
  { end, entries }: { end: number; entries: Map<string, Range> },
): void {
  const until = readLength(state, end);
  let key: string | undefined;
  let value = -1;
  while (state.at < until) {
    const tag = readTag(state);
    if ((tag === map.keyTag && key !== undefined) || (tag === map.valueTag && value >= 0)) throw OUT_OF_ORDER;
    if (tag === map.keyTag) key = map.key(state, until);
    else {
      if (tag === map.valueTag) value = state.at;
      skipField(state, tag, until);
    }
  }
  if (state.at > until) throw unreadableReply('an entry of a map reaches beyond its length');
  entries.set(key ?? map.unsetKey, { at: value, end: until });
}

/** Reads a length-prefixed message. */
export function nestedWriter(type: { readonly write: MessageWriter }): ValueWriter {
  return (state, end) => {
    const until = readLength(state, end);
    enterMessage(state);
    type.write(state, until);
    state.depth--;
    return false;
  };
}
