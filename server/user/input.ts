// What a request brings: path, query, headers and body, checked against what its route declares. Everything that is wrong
// is in one list.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Context } from 'koa';
import { lengthProblems } from '../../lib/domain/schema/check.ts';
import type { Schema } from '../../lib/domain/schema/parts.ts';
import { parsePointer } from '../../lib/json/patch.ts';
import { wordsAt } from '../../lib/json/reader.ts';
import type { Json } from '../../lib/store/store.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { BodyError, type BodyFault, JSON_TYPES, readJsonBody } from '../http/json-body.ts';
import type { Parameter, RouteDescription, RouteGroup } from '../http/route-table.ts';
import { type AgentError, agentError } from './errors.ts';

type InputValues = { readonly [name: string]: string | number | undefined };

/** What was checked. What was not sent is missing, or the default of its schema. */
export interface Input {
  /** The names in the path that the route itself describes. */
  readonly path: InputValues;
  readonly query: InputValues;
  /** By their names as the route declares them. */
  readonly headers: InputValues;
  readonly body?: unknown;
}

/** The input of a request to a route of {@link checkInput}. */
export function readInput<T extends Partial<Input>>(ctx: Pick<Context, 'state'>): T {
  return ctx.state.input as T;
}

/** The group, with handlers that find {@link Input} in `ctx.state.input`; what is wrong is answered 400, 413 or 415. */
export function checkInput<Deps>(group: RouteGroup<Deps>): RouteGroup<Deps> {
  const routes = group.routes.map((route) => {
    const { handle } = route;
    if (!handle || !(route.query || route.headers || route.body || route.parameters)) return route;
    const read = inputReader(route);
    return {
      ...route,
      handle: async (ctx: Context, deps: Deps) => {
        ctx.state.input = await read(ctx);
        return handle(ctx, deps);
      },
    };
  });
  return { ...group, routes };
}

type Parameters = { readonly [name: string]: Parameter };

function inputReader({ parameters = {}, query = {}, headers = {}, body }: RouteDescription) {
  const places = { path: describeValues(parameters), query: describeValues(query), headers: describeValues(headers) };
  const findWrongValues = checker({ type: 'object', properties: places });
  const schema = body && Object.values(body.types)[0]!;
  const findWrongFields = schema === undefined ? undefined : bodyChecker(schema);
  return async (ctx: Context): Promise<Input> => {
    const values = {
      path: readValues(parameters, (name) => ctx.params[name]),
      query: readValues(query, (name) => ctx.query[name]),
      headers: readValues(headers, (name) => ctx.get(name) || undefined),
    };
    const input = findWrongFields ? { ...values, body: await readBody(ctx) } : values;
    const wrong = findWrongValues(values).map((error) => describeError(error, 1));
    if (findWrongFields) wrong.push(...findWrongFields((input as Input).body));
    if (wrong.length) throw agentError(400, [...new Set(wrong)]);
    return input;
  };
}

function describeValues(parameters: Parameters): Schema {
  const all = Object.entries(parameters);
  return {
    type: 'object',
    properties: Object.fromEntries(all.map(([name, { schema }]) => [name, schema])),
    required: all.filter(([, { required }]) => required).map(([name]) => name),
  };
}

/** Finds errors, of alternatives only that none fits. The schema is compiled when it is needed: that takes longer than a start may. */
function checker(schema: Schema): (value: unknown) => ErrorObject[] {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema as object);
    if (validate(value)) return [];
    const errors = validate.errors!.filter(({ schemaPath }) => !/\/(anyOf|oneOf)\/\d/.test(schemaPath));
    // They hold what was sent, which may be secret.
    validate.errors = null;
    return errors;
  };
}

/** Says what is wrong with a body. Nothing in what is too long is looked at: its problems have no bound. */
function bodyChecker(schema: Schema): (body: unknown) => string[] {
  const findErrors = checker(schema);
  return (body) => {
    const tooLong = lengthProblems(schema, body);
    if (!tooLong.length) return findErrors(body).map((error) => describeError(error));
    return tooLong.map(({ field, error }) => {
      const words = error.replace(/^must NOT have more than (\d+) items$/, 'must contain no more than $1 elements');
      return `${formatPlace(parsePointer(field)!)} ${words}`;
    });
  };
}

