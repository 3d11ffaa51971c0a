// Every refusal over HTTP: status, problem document, and which of several problems is told first.

import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { raw, withServer } from '../support/serve.ts';
import { COOKING, created, files, keyOf, path, place, problem, view, YES } from './place.ts';

const test = suite('refusals of the domain service');
const { server, ask, domain, proposal, folder } = place(test);

const MINE = { type: 'Project', class: COOKING };
const typed = (type: string) => ({ 'content-type': type });

test('a media type that is not JSON is 415 on every POST and PATCH; a patch says what it takes', async () => {
  const { did } = await domain();
  const { id } = await proposal(did);
  const text = JSON.stringify(MINE);
  for (const type of ['text/plain', 'application/xml', 'multipart/form-data', 'application/jsonp', 'nonsense'])
    problem(await ask('owner', 'POST /v1/domains', text, typed(type)), 415, 'unsupported-media-type');
  const form = 'application/x-www-form-urlencoded';
  problem(await ask('owner', 'POST /v1/domains', 'type=Project', typed(form)), 415, 'unsupported-media-type');
  for (const [name, line] of [
    ['owner', 'POST /v1/protocols'],
    ['owner', 'POST /v1/entities'],
    ['owner', `POST ${path(did)}/transfer`],
    ['rep', `POST ${path(did)}/proposals`],
    ['issuer', `POST ${path(did)}/credits`],
    ['ann', `POST /v1/proposals/${id}/votes`],
    ['operator', `POST /v1/proposals/${id}/veto`],
  ] as const)
    problem(await ask(name, line, text, typed('text/plain')), 415, 'unsupported-media-type');
  for (const where of [path(did), path(COOKING, 'protocols')]) {
    const answer = await ask('owner', `PATCH ${where}`, '{}', { ...typed('text/plain'), 'if-match': '"1"' });
    problem(answer, 415, 'unsupported-media-type');
    assert.is(answer.headers['accept-patch'], 'application/merge-patch+json, application/json-patch+json');
  }
  problem(await ask('owner', 'POST /v1/domains', text, { 'content-encoding': 'zstd' }), 415);
});

test('what is no JSON, or hides something in it, is 400', async () => {
  const deep = `${'['.repeat(COMMON_LIMITS.jsonBodyDepth + 1)}${']'.repeat(COMMON_LIMITS.jsonBodyDepth + 1)}`;
  const bodies: readonly (string | Buffer)[] = [
    '',
    '{',
    '{"type":"Project",}',
    "{'type':'Project'}",
    `{"type":"Project","class":"${COOKING}","metadata":{"__proto__":{"admin":true}}}`,
    `{"metadata":${deep}}`,
    `{"type":"Project","class":"${COOKING}","metadata":{"name":"\\ud800"}}`,
    `{"type":"Project","class":"${COOKING}","metadata":{"\\udfff":1}}`,
    Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
  ];
  for (const body of bodies) problem(await ask('owner', 'POST /v1/domains', body), 400, 'bad-request');
  problem(await ask('owner', 'POST /v1/domains', undefined, typed('application/json')), 400, 'bad-request');
  assert.is(({} as { admin?: boolean }).admin, undefined);
});

test('a body above the limit is 413, also when it grows out of a small one', async () => {
  const large = JSON.stringify({ ...MINE, metadata: { name: 'x', filler: 'y'.repeat(SERVER_LIMITS.jsonBodyBytes) } });
  problem(await ask('owner', 'POST /v1/domains', large), 413, 'too-large');
  problem(await ask('owner', 'POST /v1/domains', gzipSync(large), { 'content-encoding': 'gzip' }), 413, 'too-large');
  const fits = JSON.stringify({ ...MINE, metadata: { filler: 'y'.repeat(SERVER_LIMITS.jsonBodyBytes - 200) } });
  problem(await ask('owner', 'POST /v1/domains', fits), 413, 'too-large');
  created(await ask('owner', 'POST /v1/domains', gzipSync(JSON.stringify(MINE)), { 'content-encoding': 'gzip' }));
});

