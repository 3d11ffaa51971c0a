// A real gRPC server that answers the methods of grove/query.proto as a script says, and remembers what it was asked.

import { once } from 'node:events';
import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type Registry,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { type Descriptors, readDescriptorSet } from '../../../lib/gateway/index.ts';
import { bound, bytesMethod } from '../../contract/grpc-node.ts';
import { addReflection, type Manners } from '../../gateway/reflection-node.ts';
import { compileKept } from '../../support/protoc.ts';
import { until } from '../../support/until.ts';

export const SET = compileKept('grove/query.proto');

/** One call as the node saw it. */
export interface Seen {
  /** `Query/Tree` */
  readonly rpc: string;
  readonly request: JsonObject;
  readonly metadata: Metadata;
  /** Milliseconds that the node was told it has. */
  readonly deadlineMs: number;
  isCancelled: boolean;
}

/** How a call is answered. */
export interface Scripted {
  /** As JSON in the form of the Protobuf specification. */
  readonly reply?: JsonObject;
  /** In its place: bytes as they are. */
  readonly bytes?: Buffer;
  /** Of a stream: its messages, at the pace of the reader. */
  readonly replies?: Iterable<JsonObject>;
  /** Not OK, after `replies` if there are any. */
  readonly status?: { readonly code: number; readonly details?: string; readonly metadata?: Metadata };
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers when this has resolved. */
  readonly after?: Promise<unknown>;
}

export type Script = (call: Seen) => Scripted;

export interface GroveNode {
  readonly upstream: string;
  readonly seen: readonly Seen[];
  /** The last call. */
  last(): Seen;
  /** What is answered from now on. */
  script: Script;
  /** Resolves when calls fit. */
  until(fits: (seen: readonly Seen[]) => boolean): Promise<void>;
  /** Messages that streams wrote so far. */
  written(): number;
  stop(): void;
}

export async function groveNode(port = 0, set: Uint8Array = SET): Promise<GroveNode> {
  const descriptors = readDescriptorSet(set);
  const { registry } = descriptors;
  const seen: Seen[] = [];
  let written = 0;
  const node = { script: ((): Scripted => ({ reply: {} })) as Script };

  function arrived(rpc: string, input: DescMessage, call: AnyCall): Seen {
    const request = toJson(input, fromBinary(input, call.request), { registry }) as JsonObject;
    const deadlineMs = Number(call.getDeadline()) - Date.now();
    const one: Seen = { rpc, request, metadata: call.metadata, deadlineMs, isCancelled: false };
    seen.push(one);
    call.on('cancelled', () => {
      one.isCancelled = true;
    });
    return one;
  }

  const unary =
    (rpc: string, { input, output }: Types): handleUnaryCall<Buffer, Buffer> =>
    async (call, answer) => {
      const { reply = {}, bytes, status, headers, after } = node.script(arrived(rpc, input, call));
      await after;
      if (headers) call.sendMetadata(metadataOf(headers));
      if (status) answer(status);
      else answer(null, bytes ?? encode(output, reply, registry));
    };

  const streaming =
    (rpc: string, { input, output }: Types): handleServerStreamingCall<Buffer, Buffer> =>
    async (call) => {
      const one = arrived(rpc, input, call);
      const { replies = [], bytes, status, headers, after } = node.script(one);
      if (headers) call.sendMetadata(metadataOf(headers));
      if (bytes) call.write(bytes);
      for (const reply of replies) {
        if (one.isCancelled) break;
        written++;
        if (!call.write(encode(output, reply, registry)))
          await Promise.race([once(call, 'drain'), once(call, 'cancelled')]);
      }
      await after;
      if (status) call.emit('error', status);
      else call.end();
    };

  const server = new Server();
  for (const [name, methods] of byService(descriptors)) {
    const made = methods.map((method) => {
      const rpc = `${name.split('.').at(-1)}/${method.name}`;
      const isStream = method.methodKind === 'server_streaming';
      return { method, isStream, handle: (isStream ? streaming : unary)(rpc, method) };
    });
    server.addService(
      Object.fromEntries(
        made.map(({ method, isStream }) => [method.name, bytesMethod(`/${name}/${method.name}`, false, isStream)]),
      ),
      Object.fromEntries(made.map(({ method, handle }) => [method.name, handle])),
    );
  }
  addReflection(server, mannersOf(descriptors));
  return Object.assign(node, {
    upstream: `127.0.0.1:${await bound(server, port)}`,
    seen,
    last: () => seen.at(-1)!,
    written: () => written,
    until: async (fits: (calls: readonly Seen[]) => boolean) => {
      await until(`calls at the node that fit ${fits}`, () => fits(seen));
    },
    stop: () => server.forceShutdown(),
  });
}

// Every node here describes itself, too.
function mannersOf({ registry }: Descriptors): Manners {
  const files = [...registry.files];
  return {
    versions: ['v1'],
    files: new Map(files.map(({ proto }) => [proto.name, toBinary(FileDescriptorProtoSchema, proto)])),
    services: files.flatMap(({ services }) => services.map(({ typeName }) => typeName)),
    fileOf: (symbol) => registry.get(symbol)?.file.proto.name,
  };
}

type AnyCall = ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>;
type Types = { readonly input: DescMessage; readonly output: DescMessage };

function byService({ methods }: Descriptors) {
  const services = new Map<string, Descriptors['methods'][number][]>();
  for (const method of methods) {
    // A method that nobody can call over HTTP is not scripted.
    if (method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming') continue;
    const name = method.parent.typeName;
    services.set(name, [...(services.get(name) ?? []), method]);
  }
  return services;
}

function encode(type: DescMessage, json: JsonObject, registry: Registry): Buffer {
  return Buffer.from(toBinary(type, fromJson(type, json, { registry })));
}

export function metadataOf(entries: Readonly<Record<string, string | Buffer>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(entries)) metadata.add(name, value);
  return metadata;
}
