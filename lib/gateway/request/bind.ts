// From an HTTP request to the bytes of a request message: variables of the path, parameters of the query, the body.

import { type DescField, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, Registry } from '#protobuf';
import { TwinlineError } from '../../errors.ts';
import { flawOfExactJson, wordsAt } from '../../json/reader.ts';
import { reportingRegistry, type UnknownTypes } from '../descriptors/type-source.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { decodeQuery } from '../route/paths.ts';
import { type FieldPath, findField, findPath, MessageBuilder } from './message-builder.ts';
import { fieldParser, quoteShort } from './values.ts';

export interface BindingOptions {
  readonly input: DescMessage;
  /** Paths of the fields that the variables of the template are, in their order. */
  readonly variables: readonly string[];
  /** '': no body; `*`: the whole message; else the name of a field. */
  readonly body: string;
  /** Of HTTP: with PATCH an update mask that is empty is filled with the fields of the body. */
  readonly method: string;
  /** For messages inside `google.protobuf.Any` in a body. */
  readonly registry: Registry;
}

/** The parts of an HTTP request that a message is made of. */
export interface HttpInput {
  /** Decoded values of the variables, in their order. */
  readonly values: readonly string[];
  /** What follows the question mark, as it came; '' when there is none. */
  readonly query: string;
  /** JSON in UTF-8. Undefined or empty: no body. */
  readonly body?: Uint8Array | undefined;
  /** Called with types inside an Any of the body that are not declared. */
  readonly unknown?: UnknownTypes;
}

/**
 * Gives the bytes of the request message. Throws ERR_INPUT for a value that its field does not take, a single field
 * given twice, a second member of a oneof, and what is malformed; parameters that name no field are ignored.
 */
export type Bind = (input: HttpInput) => Buffer;

/**
 * Compiles the binding of one route. Throws an Error when a variable or the body names a field that is not there or
 * cannot be one.
 */
export function compileBinding({ input, variables, body, method, registry }: BindingOptions): Bind {
  const paths = variables.map((variable) => findVariable(input, variable));
  const bodyField = body === '' || body === '*' ? undefined : input.fields.find(({ name }) => name === body);
  if (body !== '' && body !== '*' && !bodyField)
    throw new Error(`the body is the field ${body}, which ${input.typeName} does not have`);
  const taken = [...paths, ...(bodyField ? [[bodyField]] : [])];
  const findParameter = parameterFinder(input, taken);
  const mask = method === 'PATCH' && bodyField ? findMask(input) : undefined;
  const lists = paths.flatMap(([first]) => (first?.fieldKind === 'list' ? [first] : []));
  return ({ values, query, body: bytes, unknown }) => {
    const builder = new MessageBuilder(input);
    for (const [at, path] of paths.entries()) bindVariable(builder, path, { name: variables[at]!, text: values[at]! });
    // A body that is the whole message leaves nothing to the query.
    if (body !== '*') for (const one of parseQuery(query)) bindParameter(builder, one, findParameter);
    if (body === '' || !bytes?.length) return builder.encode();
    const json = parseBody(bytes);
    const whole = bodyField ? { [bodyField.jsonName]: json } : withoutFields(json, lists);
    const read = encodeBody(whole, { input, registry: unknown ? reportingRegistry(registry, unknown) : registry });
    const masked = mask && bodyField?.message ? listPaths(json, bodyField.message) : [];
    if (mask && masked.length) builder.fillMask(mask, masked);
    const bound = builder.encode();
    // Protobuf merges what follows: values of the path win over those of the body.
    return bound.length ? Buffer.concat([read, bound]) : Buffer.from(read);
  };
}

// A list of the path would be appended to that of the body.
function withoutFields(json: JsonValue, fields: readonly DescField[]): JsonValue {
  if (!fields.length || typeof json !== 'object' || json === null || Array.isArray(json)) return json;
  const names = new Set(fields.flatMap(({ name, jsonName }) => [name, jsonName]));
  return Object.fromEntries(Object.entries(json).filter(([name]) => !names.has(name)));
}

function findVariable(input: DescMessage, variable: string): FieldPath {
  const path = findPath(input, variable);
  if (!path) throw new Error(`the variable ${variable} is no field of ${input.typeName}`);
  const field = path.at(-1)!;
  if (field.fieldKind === 'map') throw new Error(`the variable ${variable} is a map, which a path cannot hold`);
  if (field.fieldKind === 'list' && field.message)
    throw new Error(`the variable ${variable} is a list of messages, which a path cannot hold`);
  fieldParser(field);
  return path;
}

function bindVariable(builder: MessageBuilder, path: FieldPath, { name, text }: { name: string; text: string }): void {
  // The elements of a list are parted by commas, as grpc-gateway parts them.
  const texts = path.at(-1)!.fieldKind === 'list' ? text.split(',') : [text];
  try {
    builder.set(path, { texts });
  } catch (error) {
    // Without the name of the field, which stands before it already.
    const why = (error as Error).message.replace(/^parsing (field|list) "[^"]*": /, '');
    throw inputError(name, `type mismatch, parameter: ${name}, error: ${why}`);
  }
}

