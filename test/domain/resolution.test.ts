// DIDs resolve as W3C DID Resolution and the method did:ixo say: documents, results, errors, versions, services.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { resolver } from '../../lib/domain/did/resolution.ts';
import { DOMAIN } from '../../lib/domain/kinds.ts';
import { type DomainDeps, domainDoor } from '../../server/domain/door.ts';
import { type Answer, ask as plainAsk } from '../server/support/serve.ts';
import { fixture } from '../support/fixture.ts';
import { BEARER, type Body, COOKING, registered } from './registered.ts';
import { openBench } from './registry-bench.ts';

const test = suite('resolution');
const { server, create, ask } = registered(test);

const RESULT = 'application/did-resolution';
const OLD_RESULT = 'application/ld+json;profile="https://w3id.org/did-resolution"';
const JSON_TYPE = 'application/json';
const DEREFERENCED = 'application/did-url-dereferencing';

/** What is created, and how it resolves: <did> stands for its DID, <class> for that of its protocol. */
const DATA = fixture<{
  readonly twin: Body;
  readonly document: Body;
  readonly accepts: readonly [accept: string | null, type: string][];
  readonly errors: readonly [identifier: string, query: string, status: number, code: string][];
  readonly locations: readonly [query: string, location: string][];
  readonly references: readonly string[];
}>('domain/resolution.json');

interface Result {
  readonly didDocument: Body | null;
  readonly didDocumentMetadata: Body;
  readonly didResolutionMetadata: Body & { readonly error?: { type: string; title: string; detail: string } };
}

/** Without a key. */
function resolve(
  identifier: string,
  { accept, query = '' }: { accept?: string; query?: string } = {},
): Promise<Answer> {
  const headers = accept === undefined ? {} : { accept };
  return server().ask(`/1.0/identifiers/${encodeURIComponent(identifier)}${query}`, { headers });
}

async function resultOf(identifier: string, query = ''): Promise<Result & { status: number }> {
  const answer = await resolve(identifier, { accept: RESULT, query });
  assert.is(answer.headers['content-type'], RESULT);
  return { status: answer.status, ...(answer.json() as Result) };
}

let protocol: { did: string };
let stove: { did: string };

test.before(async () => {
  protocol = await create('/v1/protocols', {
    type: 'Protocol',
    name: 'Clean cooking',
    alsoKnownAs: COOKING,
    properties: { burns: 'number' },
    linkedResource: [{ id: '#manual', type: 'Document', serviceEndpoint: 'https://example.com/manual' }],
  });
  stove = await create('/v1/domains', DATA.twin);
});

test('the document of a twin is the one of the method did:ixo: absolute ids, templates filled in, nothing inherited', async () => {
  const { didDocument } = await resultOf(stove.did);
  const named = JSON.stringify(DATA.document).replaceAll('<did>', stove.did).replaceAll('<class>', protocol.did);
  assert.equal(didDocument, JSON.parse(named));
});

test('a protocol resolves by its DID, and by its name to the document of its DID', async () => {
  const own = await resultOf(protocol.did);
  assert.is(own.didDocument?.id, protocol.did);
  assert.not.ok('class' in own.didDocument!);
  assert.equal(own.didDocument?.linkedResource, [
    { id: `${protocol.did}#manual`, type: 'Document', serviceEndpoint: 'https://example.com/manual' },
  ]);
  const named = await resultOf(COOKING);
  assert.equal(named.didDocument, own.didDocument);
  const raw = await server().ask(`/1.0/identifiers/${COOKING}`);
  assert.equal(raw.json(), own.didDocument);
  const child = await create('/v1/protocols', { type: 'Protocol', parent: COOKING });
  assert.is((await resultOf(child.did)).didDocument?.class, protocol.did);
});

for (const [accept, type] of DATA.accepts)
  test(`Accept ${accept ?? 'missing'} is answered with ${type}`, async () => {
    const answer = await resolve(stove.did, accept === null ? {} : { accept });
    assert.is(answer.status, 200, answer.text);
    assert.is(answer.headers['content-type'], type);
    assert.match(String(answer.headers.vary), /Accept/);
    const body = answer.json() as Body;
    const document =
      type === RESULT || type === OLD_RESULT || type === JSON_TYPE
        ? body.didDocument
        : type === DEREFERENCED
          ? body.content
          : body;
    assert.is((document as Body).id, stove.did);
    const isWhole = [RESULT, OLD_RESULT, DEREFERENCED, JSON_TYPE].includes(type);
    assert.is('didDocumentMetadata' in body || 'contentMetadata' in body, isWhole);
    if (type === DEREFERENCED) assert.equal(body.contentStream, body.content);
  });

const UNKNOWN = 'did:ixo:entity:00000000000000000000000000000000';

