// The descriptors of a node's services: parsed, sorted, checked for missing types, and compiled into a registry.

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
  /** All methods of all services, in file order. */
  readonly methods: readonly DescMethod[];
  /** Files and services that cannot be used, and why. */
  readonly left: readonly Detail[];
}

/** Well-known files, added if missing, because types inside an Any may need them. */
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
 * Parses a google.protobuf.FileDescriptorSet, as written by `protoc --include_imports --descriptor_set_out`. Files that refer
 * to missing types are skipped, and so are their dependents. Throws ERR_CONFIG, with each problem in `details`, when no
 * service is left. `source` names the set in messages.
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
 * The same for single FileDescriptorProtos from server reflection, in any order, with duplicates.
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
    throw new TwinlineError('ERR_CONFIG', `${source} is not a FileDescriptorSet. ${what}.`, { cause });
  }
}

function register(inputs: readonly FileDescriptorProto[], source: string): Descriptors {
  const files = new Map(WELL_KNOWN.map((file) => [file.name, file]));
  for (const file of inputs) files.set(file.name, file);
  for (const file of inputs) for (const message of file.messageType) fillJsonNames(message);
  const declared = listDeclared(files.values());
  for (const file of inputs) nameTypesFully(file, declared);
  const left = dropIncomplete(files);
  const registry = createRegistry(sortFiles(files, source), left);
  const services = [...registry.files].flatMap((file) => file.services);
  if (left.length && !services.length) throw configFileError(source, left);
  return { registry, methods: services.flatMap((service) => service.methods), left };
}

/** Removes files that refer to missing types until the rest is complete; returns the problems. */
function dropIncomplete(files: Map<string, FileDescriptorProto>): Detail[] {
  const left: Detail[] = [];
  for (;;) {
    const declared = listDeclared(files.values());
    const problems = [...files.values()].flatMap((file) => missingTypes(file, { files, declared }));
    if (!problems.length) return left;
    left.push(...problems);
    for (const { field: name } of problems) {
      const standard = WELL_KNOWN.find((file) => file.name === name);
      if (standard && files.get(name) !== standard) files.set(name, standard);
      else files.delete(name);
    }
  }
}

function createRegistry(files: readonly FileDescriptorProto[], left: Detail[]): FileRegistry {
  try {
    return createFileRegistry(create(FileDescriptorSetSchema, { file: [...files] }));
  } catch {
    return createFileRegistry(create(FileDescriptorSetSchema, { file: filterReadable(files, left) }));
  }
}

/** The files that the library can parse; it rejects a file with an unknown edition. */
function filterReadable(files: readonly FileDescriptorProto[], left: Detail[]): FileDescriptorProto[] {
  const readable = new Map<string, DescFile>();
  return files.filter((file) => {
    try {
      const read = createFileRegistry(file, (name) => readable.get(name)).getFile(file.name)!;
      readable.set(file.name, read);
      return true;
    } catch (cause) {
      left.push({ field: file.name, error: (cause as Error).message });
      return false;
    }
  });
}

type Files = ReadonlyMap<string, FileDescriptorProto>;

// A missing import is harmless if it only provides options.
function missingTypes(
  file: FileDescriptorProto,
  { files, declared: typeNames }: { files: Files; declared: Declared },
): Detail[] {
  const names = new Set([...listReferences(file)].map(({ name }) => name));
  const absent = [...names].filter((name) => !typeNames.has(name));
  if (!absent.length) return [];
  const imports = file.dependency.filter((name) => !files.has(name));
  const why = imports.length ? `the imports ${imports.join(', ')} are missing` : 'no file declares them';
  return [
    { field: file.name, error: `it needs ${absent.map((name) => name.replace(/^\./, '')).join(', ')}, but ${why}` },
  ];
}

/** Sorts files after their imports; missing imports are dropped. */
function sortFiles(files: Files, source: string): FileDescriptorProto[] {
  const ordered: FileDescriptorProto[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const visit = (file: FileDescriptorProto, trail: readonly string[]): void => {
    const visitState = state.get(file.name);
    if (visitState === 'open') {
      const circle = [...trail.slice(trail.indexOf(file.name)), file.name].join(' → ');
      throw configFileError(source, [{ field: file.name, error: `it imports itself: ${circle}` }]);
    }
    if (visitState) return;
    state.set(file.name, 'open');
    const dependency = file.dependency.filter((name) => files.has(name));
    for (const name of dependency) visit(files.get(name)!, [...trail, file.name]);
    state.set(file.name, 'done');
    // In place: defaults of unset fields are on the message's prototype, which a copy would lack.
    if (dependency.length < file.dependency.length) Object.assign(file, { dependency, publicDependency: [] });
    ordered.push(file);
  };
  for (const file of files.values()) visit(file, []);
  return ordered;
}
