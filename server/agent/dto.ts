// Bodies of the agent service: checked field by field, with everything that is wrong in one list.

import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { RunRequest, ToolDeclaration } from '../../lib/agent/run/run.ts';
import { flawOfJson, wordsAt } from '../../lib/json/reader.ts';
import type { Json, JsonObject } from '../../lib/store/store.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { agentError } from '../user/errors.ts';

type Check = (value: Json, field: string) => string[];
type Fields = { readonly [field: string]: { readonly check: Check; readonly required?: true } };

const says =
  (holds: (value: Json) => boolean, words: string): Check =>
  (value, field) =>
    holds(value) ? [] : [`${field} ${words}`];

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const TEXT = says((value) => typeof value === 'string', 'must be a string');
const FLAG = says((value) => typeof value === 'boolean', 'must be a boolean value');
const OBJECT = says(isObject, 'must be an object');
const short = (chars: number) =>
  all(
    TEXT,
    says((value) => String(value).length <= chars, `must be shorter than or equal to ${chars} characters`),
  );
const FILLED = all(
  TEXT,
  says((value) => String(value).trim() !== '', 'should not be empty'),
);
const ZONE = all(
  short(64),
  says((value) => isZone(String(value)), 'must be a time zone such as Africa/Lusaka'),
);

function all(...checks: readonly Check[]): Check {
  return (value, field) => {
    for (const check of checks) {
      const problems = check(value, field);
      if (problems.length) return problems;
    }
    return [];
  };
}

// `also` is asked of every item, beside its fields.
function list(fields: Fields, most: number, also: Check = () => []): Check {
  return all(
    says(Array.isArray, 'must be an array'),
    says((value) => (value as Json[]).length <= most, `must contain no more than ${most} elements`),
    (value, field) =>
      (value as Json[]).flatMap((item, at) => [
        ...problemsOf(fields, item, `${field}.${at}.`),
        ...also(item, `${field}.${at}`),
      ]),
  );
}

function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

const TOOL: Fields = {
  name: { check: all(FILLED, short(128)), required: true },
  description: { check: short(4_096), required: true },
  // Clients send all sorts of schemas; they are handed on, never compiled.
  schema: { check: OBJECT, required: true },
};

const HAS_A_PLACE = says(
  (item) => !isObject(item) || item.mxcUri !== undefined || item.eventId !== undefined,
  'must have mxcUri or eventId',
);

// Without control characters, and without a step out of its folder in any spelling that a URL parser takes for one.
const ADDRESS = /^(?!.*[\\/](?:\.|%2[eE]){2})(?:mxc|https?):\/\/[^/\p{Cc}]+[^\p{Cc}]+$/su;

const ATTACHMENT: Fields = {
  mxcUri: {
    check: all(
      short(2_048),
      says((value) => ADDRESS.test(String(value)), 'must be an mxc, http or https URI'),
    ),
  },
  eventId: {
    check: all(
      short(256),
      says((value) => String(value).startsWith('$'), 'must start with $'),
    ),
  },
  filename: { check: all(FILLED, short(255)), required: true },
  mimetype: { check: all(FILLED, short(255)), required: true },
  size: { check: says((value) => typeof value === 'number' && value >= 0, 'must be a number that is not negative') },
};

const MESSAGE: Fields = {
  message: { check: FILLED, required: true },
  stream: { check: FLAG },
  returnAllMessages: { check: FLAG },
  tools: { check: list(TOOL, SERVER_LIMITS.declaredTools) },
  agActions: { check: list({ ...TOOL, hasRender: { check: FLAG } }, SERVER_LIMITS.declaredTools) },
  attachments: { check: list(ATTACHMENT, 10, HAS_A_PLACE) },
  mcpInvocations: {
    check: all(OBJECT, (value, field) =>
      Object.entries(value as JsonObject).flatMap(([name, token]) => TEXT(token, `${field}.${name}`)),
    ),
  },
  timezone: { check: ZONE },
  homeServer: { check: short(512) },
  metadata: {
    check: all(
      OBJECT,
      says(
        (value) => [undefined, 'reject', 'enqueue', 'interrupt'].includes((value as { multitask?: string }).multitask),
        'has a multitask that is not one of reject, enqueue, interrupt',
      ),
    ),
  },
  model: { check: short(256) },
};

const DELEGATION: Fields = {
  raw: { check: FILLED, required: true },
  issuer: { check: TEXT },
  audience: { check: TEXT },
  expiration: {
    check: says((value) => typeof value === 'number', 'must be a number conforming to the specified constraints'),
  },
};

const ABORT: Fields = { sessionId: { check: FILLED, required: true }, runId: { check: FILLED } };

function problemsOf(fields: Fields, value: Json, prefix = ''): string[] {
  if (!isObject(value)) return [`${prefix.slice(0, -1) || 'the body'} must be an object`];
  const unknown = Object.keys(value).filter((field) => !Object.hasOwn(fields, field));
  return [
    ...unknown.map((field) => `property ${prefix}${field} should not exist`),
    ...Object.entries(fields).flatMap(([field, { check, required }]) => {
      const given = Object.hasOwn(value, field) ? value[field]! : undefined;
      if (given === undefined) return required ? check(null, prefix + field) : [];
      return check(given, prefix + field);
    }),
  ];
}

export interface SendBody extends RunRequest {
  readonly stream?: boolean;
  readonly returnAllMessages?: boolean;
  readonly mcpInvocations?: { readonly [tool: string]: string };
  readonly tools?: readonly ToolDeclaration[];
}

const parse = bodyParser({
  enableTypes: ['json'],
  detectJSON: () => true,
  strict: false,
  jsonLimit: String(SERVER_LIMITS.jsonBodyBytes),
  // The parser's own words quote the body, which may hold tokens.
  onerror: (error) => {
    const { type, status } = error as { type?: string; status?: number };
    if (type === 'entity.too.large')
      throw agentError(413, `The body is larger than ${SERVER_LIMITS.jsonBodyBytes} bytes`);
    if (status === 415) throw agentError(415, 'The encoding of the body is not read here');
    throw agentError(400, ['the body must be JSON']);
  },
});

async function read<T>(ctx: Context, fields: Fields): Promise<T> {
  // A body without a type is taken for JSON, and so is what curl sends without one: it calls any data a form.
  if (ctx.get('content-type') !== '' && ctx.request.length !== 0 && ctx.is('json', '+json', 'urlencoded') === false)
    throw agentError(415, 'The body must be of the type application/json');
  await parse(ctx, async () => {});
  const { body, rawBody = '' } = ctx.request as { body?: unknown; rawBody?: string };
  const value = (rawBody.trim() === '' ? {} : body) as Json;
  const flaw = flawOfJson(rawBody, value);
  const problems = flaw ? [`the body ${wordsAt(flaw)}`] : problemsOf(fields, value);
  if (problems.length) throw agentError(400, problems);
  return value as T;
}

/** The body of a message; throws 400 with the whole list. */
export const readMessage = (ctx: Context) => read<SendBody>(ctx, MESSAGE);
export const readDelegation = (ctx: Context) => read<{ readonly raw: string }>(ctx, DELEGATION);
export const readAbort = (ctx: Context) => read<{ readonly sessionId: string; readonly runId?: string }>(ctx, ABORT);
