// The OpenAPI document is one, says everything that the server answers, and nothing else.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { REFERENCES } from '../../../server/docs/docs-page.ts';
import { showDeadLetter } from '../../../server/domain/routes/webhooks.ts';
import type { RouteGroup } from '../../../server/http/route-table.ts';
import { type OpenApiDocument, openApiDocument } from '../../../server/openapi/document.ts';
import { alice, bob, everything, oracle, text as token } from '../../delegation/tokens.ts';
import { type Body, COOKING, type Headers, type Name, path, place, YES } from '../domain/place.ts';
import { type Documented, documented } from '../support/documented.ts';
import { readEvents } from '../support/event-reader.ts';
import { type Answer, DIAL, json, withServer } from '../support/serve.ts';

const test = suite('openapi');

// Webhooks are looked at, and nobody is called.
const nowhere = { lookup: (_host: string, _options: unknown, done: (error: Error) => void) => done(new Error('away')) };
const { server, ask, domain, verified, proposal } = place(test, {
  env: { ORACLE_DID: oracle.did() },
  webhookSender: nowhere as never,
});

let document: OpenApiDocument;
let held: Documented;
test.before(async () => {
  document = (await server().ask('/openapi.json')).json() as OpenApiDocument;
  held = documented(document);
});

/** `GET /v1/domains/:did` as OpenAPI writes it. */
const inBraces = (line: string) => line.replace(/:(\w+)/g, '{$1}');

interface How {
  readonly with?: { readonly [parameter: string]: string };
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Headers;
}

/** Asks for a documented operation; fails unless the answer has this status and is as documented. */
async function told(status: number, name: Name | undefined, operation: string, how: How = {}): Promise<Answer> {
  const { with: values = {}, query = '', body, headers } = how;
  const line = operation.replace(/\{(\w+)\}/g, (_all, parameter: string) => encodeURIComponent(values[parameter]!));
  const answer = await ask(name, line + query, body, headers);
  assert.is(answer.status, status, `${operation}: ${answer.text}`);
  assert.equal(held.problemsOf(operation, answer), []);
  return answer;
}

const idOf = (answer: Answer) => (answer.json() as { id: string; did: string }) ?? {};
const etag = (answer: Answer) => ({ 'if-match': answer.headers.etag! });

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
const COMMON_FORMATS = new Set([
  'date-time',
  'uri',
  'uri-reference',
  'json-pointer',
  'int32',
  'int64',
  'double',
  'float',
  'byte',
]);

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
  const examples: { readonly [format: string]: readonly [good: readonly string[], bad: readonly string[]] } = {
    did: [
      ['did:ixo:entity:00', 'did:web:a%3A1:b'],
      ['did:ixo:a/b', 'did:ixo:ü', 'x did:ixo:a'],
    ],
    'did-reference': [
      ['did:ixo:a', 'did:ixo:a/b?c=d#e', 'did:ixo:a?b?c'],
      ['did:ixo:a#b#c', 'did:ixo:a/ü', 'urn:a'],
    ],
    alias: [
      ['urn:a:b', 'did:ixo:a/b', 'https://a.b/%C3%BC'],
      ['did:example:ünïcode', 'a b', '#x'],
    ],
    'fragment-or-uri': [
      ['#data', '{id}#data', 'urn:a'],
      ['data', '#dätä', '{id}'],
    ],
    'safe-url': [
      ['https://a.b/{id}', 'ipfs://bafy', 'HTTPS://a.b'],
      ['a', 'https://a b', 'https://ä'],
    ],
    'not-blank': [
      ['a', ' a '],
      ['', ' ', '\n\t\u00a0'],
    ],
    'time-zone': [
      ['Africa/Lusaka', 'Etc/GMT+5', 'UTC'],
      ['', 'a b', `A${'a'.repeat(64)}`],
    ],
    'matrix-event': [['$1'], ['1$', '']],
    'attachment-address': [
      ['mxc://a/b', 'https://a.b/c d?e=f'],
      ['mxc:///', 'ftp://a/b', 'mxc://a/../b', 'mxc://a/%2e.', 'https://a/\u2028/..\\x', 'mxc://a/\u0000'],
    ],
  };
  assert.equal([...patterns.keys()].sort(), Object.keys(examples).sort());
  for (const [format, [good, bad]] of Object.entries(examples)) {
    const regex = new RegExp(patterns.get(format)!, 'u');
    for (const text of good) assert.ok(regex.test(text), `${format} ${text}`);
    for (const text of bad) assert.not(regex.test(text), `${format} ${text}`);
  }
});

