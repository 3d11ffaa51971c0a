// The Cosmos form as a plain walk through a decoded message: slow, and written without a look at the writer.

import {
  type DescField,
  type DescMessage,
  fromBinary,
  type JsonValue,
  type Message,
  type Registry,
  toJson,
} from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import type { Any } from '@bufbuild/protobuf/wkt';

/** Throws where the form has no JSON for the message. */
export function cosmosJson(type: DescMessage, message: Message, registry: Registry): JsonValue {
  return messageJson(reflect(type, message), registry);
}

type Json = { [name: string]: JsonValue };

const AS_PROTOBUF_SAYS =
  /^google\.protobuf\.(Timestamp|Duration|Struct|Value|ListValue|(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value)$/;

function messageJson(message: ReflectMessage, registry: Registry): JsonValue {
  const { desc } = message;
  if (desc.typeName === 'google.protobuf.Any') return anyJson(message.message as Any, registry);
  if (AS_PROTOBUF_SAYS.test(desc.typeName)) return toJson(desc, message.message, { registry });
  const json: Json = {};
  for (const field of desc.fields) {
    const value = fieldJson(message, field, registry);
    if (value !== undefined)
      Object.defineProperty(json, field.name, { value, enumerable: true, configurable: true, writable: true });
  }
  return json;
}

function anyJson({ typeUrl, value }: Any, registry: Registry): JsonValue {
  if (typeUrl === '') return {};
  const type = registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf('/') + 1));
  if (!type) return { '@type': typeUrl, value: Buffer.from(value).toString('base64') };
  const inside = messageJson(reflect(type, fromBinary(type, value)), registry);
  const wrapped = AS_PROTOBUF_SAYS.test(type.typeName) || /\.(Any|Empty)$/.test(type.typeName);
  return wrapped ? { '@type': typeUrl, value: inside } : { '@type': typeUrl, ...(inside as Json) };
}

function fieldJson(message: ReflectMessage, field: DescField, registry: Registry): JsonValue | undefined {
  if (field.fieldKind === 'list') return [...message.get(field)].map((value) => valueJson(field, value, registry));
  if (field.fieldKind === 'map') {
    const entries = [...message.get(field)].map(([key, value]) => [String(key), valueJson(field, value, registry)]);
    return Object.fromEntries(entries) as Json;
  }
  if (field.oneof) return message.isSet(field) ? valueJson(field, message.get(field), registry) : undefined;
  if (!message.isSet(field)) return unset(field);
  return valueJson(field, message.get(field), registry);
}

function unset(field: DescField): JsonValue {
  // 2: without presence.
  if (field.message || field.presence !== 2 || field.scalar === 12) return null;
  if (field.enum) return field.enum.values[0]!.name;
  return valueJson(field, field.scalar === 9 ? '' : field.scalar === 8 ? false : isLong(field) ? 0n : 0, undefined);
}

function isLong({ scalar }: DescField): boolean {
  return scalar !== undefined && [3, 4, 6, 16, 18].includes(scalar);
}

function valueJson(field: DescField, value: unknown, registry: Registry | undefined): JsonValue {
  if (field.message) return messageJson(value as ReflectMessage, registry!);
  if (field.enum) return field.enum.value[value as number]?.name ?? (value as number);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : (value as JsonValue);
}