function readValues(parameters: Parameters, read: (name: string) => string | string[] | undefined) {
  const values = Object.entries(parameters).map(([name, { schema }]) => {
    const value = read(name);
    const isNumber = (schema as { type?: unknown }).type === 'integer' && /^\d{1,15}$/.test(String(value));
    return [name, isNumber ? Number(value) : value];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

const BODY_TYPES = [...JSON_TYPES, '+json'];

/** The body of a request; an empty one is an empty object. Throws 400, 413 or 415. */
async function readBody(ctx: Context): Promise<Json> {
  try {
    const { value, text } = await readJsonBody(ctx, { types: BODY_TYPES, optional: true });
    return text.trim() === '' ? {} : value;
  } catch (error) {
    throw error instanceof BodyError ? BODY_ERRORS[error.fault](error) : error;
  }
}

const notJson = () => agentError(400, ['the body must be JSON']);

const BODY_ERRORS: { readonly [fault in BodyFault]: (error: BodyError) => AgentError } = {
  type: () => agentError(415, 'The body must be of the type application/json'),
  coding: () => agentError(415, 'The encoding of the body is not read here'),
  'too-large': () => agentError(413, `The body is larger than ${SERVER_LIMITS.jsonBodyBytes} bytes`),
  form: notJson,
  empty: notJson,
  syntax: notJson,
  content: ({ flaw }) => agentError(400, [`the body ${wordsAt(flaw!)}`]),
};

/** The zone's usual name; undefined for what is none, as if it had not been sent. */
export function readTimeZone(name: string): string | undefined {
  try {
    return name && name.length <= 64
      ? new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
      : undefined;
  } catch {
    return undefined;
  }
}

interface InputFormat {
  /** What a text must match; /openapi.json shows it. */
  readonly pattern: RegExp;
  /** What it must be besides. */
  readonly check?: (text: string) => boolean;
  readonly must: string;
}

/** Formats of this service, besides those of ajv-formats. */
export const INPUT_FORMATS: { readonly [format: string]: InputFormat } = {
  'not-blank': { pattern: /\S/u, must: 'should not be empty' },
  'time-zone': {
    pattern: /^[\w+/:-]{1,64}$/u,
    check: (text) => readTimeZone(text) !== undefined,
    must: 'must be a time zone such as Africa/Lusaka',
  },
  'matrix-event': { pattern: /^\$/u, must: 'must start with $' },
  // Without control characters, and without a step out of its folder in any spelling that a URL parser takes for one.
  'attachment-address': {
    pattern: /^(?![\s\S]*[\\/](?:\.|%2[eE]){2})(?:mxc|https?):\/\/[^/\p{Cc}]+[^\p{Cc}]+$/u,
    must: 'must be an mxc, http or https URI',
  },
};

const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  verbose: true,
  useDefaults: true,
  addUsedSchema: false,
  logger: false,
});
formats.default(ajv);
for (const [format, { pattern, check = () => true }] of Object.entries(INPUT_FORMATS))
  ajv.addFormat(format, (text) => pattern.test(text) && check(text));

// Clients know these words from the validator of the service whose protocol this is (class-validator).
const WORDS: { readonly [keyword: string]: (error: ErrorObject) => string } = {
  required: ({ parentSchema, params }) => describeType(parentSchema!.properties[params.missingProperty]),
  type: ({ parentSchema }) => describeType(parentSchema!),
  minimum: ({ parentSchema, params }) => describeRange(parentSchema!) ?? `must not be less than ${params.limit}`,
  maximum: ({ parentSchema, params }) => describeRange(parentSchema!) ?? `must not be greater than ${params.limit}`,
  minLength: ({ params }) =>
    params.limit === 1 ? 'should not be empty' : `must be longer than or equal to ${params.limit} characters`,
  maxLength: ({ params }) => `must be shorter than or equal to ${params.limit} characters`,
  maxItems: ({ params }) => `must contain no more than ${params.limit} elements`,
  enum: ({ schema }) => `must be one of the following values: ${(schema as unknown as Json[]).join(', ')}`,
  format: ({ params }) => INPUT_FORMATS[params.format]?.must ?? `must be a ${params.format}`,
  anyOf: ({ schema }) => {
    const names = (schema as unknown as { required?: string[] }[]).flatMap(({ required = [] }) => required);
    return names.length ? `must have ${names.join(' or ')}` : 'has none of the allowed forms';
  },
};

function describeError(error: ErrorObject, outerSteps = 0): string {
  const { keyword, instancePath, params, message } = error;
  const member: string | undefined = params.missingProperty ?? params.additionalProperty;
  const steps = parsePointer(instancePath)!.slice(outerSteps);
  const place = formatPlace(member === undefined ? steps : [...steps, member]);
  if (keyword === 'additionalProperties') return `property ${place} should not exist`;
  return `${place} ${WORDS[keyword]?.(error) ?? message}`;
}

const formatPlace = (steps: readonly string[]) => steps.join('.') || 'the body';

type SchemaObject = Exclude<Schema, boolean>;

const TYPES: { readonly [type: string]: string } = {
  string: 'must be a string',
  boolean: 'must be a boolean value',
  object: 'must be an object',
  array: 'must be an array',
  number: 'must be a number conforming to the specified constraints',
  integer: 'must be a whole number',
};

function describeType(schema: SchemaObject): string {
  const { type } = schema;
  if (Array.isArray(type)) return `must be a value of the type ${type.join(' or ')}`;
  return describeRange(schema) ?? TYPES[String(type)] ?? 'must be sent';
}

function describeRange({ type, minimum, maximum }: SchemaObject): string | undefined {
  if (type !== 'integer' || minimum === undefined || maximum === undefined) return undefined;
  return `must be a whole number from ${minimum} to ${maximum}`;
}
