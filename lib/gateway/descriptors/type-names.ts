// Type names in descriptors: declarations, and resolution of references.

import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Type as FieldType,
  type FileDescriptorProto,
  type MethodDescriptorProto,
} from '@bufbuild/protobuf/wkt';

/** Fully qualified names with a leading dot, such as `.shop.Item`. */
export type Declared = ReadonlyMap<string, 'message' | 'enum'>;

/** All types declared in these files. */
export function listDeclared(files: Iterable<FileDescriptorProto>): Declared {
  const names = new Map<string, 'message' | 'enum'>();
  const declare = (scope: string, { name, nestedType, enumType }: DescriptorProto): void => {
    names.set(`${scope}.${name}`, 'message');
    for (const one of enumType) names.set(`${scope}.${name}.${one.name}`, 'enum');
    for (const one of nestedType) declare(`${scope}.${name}`, one);
  };
  for (const file of files) {
    const scope = packageScope(file);
    for (const one of file.enumType) names.set(`${scope}.${one.name}`, 'enum');
    for (const one of file.messageType) declare(scope, one);
  }
  return names;
}

/** A type reference in a file. */
interface Reference {
  readonly name: string;
  /** The qualified name of the enclosing message, service or package. */
  readonly scope: string;
  rename(name: string): void;
  /** The field whose type it is, if any. */
  readonly field?: FieldDescriptorProto;
}

/** Every type reference in a file. */
export function* listReferences(file: FileDescriptorProto): Generator<Reference> {
  const scope = packageScope(file);
  yield* fieldReferences(file.extension, scope);
  for (const message of file.messageType) yield* messageReferences(message, scope);
  for (const { name, method } of file.service)
    for (const one of method) yield* methodReferences(one, `${scope}.${name}`);
}

function* methodReferences(method: MethodDescriptorProto, scope: string): Generator<Reference> {
  yield { name: method.inputType, scope, rename: (name) => (method.inputType = name) };
  yield { name: method.outputType, scope, rename: (name) => (method.outputType = name) };
}

function* messageReferences(
  { name, field, extension, nestedType }: DescriptorProto,
  around: string,
): Generator<Reference> {
  const scope = `${around}.${name}`;
  yield* fieldReferences([...field, ...extension], scope);
  for (const nested of nestedType) yield* messageReferences(nested, scope);
}

function* fieldReferences(fields: readonly FieldDescriptorProto[], scope: string): Generator<Reference> {
  for (const field of fields) {
    if (field.typeName) yield { name: field.typeName, scope, field, rename: (name) => (field.typeName = name) };
    if (field.extendee) yield { name: field.extendee, scope, rename: (name) => (field.extendee = name) };
  }
}

/**
 * Resolves every type reference to a fully qualified name. descriptor.proto allows relative names, which are resolved from
 * the innermost scope outwards, and then fields may omit whether they are messages or enums.
 */
export function nameTypesFully(file: FileDescriptorProto, typeNames: Declared): void {
  for (const { name, scope, rename, field } of listReferences(file)) {
    const full = name.startsWith('.') ? name : findFrom(scope, { name, declared: typeNames });
    if (full !== name) rename(full);
    // The default of an unset field is on the message's prototype.
    if (field && !Object.hasOwn(field, 'type') && typeNames.has(full))
      field.type = typeNames.get(full) === 'enum' ? FieldType.ENUM : FieldType.MESSAGE;
  }
}

// An unresolvable name is left unchanged.
function findFrom(scope: string, { name, declared: typeNames }: { name: string; declared: Declared }): string {
  for (let around = scope; ; around = around.slice(0, around.lastIndexOf('.'))) {
    const full = `${around}.${name}`;
    if (typeNames.has(full)) return full;
    if (!around) return name;
  }
}

function packageScope(file: FileDescriptorProto): string {
  return file.package ? `.${file.package}` : '';
}

/** Sets JSON names, which protoc writes but other tools may omit. */
export function fillJsonNames({ field, nestedType }: DescriptorProto): void {
  for (const one of field) one.jsonName ||= protoCamelCase(one.name);
  for (const one of nestedType) fillJsonNames(one);
}
