// Answers that no example can show, because they need a state, a role or a header: each is as the OpenAPI document says.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { showDeadLetter } from '../../../server/domain/routes/webhooks.ts';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { alice, bob, everything, oracle, text as token } from '../../delegation/tokens.ts';
import { COOKING, type Headers, type Name, path, place, YES } from '../domain/place.ts';
import { type Documented, documented } from '../support/documented.ts';
import { readEvents } from '../support/event-reader.ts';
import { type Answer, DIAL, json, withServer } from '../support/serve.ts';

const test = suite('openapi, refusals and states');

// Webhooks are looked at, and nobody is called.
const nowhere = { lookup: (_host: string, _options: unknown, done: (error: Error) => void) => done(new Error('away')) };
const menus = mkdtempSync(join(tmpdir(), 'twinline-openapi-'));
cpSync('menus', menus, { recursive: true });
const { server, ask, domain, verified, proposal } = place(test, {
  env: { ORACLE_DID: oracle.did(), MENUS_DIR: menus },
  webhookSender: nowhere as never,
});
// After the server has closed: its watcher would look for the folder in the one above.
test.after(() => rmSync(menus, { recursive: true }));

let held: Documented;
test.before(async () => {
  held = documented((await server().ask('/openapi.json')).json() as OpenApiDocument);
});

interface How {
  readonly with?: { readonly [parameter: string]: string };
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Headers;
}

function isDocumented(status: number, operation: string, answer: Answer): Answer {
  assert.is(answer.status, status, `${operation}: ${answer.text}`);
  assert.equal(held.problemsOf(operation, answer), []);
  return answer;
}

/** Asks for a documented operation; fails unless the answer has this status and is as documented. */
async function told(status: number, name: Name | undefined, operation: string, how: How = {}): Promise<Answer> {
  const { with: values = {}, query = '', body, headers } = how;
  const line = operation.replace(/\{(\w+)\}/g, (_all, parameter: string) => encodeURIComponent(values[parameter]!));
  return isDocumented(status, operation, await ask(name, line + query, body, headers));
}

const idOf = (answer: Answer) => answer.json() as { id: string; did: string };

for (const [root, wanted] of [
  ['/v1/domains', { class: COOKING }],
  ['/v1/entities', { protocol: COOKING }],
] as const)
  test(`${root}: roles, tenants, revisions and what is gone`, async () => {
    const body = { type: 'Device', ...wanted, properties: { metricTwo: 1 } };
    const made = await told(201, 'owner', `POST ${root}`, { body });
    const one = { with: { did: idOf(made).did } };
    await told(403, 'nobody', `POST ${root}`, { body });
    await told(422, 'owner', `POST ${root}`, { body: { type: 'Device', colour: 'red' } });
    await told(200, 'nobody', `GET ${root}/{did}`, { ...one, query: '?view=composed' });
    await told(304, 'nobody', `GET ${root}/{did}`, { ...one, headers: { 'if-none-match': made.headers.etag! } });
    await told(404, 'stranger', `GET ${root}/{did}`, one);
    await told(428, 'owner', `PATCH ${root}/{did}`, { ...one, body: {} });
    await told(412, 'owner', `PATCH ${root}/{did}`, { ...one, body: {}, headers: { 'if-match': '"99"' } });
    const svg = { accept: 'image/svg+xml' };
    assert.match((await told(200, 'nobody', `GET ${root}/{did}/graph`, { ...one, headers: svg })).text, /^<svg /);
    await told(403, 'issuer', `POST ${root}/{did}/credits`, { ...one, body: { amount: '1' } });
    await told(201, 'rep', `POST ${root}/{did}/proposals`, { ...one, body: { kind: 'verify' } });
    await told(409, 'rep', `POST ${root}/{did}/proposals`, { ...one, body: { kind: 'verify' } });
    await told(200, 'nobody', `GET ${root}/{did}/verification`, { with: { did: (await verified()).did } });
    await told(200, 'owner', `DELETE ${root}/{did}`, one);
    await told(410, 'nobody', `GET ${root}/{did}`, one);
  });

test('protocols: roles and revisions', async () => {
  const root = '/v1/protocols';
  const body = { type: 'Protocol', name: 'Child', parent: COOKING, properties: { size: { type: 'integer' } } };
  const made = await told(201, 'owner', `POST ${root}`, { body });
  const one = { with: { did: idOf(made).did } };
  await told(403, 'nobody', `POST ${root}`, { body });
  await told(422, 'owner', `POST ${root}`, { body: { type: 'Protocol', properties: { a: 'float' } } });
  await told(200, 'nobody', `GET ${root}/{did}`, { ...one, query: '?view=composed' });
  await told(304, 'nobody', `GET ${root}/{did}`, { ...one, headers: { 'if-none-match': made.headers.etag! } });
  await told(428, 'owner', `PATCH ${root}/{did}`, { ...one, body: { name: 'New' } });
});

