// Builds a request message from strings: finds fields by path, parses their values, and sets each field once.

import { create, type DescField, type DescMessage, toBinary } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { type FieldMask, FieldMaskSchema } from '@bufbuild/protobuf/wkt';
import { fieldParser, SCALAR_PARSERS } from './values.ts';

/** The fields leading from a message to a nested value. */
export type FieldPath = readonly DescField[];

/** Finds a field by its .proto or JSON name. */
export function findField({ fields }: DescMessage, name: string): DescField | undefined {
  return fields.find((field) => field.name === name) ?? fields.find((field) => field.jsonName === name);
}

/**
 * The fields along a path such as `owner.id`; undefined when a name is unknown. Throws an Error when the path goes through
 * something other than a singular message.
 */
export function findPath(type: DescMessage, path: string): FieldPath | undefined {
  const fields: DescField[] = [];
  let inside: DescMessage | undefined = type;
  for (const name of path.split('.')) {
    if (!inside) throw new Error(`invalid path: ${JSON.stringify(fields.at(-1)!.name)} is not a message`);
    const field: DescField | undefined = findField(inside, name);
    if (!field) return undefined;
    fields.push(field);
    inside = field.fieldKind === 'message' ? field.message : undefined;
  }
  return fields;
}

export class MessageBuilder {
  readonly #message: ReflectMessage;
  /** Fields that are set, with the builder of a message that is set field by field. */
  readonly #set = new Map<DescField, MessageBuilder | undefined>();

  constructor(type: DescMessage) {
    // Values are validated when they are parsed.
    this.#message = reflect(type, create(type), false);
  }

  /**
   * Sets the value at the end of a path; with `key`, one map entry, or items of a list (`name[]`, `name[0]`). Throws an Error when the field takes no or only one text,
   * is already set, or belongs to a oneof that is.
   */
  set(path: FieldPath, values: { readonly texts: readonly string[]; readonly key?: string | undefined }): void {
    let builder: MessageBuilder = this;
    for (const field of path.slice(0, -1)) builder = builder.#enter(field);
    builder.#setField(path.at(-1)!, values);
  }

  /** Fills an update mask that has no paths yet. */
  fillMask(mask: DescField, paths: readonly string[]): void {
    const current = this.#set.has(mask) && (this.#message.get(mask) as ReflectMessage | undefined);
    if (this.#set.get(mask) || (current && (current.message as FieldMask).paths.some((path) => path !== ''))) return;
    this.#set.set(mask, undefined);
    this.#message.set(mask, reflect(FieldMaskSchema, create(FieldMaskSchema, { paths: [...paths] })));
  }

  /** Encodes the message. */
  encode(): Buffer {
    const { buffer, byteOffset, byteLength } = toBinary(this.#message.desc, this.#build().message);
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  // Setting copies wrappers and Struct, so inner messages are set once they are complete.
  #build(): ReflectMessage {
    for (const [field, inner] of this.#set) if (inner) this.#message.set(field, inner.#build());
    return this.#message;
  }

  #enter(field: DescField): MessageBuilder {
    this.#checkOneof(field);
    const existing = this.#set.get(field);
    if (existing) return existing;
    if (this.#set.has(field)) throw new Error(`too many values for field ${JSON.stringify(field.name)}`);
    const inner = new MessageBuilder(field.message!);
    this.#set.set(field, inner);
    return inner;
  }

  #checkOneof(field: DescField): void {
    if (!field.oneof) return;
    for (const other of this.#set.keys())
      if (other.oneof === field.oneof && (other !== field || !field.message))
        throw new Error(`field already set for oneof ${JSON.stringify(field.oneof.name)}`);
  }

  #setField(field: DescField, { texts, key }: Parameters<MessageBuilder['set']>[1]): void {
    this.#checkOneof(field);
    const isItem = field.fieldKind === 'list' && key !== undefined && /^\d*$/.test(key);
    if (field.fieldKind === 'map' || (key !== undefined && !isItem)) this.#setEntry(field, texts, key);
    else if (field.fieldKind === 'list') {
      const parse = fieldParser(field);
      const list = this.#message.get(field);
      for (const text of texts)
        list.add(prefixErrors(`parsing list ${JSON.stringify(field.name)}`, () => parse(text)) as never);
    } else {
      const name = JSON.stringify(field.name);
      const parse = fieldParser(field);
      if (texts.length > 1 || this.#set.has(field))
        throw new Error(`too many values for field ${name}${texts.length > 1 ? `: ${joinShort(texts)}` : ''}`);
      this.#message.set(field, prefixErrors(`parsing field ${name}`, () => parse(texts[0]!)) as never);
    }
    if (!this.#set.has(field)) this.#set.set(field, undefined);
  }

  #setEntry(field: DescField, texts: readonly string[], key: string | undefined): void {
    const name = JSON.stringify(field.name);
    if (field.fieldKind !== 'map') throw new Error(`field ${name} is not a map`);
    if (key === undefined) throw new Error(`field ${name} is a map: write ${field.name}[key]=value`);
    const map = this.#message.get(field);
    const parsedKey = prefixErrors(`parsing map key ${name}`, () => SCALAR_PARSERS[field.mapKey](key));
    if (texts.length > 1 || map.has(parsedKey))
      throw new Error(`more than one value provided for key ${JSON.stringify(key)} in map ${name}`);
    map.set(parsedKey, prefixErrors(`parsing map value ${name}`, () => fieldParser(field)(texts[0]!)) as never);
  }
}

/** Runs `work`, prefixing the message of its error with `name: `. */
export function prefixErrors<Result>(name: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

function joinShort(texts: readonly string[]): string {
  const text = texts.join(', ');
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
