// Validates the path, query, headers and body of requests against the JSON Schemas of their route before the handler runs. Doors
// differ in how they word errors and in who reads bodies.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Context } from 'koa';
import { isDid } from '../../lib/domain/did/did.ts';
import { lengthProblems } from '../../lib/domain/schema/check.ts';
import { parsePointer } from '../../lib/json/patch.ts';
import type { Schema } from '../../lib/json/schema.ts';
import { Refusal } from './errors.ts';
import type { DeclaredInput, Parameter } from './route-description.ts';

type Parameters = { readonly [name: string]: Parameter };

type InputValues = { readonly [name: string]: string | number | undefined };

/** Validated input. Absent values are undefined or the schema's default. */
export interface Input {
  /** The path parameters that the route itself declares. */
  readonly path: InputValues;
  readonly query: InputValues;
  /** By name, as declared by the route. */
  readonly headers: InputValues;
  readonly body?: unknown;
}

/** A fault of a request: a schema error, or a list or object that is too long. */
export type InputFault =
  | { readonly kind: 'value'; readonly error: ErrorObject }
  | { readonly kind: 'body'; readonly error: ErrorObject }
  /** `field`: a JSON pointer; `error`: in the words of ajv. */
  | { readonly kind: 'length'; readonly field: string; readonly error: string };

/** How a door validates requests. */
export interface InputRules {
  /** Reads the body, an empty one as an empty object. Without it, handlers read and validate bodies. */
  readonly readBody?: (ctx: Context) => unknown;
  /** Whether handlers check for required parameters, as preconditions. @default false */
  readonly allowsMissing?: boolean;
  /** Makes the error for one or more faults. */
  refuse(faults: readonly InputFault[], input: DeclaredInput): Error;
}

/** The input of a request to a route of {@link addRoutes}. */
export function readInput<T extends Partial<Input>>(ctx: Pick<Context, 'state'>): T {
  return ctx.state.input as T;
}

/** Validates requests to a route and sets `ctx.state.input`; undefined for routes that declare no input. */
export function inputCheck(route: DeclaredInput, rules: InputRules): ((ctx: Context) => Promise<void>) | undefined {
  const { parameters = {}, query = {}, headers = {}, body } = route;
  const readBody = body && body.checkedBy !== 'handler' ? rules.readBody : undefined;
  if (!readBody && !(route.parameters || route.query || route.headers)) return undefined;
  const describe = (values: Parameters) => describeValues(values, !rules.allowsMissing);
  const places = { path: describe(parameters), query: describe(query), headers: describe(headers) };
  const findWrongValues = schemaChecker({ type: 'object', properties: places });
  const findWrongFields = readBody && bodyChecker(Object.values(body!.types)[0]!);
  return async (ctx) => {
    const values = {
      path: readValues(parameters, (name) => ctx.params[name]),
      query: readValues(query, (name) => ctx.query[name]),
      headers: readValues(headers, (name) => ctx.get(name).trim() || undefined),
    };
    const input: Input = readBody ? { ...values, body: await readBody(ctx) } : values;
    const faults: InputFault[] = findWrongValues(values).map((error) => ({ kind: 'value', error }));
    if (findWrongFields) faults.push(...findWrongFields(input.body));
    if (faults.length) throw rules.refuse(faults, route);
    ctx.state.input = input;
  };
}

function describeValues(parameters: Parameters, isStrict: boolean): Schema {
  const all = Object.entries(parameters);
  return {
    type: 'object',
    properties: Object.fromEntries(all.map(([name, { schema }]) => [name, schema])),
    required: all.filter(([, { required }]) => isStrict && required).map(([name]) => name),
  };
}