test('without a known key everything is 401, and the answer does not tell which keys are near', async () => {
  const headers: Readonly<Record<string, string>>[] = [
    {},
    { authorization: 'Bearer unknown' },
    { authorization: `Bearer ${keyOf('owner')}x` },
    { authorization: keyOf('owner') },
    { authorization: `Basic ${Buffer.from(`x:${keyOf('owner')}`).toString('base64')}` },
    { authorization: `Bearer ${keyOf('owner')} ${keyOf('owner')}` },
    { 'x-api-key': keyOf('owner') },
  ];
  const seen = new Set<string>();
  for (const sent of headers)
    for (const line of ['GET /v1/domains', `GET /v1/domains?api_key=${keyOf('owner')}`, 'GET /v1/nothing', 'PUT /v1']) {
      const answer = await ask(undefined, line, undefined, sent);
      const { error } = problem(answer, 401, 'unauthorized');
      assert.is(answer.headers['www-authenticate'], 'Bearer realm="twinline"');
      seen.add(JSON.stringify(error));
    }
  assert.is(seen.size, 1);
  view(await ask(undefined, 'GET /v1/domains', undefined, { authorization: `bearer   ${keyOf('owner')}` }));
});

test('an unknown address is 404, a known one with another method 405 with Allow, a method of no HTTP 501', async () => {
  for (const where of [
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/domains/',
    '/V1/domains',
    '/v1//domains',
    '/v1/domains/a/b/c',
  ])
    assert.is((await ask('owner', `GET ${where}`)).status, 404, where);
  for (const where of ['/v1', '/v1/nothing', '/v1/domains/a/b'])
    problem(await ask('owner', `GET ${where}`), 404, 'not-found');
  const { did } = await domain();
  for (const [line, allow] of [
    ['PUT /v1/domains', ['GET', 'HEAD', 'POST']],
    [`POST ${path(did)}`, ['DELETE', 'GET', 'HEAD', 'PATCH']],
    [`DELETE ${path(COOKING, 'protocols')}`, ['GET', 'HEAD', 'PATCH']],
    ['DELETE /v1/proposals/x', ['GET', 'HEAD']],
    ['GET /v1/proposals/x/veto', ['POST']],
    ['TRACE /v1/limits', ['GET', 'HEAD']],
  ] as const) {
    const answer = await ask('owner', line);
    problem(answer, 405, 'method-not-allowed');
    assert.equal(answer.headers.allow!.split(', ').sort(), allow, line);
  }
});

test('names that nobody has are 404 on every route, however long or odd they are', async () => {
  const long = `did:ixo:${'a'.repeat(400)}`;
  for (const did of [
    'did:ixo:entity:00000000000000000000000000000000',
    long,
    'x',
    'constructor',
    '__proto__',
    '%00',
    '%FF',
  ])
    for (const [name, line] of [
      ['owner', 'GET /v1/domains/:did'],
      ['owner', 'GET /v1/entities/:did?at=1'],
      ['owner', 'GET /v1/protocols/:did'],
      ['owner', 'GET /v1/domains/:did/history'],
      ['owner', 'GET /v1/domains/:did/graph'],
      ['owner', 'GET /v1/domains/:did/verification'],
      ['owner', 'GET /v1/domains/:did/proposals'],
      ['owner', 'GET /v1/domains/:did/credits'],
      ['owner', 'DELETE /v1/domains/:did'],
      ['rep', 'POST /v1/domains/:did/proposals'],
      ['owner', 'GET /v1/proposals/:did'],
      ['owner', 'GET /v1/proposals/:did/votes'],
      ['ann', 'POST /v1/proposals/:did/votes'],
    ] as const) {
      const where = did.startsWith('%') ? did : encodeURIComponent(did);
      problem(await ask(name, line.replace(':did', where), line.startsWith('POST') ? {} : undefined), 404, 'not-found');
    }
});