test('proposals and votes: roles, tenants, votes that are over, pages', async () => {
  const root = '/v1/proposals';
  const one = { with: { id: (await proposal((await domain()).did)).id } };
  const html = { accept: 'text/html' };
  await told(200, 'nobody', `GET ${root}/{id}`, { ...one, headers: html });
  await told(401, undefined, `GET ${root}/{id}`, { ...one, headers: html });
  await told(304, 'nobody', `GET ${root}/{id}`, { ...one, headers: { 'if-none-match': '"1", "2"' } });
  await told(404, 'stranger', `GET ${root}/{id}`, one);
  await told(403, 'nobody', `POST ${root}/{id}/votes`, { ...one, body: YES });
  await told(422, 'ann', `POST ${root}/{id}/votes`, { ...one, body: { vote: 'perhaps' } });
  await told(201, 'ann', `POST ${root}/{id}/votes`, { ...one, body: { ...YES, rationale: 'Seen.' } });
  await told(409, 'ann', `POST ${root}/{id}/votes`, { ...one, body: YES });
  await told(200, 'nobody', `GET ${root}/{id}/votes`, one);
  await told(409, 'operator', `POST ${root}/{id}/execute`, one);
  await told(403, 'rep', `POST ${root}/{id}/veto`, one);
  await told(403, 'deputy', `POST ${root}/{id}/withdraw`, one);
});

test('webhooks, cards, imports and exports: roles and tenants', async () => {
  const { did } = await verified();
  const hook = { url: 'https://hooks.example/in', events: ['domain.*'] };
  const one = { with: { id: idOf(await told(201, 'owner', 'POST /v1/webhooks', { body: hook })).id } };
  await told(403, 'nobody', 'POST /v1/webhooks', { body: hook });
  await told(422, 'owner', 'POST /v1/webhooks', { body: { url: 'https://127.0.0.1/' } });
  await told(404, 'stranger', 'GET /v1/webhooks/{id}', one);
  await told(406, 'nobody', 'GET /v1/domains/{did}/card', { with: { did }, headers: { accept: 'text/html' } });
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
  await told(403, 'nobody', 'GET /v1/export');
});

test('an event that could not be delivered is shown as documented', () => {
  const failure = { at: 1, status: 500, error: 'no' };
  const at = '2026-01-01T00:00:00Z';
  const event = { seq: 16, type: 'domain.created', did: 'did:ixo:a', revision: 1, at, data: {} };
  const letter = { webhook: 'w', created: 1, seq: 16, event, status: 'dead', attempts: 9, failure, dueAt: 2 } as const;
  const text = JSON.stringify(showDeadLetter({ id: 'w.16', revision: 1, body: letter as never }));
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, text, json: () => JSON.parse(text) };
  assert.equal(held.problemsOf('POST /v1/webhooks/{id}/deliveries/{seq}/retry', answer), []);
});

test('DIDs resolve in every form, lead on, and are gone', async () => {
  const { did } = await domain({ services: [{ id: '#data', type: 'Data', endpoint: 'https://example.com/in' }] });
  const operation = 'GET /1.0/identifiers/{did}';
  const one = { with: { did } };
  for (const accept of [
    'application/did-resolution',
    'application/ld+json;profile="https://w3id.org/did-resolution"',
    'application/did-url-dereferencing',
  ])
    await told(200, undefined, operation, { ...one, headers: { accept } });
  await told(200, undefined, operation, { with: { did: `${did}#data` } });
  await told(303, undefined, operation, { ...one, query: '?service=data', headers: { accept: 'text/uri-list' } });
  await told(406, undefined, operation, { ...one, headers: { accept: 'text/html' } });
  await told(501, undefined, operation, { with: { did: 'did:web:example.com' } });
  await ask('owner', `DELETE ${path(did)}`);
  await told(410, undefined, operation, one);
});

