// Replies from Protobuf bytes to JSON text, by writers that are compiled once for each message type.

import { type DescMessage, type Registry, ScalarType } from '@bufbuild/protobuf';
import { TwinlineError } from '../../errors.ts';
import type { UnknownTypes } from '../descriptors/unknown-types.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { WRAPPERS } from '../request/values.ts';
import { messageDefaults } from './default.ts';
import { anyWriter, finite, type TypeWriter, unwrapped, valueWriter } from './dynamic.ts';
import { fieldPlan, type JsonForm, objectPlan, onlyField, type Types } from './field.ts';
import { inOrder, type ObjectPlan, writeFields, writeObject } from './object.ts';
import { literalOf, outOf, tooLarge } from './out.ts';
import { scalarDefault, type ValueWriter } from './scalars.ts';
import { duration, fieldMask, type MessageWriter, timestamp } from './well-known.ts';
import { deeper, type Job } from './wire.ts';

export interface JsonWriterOptions {
  /** Where the types inside `google.protobuf.Any` are found. */
  readonly registry: Registry;
  readonly form: JsonForm;
  /** Bytes of JSON that one reply may have. @default GATEWAY_LIMITS.gatewayJsonBytes */
  readonly maxBytes?: number;
}

/**
 * Gives the JSON of one message in UTF-8. Throws ERR_SERVICE: reason `unreadable` when the bytes are not such a message,
 * `no-json` when it holds a value that JSON has no way to tell, `too-large` when the JSON is longer than `maxBytes`, or
 * takes more than `most`. An Any of a type that nobody declares is written as base64, and `unknown` is told its name.
 */
export type JsonWriter = (bytes: Uint8Array, options?: WriteOptions) => Buffer;

export interface WriteOptions {
  /** @default no bound but `maxBytes` */
  readonly most?: Effort | undefined;
  readonly unknown?: UnknownTypes | undefined;
}

/** What one message may take. */
export interface Effort {
  /** Bytes of JSON. */
  readonly jsonBytes: number;
  /** Bytes of messages whose fields come out of order, and are put in order. */
  readonly orderBytes: number;
}

export interface JsonWriters {
  /**
   * The writer for `type`; with `only` (name of a field), for that field alone. Throws ERR_CONFIG for types that cannot
   * be written: groups, and defaults without end.
   */
  writerOf(type: DescMessage, only?: string): JsonWriter;
}

interface Run {
  readonly type: DescMessage;
  readonly write: MessageWriter;
  readonly options: WriteOptions;
}

const NO_OPTIONS: WriteOptions = {};

const FIRST_BYTES = 16_384;
// Larger ones are given back to the system.
const KEPT_BYTES = 1_048_576;

export function createJsonWriters({
  registry,
  form,
  maxBytes = GATEWAY_LIMITS.gatewayJsonBytes,
}: JsonWriterOptions): JsonWriters {
  const types = compileTypes(registry, form);
  let spare = outOf(Math.min(FIRST_BYTES, maxBytes));
  const run = (bytes: Uint8Array, { type, write, options }: Run): Job => {
    const { most, unknown } = options;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const job: Job = {
      bytes,
      view,
      at: 0,
      ...spare,
      to: 0,
      tag: 0,
      hi: 0,
      depth: 0,
      ordered: false,
      mayOrder: most ? most.orderBytes : 65_536 + 16 * bytes.length,
      maxBytes: most ? Math.min(most.jsonBytes, maxBytes) : maxBytes,
      isBrief: most !== undefined,
      unknown,
    };
    deeper(job);
    inOrder(job, bytes.length, { type, write });
    // Memory of an earlier reply may have had room for more.
    if (job.to > job.maxBytes) throw tooLarge(job);
    if (job.out !== spare.out && job.out.length <= KEPT_BYTES) spare = { out: job.out, outView: job.outView };
    return job;
  };
  return {
    writerOf: (type, only) => {
      const { write } = types.typeOf(type);
      if (only === undefined) return (bytes, options = NO_OPTIONS) => textOf(run(bytes, { type, write, options }));
      const plan = planOfOnly(type, { only, types });
      const inner: MessageWriter = (job, end) => writeObject(plan, job, end);
      // Without the braces and the key around the one field.
      return (bytes, options = NO_OPTIONS) =>
        textOf(run(bytes, { type, write: inner, options }), plan.fields[0]!.key.length);
    },
  };
}

function textOf({ out, to }: Job, from = 0): Buffer {
  return Buffer.from(out.subarray(from, from ? to - 1 : to));
}

function planOfOnly(type: DescMessage, { only, types }: { only: string; types: Types }): ObjectPlan {
  const field = type.fields.find(({ name }) => name === only);
  if (field) return onlyField(field, types);
  throw new TwinlineError('ERR_CONFIG', `response_body names the field ${only}, which ${type.typeName} does not have.`);
}

function compileTypes(registry: Registry, form: JsonForm): Types {
  const compiled = new Map<string, TypeWriter>();
  const types: Types = { form, typeOf, defaultOf: messageDefaults() };
  return types;

  function typeOf(type: DescMessage): TypeWriter {
    const known = compiled.get(type.typeName);
    if (known) return known;
    // Filled in below: by then the types inside may point to it.
    const writer: { write: MessageWriter; fields: MessageWriter | undefined } = { write: notYet, fields: undefined };
    compiled.set(type.typeName, writer);
    try {
      return Object.assign(writer, wellKnown(type) ?? plain(type));
    } catch (error) {
      compiled.delete(type.typeName);
      throw error;
    }
  }

  function plain(type: DescMessage): TypeWriter {
    const plan = objectPlan(type.fields, types);
    const fields: MessageWriter = (job, end) => writeFields(plan, job, end);
    // Go knows Empty as a type of its own, although its JSON is that of a message without fields.
    const special = form === 'cosmos' && type.typeName === 'google.protobuf.Empty';
    return { write: (job, end) => writeObject(plan, job, end), fields: special ? undefined : fields };
  }

  function wellKnown(type: DescMessage): TypeWriter | undefined {
    const write = writeWellKnown(type);
    return write && { write, fields: undefined };
  }

  function writeWellKnown(type: DescMessage): MessageWriter | undefined {
    const one = (unset: string) => unwrapped(fieldPlan(type.fields[0]!, { index: 0, types }), literalOf(unset));
    switch (type.typeName) {
      case 'google.protobuf.Timestamp':
        return timestamp;
      case 'google.protobuf.Duration':
        return duration;
      case 'google.protobuf.FieldMask':
        return form === 'proto3' ? fieldMask : undefined;
      case 'google.protobuf.Any':
        return anyWriter(registry, typeOf);
      case 'google.protobuf.Struct':
        return one('{}');
      case 'google.protobuf.ListValue':
        return one('[]');
      case 'google.protobuf.Value':
        return valueWriter(kindsOf(type));
      default:
        return WRAPPERS.has(type.typeName) ? one(scalarDefault(type.fields[0]!.scalar!)) : undefined;
    }
  }

  function kindsOf(type: DescMessage): ReadonlyMap<number, ValueWriter> {
    const kinds = type.fields.map((field): [number, ValueWriter] => {
      const { number, wire, value } = fieldPlan(field, { index: 0, types });
      return [(number << 3) | wire, field.scalar === ScalarType.DOUBLE ? finite(value) : value];
    });
    return new Map(kinds);
  }
}

const notYet: MessageWriter = () => {
  throw new Error('a message type is used before it is compiled');
};