for (const [identifier, query, status, code] of DATA.errors)
  test(`${identifier || 'nothing'}${query} is ${code} with ${status}`, async () => {
    const result = await resultOf(identifier, query);
    assert.is(result.status, status);
    const { error } = result.didResolutionMetadata;
    assert.is(error?.type, `https://www.w3.org/ns/did#${code}`);
    assert.ok(error?.title && error.detail);
    assert.is(result.didDocument, null);
    assert.equal(result.didDocumentMetadata, {});
    const dereferenced = await resolve(identifier, { accept: DEREFERENCED, query });
    assert.is(dereferenced.status, status);
    const { dereferencingMetadata, ...rest } = dereferenced.json() as Body & { dereferencingMetadata: Body };
    assert.equal(rest, { content: null, contentStream: null, contentMetadata: {} });
    // What is dereferenced is a DID URL.
    const expected = code === 'INVALID_DID' ? 'INVALID_DID_URL' : code;
    const { type, title, detail } = dereferencingMetadata.error as Body;
    assert.is(type, `https://www.w3.org/ns/did#${expected}`);
    assert.is(detail, error?.detail);
    assert.is(title === error?.title, expected === code);
  });

test('plain JSON is the result of a DID, and of the part of a document its dereferencing', async () => {
  const accept = 'application/json';
  const part = await resolve(`${stove.did}#data`, { accept });
  assert.equal([part.status, part.headers['content-type']], [200, accept]);
  assert.is(((part.json() as Body).content as Body).id, `${stove.did}#data`);
  const unknown = await resolve(UNKNOWN, { accept });
  assert.equal([unknown.status, unknown.headers['content-type']], [404, accept]);
});

test('a form that nobody has is 406, also a whole result of the part of a document', async () => {
  for (const [identifier, accept] of [
    [stove.did, 'text/html'],
    [stove.did, 'text/uri-list'],
    [stove.did, 'application/did;q=0'],
    [`${stove.did}#data`, RESULT],
  ] as const) {
    const answer = await resolve(identifier, { accept });
    assert.is(answer.status, 406, accept);
    const { error } = (answer.json() as Result).didResolutionMetadata;
    assert.is(error?.type, 'https://www.w3.org/ns/did#REPRESENTATION_NOT_SUPPORTED');
  }
});

test('earlier versions are read by number and by time, and know which comes next', async () => {
  const device = await create('/v1/domains', { type: 'Device', class: COOKING, metadata: { name: 'first' } });
  const services = [{ id: '#s', type: 'S', endpoint: 'https://s.example.com' }];
  const patched = await ask(`/v1/domains/${device.did}`, {
    method: 'PATCH',
    body: { services },
    headers: { 'if-match': '"1"' },
  });
  assert.is(patched.status, 200, patched.text);
  const now = await resultOf(device.did);
  assert.is(now.didDocumentMetadata.versionId, '2');
  assert.not.ok('nextVersionId' in now.didDocumentMetadata);
  const first = await resultOf(device.did, '?versionId=1');
  assert.not.ok('service' in first.didDocument!);
  assert.is(first.didDocumentMetadata.nextVersionId, '2');
  for (const query of [`?versionTime=${now.didDocumentMetadata.updated}`, '?versionId=2'])
    assert.equal((await resultOf(device.did, query)).didDocument, now.didDocument, query);
  assert.equal((await resultOf(`${device.did}?versionId=1`)).didDocument, first.didDocument);
  for (const query of ['?versionId=3', '?versionId=0', '?versionId=abc', '?versionTime=2000-01-01T00:00:00Z'])
    assert.is((await resultOf(device.did, query)).status, 404, query);
  assert.is((await resultOf(device.did, '?versionTime=2999-01-01T00:00:00Z')).status, 404);
  const ahead = (ms: number) => `?versionTime=${new Date(Date.now() + ms).toISOString()}`;
  assert.is((await resultOf(device.did, ahead(5_000))).status, 200, 'the clock of a client may be ahead');
  assert.is((await resultOf(device.did, ahead(600_000))).status, 404);
  assert.is((await resultOf(device.did, '?versionTime=2026-02-30T00:00:00Z')).status, 400);
  assert.is((await resultOf(device.did, '?noCache=true&expandRelativeUrls=true')).status, 200);
});

test('a deactivated DID stays resolvable: 410 with a result, no document of today, and those of earlier', async () => {
  const device = await create('/v1/domains', { type: 'Device', class: COOKING });
  assert.is((await ask(`/v1/domains/${device.did}`, { method: 'DELETE' })).status, 200);
  for (const accept of [RESULT, 'application/did', '*/*']) {
    const answer = await resolve(device.did, { accept });
    assert.is(answer.status, 410);
    assert.is(answer.headers['content-type'], RESULT);
    const { didDocument, didDocumentMetadata, didResolutionMetadata } = answer.json() as Result;
    assert.is(didDocument, null);
    assert.is(didDocumentMetadata.deactivated, true);
    assert.is(didDocumentMetadata.versionId, '2');
    assert.not.ok('error' in didResolutionMetadata);
  }
  const earlier = await resultOf(device.did, '?versionId=1');
  assert.is(earlier.status, 410);
  assert.is(earlier.didDocument?.id, device.did);
  assert.is(earlier.didDocumentMetadata.deactivated, true);
  assert.is((await resultOf(`${device.did}?service=data`)).status, 410);
});

