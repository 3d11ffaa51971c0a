// Converts replies from Protobuf bytes to JSON, with a writer compiled once per message type.

import { ScalarType } from '@bufbuild/protobuf';
import { isWrapperDesc } from '@bufbuild/protobuf/wkt';
import type { DescField, DescMessage, Registry } from '#protobuf';
import { TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import type { UnknownTypes } from '../descriptors/type-source.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { createDefaults, fieldPlan, type JsonForm, objectPlan, singleFieldPlan, type Types } from './field.ts';
import { type ObjectPlan, writeFields, writeObject } from './object.ts';
import { allocate, createLiteral } from './output.ts';
import { scalarDefault } from './scalars.ts';
import {
  anyWriter,
  finiteWriter,
  singleFieldWriter,
  valueWriter,
  writeDuration,
  writeFieldMask,
  writeTimestamp,
} from './well-known.ts';
import {
  enterMessage,
  type MessagePart,
  type MessageWriter,
  type TypeWriter,
  tooLarge,
  type ValueWriter,
  type WriteState,
  writeInOrder,
} from './wire.ts';

/** Options of `createJsonWriters`. */
export interface JsonWriterOptions {
  /** Resolves types inside `google.protobuf.Any`. */
  readonly registry: Registry;
  readonly form: JsonForm;
  /** Limit on JSON bytes per reply. @default GATEWAY_LIMITS.gatewayJsonBytes */
  readonly maxBytes?: number;
}

/**
 * Converts a message to JSON in UTF-8. Throws ERR_SERVICE with reason `unreadable` for malformed bytes, `no-json` for a value
 * that JSON cannot represent, `too-large` when the JSON exceeds `maxBytes` or `most`. An Any of an undeclared type is written
 * as base64, and `unknown` receives its name.
 */
export type JsonWriter = (bytes: Uint8Array, options?: WriteOptions) => Buffer;

export interface WriteOptions {
  /** @default no limit but `maxBytes` */
  readonly most?: Effort | undefined;
  readonly unknown?: UnknownTypes | undefined;
}

/** Limits on the work for one message. */
export interface Effort {
  /** Bytes of JSON. */
  readonly jsonBytes: number;
  /** Bytes of messages with fields out of order that may be sorted. */
  readonly orderBytes: number;
}

/** JSON writers by message type. */
export interface JsonWriters {
  /**
   * The writer for `type`, or with `only` (a field name) for that field alone. Throws ERR_CONFIG for unsupported types:
   * groups, and infinite defaults.
   */
  findWriter(type: DescMessage, only?: string): JsonWriter;
}

const NO_OPTIONS: WriteOptions = {};

const FIRST_BYTES = 16_384;
// Larger buffers are not kept.
const KEPT_BYTES = 1_048_576;

/**
 * Creates JSON writers, each compiled on first use.
 * @example
 * import { readFileSync } from 'node:fs';
 *
 * const { registry } = readDescriptorSet(readFileSync('library.pb'));
 * const writers = createJsonWriters({ registry, form: 'proto3' });
 * const write = writers.findWriter(registry.getMessage('demo.Name')!);
 * write(Buffer.from('\n\x03Ann')).toString(); // → '{"name":"Ann"}'
 */
export function createJsonWriters(options: JsonWriterOptions): JsonWriters {
  requireGiven('write JSON', options, { registry: 'types', form: 'text' });
  const { registry, form, maxBytes = GATEWAY_LIMITS.gatewayJsonBytes } = options;
  const types = compileTypes(registry, form);
  let spare = allocate(Math.min(FIRST_BYTES, maxBytes));
  const writeMessage = (bytes: Uint8Array, writer: MessagePart, { most, unknown }: WriteOptions): WriteState => {
    const state: WriteState = {
      bytes,
      view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      at: 0,
      ...spare,
      to: 0,
      tag: 0,
      hi: 0,
      depth: 0,
      ordered: false,
      sortBytesLeft: most ? most.orderBytes : 65_536 + 16 * bytes.length,
      maxBytes: most ? Math.min(most.jsonBytes, maxBytes) : maxBytes,
      isBrief: most !== undefined,
      unknown,
    };
    enterMessage(state);
    writeInOrder(state, bytes.length, writer);
    // A reused buffer may have room beyond the limit.
    if (state.to > state.maxBytes) throw tooLarge(state);
    if (state.out !== spare.out && state.out.length <= KEPT_BYTES) spare = { out: state.out, outView: state.outView };
    return state;
  };
  return {
    findWriter: (type, only) => {
      if (only === undefined) {
        const writer = { type, write: types.getWriter(type).write };
        return (bytes, options = NO_OPTIONS) => {
          const { out, to } = writeMessage(bytes, writer, options);
          return Buffer.from(out.subarray(0, to));
        };
      }
      const plan = planField(type, { only, types });
      const writer = { type, write: objectWriter(plan) };
      // Strips the braces and the key of the single field.
      const from = plan.fields[0]!.key.length;
      return (bytes, options = NO_OPTIONS) => {
        const { out, to } = writeMessage(bytes, writer, options);
        return Buffer.from(out.subarray(from, to - 1));
      };
    },
  };
}

function objectWriter(plan: ObjectPlan): MessageWriter {
  return (state, end) => writeObject(plan, state, end);
}

function planField(type: DescMessage, { only, types }: { only: string; types: Types }): ObjectPlan {
  const field = type.fields.find(({ name }) => name === only);
  if (field) return singleFieldPlan(field, types);
  throw new TwinlineError('ERR_CONFIG', `response_body names the field ${only}, which ${type.typeName} does not have.`);
}

function compileTypes(registry: Registry, form: JsonForm): Types {
  const compiled = new Map<string, TypeWriter>();
  const types: Types = { form, getWriter, getDefault: createDefaults() };
  return types;

  function getWriter(type: DescMessage): TypeWriter {
    const cached = compiled.get(type.typeName);
    if (cached) return cached;
    // Completed below; by then nested types may refer to it.
    const writer: { write: MessageWriter; fields: MessageWriter | undefined } = { write: notYet, fields: undefined };
    compiled.set(type.typeName, writer);
    try {
      const write = wellKnownWriter(type);
      return Object.assign(writer, write ? { write } : plainWriter(type));
    } catch (error) {
      compiled.delete(type.typeName);
      throw error;
    }
  }

  function plainWriter(type: DescMessage): TypeWriter {
    const plan = objectPlan(type.fields, types);
    const fields: MessageWriter = (state, end) => writeFields(plan, state, end);
    // In Go, Empty is a value of its own, even though its JSON is that of a message without fields.
    const isValue = form === 'cosmos' && type.typeName === 'google.protobuf.Empty';
    return { write: objectWriter(plan), fields: isValue ? undefined : fields };
  }

  function wellKnownWriter(type: DescMessage): MessageWriter | undefined {
    switch (type.typeName) {
      case 'google.protobuf.Timestamp':
        return writeTimestamp;
      case 'google.protobuf.Duration':
        return writeDuration;
      case 'google.protobuf.FieldMask':
        return form === 'proto3' ? writeFieldMask : undefined;
      case 'google.protobuf.Any':
        return anyWriter(registry, getWriter);
      case 'google.protobuf.Struct':
        return firstFieldWriter(type, '{}');
      case 'google.protobuf.ListValue':
        return firstFieldWriter(type, '[]');
      case 'google.protobuf.Value':
        return valueWriter(new Map(type.fields.map(kindWriter)));
      default:
        return isWrapperDesc(type) ? firstFieldWriter(type, scalarDefault(type.fields[0].scalar)) : undefined;
    }
  }

  function firstFieldWriter({ fields }: DescMessage, unset: string): MessageWriter {
    return singleFieldWriter(fieldPlan(fields[0]!, { index: 0, types }), createLiteral(unset));
  }

  function kindWriter(field: DescField): [tag: number, write: ValueWriter] {
    const { number, wire, value } = fieldPlan(field, { index: 0, types });
    return [(number << 3) | wire, field.scalar === ScalarType.DOUBLE ? finiteWriter(value) : value];
  }
}

const notYet: MessageWriter = () => {
  throw new Error('a message type is used before it is compiled');
};
