// From an HTTP request to the bytes of a request message: variables of the path, parameters of the query, the body.

import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonValue,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf';
import { TwinlineError } from '../../errors.ts';
import { tellingRegistry, type UnknownTypes } from '../descriptors/unknown-types.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { decodeQuery } from '../route/percent.ts';
import {
  createDraft,
  type Draft,
  encodeDraft,
  type FieldPath,
  fieldPath,
  parserOf,
  setValue,
} from './message-builder.ts';
import { shown } from './shown.ts';
import { fillMask, maskField } from './update-mask.ts';

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

export interface HttpInput {
  /** Decoded values of the variables, in their order. */
  readonly values: readonly string[];
  /** What follows the question mark, as it came; '' when there is none. */
  readonly query: string;
  /** JSON in UTF-8. Undefined or empty: no body. */
  readonly body?: Uint8Array | undefined;
  /** Is told of types inside an Any of the body that nobody declares. */
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
  const paths = variables.map((variable) => variablePath(input, variable));
  const bodyField = body === '' || body === '*' ? undefined : input.fields.find(({ name }) => name === body);
  if (body !== '' && body !== '*' && !bodyField)
    throw new Error(`the body is the field ${body}, which ${input.typeName} does not have`);
  const taken = [...paths, ...(bodyField ? [[bodyField]] : [])];
  const pathOf = freePaths(input, taken);
  const mask = method === 'PATCH' && bodyField ? maskField(input) : undefined;
  const lists = paths.flatMap(([first]) => (first?.fieldKind === 'list' ? [first] : []));
  return ({ values, query, body: bytes, unknown }) => {
    const draft = createDraft(input);
    for (const [at, path] of paths.entries()) bindVariable(draft, path, { name: variables[at]!, text: values[at]! });
    // A body that is the whole message leaves nothing to the query.
    if (body !== '*') for (const one of parameters(query)) bindParameter(draft, one, pathOf);
    if (body === '' || !bytes?.length) return encodeDraft(draft);
    const json = parseBody(bytes);
    const whole = bodyField ? { [bodyField.jsonName]: json } : without(json, lists);
    const read = bodyBytes(whole, { input, registry: unknown ? tellingRegistry(registry, unknown) : registry });
    if (mask && bodyField?.message) fillMask(draft, { mask, body: json, type: bodyField.message });
    const bound = encodeDraft(draft);
    // Protobuf merges what follows: values of the path win over those of the body.
    return bound.length ? Buffer.concat([read, bound]) : Buffer.from(read);
  };
}

// A list of the path would be appended to that of the body.
function without(json: JsonValue, fields: readonly DescField[]): JsonValue {
  if (!fields.length || typeof json !== 'object' || json === null || Array.isArray(json)) return json;
  const names = new Set(fields.flatMap(({ name, jsonName }) => [name, jsonName]));
  return Object.fromEntries(Object.entries(json).filter(([name]) => !names.has(name)));
}

function variablePath(input: DescMessage, variable: string): FieldPath {
  const path = fieldPath(input, variable);
  if (!path) throw new Error(`the variable ${variable} is no field of ${input.typeName}`);
  const field = path.at(-1)!;
  if (field.fieldKind === 'map') throw new Error(`the variable ${variable} is a map, which a path cannot hold`);
  if (field.fieldKind === 'list' && field.message)
    throw new Error(`the variable ${variable} is a list of messages, which a path cannot hold`);
  parserOf(field);
  return path;
}

function bindVariable(draft: Draft, path: FieldPath, { name, text }: { name: string; text: string }): void {
  // The elements of a list are parted by commas, as grpc-gateway parts them.
  const texts = path.at(-1)!.fieldKind === 'list' ? text.split(',') : [text];
  try {
    setValue(draft, path, { texts });
  } catch (error) {
    // Without the name of the field, which stands before it already.
    const why = (error as Error).message.replace(/^parsing (field|list) "[^"]*": /, '');
    throw refuse(name, `type mismatch, parameter: ${name}, error: ${why}`);
  }
}

export interface Parameter {
  readonly name: string;
  readonly texts: readonly string[];
}

/** The parameters of a query by name, in the order in which they first stand there. Throws ERR_INPUT. */
export function parameters(query: string): Parameter[] {
  if (query === '') return [];
  const pairs = query.split('&').filter((pair) => pair !== '');
  if (pairs.length > GATEWAY_LIMITS.gatewayParameters)
    throw refuse('', `the query has more than ${GATEWAY_LIMITS.gatewayParameters} parameters`);
  const found = new Map<string, string[]>();
  for (const pair of pairs) {
    if (pair.includes(';')) throw refuse('', 'invalid semicolon separator in query');
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

type PathOf = (name: string) => FieldPath | undefined;

/** Paths by name; undefined for what is no field, and for what the path or the body gives: the query cannot change it. */
function freePaths(input: DescMessage, taken: readonly FieldPath[]): PathOf {
  const known = new Map<string, FieldPath>();
  return (name) => {
    const there = known.get(name);
    if (there) return there;
    const path = fieldPath(input, name);
    if (!path || taken.some((other) => other.every((field, at) => path[at] === field))) return undefined;
    // Types that contain themselves have paths without end.
    if (known.size < GATEWAY_LIMITS.gatewayParameters) known.set(name, path);
    return path;
  };
}

function bindParameter(draft: Draft, { name, texts }: Parameter, pathOf: PathOf): void {
  const entry = name.includes('[') ? ENTRY.exec(name) : null;
  try {
    const path = pathOf(entry ? entry[1]! : name);
    if (path) setValue(draft, path, entry ? { texts, key: entry[2]! } : { texts });
  } catch (error) {
    throw refuse(name, (error as Error).message);
  }
}

function parseBody(bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as JsonValue;
  } catch {
    throw refuse('', 'the body is not JSON in UTF-8');
  }
}

function bodyBytes(json: JsonValue, { input, registry }: { input: DescMessage; registry: Registry }): Uint8Array {
  try {
    const options = { registry, ignoreUnknownFields: true, recursionLimit: GATEWAY_LIMITS.gatewayDepth };
    return toBinary(input, fromJson(input, json, options));
  } catch (error) {
    throw refuse('', `the body cannot be read: ${(error as Error).message.slice(0, 300)}`);
  }
}

function refuse(name: string, error: string): TwinlineError {
  const message = `The request cannot be read: ${error.endsWith('.') ? error : `${error}.`}`;
  return new TwinlineError('ERR_INPUT', message, { details: [{ field: name ? shown(name).slice(1, -1) : '', error }] });
}