test('the agent: sessions of others, streams, a delegation', async () => {
  const expiration = Math.floor(Date.now() / 1_000) + 300;
  const user = async (issuer: typeof alice) => ({
    authorization: `Bearer ${await token({ issuer, expiration })}`,
    'x-auth-type': 'ucan',
  });
  const [own, other] = [await user(alice), await user(bob)];
  const { sessionId } = (await told(201, undefined, 'POST /sessions', { headers: own })).json() as {
    sessionId: string;
  };
  const one = { with: { sessionId } };
  const say = 'POST /messages/{sessionId}';
  await told(200, undefined, say, { ...one, headers: own, body: { message: 'Hello', stream: true } });
  const whole = { message: 'Hello', returnAllMessages: true };
  const reply = await told(200, undefined, say, { ...one, headers: own, body: whole });
  await told(404, undefined, say, { ...one, headers: other, body: whole });
  const run = { with: { runId: reply.headers['x-run-id']! } };
  await told(404, undefined, 'GET /runs/{runId}', { ...run, headers: other });
  await told(404, undefined, 'GET /sessions/{sessionId}/messages', { ...one, headers: other });
  await told(404, undefined, 'POST /messages/abort', { headers: other, body: { sessionId } });
  const raw = await token({ issuer: alice, expiration, capabilities: [everything(alice)] });
  await told(200, undefined, 'POST /delegation', { headers: own, body: { raw } });
  await told(200, undefined, 'GET /delegation', { headers: own });
});

test('pages of operators: strangers, signing in and out', async () => {
  await told(404, undefined, 'GET /api/ussd/sessions', { headers: { 'x-forwarded-for': '203.0.113.1' } });
  await told(400, undefined, 'POST /simulator/dial', { body: DIAL });
  const dialogue = { sessionId: 'sim-1', phoneNumber: DIAL.phoneNumber, inputs: ['', '1'] };
  await told(400, undefined, 'POST /simulator/flow-test', { body: dialogue });
  const env = { OPERATOR_TOKEN: 'a-token-of-operators' };
  await withServer({ env }, async ({ ask, url }) => {
    isDocumented(401, 'GET /chat', await ask('/chat', { headers: { accept: 'text/html' } }));
    isDocumented(401, 'GET /chat', await ask('/chat'));
    const post = (path: string, body: object) => ask(path, json(body, { origin: url }));
    const signIn = (token: string) => post('/operator/sign-in', { token });
    isDocumented(204, 'POST /operator/sign-in', await signIn('a-token-of-operators'));
    isDocumented(400, 'POST /operator/sign-in', await signIn('another'));
    isDocumented(204, 'POST /operator/sign-out', await post('/operator/sign-out', {}));
  });
});

test('the inspector: a session that runs', async () => {
  await told(400, undefined, 'GET /inspector/stream', { headers: { origin: 'https://evil.example' } });
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
  await told(200, undefined, 'DELETE /inspector/sessions/{actor}', taken);
  await told(404, undefined, 'DELETE /inspector/sessions/{actor}', taken);
  await seen.close();
});

test('the studio: drafts that cannot be saved, versions', async () => {
  const headers = { origin: server().url };
  const post = (status: number, verb: string, body: object) =>
    told(status, undefined, `POST /studio/${verb}`, { body, headers });
  const read = (await ask(undefined, 'GET /studio/flows/main')).json() as {
    flow: { text: string; hash: string };
  };
  const { text, hash } = read.flow;
  await post(400, 'drawing', { flow: 'main', text: '{' });
  const recorded = { flow: 'main', text, sessionId: 'sim-9', phoneNumber: DIAL.phoneNumber, serviceCode: '*2233#' };
  await post(400, 'record', { ...recorded, name: 'a dial', inputs: ['1'] });
  const changed = text.replace('"version": 1', '"version": 2');
  await post(422, 'save', { flow: 'main', text: '{', base: hash });
  await post(409, 'save', { flow: 'main', text: changed, base: 'another' });
  await post(200, 'save', { flow: 'main', text: changed, base: hash });
  const listed = await told(200, undefined, 'GET /studio/flows/{flow}/versions', { with: { flow: 'main' } });
  const { versions } = listed.json() as { versions: { id: string }[] };
  const one = { flow: 'main', version: versions[0]!.id };
  await told(200, undefined, 'GET /studio/flows/{flow}/versions/{version}', { with: one });
  await post(200, 'new', { flow: 'fresh', starter: 'menu' });
  await post(409, 'new', { flow: 'fresh', starter: 'menu' });
});

test('too many requests and missing tokens are answered as documented', async () => {
  const env = { RATE_LIMIT_MAX: '3', OPERATOR_TOKEN: 'a-token-of-operators' };
  await withServer({ env }, async ({ ask }) => {
    const check = async (operation: string, status: number, how = {}) =>
      isDocumented(status, operation, await ask(operation.split(' ')[1]!, how));
    await check('GET /api/ussd/sessions', 401);
    await check('GET /', 200);
    await check('GET /', 200);
    await check('GET /health', 429);
    await check('GET /api/ussd/sessions', 429);
    await check('GET /v1/limits', 429);
    await check('POST /api/ussd', 429, json(DIAL));
  });
});

test.run();
