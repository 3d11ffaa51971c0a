// Messages, lists and maps from the wire to JSON, by the plan of their type: one pass, no objects in between.

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
  /** Place among the fields of the message, by number. */
  readonly index: number;
  readonly wire: number;
  /** Its values may come packed into one record. */
  readonly packable: boolean;
  /** `,"name":` */
  readonly key: Literal;
  /** Writes what follows the key; true when that is the default. */
  readonly write: FieldWriter;
  /** Writes one value, an element of a list or the value of a map. */
  readonly value: ValueWriter;
  /** A value that is the default is not printed. */
  readonly omits: boolean;
  /** A bit for the oneof it belongs to; 0 when to none. */
  readonly oneof: number;
  /** The only values that a closed enum has; others count as unknown fields. */
  readonly closed: ReadonlySet<number> | undefined;
  readonly map: MapPlan | undefined;
}

/** The tag has been read, into `state.tag`. */
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
  /** `,"name":default` of every field that is printed although it is not set, one after the other. */
  readonly defaults: Buffer;
  /** Where that of each field begins, and the end of the last. */
  readonly offsets: readonly number[];
  /** Parts of `defaults` that were needed before. */
  readonly gaps: Map<number, Literal>;
}

/** Writes an object: `{` fields `}`. */
export function writeObject(plan: ObjectPlan, state: WriteState, end: number): void {
  const start = state.to;
  writeFields(plan, state, end);
  closeObject(state, start);
}

/** Makes an object of what was written since `start`, which begins with a comma unless it is empty. */
export function closeObject(state: WriteState, start: number): void {
  if (state.to === start) writeByte(state, 0x7b);
  else state.out[start] = 0x7b;
  writeByte(state, 0x7d);
}

/** Writes `,"name":value` for every field. */
export function writeFields(plan: ObjectPlan, state: WriteState, end: number): void {
  const { fields } = plan;
  let next = 0;
  let seen = 0;
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
    if ((oneofs & field.oneof) !== 0 || (field.index < next && isLate(plan, field, seen))) throw OUT_OF_ORDER;
    if (!state.ordered) oneofs |= field.oneof;
    if (field.index > next) writeLiteral(state, getGap(plan, next, field.index));
    if (field.index >= next) next = field.index + 1;
    seen |= 1 << field.index;
    const mark = state.to;
    writeLiteral(state, field.key);
    if (field.write(field, state, end) && field.omits) state.to = mark;
  }
  if (state.at > end) throw unreadableReply('a field reaches beyond its message');
  if (next < fields.length) writeLiteral(state, getGap(plan, next, fields.length));
}

// One that comes after its place is no trouble when it comes once and its default has not been printed. A set of 31
// fields is remembered; of more, the order counts.
function isLate({ offsets }: ObjectPlan, { index }: FieldPlan, seen: number): boolean {
  return index > 30 || (seen & (1 << index)) !== 0 || offsets[index] !== offsets[index + 1];
}

/** Whether a record with this tag belongs to the field; another wire type makes it an unknown one. */
export function acceptsTag(field: FieldPlan, tag: number): boolean {
  const wire = tag & 7;
  return tag >>> 3 === field.number && (wire === field.wire || (wire === WIRE.bytes && field.packable));
}

/** What is printed for the fields from one to before another. */
function getGap({ defaults, offsets, gaps }: ObjectPlan, from: number, to: number): Literal {
  const place = from * offsets.length + to;
  const known = gaps.get(place);
  if (known) return known;
  const gap = createLiteral(defaults.subarray(offsets[from]!, offsets[to]!));
  gaps.set(place, gap);
  return gap;
}

/** Passes over a value that its closed enum does not have. */
function skipUnknownEnum(closed: ReadonlySet<number>, state: WriteState, tag: number): boolean {
  if ((tag & 7) !== WIRE.varint) return false;
  const { at } = state;
  if (!closed.has(readVarint(state))) return true;
  state.at = at;
  return false;
}

export const writeSingle: FieldWriter = (field, state, end) => field.value(state, end);

/** All elements that follow each other, packed or not. */
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
  // No element ends with the bracket that opens the list.
  if (state.out[state.to - 1] !== 0x5b) writeByte(state, 0x2c);
  field.value(state, end);
}

interface Range {
  readonly at: number;
  readonly end: number;
}

/** All entries that follow each other, by key; of two with the same key the last counts. */
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

/** Reads the length before a message and writes the message. */
export function nestedWriter(type: { readonly write: MessageWriter }): ValueWriter {
  return (state, end) => {
    const until = readLength(state, end);
    enterMessage(state);
    type.write(state, until);
    state.depth--;
    return false;
  };
}
