// The OpenAPI document is one, says everything that the server answers, and nothing else.

import { Validator } from '@seriousme/openapi-schema-validator';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouteGroup } from '../../../server/http/route-table.ts';
import { type OpenApiDocument, openApiDocument } from '../../../server/openapi/document.ts';
import formats from '../../fixtures/openapi/formats.json' with { type: 'json' };
import { documented } from '../support/documented.ts';
import { sharedServer, withServer } from '../support/serve.ts';

const test = suite('openapi');

const server = sharedServer(test, {});

let document: OpenApiDocument;
test.before(async () => {
  document = (await server().ask('/openapi.json')).json() as OpenApiDocument;
});

/** `GET /v1/domains/:did` as OpenAPI writes it. */
const inBraces = (line: string) => line.replace(/:(\w+)/g, '{$1}');

test('the document is valid OpenAPI 3.1', async () => {
  assert.is(document.openapi, '3.1.1');
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
  assert.ok(valid, JSON.stringify(errors));
});

type Node = { readonly [keyword: string]: unknown };

/** Every object of the document, with where it is. */
function* nodesOf(value: unknown, where = ''): Generator<[where: string, node: Node]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [where, value as Node];
  for (const [name, part] of Object.entries(value)) yield* nodesOf(part, `${where}/${name}`);
}

// What JSON Schema and OpenAPI name themselves, and ajv-formats, redocly and most other tools know.
const COMMON_FORMATS = new Set('date-time uri uri-reference json-pointer int32 int64 double float byte'.split(' '));

test('what is required is described, what is named is used, and own formats say what they look like', () => {
  const undescribed: string[] = [];
  const unclear: string[] = [];
  const used = new Set<unknown>();
  for (const [where, { required, properties, allOf, anyOf, oneOf, format, pattern, $ref }] of nodesOf(document)) {
    if (typeof $ref === 'string' && !where.includes('/x-lines')) used.add($ref.split('/').at(-1));
    if (Array.isArray(required) && !allOf && !anyOf && !oneOf)
      for (const name of required)
        if (!Object.hasOwn((properties ?? {}) as object, name)) undescribed.push(`${where}: ${name}`);
    if (typeof format === 'string' && !COMMON_FORMATS.has(format) && typeof pattern !== 'string')
      unclear.push(`${where}: ${format}`);
  }
  assert.equal(undescribed, []);
  assert.equal(unclear, []);
  assert.equal(
    Object.keys(document.components.schemas).filter((name) => !used.has(name)),
    [],
  );
});

test('where one of several forms is asked for, no value has two of them', () => {
  // Objects tell themselves apart by a word of their own.
  const typeIn = (schema: Node): string => {
    const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1)! : undefined;
    if (name !== undefined) return typeIn(document.components.schemas[name] as Node);
    const { kind } = (schema.properties ?? {}) as { kind?: { const?: string } };
    return `${schema.type} ${kind?.const}`;
  };
  const unclear = [...nodesOf(document)].flatMap(([where, { oneOf }]) => {
    const types = ((oneOf ?? []) as Node[]).map(typeIn);
    return new Set(types).size < types.length ? [where] : [];
  });
  assert.equal(unclear, []);
});

test('the patterns take what the checks take', () => {
  const patterns = new Map<unknown, string>();
  for (const [, { format, pattern }] of nodesOf(document))
    if (typeof pattern === 'string' && typeof format === 'string') patterns.set(format, pattern);
  const examples = formats as unknown as { [format: string]: [good: string[], bad: string[]] };
  assert.equal([...patterns.keys()].sort(), Object.keys(examples).sort());
  for (const [format, [good, bad]] of Object.entries(examples)) {
    const regex = new RegExp(patterns.get(format)!, 'u');
    for (const text of good) assert.ok(regex.test(text), `${format} ${text}`);
    for (const text of bad) assert.not(regex.test(text), `${format} ${text}`);
  }
});

test('every route is documented, and every documented route is there', () => {
  const served = new Set(server().routes.map(({ method, path }) => inBraces(`${method} ${path}`)));
  const written = new Set(documented(document).operations);
  assert.ok(served.size > 50);
  assert.equal(
    [...served].filter((route) => !written.has(route)),
    [],
    'served and not documented',
  );
  assert.equal(
    [...written].filter((route) => !served.has(route)),
    [],
    'documented and not served',
  );
});

test('a group brings routes and their documentation; with metrics on a port of their own, they are not named here', () => {
  const description = 'Fine';
  const part: RouteGroup<undefined> = {
    ...{ tag: 'Weather', description: 'Of a test.', access: 'public' },
    routes: [
      {
        ...{ method: 'GET', path: '/weather', id: 'getWeather', summary: 'How it is' },
        answers: { 200: { description } },
        handle: (ctx) => {
          ctx.body = 'fine';
        },
      },
    ],
  };
  return withServer({ routes: [part], env: { METRICS_PORT: '0' } }, async ({ ask, routes }) => {
    const { paths } = (await ask('/openapi.json')).json() as OpenApiDocument;
    const has = (path: string) => [path in paths, routes.some((one) => one.path === path)];
    assert.equal(
      [has('/weather'), has('/metrics')],
      [
        [true, true],
        [false, false],
      ],
    );
  });
});

test('parts that contradict each other are refused', () => {
  const route = { method: 'GET', path: '/a', id: 'a', summary: 'A', answers: {} } as const;
  const part = (routes: RouteGroup['routes']): RouteGroup => ({ tag: 't', description: 't', access: 'public', routes });
  const make = (...parts: RouteGroup[]) => openApiDocument({ groups: parts, version: '1' });
  const refused = (parts: RouteGroup[], words: RegExp) =>
    assert.throws(
      () => make(...parts),
      (error: Error) => words.test(error.message),
    );
  refused([part([route]), part([route])], /GET \/a is documented twice/);
  refused([part([route, { ...route, path: '/b' }])], /another operation has the id a/);
  refused([part([{ ...route, path: '/:b' }])], /the parameter b is not described/);
  refused(
    [
      { ...part([]), schemas: { X: { type: 'string' } } },
      { ...part([]), schemas: { X: { type: 'object' } } },
    ],
    /two schemas have the name X/,
  );
});

test('the schemas of bodies are the ones that check', () => {
  const schema = document.components.schemas.NewVote as { properties: object };
  assert.equal(Object.keys(schema.properties), ['vote', 'rationale']);
  const body = (document.paths['/v1/proposals/{id}/votes']!.post as { requestBody: unknown }).requestBody;
  assert.match(JSON.stringify(body), '"$ref":"#/components/schemas/NewVote"');
});

test.run();
