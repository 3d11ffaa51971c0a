// The names of types in descriptors: what files declare, and what their fields and methods mean by a name.

import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  type DescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Type as FieldType,
  type FileDescriptorProto,
  type MethodDescriptorProto,
} from '@bufbuild/protobuf/wkt';

/** Full names with the dot before, such as `.shop.Item`. */
export type Declared = ReadonlyMap<string, 'message' | 'enum'>;

/** All types of these files. */
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

/** A place in a file where a type is named. */
interface Reference {
  readonly name: string;
  /** The full name of the message, service or package around it. */
  readonly scope: string;
  rename(name: string): void;
  /** The field whose type it is, if it is one. */
  readonly field?: FieldDescriptorProto;
}

/** Every place where a file names a type. */
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
 * Writes every name of a type in full. descriptor.proto allows names without the dot before, which are looked for from
 * the innermost scope outwards, and then fields may leave it to the reader whether they are of a message or an enum.
 */
export function nameTypesFully(file: FileDescriptorProto, declared: Declared): void {
  for (const { name, scope, rename, field } of listReferences(file)) {
    const full = name.startsWith('.') ? name : findFrom(scope, { name, declared });
    if (full !== name) rename(full);
    // The value of a field that was not set is found on the prototype of the message.
    if (field && !Object.hasOwn(field, 'type') && declared.has(full))
      field.type = declared.get(full) === 'enum' ? FieldType.ENUM : FieldType.MESSAGE;
  }
}

// What is nowhere stays as it is written.
function findFrom(scope: string, { name, declared }: { name: string; declared: Declared }): string {
  for (let around = scope; ; around = around.slice(0, around.lastIndexOf('.'))) {
    const full = `${around}.${name}`;
    if (declared.has(full)) return full;
    if (!around) return name;
  }
}

function packageScope(file: FileDescriptorProto): string {
  return file.package ? `.${file.package}` : '';
}

/** protoc writes these names; other tools may leave them to the reader. */
export function fillJsonNames({ field, nestedType }: DescriptorProto): void {
  for (const one of field) one.jsonName ||= protoCamelCase(one.name);
  for (const one of nestedType) fillJsonNames(one);
}
