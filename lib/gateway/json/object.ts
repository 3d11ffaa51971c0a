// Messages, lists and maps from the wire to JSON, by the plan of their type: one pass, no objects in between.

import { type DescMessage, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { TwinlineError } from '../../errors.ts';
import { byte, type Literal, literal, literalOf, tooLarge } from './out.ts';
import type { ValueWriter } from './scalars.ts';
import { quotedText } from './text.ts';
import type { MessageWriter } from './well-known.ts';
import { deeper, endOfLength, type Job, skip, tagOf, unreadable, varint, WIRE } from './wire.ts';

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

/** The tag has been read, into `job.tag`. */
export type FieldWriter = (field: FieldPlan, job: Job, end: number) => boolean;

interface MapPlan {
  readonly keyTag: number;
  readonly key: (job: Job, end: number) => string;
  readonly unsetKey: string;
  readonly valueTag: number;
  /** Writes the value of an entry that has none. */
  readonly unset: (job: Job) => void;
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

// Thrown to start again with bytes that hold every field once, by number.
export const OUT_OF_ORDER = new Error('fields out of order');

/** Writes an object: `{` fields `}`. */
export function writeObject(plan: ObjectPlan, job: Job, end: number): void {
  const start = job.to;
  writeFields(plan, job, end);
  closeObject(job, start);
}

/** Makes an object of what was written since `start`, which begins with a comma unless it is empty. */
export function closeObject(job: Job, start: number): void {
  if (job.to === start) byte(job, 0x7b);
  else job.out[start] = 0x7b;
  byte(job, 0x7d);
}

/** Writes `,"name":value` for every field. */
export function writeFields(plan: ObjectPlan, job: Job, end: number): void {
  const { fields } = plan;
  let next = 0;
  let seen = 0;
  let oneofs = 0;
  while (job.at < end) {
    const tag = tagOf(job);
    const number = tag >>> 3;
    const field = fields[next]?.number === number ? fields[next] : plan.byNumber.get(number);
    if (field === undefined || !takes(field, tag)) {
      skip(job, tag, end);
      continue;
    }
    if (field.closed !== undefined && passUnknown(field.closed, job, tag)) continue;
    if ((oneofs & field.oneof) !== 0 || (field.index < next && isLate(plan, field, seen))) throw OUT_OF_ORDER;
    if (!job.ordered) oneofs |= field.oneof;
    if (field.index > next) literal(job, gapOf(plan, next, field.index));
    if (field.index >= next) next = field.index + 1;
    seen |= 1 << field.index;
    const mark = job.to;
    literal(job, field.key);
    if (field.write(field, job, end) && field.omits) job.to = mark;
  }
  if (job.at > end) throw unreadable('a field reaches beyond its message');
  if (next < fields.length) literal(job, gapOf(plan, next, fields.length));
}

// One that comes after its place is no trouble when it comes once and its default has not been printed. A set of 31
// fields is remembered; of more, the order counts.
function isLate({ offsets }: ObjectPlan, { index }: FieldPlan, seen: number): boolean {
  return index > 30 || (seen & (1 << index)) !== 0 || offsets[index] !== offsets[index + 1];
}

/** Whether a record with this tag belongs to the field; another wire type makes it an unknown one. */
export function takes(field: FieldPlan, tag: number): boolean {
  const wire = tag & 7;
  return tag >>> 3 === field.number && (wire === field.wire || (wire === WIRE.bytes && field.packable));
}

/** What is printed for the fields from one to before another. */
function gapOf({ defaults, offsets, gaps }: ObjectPlan, from: number, to: number): Literal {
  const place = from * offsets.length + to;
  const known = gaps.get(place);
  if (known) return known;
  const gap = literalOf(defaults.subarray(offsets[from]!, offsets[to]!));
  gaps.set(place, gap);
  return gap;
}

/** Passes over a value that its closed enum does not have. */
function passUnknown(closed: ReadonlySet<number>, job: Job, tag: number): boolean {
  if ((tag & 7) !== WIRE.varint) return false;
  const { at } = job;
  if (!closed.has(varint(job))) return true;
  job.at = at;
  return false;
}

export const writeSingle: FieldWriter = (field, job, end) => field.value(job, end);

/** All elements that follow each other, packed or not. */
export const writeList: FieldWriter = (field, job, end) => {
  byte(job, 0x5b);
  const start = job.to;
  for (;;) {
    if ((job.tag & 7) === field.wire) element(field, job, end);
    else {
      const until = endOfLength(job, end);
      while (job.at < until) element(field, job, until);
      if (job.at > until) throw unreadable('a packed list reaches beyond its length');
    }
    if (job.at >= end) break;
    const { at } = job;
    if (takes(field, tagOf(job))) continue;
    job.at = at;
    break;
  }
  byte(job, 0x5d);
  return job.to === start + 1;
};

function element(field: FieldPlan, job: Job, end: number): void {
  if (field.closed !== undefined && passUnknown(field.closed, job, WIRE.varint)) return;
  // No element ends with the bracket that opens the list.
  if (job.out[job.to - 1] !== 0x5b) byte(job, 0x2c);
  field.value(job, end);
}

interface Range {
  readonly at: number;
  readonly end: number;
}

/** All entries that follow each other, by key; of two with the same key the last counts. */
export const writeMap: FieldWriter = (field, job, end) => {
  const entries = new Map<string, Range>();
  for (;;) {
    readEntry(field.map!, job, { end, entries });
    if (job.at >= end) break;
    const { at } = job;
    const tag = tagOf(job);
    if (takes(field, tag)) continue;
    job.at = at;
    break;
  }
  const { at } = job;
  byte(job, 0x7b);
  const start = job.to;
  for (const key of [...entries.keys()].sort()) {
    if (job.to !== start) byte(job, 0x2c);
    quotedText(job, key);
    byte(job, 0x3a);
    const value = entries.get(key)!;
    job.at = value.at < 0 ? value.end : value.at;
    if (value.at < 0) field.map!.unset(job);
    else field.value(job, value.end);
  }
  byte(job, 0x7d);
  job.at = at;
  return false;
};

function readEntry(map: MapPlan, job: Job, { end, entries }: { end: number; entries: Map<string, Range> }): void {
  const until = endOfLength(job, end);
  let key: string | undefined;
  let value = -1;
  while (job.at < until) {
    const tag = tagOf(job);
    if ((tag === map.keyTag && key !== undefined) || (tag === map.valueTag && value >= 0)) throw OUT_OF_ORDER;
    if (tag === map.keyTag) key = map.key(job, until);
    else {
      if (tag === map.valueTag) value = job.at;
      skip(job, tag, until);
    }
  }
  if (job.at > until) throw unreadable('an entry of a map reaches beyond its length');
  entries.set(key ?? map.unsetKey, { at: value, end: until });
}

/** Reads the length before a message and writes the message. */
export function nested(type: { readonly write: MessageWriter }): ValueWriter {
  return (job, end) => {
    const until = endOfLength(job, end);
    deeper(job);
    type.write(job, until);
    job.depth--;
    return false;
  };
}

/** Writes the message up to `end`; when its fields come out of order or twice, from an ordered copy of its bytes. */
export function inOrder(job: Job, end: number, { type, write }: { type: DescMessage; write: MessageWriter }): void {
  const { bytes, view, at, to, depth, ordered } = job;
  try {
    job.ordered = false;
    write(job, end);
  } catch (error) {
    // A value that JSON cannot tell may be one that a later one replaces.
    if (error !== OUT_OF_ORDER && (error as TwinlineError).reason !== 'no-json') throw error;
    // Messages inside messages by way of Any could make this endless.
    job.mayOrder -= end - at;
    if (job.mayOrder < 0)
      throw job.isBrief ? tooLarge(job) : unreadable('too many of its messages have fields out of order');
    const sorted = sort(type, bytes.subarray(at, end));
    const sortedView = new DataView(sorted.buffer, sorted.byteOffset, sorted.byteLength);
    Object.assign(job, { bytes: sorted, view: sortedView, at: 0, to, depth, ordered: true });
    write(job, sorted.length);
    Object.assign(job, { bytes, view });
  }
  job.at = end;
  job.ordered = ordered;
}

function sort(type: DescMessage, bytes: Uint8Array): Uint8Array {
  try {
    return toBinary(type, fromBinary(type, bytes, { readUnknownFields: false }), { writeUnknownFields: false });
  } catch (error) {
    throw unreadable(`its ${type.typeName} cannot be decoded`, error);
  }
}
