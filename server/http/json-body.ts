// JSON bodies of all services: read by koa-bodyparser, checked by lib/json/reader.ts, refused with one kind of error.

import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Json } from '../../lib/json/json.ts';
import { flawOfJson, type JsonFlaw, wordsAt } from '../../lib/json/reader.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { Refusal, type RefusalKind } from './errors.ts';

/** Types that JSON is sent with: '' is a body without a type, and curl calls any data a form. */
export const JSON_TYPES = ['application/json', 'application/x-www-form-urlencoded', ''] as const;

export interface JsonBodyOptions {
  /** Media types in lower case; `+json` stands for every type that ends so. @default JSON_TYPES */
  readonly types?: readonly string[];
  /** Whether the body may be missing; it is read as null then. @default false */
  readonly optional?: boolean;
  /** @default SERVER_LIMITS.jsonBodyBytes */
  readonly maxBytes?: number;
}

export interface JsonBody {
  /** The media type, in lower case, without parameters. */
  readonly type: string;
  readonly value: Json;
  /** As it came, to tell two requests apart. */
  readonly text: string;
}

/** What is wrong with a body, and how the doors call it. */
const FAULTS = {
  type: 'unsupported-media-type',
  form: 'unsupported-media-type',
  coding: 'unsupported-media-type',
  'too-large': 'too-large',
  empty: 'bad-request',
  syntax: 'bad-request',
  /** JSON that could not be kept as it was sent; `flaw` says why. */
  content: 'bad-request',
} as const satisfies Record<string, RefusalKind>;

export type BodyFault = keyof typeof FAULTS;

/** A body that is not taken. Its message is one sentence for clients; services may word it in their own way. */
export class BodyError extends Refusal {
  readonly fault: BodyFault;
  readonly flaw: JsonFlaw | undefined;

  constructor(fault: BodyFault, message: string, flaw?: JsonFlaw) {
    super(FAULTS[fault], message);
    this.fault = fault;
    this.flaw = flaw;
  }
}

/** Reads the body of a request; throws BodyError. */
export async function readJsonBody(
  ctx: Pick<Context, 'get' | 'request'>,
  options: JsonBodyOptions = {},
): Promise<JsonBody> {
  const { types = JSON_TYPES, optional = false, maxBytes = SERVER_LIMITS.jsonBodyBytes } = options;
  const type = mediaType(ctx);
  if (optional && !hasBody(ctx)) return { type, value: null, text: '' };
  if (!types.some((name) => name === type || (name.startsWith('+') && type.endsWith(name)))) {
    const named = types.filter((name) => /^[^+].*json/.test(name)).join(' or ');
    throw new BodyError('type', `A body of type ${JSON.stringify(type)} is not read here. Send ${named}.`);
  }
  await parserFor(maxBytes)(ctx as Context, async () => {});
  const { body, rawBody: text = '' } = ctx.request as { body?: unknown; rawBody?: string };
  if (optional && text.trim() === '') return { type, value: null, text };
  if (isForm(type) && !LOOKS_LIKE_JSON.test(text)) throw formError();
  if (text === '') throw new BodyError('empty', 'The body is empty.');
  const flaw = flawOfJson(text, body as Json);
  if (flaw) throw new BodyError('content', `The body ${flaw.words}.`, flaw);
  return { type, value: body as Json, text };
}

/** The type that the body of a request is said to have: in lower case, without parameters, '' when it says none. */
export function mediaType(ctx: Pick<Context, 'get'>): string {
  return ctx.get('content-type').split(';')[0]!.trim().toLowerCase();
}

// One for each limit that a route declares.
const parsers = new Map<number, Middleware>();

function parserFor(maxBytes: number): Middleware {
  const parser = parsers.get(maxBytes) ?? newParser(maxBytes);
  parsers.set(maxBytes, parser);
  return parser;
}

function newParser(maxBytes: number): Middleware {
  return bodyParser({
    enableTypes: ['json'],
    detectJSON: () => true,
    strict: false,
    jsonLimit: String(maxBytes),
    // The parser's own words quote the body, which may hold tokens.
    onerror: (error, ctx) => {
      const { type, status, body } = error as { type?: string; status?: number; body?: unknown };
      if (isForm(mediaType(ctx)) && typeof body === 'string' && !LOOKS_LIKE_JSON.test(body)) throw formError();
      if (type === 'entity.too.large') throw new BodyError('too-large', `The body is larger than ${maxBytes} bytes.`);
      if (status === 415) throw new BodyError('coding', 'The encoding or character set of the body is not read.');
      throw new BodyError('syntax', 'The body is no valid JSON.');
    },
  });
}

const LOOKS_LIKE_JSON = /^\s*[{[]/;

function isForm(type: string): boolean {
  return type === 'application/x-www-form-urlencoded';
}

function hasBody(ctx: Pick<Context, 'get'>): boolean {
  return ctx.get('transfer-encoding') !== '' || Number(ctx.get('content-length')) > 0;
}

function formError(): BodyError {
  const words = 'Forms are not read here. Send JSON: curl -H "Content-Type: application/json" -d \'{…}\'.';
  return new BodyError('form', words);
}

// Other bodies are left to the routes.
const TYPES = [
  ...['application/json', 'application/json-patch+json', 'application/vnd.api+json'],
  ...['application/csp-report', 'application/scim+json'],
];

/**
 * Reads objects and lists only; what is no JSON by its type, or missing, is an empty object. `limits`: path → most bytes, where
 * they are not SERVER_LIMITS.jsonBodyBytes.
 */
export function jsonBody(limits: ReadonlyMap<string, number> = new Map()): Middleware {
  return async (ctx, next) => {
    const { body } = ctx.request as { body?: unknown };
    if (body === undefined) ctx.request.body = ctx.is(TYPES) ? await readObject(ctx, limits.get(ctx.path)) : {};
    return next();
  };
}

async function readObject(ctx: Parameters<typeof readJsonBody>[0], most: number | undefined): Promise<unknown> {
  try {
    const { value, text } = await readJsonBody(ctx, { types: TYPES, optional: true, ...(most && { maxBytes: most }) });
    if (text.trim() === '') return {};
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const { kind, fault, flaw } = error;
    if (fault !== 'syntax') throw new Refusal(kind, flaw && `The body ${wordsAt(flaw)}`);
  }
  throw new Refusal('bad-request', 'The body is no valid JSON object or list');
}