test('content that breaks rules is 422 with every field that does', async () => {
  const refused = async (body: unknown, fields: readonly string[], line = 'POST /v1/domains') => {
    const found = problem(await ask('owner', line, body), 422, 'invalid').error.details.map(({ field }) => field);
    assert.equal(found.sort(), [...fields].sort(), JSON.stringify(body));
  };
  await refused({}, ['/type']);
  await refused({ type: 'Project' }, ['/class']);
  await refused({ type: 'Device' }, ['/protocol'], 'POST /v1/entities');
  await refused({ ...MINE, protocol: 'did:ixo:protocol/other' }, ['/protocol']);
  await refused({ ...MINE, class: 'did:ixo:protocol/unknown' }, ['/class']);
  const fixed = { did: 'did:ixo:mine', status: 'Verified', entityVerified: true, revision: 3, created: 'x', links: {} };
  await refused(
    { ...MINE, ...fixed },
    Object.keys(fixed).map((field) => `/${field}`),
  );
  await refused({ ...MINE, properties: { metricOne: 1, other: 1 } }, ['/properties/metricOne', '/properties/other']);
  await refused({ ...MINE, validFrom: 'soon', validUntil: 7 }, ['/validFrom', '/validUntil']);
  for (const validUntil of ['2026-01-01T00:00:00Z', '2025-12-31T23:59:59Z', '2026-01-01T01:00:00+01:00'])
    await refused({ ...MINE, validFrom: '2026-01-01T00:00:00Z', validUntil }, ['/validUntil']);
  for (const moment of ['2016-12-31T23:59:60Z', '2026-02-30T00:00:00Z', '2026-01-01', '1767225600000'])
    await refused({ ...MINE, validUntil: moment }, ['/validUntil']);
  await refused({ ...MINE, controller: 'did:ixo:rival' }, ['/controller']);
  await refused({ ...MINE, alsoKnownAs: ['no name'] }, ['/alsoKnownAs/0']);
  const endpoints = [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'http://169.254.169.254/',
    'https://localhost/',
    'http://2130706433/',
  ];
  const services = endpoints.map((endpoint, at) => ({ id: `#s${at}`, type: 'T', endpoint }));
  await refused(
    { ...MINE, services },
    endpoints.map((_, at) => `/services/${at}/endpoint`),
  );
  await refused({ ...MINE, relationships: { verifier: `did:ixo:${'a'.repeat(400)}` } }, ['/relationships/verifier']);
  for (const body of [null, 7, 'text', [], [MINE]])
    problem(await ask('owner', 'POST /v1/domains', JSON.stringify(body)), 422);
  const { did } = await domain();
  for (const [field, value] of Object.entries({
    did: 'did:ixo:x',
    status: 'Verified',
    entityVerified: true,
    revision: 9,
    type: 'Asset',
    controller: 'did:ixo:rival',
  })) {
    const answer = await ask('owner', `PATCH ${path(did)}`, { [field]: value }, { 'if-match': '"1"' });
    problem(answer, 422, 'invalid', [`/${field}`]);
  }
  for (const body of [{}, { kind: 'bless' }, { kind: 'verify', more: 1 }, { kind: 'verify', package: 'text' }])
    problem(await ask('rep', `POST ${path(did)}/proposals`, body), 422, 'invalid');
});