// Converts digits to numbers where the schema expects one; other text stays and fails validation.
function readValues(parameters: Parameters, read: (name: string) => string | string[] | undefined) {
  const values = Object.entries(parameters).map(([name, { schema }]) => {
    const value = read(name);
    const isNumber =
      (schema as { type?: unknown }).type === 'integer' &&
      /^\d{1,16}$/.test(String(value)) &&
      Number.isSafeInteger(Number(value));
    return [name, isNumber ? Number(value) : value];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Finds errors; for alternatives only that none matches. Compiles the schema on first use, because compiling all would slow startup. */
function schemaChecker(schema: Schema): (value: unknown) => ErrorObject[] {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= compile(schema as object);
    if (validate(value)) return [];
    const errors = validate.errors!.filter(({ schemaPath }) => !/\/(anyOf|oneOf)\/\d/.test(schemaPath));
    // Errors hold input, which may be secret.
    validate.errors = null;
    return errors;
  };
}

/** Validates bodies. Does not look into lists and objects that are too long, as their errors would be unbounded. */
function bodyChecker(schema: Schema): (body: unknown) => InputFault[] {
  const findErrors = schemaChecker(schema);
  return (body) => {
    const tooLong = lengthProblems(schema, body);
    if (!tooLong.length) return findErrors(body).map((error) => ({ kind: 'body', error }));
    return tooLong.map(({ field, error }) => ({ kind: 'length', field, error }));
  };
}

interface InputFormat {
  /** What a text must match; /openapi.json shows it. */
  readonly pattern: RegExp;
  /** A further check. */
  readonly check?: (text: string) => boolean;
  readonly must: string;
}

/** Formats of input, besides ajv-formats and DIDs. */
export const INPUT_FORMATS: { readonly [format: string]: InputFormat } = {
  'not-blank': { pattern: /\S/u, must: 'should not be empty' },
  'time-zone': {
    pattern: /^[\w+/:-]{1,64}$/u,
    check: (text) => readTimeZone(text) !== undefined,
    must: 'must be a time zone such as Africa/Lusaka',
  },
  'matrix-event': { pattern: /^\$/u, must: 'must start with $' },
  // No control characters, and no `..` step in any spelling that URL parsers accept.
  'attachment-address': {
    pattern: /^(?![\s\S]*[\\/](?:\.|%2[eE]){2})(?:mxc|https?):\/\/[^/\p{Cc}]+[^\p{Cc}]+$/u,
    must: 'must be an mxc, http or https URI',
  },
};

/** The canonical name of the time zone; undefined for unknown ones. */
export function readTimeZone(name: string): string | undefined {
  try {
    return name && name.length <= 64
      ? new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
      : undefined;
  } catch {
    return undefined;
  }
}

let ajv: Ajv2020 | undefined;

function compile(schema: object): ValidateFunction {
  ajv ??= makeAjv();
  return ajv.compile(schema);
}

function makeAjv(): Ajv2020 {
  const options = { allErrors: true, strict: false, verbose: true, useDefaults: true, addUsedSchema: false } as const;
  const ajv = new Ajv2020({ ...options, logger: false });
  formats.default(ajv);
  ajv.addFormat('did', isDid);
  for (const [format, { pattern, check = () => true }] of Object.entries(INPUT_FORMATS))
    ajv.addFormat(format, (text) => pattern.test(text) && check(text));
  return ajv;
}

/** The rules of doors that answer `{error, code}`; middleware has read their JSON bodies. */
export const PLAIN_INPUT: InputRules = {
  readBody: (ctx) => ctx.request.body ?? {},
  refuse(faults, { body }) {
    const first = faults[0]!;
    if (first.kind === 'value') return new Refusal('bad-request', describeValue(first.error));
    const words = [...new Set(faults.map(describeFault))].join('; ');
    const example = body?.example === undefined ? '' : `. Send JSON such as ${JSON.stringify(body.example)}`;
    return new Refusal('bad-request', `The body cannot be taken: ${words}${example}`);
  },
};

/** Describes the error of a parameter, with its value, as a sentence. */
export function describeValue({ keyword, instancePath, params, parentSchema, data }: ErrorObject): string {
  const name = parsePointer(instancePath)![1] ?? String(params.missingProperty);
  if (keyword === 'required') return `${name} is missing. Send it.`;
  if (Array.isArray(data)) return `${name} is given more than once. Give it once.`;
  const value = `${name}=${JSON.stringify(String(data))}`;
  const { type, minimum = 0, maximum } = parentSchema as { type?: string; minimum?: number; maximum?: number };
  if (type === 'integer')
    return `${value} is not a whole number ${maximum === undefined ? `of ${minimum} or more` : `from ${minimum} to ${maximum}`}.`;
  if (keyword === 'enum') return `${value} is not one of ${params.allowedValues.join(', ')}.`;
  if (keyword === 'maxLength') return `${name} has more than ${params.limit} characters.`;
  if (params.format === 'did') return `${value} is not a DID.`;
  return `${value} is not what it must be: ${describeRule(keyword, parentSchema)}.`;
}

// Never quotes values: bodies may contain secrets and phone numbers.
function describeFault(fault: InputFault): string {
  if (fault.kind === 'length') return `${formatField(fault.field)} ${fault.error}`;
  const { keyword, instancePath, params, parentSchema, message } = fault.error;
  if (keyword === 'required') return `${JSON.stringify(params.missingProperty)} is missing`;
  if (keyword === 'additionalProperties') return `it has no field ${JSON.stringify(params.additionalProperty)}`;
  if (keyword === 'const') return `${formatField(instancePath)} must be ${JSON.stringify(params.allowedValue)}`;
  if (keyword === 'enum') return `${formatField(instancePath)} must be one of ${params.allowedValues.join(', ')}`;
  const rule = keyword === 'pattern' ? describeRule(keyword, parentSchema) : message;
  return `${formatField(instancePath)} ${rule}`;
}

function describeRule(keyword: string, schema: ErrorObject['parentSchema']): string {
  const { description, [keyword]: rule } = schema as { readonly [word: string]: unknown };
  return description === undefined ? `must have the ${keyword} ${JSON.stringify(rule)}` : `must be ${description}`;
}

const formatField = (pointer: string) => {
  const steps = parsePointer(pointer)!;
  return steps.length ? JSON.stringify(steps.join('.')) : 'it';
};