interface Parameter {
  readonly name: string;
  readonly texts: readonly string[];
}

/** The parameters of a query by name, in the order in which they first stand there. Throws ERR_INPUT. */
function parseQuery(query: string): Parameter[] {
  if (query === '') return [];
  const pairs = query.split('&').filter((pair) => pair !== '');
  if (pairs.length > GATEWAY_LIMITS.gatewayParameters)
    throw inputError('', `the query has more than ${GATEWAY_LIMITS.gatewayParameters} parameters`);
  const found = new Map<string, string[]>();
  for (const pair of pairs) {
    if (pair.includes(';')) throw inputError('', 'invalid semicolon separator in query');
    const equals = pair.indexOf('=');
    const name = decodeQuery(equals < 0 ? pair : pair.slice(0, equals));
    const text = equals < 0 ? '' : decodeQuery(pair.slice(equals + 1));
    const texts = found.get(name);
    if (texts) texts.push(text);
    else found.set(name, [text]);
  }
  return [...found].map(([name, texts]) => ({ name, texts }));
}

const ENTRY = /^([^[]*)\[(.*)\]$/s;

type FindParameter = (name: string) => FieldPath | undefined;

/** Paths by name; undefined for what is no field, and for what the path or the body gives: the query cannot change it. */
function parameterFinder(input: DescMessage, taken: readonly FieldPath[]): FindParameter {
  const known = new Map<string, FieldPath>();
  return (name) => {
    const there = known.get(name);
    if (there) return there;
    const path = findPath(input, name);
    if (!path || taken.some((other) => other.every((field, at) => path[at] === field))) return undefined;
    // Types that contain themselves have paths without end.
    if (known.size < GATEWAY_LIMITS.gatewayParameters) known.set(name, path);
    return path;
  };
}

function bindParameter(builder: MessageBuilder, { name, texts }: Parameter, find: FindParameter): void {
  const entry = name.includes('[') ? ENTRY.exec(name) : null;
  try {
    const path = find(entry ? entry[1]! : name);
    if (path) builder.set(path, entry ? { texts, key: entry[2]! } : { texts });
  } catch (error) {
    throw inputError(name, (error as Error).message);
  }
}

function parseBody(bytes: Uint8Array): JsonValue {
  let text: string;
  let json: JsonValue;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    json = JSON.parse(text);
  } catch {
    throw inputError('', 'the body is not JSON in UTF-8');
  }
  const flaw = flawOfExactJson(text);
  if (flaw) throw inputError('', `the body ${wordsAt(flaw)}`);
  return json;
}

function encodeBody(json: JsonValue, { input, registry }: { input: DescMessage; registry: Registry }): Uint8Array {
  try {
    const options = { registry, ignoreUnknownFields: true, recursionLimit: GATEWAY_LIMITS.gatewayDepth };
    return toBinary(input, fromJson(input, json, options));
  } catch (error) {
    throw inputError('', `the body cannot be read: ${(error as Error).message.slice(0, 300)}`);
  }
}

function inputError(name: string, error: string): TwinlineError {
  const message = `The request cannot be read: ${error.endsWith('.') ? error : `${error}.`}`;
  return new TwinlineError('ERR_INPUT', message, {
    details: [{ field: name ? quoteShort(name).slice(1, -1) : '', error }],
  });
}

const MASK = 'google.protobuf.FieldMask';

/** The field of a request that is its update mask; undefined when there is none, or more than one. */
function findMask({ fields }: DescMessage): DescField | undefined {
  const [first, ...more] = fields.filter((field) => field.fieldKind === 'message' && field.message.typeName === MASK);
  return more.length ? undefined : first;
}

/**
 * The paths of all that a body gives, which has been read as `type`: by the names of the .proto file, down to single
 * values, lists, maps and empty messages. Names of no field are ignored, as they are when the body is read.
 */
function listPaths(body: JsonValue, type: DescMessage, prefix = ''): string[] {
  if (!isFilled(body)) return [];
  const paths = Object.entries(body as object).flatMap(([name, value]) => {
    const field = findField(type, name);
    if (!field) return [];
    const path = `${prefix}${field.name}`;
    return goesOn(field, value) ? listPaths(value, field.message!, `${path}.`) : [path];
  });
  return [...new Set(paths)].sort();
}

// A mask does not reach into lists and maps, nor into what JSON writes in a way of its own, such as Struct and Any.
function goesOn(field: DescField, value: JsonValue): boolean {
  return field.fieldKind === 'message' && !field.message.typeName.startsWith('google.protobuf.') && isFilled(value);
}

function isFilled(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}