test('a service leads to its address with 303 where a list of URIs is asked for, else the document shows only it', async () => {
  const at = async (query: string, accept = 'text/uri-list') => resolve(`${stove.did}${query}`, { accept });
  for (const [query, location] of DATA.locations) {
    const answer = await at(query);
    assert.is(answer.status, 303, `${query}: ${answer.text}`);
    assert.is(answer.headers.location, location);
    assert.is(answer.text, '');
  }
  const inQuery = await resolve(stove.did, { accept: 'text/uri-list', query: '?service=data' });
  assert.is(inQuery.headers.location, 'https://data.example.com/in/');
  const document = (await at('?service=data', '*/*')).json() as { service: Body[] };
  assert.equal(
    document.service.map(({ id }) => id),
    [`${stove.did}#data`],
  );
  assert.is((await at('?service=none')).status, 404);
});

test('a relative reference never leads out of the folder of the service', async () => {
  for (const reference of DATA.references) {
    const query = `?service=data&relativeRef=${encodeURIComponent(reference)}`;
    const answer = await resolve(`${stove.did}${query}`, { accept: 'text/uri-list' });
    assert.is(answer.status, 400, `${reference}: ${answer.headers.location}`);
  }
  const doubled = await resolve(`${stove.did}?serviceType=Other#x`, { accept: 'text/uri-list' });
  assert.is(doubled.status, 400);
});

test('nobody is sent to an address that is not public, even where one has been stored', async () => {
  const { documents, make, clock } = await openBench();
  const twin = await make('Device');
  const services = [{ id: '#in', type: 'S', endpoint: 'http://169.254.169.254/' }];
  await documents.replace(DOMAIN, twin.id, twin.revision, { ...twin.body, services });
  const resolve = resolver({ documents, clock, publicTenant: 't' });
  const outcome = await resolve({ identifier: twin.id, options: [['service', 'in']] });
  assert.equal(outcome.kind === 'document' && outcome.endpoints, []);
});

test('no key is needed; one that is sent must be known and shows only its own tenant', async () => {
  const path = `/1.0/identifiers/${stove.did}`;
  assert.is((await server().ask(path, { headers: BEARER.default })).status, 200);
  assert.is((await server().ask(path, { headers: BEARER.other })).status, 404);
  for (const authorization of ['Bearer unknown-key-unknown', 'Basic abc', 'nonsense']) {
    const answer = await server().ask(path, { headers: { authorization } });
    assert.is(answer.status, 401);
    assert.match(String(answer.headers['www-authenticate']), /^Bearer/);
  }
  const named = `/1.0/identifiers/${encodeURIComponent(COOKING)}`;
  assert.is((await server().ask(named, { headers: BEARER.other })).status, 404);
  const theirs = await create(
    '/v1/protocols',
    { type: 'Protocol', alsoKnownAs: 'did:ixo:protocol/theirs' },
    BEARER.other,
  );
  assert.is((await resolve(theirs.did)).status, 200);
  assert.is((await resolve('did:ixo:protocol/theirs')).status, 404, 'names are not for everybody');
  assert.is((await server().ask('/1.0/identifiers/did:ixo:protocol/theirs', { headers: BEARER.other })).status, 200);
});

test('POST takes the options from its body; other methods are 405', async () => {
  const path = `/1.0/identifiers/${stove.did}`;
  const post = (body?: unknown) =>
    server().ask(path, {
      method: 'POST',
      headers: { accept: RESULT, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  assert.is((await post()).status, 200);
  assert.is((await post({ versionId: 1, noCache: true })).status, 200);
  assert.is((await post({ versionId: '9' })).status, 404);
  assert.is((await post([])).status, 400);
  assert.is((await server().ask(path, { method: 'HEAD' })).status, 200);
  const refused = await server().ask(path, { method: 'DELETE' });
  assert.is(refused.status, 405);
  assert.is(refused.headers.allow, 'GET, HEAD, POST');
  assert.is((await server().ask('/1.0/identifiers/%zz')).status, 400);
});

test('a failure of ours is an INTERNAL_ERROR of the standard, which is told to us and says nothing to others', async () => {
  const faults: unknown[] = [];
  const keys = { findCaller: () => undefined, developmentKey: undefined, voters: () => [] };
  const resolve = () => Promise.reject(new Error('the password is hunter2'));
  const deps = { keys, resolve, onFault: (error: unknown) => faults.push(error) } as unknown as DomainDeps;
  const app = new Koa().use(domainDoor(deps));
  const listening = app.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  try {
    const { port } = listening.address() as AddressInfo;
    const answer = await plainAsk(`http://127.0.0.1:${port}/1.0/identifiers/${UNKNOWN}`);
    assert.is(answer.status, 500);
    assert.is((answer.json() as Result).didResolutionMetadata.error?.type, 'https://www.w3.org/ns/did#INTERNAL_ERROR');
    assert.not.match(answer.text, 'hunter2');
    assert.is(faults.length, 1);
  } finally {
    listening.close();
  }
});

test.run();
