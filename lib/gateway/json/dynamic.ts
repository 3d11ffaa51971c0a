// The well-known types that hold any JSON or any message: Struct, ListValue, Value and Any.

import type { DescMessage, Registry } from '@bufbuild/protobuf';
import type { TwinlineError } from '../../errors.ts';
import { typeNameIn } from '../descriptors/unknown-types.ts';
import { closeObject, type FieldPlan, inOrder, OUT_OF_ORDER, takes } from './object.ts';
import { type Literal, literal, literalOf } from './out.ts';
import type { ValueWriter } from './scalars.ts';
import { base64, quotedText } from './text.ts';
import type { MessageWriter } from './well-known.ts';
import { deeper, endOfLength, type Job, noJson, skip, tagOf, textOf, unreadable, WIRE } from './wire.ts';

/** How a message is written as JSON. */
export interface TypeWriter {
  /** As a JSON value. */
  readonly write: MessageWriter;
  /** As `,"name":value` of its fields; undefined when the type is no JSON object of its fields. */
  readonly fields: MessageWriter | undefined;
}

/** A message whose JSON is that of its one field; `unset` stands for it when it is missing. */
export function unwrapped(field: FieldPlan, unset: Literal): MessageWriter {
  return (job, end) => {
    const start = job.to;
    while (job.at < end) {
      const tag = tagOf(job);
      if (!takes(field, tag)) skip(job, tag, end);
      else if (job.to !== start) throw OUT_OF_ORDER;
      else field.write(field, job, end);
    }
    if (job.at > end) throw unreadable('a value reaches beyond its message');
    if (job.to === start) literal(job, unset);
  };
}

/** The one value that is set among the fields of a Value; null when there is none. */
export function valueWriter(kinds: ReadonlyMap<number, ValueWriter>): MessageWriter {
  return (job, end) => {
    let found = false;
    while (job.at < end) {
      const tag = tagOf(job);
      const kind = kinds.get(tag);
      if (!kind) skip(job, tag, end);
      else if (found) throw OUT_OF_ORDER;
      else {
        kind(job, end);
        found = true;
      }
    }
    if (!found) literal(job, NULL);
    if (job.at > end) throw unreadable('a value reaches beyond its message');
  };
}

/** JSON has no NaN and no infinity, and a Value has no other way to write them. */
export function finite(double: ValueWriter): ValueWriter {
  return (job, end) => {
    if (job.at + 8 <= end && !Number.isFinite(job.view.getFloat64(job.at, true)))
      throw noJson('a google.protobuf.Value holds NaN or infinity');
    return double(job, end);
  };
}

const NULL = literalOf('null');
const TYPE = literalOf(',"@type":');
const VALUE = literalOf(',"value":');
const EMPTY = literalOf('{}');
const URL_TAG = (1 << 3) | WIRE.bytes;
const VALUE_TAG = (2 << 3) | WIRE.bytes;

/**
 * `{"@type": …}` with the fields of the message inside, or with `value` where its JSON is no object of its fields. Of a
 * type that nobody declares, or that cannot be written, `value` is its bytes in base64.
 */
export function anyWriter(registry: Registry, writerOf: (type: DescMessage) => TypeWriter): MessageWriter {
  const unwritable = new WeakSet<DescMessage>();

  function writerFor(type: DescMessage): TypeWriter | undefined {
    if (unwritable.has(type)) return undefined;
    try {
      return writerOf(type);
    } catch {
      unwritable.add(type);
      return undefined;
    }
  }

  return (job, end) => {
    const { url, from, to } = anyParts(job, end);
    if (url === '') {
      literal(job, EMPTY);
      return;
    }
    const name = typeNameIn(url);
    const type = registry.getMessage(name);
    if (!type) job.unknown?.add(name);
    const writer = type && writerFor(type);
    const start = job.to;
    literal(job, TYPE);
    quotedText(job, url);
    job.at = from;
    if (!writer) {
      literal(job, VALUE);
      base64(job, to);
    } else {
      if (!writer.fields) literal(job, VALUE);
      deeper(job);
      readInside(job, to, { type, write: writer.fields ?? writer.write });
      job.depth--;
    }
    closeObject(job, start);
    job.at = end;
  };
}

// What an Any holds is read by nobody else: when it is broken, the message around it is not.
function readInside(job: Job, to: number, inside: { type: DescMessage; write: MessageWriter }): void {
  try {
    inOrder(job, to, inside);
  } catch (error) {
    if ((error as TwinlineError).reason !== 'unreadable') throw error;
    throw noJson(`an Any cannot be read as ${inside.type.typeName}`);
  }
}

function anyParts(job: Job, end: number): { url: string; from: number; to: number } {
  const parts = { url: '', from: end, to: end };
  while (job.at < end) {
    const tag = tagOf(job);
    if (tag !== URL_TAG && tag !== VALUE_TAG) {
      skip(job, tag, end);
      continue;
    }
    if (tag === URL_TAG) parts.url = textOf(job, end, true);
    else {
      const until = endOfLength(job, end);
      Object.assign(parts, { from: job.at, to: until });
      job.at = until;
    }
  }
  return parts;
}
