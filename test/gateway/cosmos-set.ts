// The descriptors of a real chain with auth, IBC and CosmWasm, and reflection as its node offers it, by grpc-js.

import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { compileFrom } from '../support/protoc.ts';

const ROOT = dirname(dirname(fileURLToPath(import.meta.resolve('@protobufs/cosmos/package.json'))));
const PACKAGES = ['cosmos', 'cosmos_proto', 'gogoproto', 'google', 'tendermint', 'amino', 'confio', 'ibc', 'cosmwasm'];

let compiled: Uint8Array | undefined;

/** A FileDescriptorSet of all their files. */
export function cosmosSet(): Uint8Array {
  compiled ??= compileFrom(ROOT, ...PACKAGES.flatMap(protosIn));
  return compiled;
}

function protosIn(name: string): string[] {
  return readdirSync(join(ROOT, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.proto'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

/** Lets a server describe itself with @grpc/reflection: it knows every symbol of the set, as grpc-go knows all linked types. */
export function addRealReflection(server: Server, set: Uint8Array, services: readonly string[]): void {
  keepOptions(set);
  const files = fromBinary(FileDescriptorSetSchema, set).file;
  const fileDescriptorProtos = files.map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file)));
  const definition = { all: { fileDescriptorProtos } };
  new ReflectionService(definition as never, { services: [...services] }).addToServer(server);
}

interface Reflected {
  readonly fields: Readonly<Record<string, unknown>>;
  add(field: object): void;
}

// The library decodes files and encodes them again, without options that it does not know, which grpc-go keeps. So it
// is told those of the set, as bytes or numbers.
function keepOptions(set: Uint8Array): void {
  const need = createRequire(import.meta.resolve('@grpc/reflection'));
  const { Field } = need('protobufjs') as { Field: new (name: string, id: number, type: string) => object };
  const known = need('protobufjs/ext/descriptor') as { MethodOptions: Reflected; FieldOptions: Reflected };
  const used = { MethodOptions: new Map<number, number>(), FieldOptions: new Map<number, number>() };
  const note = (
    kind: keyof typeof used,
    options: { $unknown?: { no: number; wireType: number }[] | undefined } | undefined,
  ) => {
    for (const { no, wireType } of options?.$unknown ?? []) used[kind].set(no, wireType);
  };
  for (const { service, messageType } of fromBinary(FileDescriptorSetSchema, set).file) {
    for (const { method } of service) for (const { options } of method) note('MethodOptions', options);
    for (const { field } of messageType) for (const { options } of field) note('FieldOptions', options);
  }
  for (const kind of ['MethodOptions', 'FieldOptions'] as const)
    for (const [number, wireType] of used[kind]) {
      const name = `option${number}`;
      if (!(name in known[kind].fields)) known[kind].add(new Field(name, number, wireType === 2 ? 'bytes' : 'uint64'));
    }
}
