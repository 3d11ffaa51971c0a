// Message types that were learned after the start, beside those of the descriptors.

import type { Registry } from '@bufbuild/protobuf';
import { createFileRegistry, type DescFile, type DescMessage, type FileRegistry, fromBinary } from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { nameInJson } from './descriptors.ts';
import { type File, sortByImports } from './reflection-messages.ts';
import { declaredIn, nameTypesFully, referencesIn } from './type-names.ts';

/** Files that the node was asked for, and the types that were wanted of them. */
export interface Lesson {
  readonly files: ReadonlyMap<string, File>;
  readonly wanted: ReadonlySet<string>;
}

export interface LearnedTypes {
  /** Finds what the descriptors declare and what was learned. */
  readonly registry: FileRegistry;
  isKnownFile(name: string): boolean;
  /** All that was learned, in order. */
  readonly lessons: readonly Lesson[];
  /** Adds the messages of these files, `wanted` among them. Files that cannot be used are passed over. */
  learn(files: ReadonlyMap<string, File>, wanted: ReadonlySet<string>): void;
}

/** Nothing learned yet. */
export function learnedTypes(base: FileRegistry): LearnedTypes {
  const files = new Map<string, DescFile>();
  const messages = new Map<string, DescMessage>();
  const lessons: Lesson[] = [];
  const getFile = (name: string) => base.getFile(name) ?? files.get(name);
  const getMessage = (name: string) => base.getMessage(name) ?? messages.get(name);

  function read({ content }: File): DescFile | undefined {
    try {
      const proto = fromBinary(FileDescriptorProtoSchema, content);
      for (const message of proto.messageType) nameInJson(message);
      if ([...referencesIn(proto)].some(({ name }) => !name.startsWith('.')))
        nameTypesFully(proto, declaredIn([proto, ...protosOf(base.files), ...protosOf(files.values())]));
      // One that only brings options may be missing.
      const dependency = proto.dependency.filter((name) => getFile(name) !== undefined);
      if (dependency.length < proto.dependency.length) Object.assign(proto, { dependency, publicDependency: [] });
      return createFileRegistry(proto, getFile).getFile(proto.name);
    } catch {
      return undefined;
    }
  }

  return {
    // The members of a registry do not look for each other.
    registry: Object.assign(Object.create(base) as FileRegistry, {
      getMessage,
      get: (name: string) => base.get(name) ?? messages.get(name),
    }),
    isKnownFile: (name) => getFile(name) !== undefined,
    lessons,
    learn: (given, wanted) => {
      lessons.push({ files: given, wanted });
      for (const file of sortByImports(given)) {
        const known = getFile(file.name);
        const made = known && !declaresNew(file, { known, wanted }) ? undefined : read(file);
        if (!made) continue;
        if (!known) files.set(made.proto.name, made);
        for (const type of nestedTypes(made))
          if (type.kind === 'message' && !getMessage(type.typeName)) messages.set(type.typeName, type);
      }
    },
  };
}

function* protosOf(files: Iterable<DescFile>): Generator<FileDescriptorProto> {
  for (const { proto } of files) yield proto;
}

/** Whether a file of a known name may declare what is wanted: the node is newer than what is known of it. */
function declaresNew({ content }: File, { known, wanted }: { known: DescFile; wanted: ReadonlySet<string> }): boolean {
  const scope = known.proto.package ? `${known.proto.package}.` : '';
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  return [...wanted].some((name) => name.startsWith(scope) && bytes.includes(name.slice(name.lastIndexOf('.') + 1)));
}

/** Is told of each, such as `cosmos.crypto.secp256k1.PubKey`; names come from messages and may be anything. */
export interface UnknownTypes {
  add(name: string): void;
}

/** The same registry, which reports the types that it does not have. */
export function reportingRegistry(registry: Registry, unknown: UnknownTypes): Registry {
  return Object.assign(Object.create(registry) as Registry, {
    getMessage: (name: string) => {
      const found = registry.getMessage(name);
      if (!found) unknown.add(name);
      return found;
    },
  });
}
