// The services `http.get`, `http.post`, `http.put`, `http.patch` and `http.delete`: JSON calls to listed hosts.

import { createHash } from 'node:crypto';
import type { ServiceCall, Services } from '../engine/service.ts';
import { TwinlineError } from '../errors.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { flawOfNumbers, wordsAt } from '../json/reader.ts';
import { type HttpAnswer, type HttpRequest, httpExchange, httpFailure } from './client.ts';
import { parseHosts } from './host-list.ts';
import { guardedLookup, type Resolve, systemResolve } from './hosts.ts';
import { HTTP_LIMITS } from './limits.ts';

export interface HttpServiceOptions {
  /**
   * Hosts that may be called: `host`, `host:port` or `*.example.com`; private addresses and localhost only when listed.
   */
  readonly hosts: readonly string[];
  /**
   * Resolves a host name to all its addresses.
   * @default the system resolver
   */
  readonly lookup?: Resolve;
  /**
   * Headers by origin, such as `https://api.example.com`: sent with each request to it, in the place of headers of the same name.
   * For credentials, which flows then neither hold nor name.
   */
  readonly headers?: HeadersByOrigin;
}

export interface HeadersByOrigin {
  readonly [origin: string]: { readonly [header: string]: string };
}

/** Each answers at once. */
export type HttpServices = {
  readonly [name in `http.${Lowercase<HttpRequest['method']>}`]: (
    input: JsonObject,
    call: ServiceCall,
  ) => Promise<Json>;
};

const ADDRESS = ['url', 'query', 'headers'] as const;
const INPUTS: { readonly [method in HttpRequest['method']]: readonly string[] } = {
  GET: ADDRESS,
  POST: [...ADDRESS, 'body'],
  PUT: [...ADDRESS, 'body'],
  PATCH: [...ADDRESS, 'body'],
  DELETE: ADDRESS,
};

// Headers that frame the request; a flow must not set them.
const OWN_HEADERS =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding|idempotency-key)$/;

/**
 * One service for each method. Input: `{url, query?, headers?}`, and `body?` (any JSON) for post, put and patch; null values of
 * `query` are omitted, lists repeat the name. Output: `{status, body}`, where `body` is the parsed JSON of the response, its text
 * when it is not JSON, or null when it is empty. All but a get send the call's key as `Idempotency-Key`.
 *
 * Rejects with ERR_INPUT for malformed input; with ERR_SERVICE for a host that is not listed or resolves to a private
 * address, and for a response that is not 2xx (`cause` is `{ status }`), too large or invalid; with ERR_TIMEOUT when the
 * call's signal aborts. The `retry` of an ERR_SERVICE is true for 5xx, 429 and broken connections. Messages show origin
 * and path, never the query, headers or bodies. Throws ERR_CONFIG for an invalid host list or invalid headers.
 */
export function httpServices(options: HttpServiceOptions): HttpServices & Services {
  const findReach = parseHosts(options.hosts);
  const resolve = options.lookup ?? systemResolve;
  const exchange = httpExchange();
  const headersOf = originHeaders(options.headers ?? {});

  const service = (method: HttpRequest['method']) => async (input: JsonObject, call: ServiceCall) => {
    const request = readInput(method, input, call);
    const reach = findReach(request.url);
    if (!reach) {
      const how = `Add "${request.url.host}" to the list of HTTP hosts to allow it`;
      throw httpFailure(request, `is not allowed. ${how}`, { retry: false });
    }
    const answer = await exchange(headersOf(request), { lookup: guardedLookup(resolve, reach), signal: call.signal });
    return { status: answer.status, body: readBody(request, answer) };
  };
  return {
    'http.get': service('GET'),
    'http.post': service('POST'),
    'http.put': service('PUT'),
    'http.patch': service('PATCH'),
    'http.delete': service('DELETE'),
  };
}

/** Adds the headers of its origin to a request. Throws ERR_CONFIG for invalid ones. */
export function originHeaders(headers: HeadersByOrigin): (request: HttpRequest) => HttpRequest {
  const byOrigin = new Map<string, { readonly [header: string]: string }>();
  for (const [origin, own] of Object.entries(headers)) {
    const problem = findHeaderFault(origin, own);
    if (problem) throw new TwinlineError('ERR_CONFIG', `Cannot use the headers of HTTP calls: ${problem}.`);
    byOrigin.set(origin, Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value])));
  }
  return (request) => {
    const own = byOrigin.get(request.url.origin);
    return own ? { ...request, headers: { ...request.headers, ...own } } : request;
  };
}

