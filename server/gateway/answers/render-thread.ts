// The thread that writes large replies as JSON, one after the other: what the event loop would stand still for.

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

/** What the thread is given when it starts. */
export interface ThreadData {
  /** A FileDescriptorSet, each file after those that it imports. */
  readonly set: Uint8Array;
  readonly form: JsonForm;
}

export interface Order {
  /** The name of the message type, and of its field that is the whole answer. */
  readonly type: string;
  readonly only: string | undefined;
  /** Moved here, not copied. */
  readonly bytes: Uint8Array;
}

/** An order with the types that were learned since the one before. */
export interface Message {
  readonly order: Order;
  readonly lessons: readonly Lesson[];
}

export type RenderOutcome =
  | {
      readonly kind: 'json';
      readonly json: Uint8Array;
      readonly tag: string;
      /** Types that are not declared; then the bytes are moved back, for another try. */
      readonly unknown: readonly string[];
      readonly bytes?: Uint8Array;
    }
  /** What the writer threw; `reason` only when it says why the reply cannot be written. */
  | { readonly kind: 'error'; readonly reason: string | undefined; readonly message: string };

const { set, form } = workerData as ThreadData;
const learned = learnedTypes(createFileRegistry(fromBinary(FileDescriptorSetSchema, set)));
const { registry } = learned;
const writers = createJsonWriters({ registry, form });
const known = new Map<string, JsonWriter>();

function findWriter({ type, only }: Order): JsonWriter {
  const name = `${type} ${only ?? ''}`;
  const writer = known.get(name) ?? writers.findWriter(registry.getMessage(type)!, only);
  known.set(name, writer);
  return writer;
}

parentPort!.on('message', ({ order, lessons }: Message) => {
  try {
    for (const { files, wanted } of lessons) learned.learn(files, wanted);
    const names = new Set<string>();
    const add = (name: string) => {
      if (names.size < GATEWAY_LIMITS.typesPerReply && name.length <= GATEWAY_LIMITS.typeNameChars) names.add(name);
    };
    const written = findWriter(order)(order.bytes, { unknown: { add } });
    const tag = entityTag(written);
    // What is short lies in memory that others share, which cannot be moved.
    const json = written.length === written.buffer.byteLength ? written : new Uint8Array(written);
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
