// Converts an HTTP request to the bytes of a request message: path variables, query parameters, body.

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
  /** Field paths of the template's variables, in order. */
  readonly variables: readonly string[];
  /** '': no body; `*`: the whole message; otherwise a field name. */
  readonly body: string;
  /** The HTTP method: for PATCH, an empty update mask is filled with the body's fields. */
  readonly method: string;
  /** Resolves messages inside `google.protobuf.Any` in a body. */
  readonly registry: Registry;
}

/** The parts of an HTTP request that form the message. */
export interface HttpInput {
  /** Decoded values of the variables, in order. */
  readonly values: readonly string[];
  /** The query after the question mark, not decoded; '' if there is none. */
  readonly query: string;
  /** JSON in UTF-8. Undefined or empty: no body. */
  readonly body?: Uint8Array | undefined;
  /** Receives undeclared types inside an Any of the body. */
  readonly unknown?: UnknownTypes;
}

/**
 * Returns the bytes of the request message. Throws ERR_INPUT for an invalid value, a repeated singular field, a second member
 * of a oneof, or malformed input; unknown parameters are ignored.
 */
export type Bind = (input: HttpInput) => Buffer;

/**
 * Compiles the binding of one route. Throws an Error when a variable or the body names a field that does not exist or is not
 * suitable.
 */
export function compileBinding({ input, variables, body, method, registry }: BindingOptions): Bind {
  const paths = variables.map((variable) => findVariable(input, variable));
  const bodyField = body === '' || body === '*' ? undefined : input.fields.find(({ name }) => name === body);
  if (body !== '' && body !== '*' && !bodyField)
    throw new Error(`the body is the field ${body}, which ${input.typeName} does not have`);
  const boundFields = [...paths, ...(bodyField ? [[bodyField]] : [])];
  const findParameter = parameterFinder(input, boundFields);
  const mask = method === 'PATCH' && bodyField ? findMask(input) : undefined;
  const lists = paths.flatMap(([first]) => (first?.fieldKind === 'list' ? [first] : []));
  return ({ values, query, body: bytes, unknown }) => {
    const builder = new MessageBuilder(input);
    for (const [at, path] of paths.entries()) bindVariable(builder, path, { name: variables[at]!, text: values[at]! });
    // A body that is the whole message leaves no fields to the query.
    if (body !== '*') for (const one of parseQuery(query)) bindParameter(builder, one, findParameter);
    if (body === '' || !bytes?.length) return builder.encode();
    const json = parseBody(bytes);
    const whole = bodyField ? { [bodyField.jsonName]: json } : withoutFields(json, lists);
    const read = encodeBody(whole, { input, registry: unknown ? reportingRegistry(registry, unknown) : registry });
    checkEnums(whole, input, registry);
    const maskPaths = mask && bodyField?.message ? listPaths(json, bodyField.message) : [];
    if (mask && maskPaths.length) builder.fillMask(mask, maskPaths);
    const bound = builder.encode();
    // Protobuf merges what follows: path values override those of the body.
    return bound.length ? Buffer.concat([read, bound]) : Buffer.from(read);
  };
}

// Otherwise a list from the path would be appended to that of the body.
function withoutFields(json: JsonValue, fields: readonly DescField[]): JsonValue {
  if (!fields.length || typeof json !== 'object' || json === null || Array.isArray(json)) return json;
  const names = new Set(fields.flatMap(({ name, jsonName }) => [name, jsonName]));
  return Object.fromEntries(Object.entries(json).filter(([name]) => !names.has(name)));
}

function findVariable(input: DescMessage, variable: string): FieldPath {
  const path = findPath(input, variable);
  if (!path) throw new Error(`the variable ${variable} is not a field of ${input.typeName}`);
  const field = path.at(-1)!;
  if (field.fieldKind === 'map') throw new Error(`the variable ${variable} is a map, which a path cannot hold`);
  if (field.fieldKind === 'list' && field.message)
    throw new Error(`the variable ${variable} is a list of messages, which a path cannot hold`);
  fieldParser(field);
  return path;
}

function bindVariable(builder: MessageBuilder, path: FieldPath, { name, text }: { name: string; text: string }): void {
  // List elements are separated by commas, as in grpc-gateway.
  const texts = path.at(-1)!.fieldKind === 'list' ? text.split(',') : [text];
  try {
    builder.set(path, { texts });
  } catch (error) {
    // Drop the field name, which the message already has.
    const why = (error as Error).message.replace(/^parsing (field|list) "[^"]*": /, '');
    throw inputError(name, `type mismatch, parameter: ${name}, error: ${why}`);
  }
}

