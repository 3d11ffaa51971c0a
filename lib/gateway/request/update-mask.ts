// The update mask of a PATCH: which fields of the resource its body holds, as grpc-gateway finds them.

import { create, type DescField, type DescMessage, fromBinary, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt';
import type { Draft } from './message-builder.ts';

const MASK = 'google.protobuf.FieldMask';

/** The field of a request that is its update mask; undefined when there is none, or more than one. */
export function maskField({ fields }: DescMessage): DescField | undefined {
  const [first, ...more] = fields.filter((field) => field.fieldKind === 'message' && field.message.typeName === MASK);
  return more.length ? undefined : first;
}

interface Masked {
  readonly mask: DescField;
  /** The resource, which has been read as its type already. */
  readonly body: JsonValue;
  readonly type: DescMessage;
}

/** Gives the request a mask of what its body holds, unless the query gave one that is not empty. */
export function fillMask({ values }: Draft, { mask, body, type }: Masked): void {
  const given = values.get(mask);
  const isEmpty =
    given === undefined ||
    (given instanceof Uint8Array && fromBinary(FieldMaskSchema, given).paths.every((path) => path === ''));
  const paths = isEmpty ? bodyPaths(body, type) : [];
  if (paths.length) values.set(mask, toBinary(FieldMaskSchema, create(FieldMaskSchema, { paths })));
}

/**
 * The paths of all that is given in a body, by the names of the .proto file and in their order: down to single values,
 * lists, maps and empty messages. Names that are no fields are passed over, as they are when the body is read.
 */
function bodyPaths(body: JsonValue, type: DescMessage): string[] {
  const paths: string[] = [];
  const walk = (json: JsonValue, { inside, before }: { inside: DescMessage; before: string }): void => {
    for (const [name, value] of Object.entries(json as object)) {
      const field = fieldNamed(inside, name);
      if (!field) continue;
      const path = `${before}${field.name}`;
      if (goesOn(field, value)) walk(value, { inside: field.message!, before: `${path}.` });
      else paths.push(path);
    }
  };
  if (isFilled(body)) walk(body, { inside: type, before: '' });
  return [...new Set(paths)].sort();
}

function fieldNamed({ fields }: DescMessage, name: string): DescField | undefined {
  return fields.find((field) => field.name === name) ?? fields.find((field) => field.jsonName === name);
}

// A mask does not reach into lists and maps, nor into what JSON writes in a way of its own, such as Struct and Any.
function goesOn(field: DescField, value: JsonValue): boolean {
  return field.fieldKind === 'message' && !field.message.typeName.startsWith('google.protobuf.') && isFilled(value);
}

function isFilled(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}
