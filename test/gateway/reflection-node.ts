// A node that describes itself, from descriptors made here, with whatever manners a test wants.

import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt';
import { Server } from '@grpc/grpc-js';
import { decodeText, readRepeated } from '../../lib/gateway/descriptors/reflection-messages.ts';
import { bound, bytesMethod } from '../contract/grpc-node.ts';

/** The number of `google.api.http` in the options of a method, and a rule `get: "/shop/{id}"`. */
export const HTTP_OPTION = 72_295_728;
export const HTTP_RULE = new BinaryWriter().tag(2, 2).string('/shop/{id}').finish();

const field = (name: string, number: number, typeName?: string) => ({
  name,
  number,
  label: FieldDescriptorProto_Label.OPTIONAL,
  type: typeName ? FieldDescriptorProto_Type.MESSAGE : FieldDescriptorProto_Type.STRING,
  ...(typeName && { typeName }),
});

const options = create(MethodOptionsSchema);
// The data of an unknown field of bytes begin with their length.
options.$unknown = [{ no: HTTP_OPTION, wireType: 2, data: new BinaryWriter().bytes(HTTP_RULE).finish() }];

/** shop.proto imports item.proto, which imports unit.proto. */
export const FILES: ReadonlyMap<string, Uint8Array> = new Map(
  [
    create(FileDescriptorProtoSchema, {
      name: 'shop.proto',
      package: 'shop',
      syntax: 'proto3',
      dependency: ['item.proto'],
      messageType: [{ name: 'Ask', field: [field('id', 1)] }],
      service: [{ name: 'Shop', method: [{ name: 'Get', inputType: '.shop.Ask', outputType: '.item.Item', options }] }],
    }),
    create(FileDescriptorProtoSchema, {
      name: 'item.proto',
      package: 'item',
      syntax: 'proto3',
      dependency: ['unit.proto'],
      messageType: [{ name: 'Item', field: [field('name', 1), field('unit', 2, '.unit.Unit')] }],
    }),
    create(FileDescriptorProtoSchema, {
      name: 'unit.proto',
      package: 'unit',
      syntax: 'proto3',
      messageType: [{ name: 'Unit', field: [field('name', 1)] }],
    }),
  ].map((file) => [file.name, toBinary(FileDescriptorProtoSchema, file)]),
);

export interface Manners {
  readonly versions: readonly ('v1' | 'v1alpha')[];
  /** Files by name. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly services: readonly string[];
  /** The file of a symbol. */
  readonly fileOf: (symbol: string) => string | undefined;
  /** Answers in the place of the service; undefined leaves it to the service. */
  readonly instead?: (question: Question) => Uint8Array[] | 'silence' | undefined;
}

export interface Question {
  readonly field: number;
  readonly value: string;
}

export const GOOD: Manners = {
  versions: ['v1', 'v1alpha'],
  files: FILES,
  services: ['shop.Shop', 'grpc.reflection.v1.ServerReflection'],
  fileOf: (symbol) => (symbol === 'shop.Shop' ? 'shop.proto' : undefined),
};

export const filesReply = (files: readonly Uint8Array[]) => {
  const inner = new BinaryWriter();
  for (const file of files) inner.tag(1, 2).bytes(file);
  return new BinaryWriter().tag(4, 2).bytes(inner.finish()).finish();
};

const errorReply = (code: number) =>
  new BinaryWriter().tag(7, 2).bytes(new BinaryWriter().tag(1, 0).int32(code).tag(2, 2).string('no').finish()).finish();

const servicesReply = (names: readonly string[]) => {
  const inner = new BinaryWriter();
  for (const name of names) inner.tag(1, 2).bytes(new BinaryWriter().tag(1, 2).string(name).finish());
  return new BinaryWriter().tag(6, 2).bytes(inner.finish()).finish();
};

function replies(question: Question, manners: Manners): Uint8Array[] | 'silence' {
  const own = manners.instead?.(question);
  if (own) return own;
  if (question.field === 7) return [servicesReply(manners.services)];
  const name = question.field === 4 ? manners.fileOf(question.value) : question.value;
  const file = manners.files.get(name ?? '');
  return [file ? filesReply([file]) : errorReply(5)];
}

/** Starts the node; `stop` cuts what runs. */
export async function reflectingNode(manners: Manners, port = 0): Promise<{ port: number; stop(): void }> {
  const server = new Server();
  addReflection(server, manners);
  return { port: await bound(server, port), stop: () => server.forceShutdown() };
}

/** Lets a server describe itself. */
export function addReflection(server: Server, manners: Manners): void {
  for (const version of manners.versions)
    server.addService(
      {
        ServerReflectionInfo: bytesMethod(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`, true),
      },
      {
        ServerReflectionInfo: (call: import('@grpc/grpc-js').ServerDuplexStream<Buffer, Buffer>) => {
          call.on('error', () => {});
          call.on('end', () => call.end());
          call.on('data', (request: Buffer) => {
            const asked = [3, 4, 7].find((number) => readRepeated(request, number).length)!;
            const answer = replies({ field: asked, value: decodeText(readRepeated(request, asked)[0]) }, manners);
            if (answer === 'silence') call.removeAllListeners('end');
            else for (const one of answer) call.write(Buffer.from(one));
          });
        },
      },
    );
}