interface Parameter {
  readonly name: string;
  readonly texts: readonly string[];
}

/** The parameters of a query by name, in order of first occurrence. Throws ERR_INPUT. */
function parseQuery(query: string): Parameter[] {
  if (query === '') return [];
  const pairs = query.split('&').filter((pair) => pair !== '');
  if (pairs.length > GATEWAY_LIMITS.gatewayParameters)
    throw inputError('', `the query has more than ${GATEWAY_LIMITS.gatewayParameters} parameters`);
  const textsByName = new Map<string, string[]>();
  for (const pair of pairs) {
    if (pair.includes(';')) throw inputError('', 'invalid semicolon separator in query');
    const equals = pair.indexOf('=');
    const name = decodeQuery(equals < 0 ? pair : pair.slice(0, equals));
    const text = equals < 0 ? '' : decodeQuery(pair.slice(equals + 1));
    const texts = textsByName.get(name);
    if (texts) texts.push(text);
    else textsByName.set(name, [text]);
  }
  const parameters = [...textsByName].map(([name, texts]) => ({ name, texts }));
  // `list[1]=b&list[0]=a`, as several clients write lists: items come in the order of their numbers.
  if (!query.includes('%5') && !query.includes('[')) return parameters;
  const readIndex = ({ name }: Parameter) => Number(ITEM.exec(name)?.[1] ?? -1);
  return parameters.sort((a, b) => readIndex(a) - readIndex(b));
}

const ITEM = /\[(\d+)\]$/;

const ENTRY = /^([^[]*)\[(.*)\]$/s;

type FindParameter = (name: string) => FieldPath | undefined;

/**
 * Finds fields by parameter name; undefined for unknown fields, and for those set by path or body, which a query cannot
 * change.
 */
function parameterFinder(input: DescMessage, boundPaths: readonly FieldPath[]): FindParameter {
  const cache = new Map<string, FieldPath>();
  return (name) => {
    const cached = cache.get(name);
    if (cached) return cached;
    const path = findPath(input, name);
    if (!path || boundPaths.some((other) => other.every((field, at) => path[at] === field))) return undefined;
    // Recursive types have unlimited paths.
    if (cache.size < GATEWAY_LIMITS.gatewayParameters) cache.set(name, path);
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

// The parser ignores unknown names of enum values together with unknown fields; a query refuses them.
function checkEnums(json: JsonValue | undefined, type: DescMessage, registry: Registry): void {
  if (!isFilled(json)) return;
  if (type.typeName === 'google.protobuf.Any') {
    const url = String((json as { readonly '@type'?: JsonValue })['@type']);
    const inner = registry.getMessage(url.slice(url.lastIndexOf('/') + 1));
    if (inner && inner !== type) checkEnums(json, inner, registry);
    return;
  }
  if (type.typeName.startsWith('google.protobuf.')) return;
  for (const [name, value] of Object.entries(json as object)) {
    const field = findField(type, name);
    if (!field?.enum && !field?.message) continue;
    for (const one of field.fieldKind === 'list' || field.fieldKind === 'map' ? Object.values(value ?? {}) : [value])
      if (field.message) checkEnums(one as JsonValue, field.message, registry);
      else if (typeof one === 'string' && !field.enum!.values.some((known) => known.name === one))
        throw inputError(name, `parsing field "${name}": ${quoteShort(one)} is not a valid value`);
  }
}

function inputError(name: string, error: string): TwinlineError {
  const message = `The request cannot be read: ${error.endsWith('.') ? error : `${error}.`}`;
  return new TwinlineError('ERR_INPUT', message, {
    details: [{ field: name ? quoteShort(name).slice(1, -1) : '', error }],
  });
}

const MASK = 'google.protobuf.FieldMask';

/** The update mask field of a request; undefined when there is none or more than one. */
function findMask({ fields }: DescMessage): DescField | undefined {
  const [first, ...more] = fields.filter((field) => field.fieldKind === 'message' && field.message.typeName === MASK);
  return more.length ? undefined : first;
}

/**
 * The paths of everything that a body sets in `type`, by .proto names, down to scalars, lists, maps and empty messages.
 * Unknown names are ignored, as when the body is parsed.
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

// A mask does not reach into lists, maps, or messages with a special JSON form, such as Struct and Any.
function goesOn(field: DescField, value: JsonValue): boolean {
  return field.fieldKind === 'message' && !field.message.typeName.startsWith('google.protobuf.') && isFilled(value);
}

function isFilled(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}