test('every route is documented, and every documented route is there', () => {
  const served = new Set(server().routes.map(({ method, path }) => inBraces(`${method} ${path}`)));
  const written = new Set(held.operations);
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

test('with metrics on a port of their own, the document does not name them here', () =>
  withServer({ env: { METRICS_PORT: '0' } }, async ({ ask, routes }) => {
    const { paths } = (await ask('/openapi.json')).json() as OpenApiDocument;
    assert.not.ok('/metrics' in paths);
    assert.not.ok(routes.some(({ path }) => path === '/metrics'));
  }));

test('a group brings routes and their documentation', async () => {
  const part: RouteGroup<undefined> = {
    tag: 'Weather',
    description: 'Of a test.',
    access: 'public',
    routes: [
      {
        method: 'GET',
        path: '/weather',
        id: 'getWeather',
        summary: 'How it is',
        answers: { 200: { description: 'Fine' } },
        handle: (ctx) => {
          ctx.body = 'fine';
        },
      },
    ],
  };
  await withServer({ routes: [part] }, async ({ ask, routes: served }) => {
    const { paths } = (await ask('/openapi.json')).json() as OpenApiDocument;
    assert.ok(paths['/weather']?.get);
    assert.ok(served.some(({ path }) => path === '/weather'));
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
  const schema = document.components.schemas.NewVote as { properties: Body };
  assert.equal(Object.keys(schema.properties), ['vote', 'rationale']);
  const body = (document.paths['/v1/proposals/{id}/votes']!.post as { requestBody: unknown }).requestBody;
  assert.match(JSON.stringify(body), '"$ref":"#/components/schemas/NewVote"');
});

for (const [root, noun] of [
  ['/v1/domains', 'domains'],
  ['/v1/entities', 'entities'],
] as const)
  test(`${noun} answer as documented, with what they refuse`, async () => {
    const wanted = root === '/v1/domains' ? { class: COOKING } : { protocol: COOKING };
    const body = { type: 'Device', ...wanted, metadata: { name: 'A stove' }, properties: { metricTwo: 1 } };
    const made = await told(201, 'owner', `POST ${root}`, { body });
    const { did } = idOf(made);
    const one = { with: { did } };
    await told(201, 'owner', `POST ${root}`, { body: { ...body, type: 'Organisation' } });
    await told(401, undefined, `POST ${root}`, { body });
    await told(403, 'nobody', `POST ${root}`, { body });
    await told(400, 'owner', `POST ${root}`, { body: '{' });
    await told(415, 'owner', `POST ${root}`, { body: 'a', headers: { 'content-type': 'text/plain' } });
    await told(422, 'owner', `POST ${root}`, { body: { type: 'Device', colour: 'red' } });
    await told(200, 'nobody', `GET ${root}`, { query: '?limit=1&type=Device' });
    await told(400, 'nobody', `GET ${root}`, { query: '?limit=0' });
    await told(200, 'nobody', `GET ${root}/{did}`, one);
    await told(200, 'nobody', `GET ${root}/{did}`, { ...one, query: '?view=composed' });
    await told(304, 'nobody', `GET ${root}/{did}`, { ...one, headers: { 'if-none-match': made.headers.etag! } });
    await told(404, 'stranger', `GET ${root}/{did}`, one);
    await told(428, 'owner', `PATCH ${root}/{did}`, { ...one, body: {} });
    await told(412, 'owner', `PATCH ${root}/{did}`, { ...one, body: {}, headers: { 'if-match': '"99"' } });
    const patch = { metadata: { name: 'Another stove' } };
    const changed = await told(200, 'owner', `PATCH ${root}/{did}`, { ...one, body: patch, headers: etag(made) });
    const controller = ['did:ixo:owner', 'did:ixo:rival'];
    await told(200, 'owner', `POST ${root}/{did}/transfer`, { ...one, body: { controller }, headers: etag(changed) });
    await told(200, 'nobody', `GET ${root}/{did}/history`, { ...one, query: '?limit=2' });
    await told(200, 'nobody', `GET ${root}/{did}/graph`, { ...one, query: '?direction=both&depth=2' });
    const drawn = await told(200, 'nobody', `GET ${root}/{did}/graph`, {
      ...one,
      headers: { accept: 'image/svg+xml' },
    });
    assert.match(drawn.text, /^<svg /);
    await told(404, 'nobody', `GET ${root}/{did}/graph`, { with: { did: 'did:ixo:entity:none' } });
    await told(200, 'nobody', `GET ${root}/{did}/verification`, one);
    await told(200, 'nobody', `GET ${root}/{did}/eligibility`, one);
    await told(403, 'issuer', `POST ${root}/{did}/credits`, { ...one, body: { amount: '1' } });
    await told(201, 'rep', `POST ${root}/{did}/proposals`, { ...one, body: { kind: 'verify' } });
    await told(409, 'rep', `POST ${root}/{did}/proposals`, { ...one, body: { kind: 'verify' } });
    await told(200, 'nobody', `GET ${root}/{did}/proposals`, one);
    await told(200, 'nobody', `GET ${root}/{did}/verification`, one);
    const sure = await verified();
    await told(201, 'issuer', `POST ${root}/{did}/credits`, {
      with: sure,
      body: { amount: '1.5', unit: 't', note: 1 },
    } as How);
    await told(200, 'nobody', `GET ${root}/{did}/credits`, { with: { did: sure.did } });
    await told(200, 'nobody', `GET ${root}/{did}/verification`, { with: { did: sure.did } });
    await told(200, 'owner', `DELETE ${root}/{did}`, one);
    await told(410, 'nobody', `GET ${root}/{did}`, one);
  });

test('protocols answer as documented, with what they refuse', async () => {
  const root = '/v1/protocols';
  const body = { type: 'Protocol', name: 'Child', parent: COOKING, properties: { size: { type: 'integer' } } };
  const made = await told(201, 'owner', `POST ${root}`, { body });
  const one = { with: { did: idOf(made).did } };
  await told(403, 'nobody', `POST ${root}`, { body });
  await told(422, 'owner', `POST ${root}`, { body: { type: 'Protocol', properties: { a: 'float' } } });
  await told(200, 'nobody', `GET ${root}`, { query: '?limit=1' });
  await told(200, 'nobody', `GET ${root}/{did}`, one);
  await told(200, 'nobody', `GET ${root}/{did}`, { ...one, query: '?view=composed' });
  await told(304, 'nobody', `GET ${root}/{did}`, { ...one, headers: { 'if-none-match': made.headers.etag! } });
  await told(404, 'nobody', `GET ${root}/{did}`, { with: { did: 'did:ixo:none' } });
  await told(200, 'owner', `PATCH ${root}/{did}`, { ...one, body: { name: 'New' }, headers: etag(made) });
  await told(428, 'owner', `PATCH ${root}/{did}`, { ...one, body: { name: 'New' } });
});

test('proposals and votes answer as documented, with what they refuse', async () => {
  const root = '/v1/proposals';
  const { did } = await domain({ metadata: { name: 'A project' } });
  const { id } = await proposal(did);
  const one = { with: { id } };
  await told(200, 'nobody', `GET ${root}`);
  await told(200, 'nobody', `GET ${root}/{id}`, one);
  await told(200, 'nobody', `GET ${root}/{id}`, { ...one, headers: { accept: 'text/html' } });
  await told(304, 'nobody', `GET ${root}/{id}`, { ...one, headers: { 'if-none-match': '"1", "2"' } });
  await told(404, 'stranger', `GET ${root}/{id}`, one);
  await told(401, undefined, `GET ${root}/{id}`, one);
  await told(401, undefined, `GET ${root}/{id}`, { ...one, headers: { accept: 'text/html' } });
  await told(200, 'nobody', `GET ${root}/{id}/page-link`, one);
  await told(400, 'nobody', `GET ${root}/{id}/page-link`, { ...one, query: '?rationales=maybe' });
  await told(403, 'nobody', `POST ${root}/{id}/votes`, { ...one, body: YES });
  await told(422, 'ann', `POST ${root}/{id}/votes`, { ...one, body: { vote: 'perhaps' } });
  await told(201, 'ann', `POST ${root}/{id}/votes`, { ...one, body: { ...YES, rationale: 'Seen.' } });
  await told(409, 'ann', `POST ${root}/{id}/votes`, { ...one, body: YES });
  await told(200, 'nobody', `GET ${root}/{id}/votes`, one);
  await told(409, 'operator', `POST ${root}/{id}/execute`, one);
  await told(403, 'rep', `POST ${root}/{id}/veto`, one);
  await told(200, 'operator', `POST ${root}/{id}/veto`, { ...one, body: { reason: 'Not now.' } });
  const withdrawn = await proposal((await domain()).did);
  await told(403, 'deputy', `POST ${root}/{id}/withdraw`, { with: { id: withdrawn.id } });
  await told(200, 'rep', `POST ${root}/{id}/withdraw`, { with: { id: withdrawn.id } });
  const sure = await verified();
  const view = (await ask('nobody', `GET ${path(sure.did)}/verification`)).json() as { proposal: { id: string } };
  await told(200, 'operator', `POST ${root}/{id}/execute`, { with: { id: view.proposal.id } });
  await told(200, 'nobody', 'GET /v1/governance/config');
});

test('events, webhooks, cards, status lists and limits answer as documented', async () => {
  const { did } = await verified();
  const head = await ask('nobody', 'HEAD /v1/events');
  assert.equal(held.problemsOf('GET /v1/events', head), []);
  await told(400, 'nobody', 'GET /v1/events', { query: '?after=x' });
  const hook = { url: 'https://hooks.example/in', events: ['domain.*'] };
  const made = await told(201, 'owner', 'POST /v1/webhooks', { body: hook });
  const one = { with: { id: idOf(made).id } };
  await told(403, 'nobody', 'POST /v1/webhooks', { body: hook });
  await told(422, 'owner', 'POST /v1/webhooks', { body: { url: 'https://127.0.0.1/' } });
  await told(200, 'owner', 'GET /v1/webhooks');
  await told(200, 'owner', 'GET /v1/webhooks/{id}', one);
  await told(404, 'stranger', 'GET /v1/webhooks/{id}', one);
  await told(200, 'owner', 'PATCH /v1/webhooks/{id}', { ...one, body: { status: 'paused' } });
  await told(200, 'owner', 'GET /v1/webhooks/{id}/deliveries', one);
  const none = { with: { ...one.with, seq: '1' } };
  await told(404, 'owner', 'POST /v1/webhooks/{id}/deliveries/{seq}/retry', none);
  await told(200, 'owner', 'DELETE /v1/webhooks/{id}', one);
  const card = await told(200, 'nobody', 'GET /v1/domains/{did}/card', { with: { did } });
  await told(406, 'nobody', 'GET /v1/domains/{did}/card', { with: { did }, headers: { accept: 'text/html' } });
  const [, list] = /\/v1\/status\/([^"#]+)/.exec(card.text)!;
  await told(200, undefined, 'GET /v1/status/{list}', { with: { list: list! } });
  await told(404, undefined, 'GET /v1/status/{list}', { with: { list: '99999-revocation' } });
  await told(200, 'nobody', 'GET /v1/limits');
  await told(200, 'nobody', 'GET /v1/whoami');
});

test('imports and exports answer as documented, line by line', async () => {
  const lines = [
    { type: 'Device', class: COOKING, externalId: 'one' },
    { type: 'Device', class: COOKING, externalId: 'one' },
    { kind: 'entity', type: 'Device', protocol: 'did:ixo:none' },
    { kind: 'protocol', name: 'Of a line' },
  ];
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await told(207, 'owner', 'POST /v1/bulk', { body, headers });
  assert.is(answer.text.trim().split('\n').length, 4);
  await told(207, 'owner', 'POST /v1/bulk', { body, headers, query: '?dryRun=true' });
  await told(403, 'nobody', 'POST /v1/bulk', { body, headers });
  await told(415, 'owner', 'POST /v1/bulk', { body });
  await told(400, 'owner', 'POST /v1/bulk', { body, headers, query: '?dryRun=maybe' });
  const all = await told(200, 'operator', 'GET /v1/export');
  assert.ok(all.text.split('\n').length > 10);
  await told(403, 'nobody', 'GET /v1/export');
});

test('an event that could not be delivered is shown as documented', () => {
  const failure = { at: 1, status: 500, error: 'no' };
  const event = {
    seq: 16,
    type: 'domain.created',
    did: 'did:ixo:a',
    revision: 1,
    at: '2026-01-01T00:00:00Z',
    data: {},
  };
  const letter = { webhook: 'w', created: 1, seq: 16, event, status: 'dead', attempts: 9, failure, dueAt: 2 } as const;
  const text = JSON.stringify(showDeadLetter({ id: 'w.16', revision: 1, body: letter as never }));
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, text, json: () => JSON.parse(text) };
  assert.equal(held.problemsOf('POST /v1/webhooks/{id}/deliveries/{seq}/retry', answer), []);
});

test('DIDs resolve as documented, with every form and error', async () => {
  const { did } = await domain({ services: [{ id: '#data', type: 'Data', endpoint: 'https://example.com/in' }] });
  const operation = 'GET /1.0/identifiers/{did}';
  const one = { with: { did } };
  await told(200, undefined, operation, one);
  for (const accept of [
    'application/did-resolution',
    'application/ld+json;profile="https://w3id.org/did-resolution"',
    'application/did-url-dereferencing',
  ])
    await told(200, undefined, operation, { ...one, headers: { accept } });
  await told(200, undefined, operation, { with: { did: `${did}#data` } });
  await told(303, undefined, operation, { ...one, query: '?service=data', headers: { accept: 'text/uri-list' } });
  await told(400, undefined, operation, { with: { did: 'nothing' } });
  await told(404, undefined, operation, { with: { did: 'did:ixo:entity:none' } });
  await told(406, undefined, operation, { ...one, headers: { accept: 'text/html' } });
  await told(501, undefined, operation, { with: { did: 'did:web:example.com' } });
  await told(200, undefined, 'POST /1.0/identifiers/{did}', { ...one, body: { noCache: true } });
  await told(400, undefined, 'POST /1.0/identifiers/{did}', { ...one, body: '[' });
  await ask('owner', `DELETE ${path(did)}`);
  await told(410, undefined, operation, one);
});

test('every telecom dialect answers as documented, also what it cannot read', async () => {
  const bodies: { readonly [operation: string]: readonly Body[] } = {
    'POST /api/ussd': [{ ...DIAL, sessionId: 'plain' }, {}],
    'POST /api/ussd/africastalking': [{ ...DIAL, sessionId: 'at' }, {}],
    'POST /api/ussd/hubtel': [
      { SessionId: 'h', Type: 'Initiation', Mobile: '260971230001', ServiceCode: '2233', Message: '*2233#' },
      { SessionId: 'h', Type: 'Response', Mobile: '260971230001', ServiceCode: '2233', Message: '1', Sequence: 2 },
      {},
    ],
    'POST /api/ussd/nalo': [
      { USERID: 'u', SESSIONID: 'n', MSISDN: '260971230001', MSGTYPE: true, USERDATA: '*2233#' },
      {},
    ],
    'POST /api/ussd/arkesel': [
      { userID: 'u', sessionID: 'a', msisdn: '260971230001', newSession: true, userData: '*2233#' },
      {},
    ],
    'POST /api/ussd/infobip/session/{id}/start': [{ msisdn: '260971230001', shortCode: '2233', text: '*2233#' }, {}],
    'POST /api/ussd/infobip/session/{id}/response': [{ msisdn: '260971230001', text: '1' }, {}],
    'PUT /api/ussd/infobip/session/{id}/end': [{ exitCode: 200 }],
    'POST /api/ussd/infobip/session/{id}/end': [{ exitCode: 200 }],
  };
  for (const [operation, all] of Object.entries(bodies))
    for (const body of all) await told(200, undefined, operation, { with: { id: 'i' }, body });
  const query = '?MSISDN=260971230001&input=2233';
  await told(200, undefined, 'GET /api/ussd/comviva', { query });
  await told(200, undefined, 'GET /api/ussd/comviva');
});

test('operators, orchestrators and readers are answered as documented', async () => {
  await server().ussd({ ...DIAL, sessionId: 'seen' });
  await told(200, undefined, 'GET /api/ussd/sessions');
  await told(200, undefined, 'GET /api/ussd/infobip/session/{id}/status', { with: { id: 's' } });
  for (const action of ['show', 'unlock']) {
    const operation = `POST /api/ussd/accounts/${action}`;
    await told(200, undefined, operation, { body: { phoneNumber: DIAL.phoneNumber } });
    await told(400, undefined, operation, { body: { phoneNumber: '0971' } });
    await told(400, undefined, operation, { body: {} });
  }
  await told(200, undefined, 'GET /api/ussd/debug/{sessionId}', { with: { sessionId: 'seen' } });
  await told(404, undefined, 'GET /api/ussd/debug/{sessionId}', { with: { sessionId: 'unseen' } });
  await told(404, undefined, 'GET /api/ussd/sessions', { headers: { 'x-forwarded-for': '203.0.113.1' } });
  for (const one of [
    '/metrics',
    '/',
    '/livez',
    '/readyz',
    '/health',
    '/models',
    '/openapi.json',
    '/docs',
    '/docs/errors',
    '/docs/guides',
    '/docs/search',
    '/registry',
    ...Object.values(REFERENCES).map(({ path }) => path),
  ])
    await told(200, undefined, `GET ${one}`);
  const named = { '/docs/errors/{name}': 'ERR_STORE', '/docs/guides/{name}': 'engine' };
  for (const [path, name] of Object.entries(named)) {
    await told(200, undefined, `GET ${path}`, { with: { name } });
    await told(404, undefined, `GET ${path}`, { with: { name: 'nothing' } });
  }
  await told(200, undefined, 'GET /docs/{file}', { with: { file: 'swagger-ui.css' } });
  await told(404, undefined, 'GET /docs/{file}', { with: { file: 'none.js' } });
  await told(200, undefined, 'GET /pages/{file}', { with: { file: 'page.css' } });
  await told(404, undefined, 'GET /pages/{file}', { with: { file: 'none.css' } });
});

test('the agent answers as documented, with what it refuses', async () => {
  const expiration = Math.floor(Date.now() / 1_000) + 300;
  const user = async (issuer: typeof alice) => ({
    authorization: `Bearer ${await token({ issuer, expiration })}`,
    'x-auth-type': 'ucan',
  });
  const [own, other] = [await user(alice), await user(bob)];
  const made = await told(201, undefined, 'POST /sessions', { headers: own });
  const { sessionId } = made.json() as { sessionId: string };
  const one = { with: { sessionId }, headers: own };
  await told(401, undefined, 'POST /sessions');
  await told(200, undefined, 'GET /sessions', { headers: own });
  await told(400, undefined, 'GET /sessions', { headers: own, query: '?limit=0' });
  const say = { ...one, headers: { ...own, 'content-type': 'application/json' } };
  const whole = { message: 'Hello', returnAllMessages: true };
  const reply = await told(200, undefined, 'POST /messages/{sessionId}', { ...say, body: whole });
  await told(200, undefined, 'POST /messages/{sessionId}', { ...say, body: { message: 'Hello', stream: true } });
  await told(400, undefined, 'POST /messages/{sessionId}', { ...say, body: { message: '', colour: 1 } });
  await told(404, undefined, 'POST /messages/{sessionId}', { ...say, headers: other, body: whole });
  const run = { with: { runId: reply.headers['x-run-id']! } };
  await told(200, undefined, 'GET /runs/{runId}', { ...run, headers: own });
  await told(404, undefined, 'GET /runs/{runId}', { ...run, headers: other });
  await told(200, undefined, 'GET /sessions/{sessionId}/run', one);
  await told(200, undefined, 'GET /sessions/{sessionId}/messages', { ...one, query: '?limit=1' });
  await told(404, undefined, 'GET /sessions/{sessionId}/messages', { ...one, headers: other });
  await told(200, undefined, 'GET /messages/{sessionId}', one);
  await told(200, undefined, 'POST /messages/abort', { ...say, body: { sessionId } });
  await told(404, undefined, 'POST /messages/abort', { ...say, headers: other, body: { sessionId } });
  await told(200, undefined, 'GET /delegation', { headers: own });
  const raw = await token({ issuer: alice, expiration, capabilities: [everything(alice)] });
  await told(200, undefined, 'POST /delegation', { headers: own, body: { raw } });
  await told(400, undefined, 'POST /delegation', { headers: own, body: { raw: 'x' } });
  await told(200, undefined, 'GET /delegation', { headers: own });
  await told(200, undefined, 'DELETE /delegation', { headers: own });
  await told(200, undefined, 'DELETE /sessions/{sessionId}', one);
  await told(404, undefined, 'DELETE /sessions/{sessionId}', one);
});

test('the pages of operators answer as documented, with what they refuse', async () => {
  const own = { origin: server().url };
  await told(200, undefined, 'GET /simulator');
  await told(200, undefined, 'GET /menus/refused');
  await told(200, undefined, 'GET /chat');
  await told(200, undefined, 'GET /settings');
  await server().ussd({ ...DIAL, sessionId: 'sim-1' });
  await told(200, undefined, 'GET /simulator/sessions/{sessionId}', { with: { sessionId: 'sim-1' } });
  await told(404, undefined, 'GET /simulator/sessions/{sessionId}', { with: { sessionId: 'sim-2' } });
  const dialogue = { sessionId: 'sim-1', phoneNumber: DIAL.phoneNumber, inputs: ['', '1'] };
  await told(200, undefined, 'POST /simulator/dial', { body: DIAL, headers: own });
  await told(400, undefined, 'POST /simulator/dial', { body: DIAL });
  const asked = {
    dialect: 'africastalking',
    method: 'POST',
    path: '',
    type: 'application/json',
    body: JSON.stringify(DIAL),
  };
  await told(200, undefined, 'POST /simulator/requests', {
    body: { ...asked, flow: 'wallet', lang: 'sw' },
    headers: own,
  });
  for (const wrong of [{ dialect: 'none' }, { flow: 'none' }])
    await told(400, undefined, 'POST /simulator/requests', { body: { ...asked, ...wrong }, headers: own });
  await told(200, undefined, 'POST /simulator/flow-test', { body: dialogue, headers: own });
  await told(400, undefined, 'POST /simulator/flow-test', { body: dialogue });
  await told(400, undefined, 'POST /simulator/flow-test', { body: { inputs: [] }, headers: own });
  await told(200, undefined, 'POST /chat/token', { body: {}, headers: own });
  await told(415, undefined, 'POST /chat/token', { body: 'a', headers: { ...own, 'content-type': 'text/plain' } });
  await told(404, undefined, 'POST /operator/sign-in', { body: { token: 'x' }, headers: own });
  await withServer({ env: { OPERATOR_TOKEN: 'a-token-of-operators' } }, async ({ ask, url }) => {
    const check = (answer: Answer, status: number, operation: string) => {
      assert.is(answer.status, status, answer.text);
      assert.equal(held.problemsOf(operation, answer), []);
    };
    check(await ask('/chat', { headers: { accept: 'text/html' } }), 401, 'GET /chat');
    check(await ask('/chat'), 401, 'GET /chat');
    const signIn = (token: string) => ask('/operator/sign-in', json({ token }, { origin: url }));
    check(await signIn('a-token-of-operators'), 204, 'POST /operator/sign-in');
    check(await signIn('another'), 400, 'POST /operator/sign-in');
    check(await ask('/operator/sign-out', json({}, { origin: url })), 204, 'POST /operator/sign-out');
  });
});

test('the inspector answers as documented, with what it refuses', async () => {
  await told(200, undefined, 'GET /inspector');
  await told(200, undefined, 'GET /inspector/stately');
  await told(200, undefined, 'POST /inspector/callers', { body: { number: '+260971230001' } });
  await told(400, undefined, 'POST /inspector/callers', { body: { number: '12x' } });
  await told(200, undefined, 'GET /inspector/machines');
  await told(200, undefined, 'GET /inspector/machines/{file}', { with: { file: 'delegation.svg' } });
  await told(404, undefined, 'GET /inspector/machines/{file}', { with: { file: 'nothing.svg' } });
  await told(404, undefined, 'GET /inspector/machines/{file}', { with: { file: 'delegation' } });
  await told(404, undefined, 'GET /inspector/sessions/{actor}/flow-test', { with: { actor: 'nobody' } });
  await told(400, undefined, 'GET /inspector/stream', { headers: { origin: 'https://evil.example' } });
  const head = await server().ask('/inspector/stream', { method: 'HEAD' });
  assert.equal(held.problemsOf('GET /inspector/stream', head), []);
  const seen = await readEvents(`${server().url}/inspector/stream`, {});
  await server().ussd({ ...DIAL, sessionId: 'watched' });
  const actor = () =>
    (seen.events() as unknown as { type: string; sessionId: string; twinline?: { label: string } }[]).find(
      ({ type, twinline }) => type === '@xstate.snapshot' && twinline!.label === 'watched',
    )?.sessionId;
  await seen.until(() => actor() !== undefined);
  const taken = { with: { actor: actor()! } };
  assert.match((await told(200, undefined, 'GET /inspector/sessions/{actor}/flow-test', taken)).text, /preMenu/);
  const shown = await told(200, undefined, 'POST /inspector/sessions/{actor}/private', taken);
  assert.equal(shown.json(), { values: {} });
  await told(404, undefined, 'POST /inspector/sessions/{actor}/private', { with: { actor: 'nobody' } });
  await told(200, undefined, 'DELETE /inspector/sessions/{actor}', taken);
  await told(404, undefined, 'DELETE /inspector/sessions/{actor}', taken);
  await seen.close();
});

test('the studio answers as documented, with what it refuses', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-openapi-'));
  cpSync('menus', folder, { recursive: true });
  try {
    await withServer({ env: { MENUS_DIR: folder } }, async ({ ask, url }) => {
      const check = async (
        status: number,
        operation: string,
        { body, path }: { body?: object; path?: string } = {},
      ) => {
        const how = body === undefined ? {} : json(body, { origin: url });
        const answer = await ask(path ?? operation.split(' ')[1]!, how);
        assert.is(answer.status, status, `${operation}: ${answer.text}`);
        assert.equal(held.problemsOf(operation, answer), []);
        const isJson = answer.headers['content-type']?.includes('json');
        return (isJson ? answer.json() : {}) as { [name: string]: { [name: string]: string } };
      };
      await check(200, 'GET /studio');
      await check(200, 'GET /studio/flows');
      const read = await check(200, 'GET /studio/flows/{flow}', { path: '/studio/flows/main' });
      await check(404, 'GET /studio/flows/{flow}', { path: '/studio/flows/none' });
      const draft = { flow: 'main', text: read.flow!.text!, tests: read.tests!.text! };
      for (const path of ['check', 'texts', 'drawing', 'test'])
        await check(200, `POST /studio/${path}`, { body: draft });
      await check(400, 'POST /studio/check', { body: {} });
      await check(400, 'POST /studio/drawing', { body: { flow: 'main', text: '{' } });
      for (const path of ['complete', 'explain'])
        await check(200, `POST /studio/${path}`, { body: { ...draft, offset: 5 } });
      const phone = { sessionId: 'sim-9', phoneNumber: DIAL.phoneNumber, serviceCode: '*2233#' };
      await check(200, 'POST /studio/dial', { body: { ...draft, ...phone, typed: '' } });
      await check(200, 'GET /studio/phones/{sessionId}', { path: '/studio/phones/sim-9' });
      await check(404, 'GET /studio/phones/{sessionId}', { path: '/studio/phones/sim-8' });
      const recorded = { ...draft, ...phone, name: 'a dial', inputs: [''] };
      await check(200, 'POST /studio/record', { body: recorded });
      await check(400, 'POST /studio/record', { body: { ...recorded, inputs: ['1'] } });
      const text = draft.text.replace('"version": 1', '"version": 2');
      await check(422, 'POST /studio/save', { body: { ...draft, text: '{', base: read.flow!.hash! } });
      await check(409, 'POST /studio/save', { body: { flow: 'main', text, base: 'another' } });
      await check(200, 'POST /studio/save', { body: { flow: 'main', text, base: read.flow!.hash! } });
      const path = '/studio/flows/main/versions';
      const { versions } = await check(200, 'GET /studio/flows/{flow}/versions', { path });
      const [newest] = versions as unknown as { id: string }[];
      const one = 'GET /studio/flows/{flow}/versions/{version}';
      await check(200, one, { path: `${path}/${newest!.id}` });
      await check(404, one, { path: `${path}/none` });
      await check(200, 'POST /studio/new', { body: { flow: 'fresh', starter: 'menu' } });
      await check(409, 'POST /studio/new', { body: { flow: 'fresh', starter: 'menu' } });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('too many requests and missing tokens are answered as documented', async () => {
  const env = { RATE_LIMIT_MAX: '3', OPERATOR_TOKEN: 'a-token-of-operators' };
  await withServer({ env }, async ({ ask }) => {
    const check = async (operation: string, status: number, how = {}) => {
      const answer = await ask(operation.split(' ')[1]!, how);
      assert.is(answer.status, status, answer.text);
      assert.equal(held.problemsOf(operation, answer), []);
    };
    await check('GET /api/ussd/sessions', 401);
    await check('GET /', 200);
    await check('GET /', 200);
    await check('GET /health', 429);
    await check('GET /api/ussd/sessions', 429);
    await check('GET /v1/limits', 429);
    await check('POST /api/ussd', 429, json(DIAL));
  });
});

test('every operation has answered here as documented', () => {
  const succeeded = ([, statuses]: readonly [string, ReadonlySet<number>]) => [...statuses].some((one) => one < 300);
  const proved = new Set([...held.seen].filter(succeeded).map(([operation]) => operation));
  assert.equal(
    held.operations.filter((operation) => !proved.has(operation)),
    [],
  );
});

test.run();