/** Why headers cannot be sent to an origin, without their values; undefined when they can. */
export function findHeaderFault(origin: string, headers: unknown): string | undefined {
  const isOrigin =
    URL.canParse(origin) && /^https?:$/.test(new URL(origin).protocol) && new URL(origin).origin === origin;
  if (!isOrigin) return `${JSON.stringify(origin)} is not an origin such as https://api.example.com`;
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers))
    return `${JSON.stringify(origin)} has no object of headers`;
  for (const [name, value] of Object.entries(headers)) {
    const problem = headerProblem(name, value);
    if (problem) return `of ${origin} ${problem}`;
  }
  return undefined;
}

function headerProblem(name: string, value: unknown): string | undefined {
  const lower = name.toLowerCase();
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(lower) || OWN_HEADERS.test(lower)) return `the header "${name}" cannot be set`;
  const isLine = typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value);
  return isLine ? undefined : `"headers.${name}" is not a single line of ASCII text`;
}

function readInput(method: HttpRequest['method'], input: JsonObject, call: ServiceCall): HttpRequest {
  const name = `http.${method.toLowerCase()}`;
  const fail = (problem: string) => new TwinlineError('ERR_INPUT', `Cannot call ${name}: ${problem}.`);
  const names = INPUTS[method];
  const unknown = Object.keys(input).find((key) => !names.includes(key));
  if (unknown !== undefined) throw fail(`its input has no field "${unknown}". It takes ${names.join(', ')}`);
  const url = readUrl(input.url ?? null, fail);
  for (const [key, value] of entries('query', input.query, fail)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one === 'object' && one !== null)
        throw fail(`"query.${key}" is neither a plain value nor a list of plain values`);
      if (one !== null) url.searchParams.append(key, String(one));
    }
  }
  const headers: { [name: string]: string } = {
    accept: 'application/json, text/plain;q=0.5',
    'user-agent': 'twinline',
  };
  const body = input.body === undefined || input.body === null ? undefined : JSON.stringify(input.body);
  if (body !== undefined) headers['content-type'] = 'application/json';
  for (const [key, value] of entries('headers', input.headers, fail)) {
    const problem = headerProblem(key, value);
    if (problem) throw fail(problem);
    headers[key.toLowerCase()] = value as string;
  }
  headers['accept-encoding'] = 'identity';
  if (method === 'GET') return { method, url, headers };
  headers['idempotency-key'] = headerKey(call.idempotencyKey);
  headers['content-length'] = String(Buffer.byteLength(body ?? ''));
  return { method, url, headers, ...(body !== undefined && { body }) };
}

function readUrl(value: Json, fail: (problem: string) => TwinlineError): URL {
  if (typeof value !== 'string' || value.length > HTTP_LIMITS.httpUrlChars || !URL.canParse(value)) {
    throw fail(`"url" must be an absolute URL of at most ${HTTP_LIMITS.httpUrlChars} characters`);
  }
  const url = new URL(value);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw fail('"url" must start with http:// or https://');
  if (url.username || url.password) throw fail('"url" must not contain a user name or password; use a header');
  return url;
}

function entries(name: string, value: Json | undefined, fail: (problem: string) => TwinlineError): [string, Json][] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value)) throw fail(`"${name}" must be an object`);
  return Object.entries(value as JsonObject);
}

// Call keys contain session ids, which may be any text.
function headerKey(key: string): string {
  const isPlain = key.length <= HTTP_LIMITS.httpKeyChars && /^[\x21-\x7e]+$/.test(key);
  return isPlain ? key : createHash('sha256').update(key).digest('base64url');
}

function readBody(request: HttpRequest, { status, contentType, text }: HttpAnswer): Json {
  const fail = (problem: string, retry: boolean) => httpFailure(request, problem, { retry, status });
  if (text.trim() === '') return null;
  const claimsJson = /[/+]json\b/i.test(contentType);
  if (!claimsJson && !/^\s*[{[]/.test(text)) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (claimsJson) throw fail('answered malformed JSON', true);
    return text;
  }
  const flaw = flawOfNumbers(text);
  if (flaw) throw fail(`answered JSON that ${wordsAt(flaw)}`, false);
  return plain(value, 0, () => fail(`answered JSON nested deeper than ${HTTP_LIMITS.httpAnswerDepth} levels`, false));
}

const PROTOTYPE_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

// JSON.parse creates own `__proto__` properties and -0; neither survives copying or storage.
function plain(value: unknown, depth: number, tooDeep: () => TwinlineError): Json {
  if (typeof value === 'number') return value + 0;
  if (value === null || typeof value !== 'object') return value as Json;
  if (depth >= HTTP_LIMITS.httpAnswerDepth) throw tooDeep();
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1, tooDeep));
  const copy: { [name: string]: Json } = {};
  for (const [name, part] of Object.entries(value)) {
    if (!PROTOTYPE_NAMES.has(name)) copy[name] = plain(part, depth + 1, tooDeep);
  }
  return copy;
}
