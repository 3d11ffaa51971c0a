// Random requests for each operation of the OpenAPI document, which the server makes from its table of routes: such as the
// document allows, and such as it does not.

import fc, { type Arbitrary } from 'fast-check';
import type { OpenApiDocument } from '../../server/openapi/document.ts';
import { HOSTILE, type Schema, type Schemas, valuesOf } from './values.ts';

/** A request as it is kept in the corpus; what stands in `<<>>` is replaced by what the server has. */
export interface FuzzRequest {
  /** `GET /v1/domains/{did}`: whose declared answers count; undefined where no route is asked. */
  readonly operation?: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A byte for each character. */
  readonly body?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly line: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: Schema } } };
}

/** Every name that a request may use in `<<>>`. */
export const NAMES = {
  path: { did: '<<did>>', id: '<<proposal>>', sessionId: '<<session>>', runId: '<<run>>', seq: '1', list: '<<list>>' },
  keys: ['owner', 'rep', 'ann', 'issuer', 'operator', 'nobody', 'stranger'],
} as const;

const CREDENTIALS = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAMES.keys).map((name) => `Bearer <<key ${name}>>`) },
  { weight: 3, arbitrary: fc.constant('Bearer <<ucan>>') },
  { weight: 3, arbitrary: fc.constant('Bearer <<operator token>>') },
  { weight: 1, arbitrary: fc.constantFrom('Bearer', 'Bearer x', 'Basic Og==', 'Bearer <<ucan>>x', '') },
);

const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ['accept', ',;q'],
  ['accept', 'image/png;q=1, */*;q=0'],
  ['content-type', 'text/plain'],
  ['content-type', 'application/json; charset=utf-16'],
  ['content-type', 'application/xml'],
  ['content-type', 'multipart/form-data; boundary='],
  ['content-encoding', 'gzip'],
  ['content-encoding', 'identity, br'],
  ['if-match', '*'],
  ['if-match', 'W/"x", "'],
  ['if-none-match', '*'],
  ['idempotency-key', 'k'],
  ['idempotency-key', 'x'.repeat(300)],
  ['last-event-id', '-1'],
  ['last-event-id', '99999999999999999999'],
  ['origin', 'null'],
  ['range', 'bytes=9-1'],
  ['expect', 'x'],
  ['x-forwarded-for', 'not an ip, 6.6.6.6'],
  ['x-forwarded-host', 'a@b'],
  ['x-request-id', '\u00ff'.repeat(200)],
  ['x-auth-type', 'ucan'],
  ['x-ucan-delegation', 'AAAA'],
  ['traceparent', '00-0-0-0'],
  ['grpc-timeout', '1n'],
  ['x-cosmos-block-height', '-1'],
  ['cookie', '__proto__=1; =; a'],
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const SEGMENTS = ['%00', '%ff', '%', '%ED%A0%80', '__proto__', '*', `${'a'.repeat(300)}`, '-1', '..%2f..%2fetc'];

/** Requests of all operations of the document, each as likely as another. */
export function requestsOf(document: OpenApiDocument): Arbitrary<FuzzRequest> {
  const schemas = document.components.schemas as Schemas;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): Operation => ({ ...one, line: `${method.toUpperCase()} ${path}` })),
  );
  const lines = new Set(operations.map(({ line }) => line));
  return fc.oneof(...operations.map((operation) => requestOf(operation, schemas, lines)));
}

function requestOf(operation: Operation, schemas: Schemas, lines: ReadonlySet<string>): Arbitrary<FuzzRequest> {
  const [method, template] = operation.line.split(' ') as [string, string];
  const named = operation.parameters ?? [];
  const body = operation.requestBody ? bodies(operation.requestBody.content, schemas) : fc.constant(undefined);
  const wrong = fc.constantFrom(...METHODS.filter((one) => !lines.has(`${one} ${template}`)));
  return fc
    .record({
      method: fc.oneof({ weight: 30, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: wrong }),
      segments: fc.record(
        Object.fromEntries([...template.matchAll(/\{([^}=]+)[^}]*\}/g)].map(([, name]) => [name!, segments(name!)])),
      ),
      query: parametersOf(named, 'query', schemas),
      headers: parametersOf(named, 'header', schemas),
      odd: fc.oneof(fc.constant([]), fc.subarray([...ODD_HEADERS], { maxLength: 2 })),
      authorization: CREDENTIALS,
      content: body,
    })
    .map(({ method: sent, segments: filled, query, headers, odd, authorization, content }) => {
      const path = template.replaceAll(/\{([^}=]+)[^}]*\}/g, (_all, name: string) => filled[name]!);
      const search = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
      return {
        ...(sent === method && { operation: operation.line }),
        method: sent,
        path: search ? `${path}?${search}` : path,
        headers: {
          authorization,
          ...(authorization.includes('ucan') && { 'x-auth-type': 'ucan' }),
          ...(content && { 'content-type': content.type }),
          ...Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), headerText(value)])),
          ...Object.fromEntries(odd),
        },
        ...(content && { body: content.text }),
      };
    });
}