test('a name that belongs to another is 409; what was deactivated is 410 and stays readable as it was', async () => {
  const { did } = await domain({ alsoKnownAs: 'did:ixo:org/taken', externalId: 'ext-1' });
  for (const body of [{ alsoKnownAs: ['did:ixo:org/taken'] }, { externalId: 'ext-1' }])
    problem(await ask('owner', 'POST /v1/domains', { ...MINE, ...body }), 409, 'already-exists');
  const other = await domain({});
  const renamed = { alsoKnownAs: ['did:ixo:org/taken'] };
  const match = { 'if-match': '"1"' };
  problem(await ask('owner', `PATCH ${path(other.did)}`, renamed, match), 409, 'already-exists');
  problem(await ask('owner', 'POST /v1/protocols', { type: 'Protocol', alsoKnownAs: COOKING }), 409, 'already-exists');
  assert.is(view(await ask('owner', `DELETE ${path(did)}`)).status, 'Deactivated');
  for (const [name, line] of [
    ['owner', `GET ${path(did)}`],
    ['owner', `PATCH ${path(did)}`],
    ['owner', `DELETE ${path(did)}`],
    ['owner', `GET ${path(did)}/graph`],
    ['owner', `GET ${path(did)}/verification`],
    ['owner', `GET ${path(did)}/eligibility`],
    ['owner', `POST ${path(did)}/transfer`],
    ['rep', `POST ${path(did)}/proposals`],
    ['issuer', `POST ${path(did)}/credits`],
  ] as const)
    problem(await ask(name, line, line.startsWith('P') ? {} : undefined), 410, 'gone');
  assert.is(view(await ask('owner', `GET ${path(did)}?at=1`)).status, 'Created');
  assert.is(view(await ask('owner', `GET ${path(did)}/history`)).items.length, 2);
});

test('the first problem is told: key, existence, right, form, precondition, content, state', async () => {
  const { did } = await domain();
  const [bad, text] = [{ status: 'Verified' }, typed('text/plain')];
  const missing = path('did:ixo:entity:00000000000000000000000000000000');
  const stale = { 'if-match': '"7"' };
  for (const where of [path(did), path(COOKING, 'protocols')]) {
    const patch = `PATCH ${where}`;
    problem(await ask(undefined, patch, 'x', text), 401);
    problem(await ask('nobody', patch, 'x', text), 403, 'role-missing');
    problem(await ask('rival', patch, 'x', text), 403, 'not-controller');
    problem(await ask('rival', patch, bad, stale), 403, 'not-controller');
    problem(await ask('owner', patch, bad, { ...text, ...stale }), 415);
    problem(await ask('owner', patch, '{', stale), 400);
    problem(await ask('owner', patch, bad), 428, 'precondition-required');
    problem(await ask('owner', patch, bad, stale), 412, 'revision-changed');
    problem(await ask('owner', patch, bad, { 'if-match': '"1"' }), 422);
  }
  problem(await ask(undefined, `PATCH ${missing}`), 401);
  problem(await ask('nobody', `PATCH ${missing}`, 'x', text), 404);
  const transfer = `POST ${path(did)}/transfer`;
  problem(await ask('rival', transfer, 'x', text), 403, 'not-controller');
  problem(await ask('owner', transfer, '{', stale), 400);
  problem(await ask('owner', transfer, {}, stale), 412);
  problem(await ask('rival', `DELETE ${path(did)}`, undefined, stale), 403, 'not-controller');
  const { id } = await proposal(did);
  problem(await ask('nobody', `POST ${path(did)}/proposals`, 'x', text), 403, 'role-missing');
  problem(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'bless' }), 422);
  problem(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }), 409, 'proposal-open');
  problem(await ask('operator', `POST /v1/proposals/${id}/votes`, 'x', text), 403, 'role-missing');
  problem(await ask('deputy', `POST /v1/proposals/${id}/withdraw`, 'x', text), 403, 'not-proposer');
  created(await ask('ann', `POST /v1/proposals/${id}/votes`, YES));
  problem(await ask('ann', `POST /v1/proposals/${id}/votes`, { vote: 'perhaps' }), 422);
  problem(await ask('ann', `POST /v1/proposals/${id}/votes`, YES), 409, 'already-voted');
});

