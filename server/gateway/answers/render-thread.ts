// The worker thread that converts large replies to JSON, one after the other, to keep the event loop free.

import { parentPort, workerData } from 'node:worker_threads';
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { TwinlineError } from '../../../lib/errors.ts';
import {
  createJsonWriters,
  entityTag,
  type JsonForm,
  type JsonWriter,
  type Lesson,
  learnedTypes,
} from '../../../lib/gateway/index.ts';
import { GATEWAY_LIMITS } from '../../../lib/gateway/limits.ts';

/** The thread's initial data. */
export interface ThreadData {
  /** A FileDescriptorSet, sorted by imports. */
  readonly set: Uint8Array;
  readonly form: JsonForm;
}

export interface Order {
  /** The name of the message type, and of the single field to return, if any. */
  readonly type: string;
  readonly only: string | undefined;
  /** Transferred, not copied. */
  readonly bytes: Uint8Array;
}

/** An order, with the types learned since the previous one. */
export interface Message {
  readonly order: Order;
  readonly lessons: readonly Lesson[];
}

export type RenderOutcome =
  | {
      readonly kind: 'json';
      readonly json: Uint8Array;
      readonly tag: string;
      /** Undeclared types; if there are any, the input is transferred back for another attempt. */
      readonly unknown: readonly string[];
      readonly bytes?: Uint8Array;
    }
  /** The writer's error; `reason` is set only if it explains why the reply cannot be written. */
  | { readonly kind: 'error'; readonly reason: string | undefined; readonly message: string };

const { set, form } = workerData as ThreadData;
const learned = learnedTypes(createFileRegistry(fromBinary(FileDescriptorSetSchema, set)));
const { registry } = learned;
const writers = createJsonWriters({ registry, form });
const cache = new Map<string, JsonWriter>();

function findWriter({ type, only }: Order): JsonWriter {
  const name = `${type} ${only ?? ''}`;
  const writer = cache.get(name) ?? writers.findWriter(registry.getMessage(type)!, only);
  cache.set(name, writer);
  return writer;
}

parentPort!.on('message', ({ order, lessons }: Message) => {
  try {
    for (const { files, wanted } of lessons) learned.learn(files, wanted);
    const names = new Set<string>();
    const add = (name: string) => {
      if (names.size < GATEWAY_LIMITS.typesPerReply && name.length <= GATEWAY_LIMITS.typeNameChars) names.add(name);
    };
    const rendered = findWriter(order)(order.bytes, { unknown: { add } });
    const tag = entityTag(rendered);
    // Small buffers share a pool, which cannot be transferred.
    const json = rendered.length === rendered.buffer.byteLength ? rendered : new Uint8Array(rendered);
    const back = names.size ? { bytes: order.bytes } : {};
    const outcome: RenderOutcome = { kind: 'json', json, tag, unknown: [...names], ...back };
    const moved = [json, ...(outcome.bytes ? [outcome.bytes] : [])].map(({ buffer }) => buffer as ArrayBuffer);
    parentPort!.postMessage(outcome, moved);
  } catch (error) {
    const { reason, message } = error as TwinlineError;
    const outcome: RenderOutcome = { kind: 'error', reason, message };
    parentPort!.postMessage(outcome);
  }
});
