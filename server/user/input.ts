// Input of the agent service and plugins: bodies as clients send them, with all problems in one list, worded as these clients
// expect.

import type { ErrorObject } from 'ajv';
import type { Context } from 'koa';
import type { Json } from '../../lib/json/json.ts';
import { parsePointer } from '../../lib/json/patch.ts';
import { wordsAt } from '../../lib/json/reader.ts';
import type { Schema } from '../../lib/json/schema.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { INPUT_FORMATS, type InputFault, type InputRules } from '../http/check-input.ts';
import { BodyError, type BodyFault, JSON_TYPES, readJsonBody } from '../http/json-body.ts';
import { type AgentError, agentError } from './errors.ts';

/** Answers 400 for invalid input, and 400, 413 or 415 for an unreadable body. */
export const AGENT_INPUT: InputRules = {
  readBody,
  refuse: (faults) => agentError(400, [...new Set(faults.map(describeFault))]),
};

const BODY_TYPES = [...JSON_TYPES, '+json'];

/** Reads the body; an empty one is an empty object. Throws 400, 413 or 415. */
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
  type: () => agentError(415, 'The body must have the type application/json'),
  coding: () => agentError(415, 'The encoding of the body is not supported'),
  'too-large': () => agentError(413, `The body is larger than ${SERVER_LIMITS.jsonBodyBytes} bytes`),
  form: notJson,
  empty: notJson,
  syntax: notJson,
  content: ({ flaw }) => agentError(400, [`the body ${wordsAt(flaw!)}`]),
};

// The wording of class-validator, which the original service of this protocol uses, so clients know it.
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

function describeFault(fault: InputFault): string {
  if (fault.kind === 'length') {
    const words = fault.error.replace(/^must NOT have more than (\d+) items$/, 'must contain no more than $1 elements');
    return `${formatPlace(parsePointer(fault.field)!)} ${words}`;
  }
  const { error } = fault;
  const { keyword, instancePath, params, message } = error;
  const member: string | undefined = params.missingProperty ?? params.additionalProperty;
  // The first step only tells whether the value is from the path, the query or a header.
  const steps = parsePointer(instancePath)!.slice(fault.kind === 'value' ? 1 : 0);
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