test('parameters are read strictly', async () => {
  const { did } = await domain();
  for (const limit of ['0', '-1', '1e3', '0x10', '1.5', '', 'Infinity', '1001', '1&limit=2'])
    for (const list of [
      '/v1/domains',
      '/v1/entities',
      '/v1/protocols',
      '/v1/proposals',
      `${path(did)}/proposals`,
      `${path(did)}/credits`,
      `${path(did)}/history`,
    ])
      problem(await ask('owner', `GET ${list}?limit=${limit}`), 400, 'bad-limit');
  for (const cursor of ['x', '', '%00', 'AAAA.AAAA', '1&cursor=2', 'a'.repeat(2_000)])
    for (const list of [
      '/v1/domains',
      '/v1/protocols',
      '/v1/proposals',
      `${path(did)}/proposals`,
      `${path(did)}/credits`,
      `${path(did)}/history`,
    ])
      problem(await ask('owner', `GET ${list}?cursor=${cursor}`), 400, 'bad-cursor');
  for (const query of ['sort=secret', 'validAt=yesterday', 'type=a&type=b', 'filter=eq(type,%22a%22)&filter=x'])
    assert.is((await ask('owner', `GET /v1/domains?${query}`)).status, 400, query);
  for (const filter of ['', 'boom(a,1)', 'eq(a)', 'eq(a,b)'])
    problem(await ask('owner', `GET /v1/domains?filter=${encodeURIComponent(filter)}`), 400, 'bad-filter');
  for (const where of [path(did), path(COOKING, 'protocols')]) {
    for (const query of ['view=secret', 'view=composed&view=composed', 'at=yesterday', 'at=', 'at=1.5', 'at=-1'])
      problem(await ask('owner', `GET ${where}?${query}`), 400, 'bad-request');
    for (const at of ['0', '99', '2999-01-01T00:00:00Z', '1999-01-01T00:00:00Z', '99999999999999999999'])
      problem(await ask('owner', `GET ${where}?at=${at}`), 404, 'not-found');
  }
  for (const query of ['depth=0', 'depth=9', 'depth=x', 'direction=up', 'rel=a&rel=b', 'direction=in&direction=out'])
    problem(await ask('owner', `GET ${path(did)}/graph?${query}`), 400, 'bad-request');
  for (const activity of ['x', 'constructor', '', 'carbon-credit-issuance&activity=x'])
    problem(await ask('owner', `GET ${path(did)}/eligibility?activity=${activity}`), 400, 'bad-request');
});

test('a form that is not there is 406, and tells which ones are', async () => {
  const { did } = await domain();
  const answer = await ask('rep', `GET ${path(did)}/card`, undefined, { accept: 'image/png' });
  assert.match(problem(answer, 406, 'not-acceptable').detail, /application\/vc/);
  assert.is((await ask('rep', `GET /1.0/identifiers/${did}`, undefined, { accept: 'image/png' })).status, 406);
});

test('too many requests and a store that is away are told as problems, too', async () => {
  await withServer({ env: { ...files(folder), RATE_LIMIT_MAX: '2' } }, async (busy) => {
    const get = () => busy.ask('/v1/limits', { headers: { authorization: `Bearer ${keyOf('owner')}` } });
    for (let n = 0; n < 2; n++) assert.is((await get()).status, 200);
    const answer = await get();
    problem(answer, 429);
    assert.match(answer.headers['retry-after']!, /^\d+$/);
  });
  const away = () => Promise.reject(new TwinlineError('ERR_STORE', 'mongodb://canary refused.'));
  let broken = false;
  const env = files(folder);
  await withServer(
    {
      env,
      stores: (stores) => ({
        ...stores,
        documents: {
          ...stores.documents,
          get: (...asked: [never, string]) => (broken ? away() : stores.documents.get(...asked)),
        } as never,
      }),
    },
    async (failing) => {
      broken = true;
      const answer = await failing.ask(path('did:ixo:x'), { headers: { authorization: `Bearer ${keyOf('owner')}` } });
      problem(answer, 503);
      assert.is(answer.headers['retry-after'], '1');
      assert.not.match(answer.text, /canary|mongo/);
    },
  );
});

test('no address of a request escapes /v1: absolute forms, dots and doubled slashes are no way around', async () => {
  const { host } = new URL(server().url);
  for (const target of ['/v1/../v1/domains', '/./v1/domains', '//v1/domains', '/v1%2fdomains', '/v1;/domains']) {
    const answer = await raw(server().url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.match(answer, /^HTTP\/1.1 (401|404) /, target);
  }
});

test.run();
