// Descriptors of a node's services: read, put in order, checked for what is missing, made into a registry.

import { create, createFileRegistry, type DescFile, fromBinary } from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt';
import type { DescMethod, FileRegistry } from '#protobuf';
import { configFileError } from '../../config-file.ts';
import { type Detail, TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import { type Declared, fillJsonNames, listDeclared, listReferences, nameTypesFully } from './type-names.ts';

/** Compiled protobuf files: services and types by name. */
export interface Descriptors {
  readonly registry: FileRegistry;
  /** All methods of all services, by file and as they stand there. */
  readonly methods: readonly DescMethod[];
  /** Files and services that cannot be used, and why. */
  readonly left: readonly Detail[];
}

/** Well-known files are added where they are missing: the types inside an Any may need them. */
const WELL_KNOWN: readonly FileDescriptorProto[] = [
  file_google_protobuf_any,
  file_google_protobuf_source_context,
  file_google_protobuf_type,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
].map(({ proto }) => proto);

/**
 * Reads the bytes of a google.protobuf.FileDescriptorSet, as `protoc --include_imports --descriptor_set_out` writes it.
 * Files with types that are nowhere are left out, and so is what needs them. Throws ERR_CONFIG with each of them in
 * `details` when no service is left. `source` names the set in messages.
 * @example
 * import { readFileSync } from 'node:fs';
 *
 * const { methods } = readDescriptorSet(readFileSync('library.pb'));
 * methods.some(({ name }) => name === 'Get'); // → true
 * readDescriptorSet(Buffer.from('?')); // throws ERR_CONFIG
 */
export function readDescriptorSet(bytes: Uint8Array, source = 'The descriptor set'): Descriptors {
  requireGiven('read descriptors', { bytes }, { bytes: 'bytes' });
  return register(
    decode(() => fromBinary(FileDescriptorSetSchema, bytes).file, source),
    source,
  );
}

/**
 * The same from the single FileDescriptorProtos that server reflection gives, in any order, with repeats.
 * @example
 * readDescriptorFiles([]).methods; // → []
 * readDescriptorFiles([Buffer.from('?')]); // throws ERR_CONFIG
 */
export function readDescriptorFiles(
  files: readonly Uint8Array[],
  source = 'The descriptors that the node gives by reflection',
): Descriptors {
  return register(
    decode(() => files.map((file) => fromBinary(FileDescriptorProtoSchema, file)), source),
    source,
  );
}

function decode(read: () => FileDescriptorProto[], source: string): FileDescriptorProto[] {
  try {
    return read();
  } catch (cause) {
    const what = 'Write it with protoc --include_imports --descriptor_set_out';
    throw new TwinlineError('ERR_CONFIG', `${source} cannot be read: it is no FileDescriptorSet. ${what}.`, { cause });
  }
}

function register(given: readonly FileDescriptorProto[], source: string): Descriptors {
  const files = new Map(WELL_KNOWN.map((file) => [file.name, file]));
  for (const file of given) files.set(file.name, file);
  for (const file of given) for (const message of file.messageType) fillJsonNames(message);
  const declared = listDeclared(files.values());
  for (const file of given) nameTypesFully(file, declared);
  const left = dropIncomplete(files);
  const registry = createRegistry(sortFiles(files, source), left);
  const services = [...registry.files].flatMap((file) => file.services);
  if (left.length && !services.length) throw configFileError(source, left);
  return { registry, methods: services.flatMap((service) => service.methods), left };
}

/** Takes out files that need a type which is nowhere, until all that is left is whole; gives them with the reason. */
function dropIncomplete(files: Map<string, FileDescriptorProto>): Detail[] {
  const left: Detail[] = [];
  for (;;) {
    const declared = listDeclared(files.values());
    const found = [...files.values()].flatMap((file) => missingTypes(file, { files, declared }));
    if (!found.length) return left;
    left.push(...found);
    for (const { field: name } of found) {
      const known = WELL_KNOWN.find((file) => file.name === name);
      if (known && files.get(name) !== known) files.set(name, known);
      else files.delete(name);
    }
  }
}

function createRegistry(sorted: readonly FileDescriptorProto[], left: Detail[]): FileRegistry {
  try {
    return createFileRegistry(create(FileDescriptorSetSchema, { file: [...sorted] }));
  } catch {
    return createFileRegistry(create(FileDescriptorSetSchema, { file: filterReadable(sorted, left) }));
  }
}

/** The files that the library can read, which may be all but one of an edition that it does not know. */
function filterReadable(sorted: readonly FileDescriptorProto[], left: Detail[]): FileDescriptorProto[] {
  const known = new Map<string, DescFile>();
  return sorted.filter((file) => {
    try {
      const read = createFileRegistry(file, (name) => known.get(name)).getFile(file.name)!;
      known.set(file.name, read);
      return true;
    } catch (cause) {
      left.push({ field: file.name, error: (cause as Error).message });
      return false;
    }
  });
}

type Files = ReadonlyMap<string, FileDescriptorProto>;

// An import that only brings options may be missing: nothing here needs it.
function missingTypes(file: FileDescriptorProto, { files, declared }: { files: Files; declared: Declared }): Detail[] {
  const names = new Set([...listReferences(file)].map(({ name }) => name));
  const absent = [...names].filter((name) => !declared.has(name));
  if (!absent.length) return [];
  const imports = file.dependency.filter((name) => !files.has(name));
  const why = imports.length ? `the imports ${imports.join(', ')} are missing` : 'no file declares them';
  return [
    { field: file.name, error: `it needs ${absent.map((name) => name.replace(/^\./, '')).join(', ')}, but ${why}` },
  ];
}

/** Every file after those that it imports; imports that are not there are left out. */
function sortFiles(files: Files, source: string): FileDescriptorProto[] {
  const sorted: FileDescriptorProto[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const visit = (file: FileDescriptorProto, trail: readonly string[]): void => {
    const seen = state.get(file.name);
    if (seen === 'open') {
      const circle = [...trail.slice(trail.indexOf(file.name)), file.name].join(' → ');
      throw configFileError(source, [{ field: file.name, error: `it imports itself: ${circle}` }]);
    }
    if (seen) return;
    state.set(file.name, 'open');
    const dependency = file.dependency.filter((name) => files.has(name));
    for (const name of dependency) visit(files.get(name)!, [...trail, file.name]);
    state.set(file.name, 'done');
    // Absent fields are found on the prototype of the message, which a copy would not have.
    if (dependency.length < file.dependency.length) Object.assign(file, { dependency, publicDependency: [] });
    sorted.push(file);
  };
  for (const file of files.values()) visit(file, []);
  return sorted;
}