const segments = (name: string): Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant((NAMES.path as Record<string, string>)[name] ?? 'x') },
    { weight: 1, arbitrary: fc.constantFrom(...SEGMENTS) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 3, maxLength: 12 }).map(encode) },
  );

/** Names and values of the parameters in one place, some of them left out, doubled or wrong. */
function parametersOf(
  named: readonly Parameter[],
  place: Parameter['in'],
  schemas: Schemas,
): Arbitrary<readonly (readonly [string, string])[]> {
  const own = named.filter((one) => one.in === place);
  if (own.length === 0) return fc.constant([]);
  const one = fc
    .constantFrom(...own)
    .chain(({ name, schema }) =>
      fc
        .oneof({ weight: 3, arbitrary: valuesOf(schema, schemas) }, HOSTILE)
        .map((value) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const),
    );
  return fc.array(one, { maxLength: 3 });
}

function bodies(content: { readonly [type: string]: { readonly schema: Schema } }, schemas: Schemas) {
  const each = Object.entries(content).map(([type, { schema }]) => {
    const values = valuesOf(schema, schemas);
    const texts = fc
      .oneof({ weight: 4, arbitrary: values }, changed(values), HOSTILE)
      .map((value) => written(type, value));
    const sent = fc.oneof(
      { weight: 12, arbitrary: texts },
      fc.tuple(texts, BREAKS).map(([text, spoil]) => spoil(text)),
    );
    return sent.map((text) => ({ type, text }));
  });
  return fc.oneof(...each);
}

/** A value with one field replaced by a hostile one, at any depth. */
function changed(values: Arbitrary<unknown>): Arbitrary<unknown> {
  return fc.tuple(values, HOSTILE, fc.nat(), fc.nat(3)).map(([value, hostile, at, depth]) => {
    const copy = structuredClone(value);
    let here = copy as Record<string, unknown>;
    for (let level = 0; typeof here === 'object' && here !== null; level++) {
      const names = Object.keys(here);
      const name = names[at % names.length] ?? 'added';
      const below = here[name];
      if (level >= depth || typeof below !== 'object' || below === null) {
        here[name] = hostile;
        break;
      }
      here = below as Record<string, unknown>;
    }
    return copy;
  });
}

/** Bodies that are no JSON, or that JSON readers take in different ways. */
const BREAKS = fc.constantFrom<(text: string) => string>(
  () => '',
  (text) => text.slice(0, -1),
  (text) => `${text}${text}`,
  (text) => `\u00ef\u00bb\u00bf${text}`,
  (text) => text.replace('{', '{"__proto__":{"a":1},'),
  (text) => text.replace(/"(\w+)":/, '"$1":1,"$1":'),
  (text) => text.replace(/"[^"]*"/, '"\u00ff\u00fe"'),
  (text) => text.replace(/"[^"]*"/, '"\\ud800"'),
  (text) => text.replace(/"[^"]*"/, '"\\u0000"'),
  (text) => text.replace(/:[^,}]*/, ':1e999'),
  (text) => text.replace(/:[^,}]*/, ':9007199254740993'),
  () => `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`,
  () => `{"a":"${'x'.repeat(200_000)}"}`,
);

const bytes = (text: string): string => Buffer.from(text).toString('latin1');

function written(type: string, value: unknown): string {
  if (type !== 'application/x-www-form-urlencoded') return bytes(JSON.stringify(value) ?? '');
  if (typeof value !== 'object' || value === null) return bytes(String(value));
  return Object.entries(value)
    .map(([name, field]) => `${encode(name)}=${encode(typeof field === 'string' ? field : JSON.stringify(field))}`)
    .join('&');
}

/** Percent-encoded, with the names in `<<>>` left as they are. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).replaceAll('%3C%3C', '<<').replaceAll('%3E%3E', '>>');
}

const headerText = (value: string): string => value.replaceAll(/[^\x20-\x7e]/g, '?').trim();
