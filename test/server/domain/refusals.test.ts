// Every refusal over HTTP: status, problem document, and which of several problems is told first; HEAD and OPTIONS.

import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { fixture } from '../../support/fixture.ts';
import { raw } from '../support/serve.ts';
import { COOKING, created, type Headers, keyOf, type Name, path, place, problem, view, YES } from './place.ts';

const test = suite('refusals of the domain service');
const { server, ask, domain, proposal } = place(test);

const MINE = { type: 'Project', class: COOKING };
const TEXT = { 'content-type': 'text/plain' };
const UNKNOWN = 'did:ixo:entity:00000000000000000000000000000000';

/** What stands in the lines of the tables below. */
let names: { readonly [name: string]: string };
test.before(async () => {
  const { did } = await domain();
  const taken = await domain({ alsoKnownAs: 'did:ixo:org/taken', externalId: 'ext-1' });
  const gone = await domain();
  view(await ask('owner', `DELETE ${path(gone.did)}`));
  const { id } = await proposal((await domain()).did);
  created(await ask('ann', `POST /v1/proposals/${id}/votes`, YES));
  const reviewed = await domain();
  const open = await proposal(reviewed.did);
  names = {
    ':twin': path(did),
    ':taken': path(taken.did),
    ':gone': path(gone.did),
    ':missing': path(UNKNOWN),
    ':protocol': path(COOKING, 'protocols'),
    ':reviewed': path(reviewed.did),
    ':vote': `/v1/proposals/${id}`,
    ':open': `/v1/proposals/${open.id}`,
  };
});

type Row = readonly [
  who: Name | null | undefined,
  line: string,
  body: unknown,
  headers: Headers,
  status: number,
  code?: string | null | undefined,
  fields?: readonly string[],
];

async function refused(rows: readonly Row[]): Promise<void> {
  for (const [who, line, body, headers, status, code, fields] of rows) {
    const answer = await ask(
      who ?? undefined,
      line.replace(/:[a-z]+\b/, (name) => names[name] ?? name),
      body ?? undefined,
      headers,
    );
    try {
      const told = problem(answer, status, code ?? undefined).error.details.map(({ field }) => field);
      if (fields) assert.equal(told.sort(), [...fields].sort());
    } catch (error) {
      (error as Error).message = `${line} by ${who}, ${JSON.stringify(body)}: ${(error as Error).message}`;
      throw error;
    }
  }
}

const posted = (body: unknown, status: number, code: string, fields?: readonly string[]): Row =>
  ['owner', 'POST /v1/domains', body, {}, status, code, fields] as Row;

test('a media type that is not JSON is 415 on every POST and PATCH; a patch says what it takes', async () => {
  const types = ['text/plain', 'application/xml', 'multipart/form-data', 'application/jsonp', 'nonsense'];
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  await refused([
    ...types.map(
      (type): Row => ['owner', 'POST /v1/domains', '{}', { 'content-type': type }, 415, 'unsupported-media-type'],
    ),
    ['owner', 'POST /v1/domains', 'type=Project', form, 415, 'unsupported-media-type'],
    ['owner', 'POST /v1/protocols', '{}', TEXT, 415],
    ['owner', 'POST /v1/entities', '{}', TEXT, 415],
    ['owner', 'POST :twin/transfer', '{}', TEXT, 415],
    ['rep', 'POST :twin/proposals', '{}', TEXT, 415],
    ['issuer', 'POST :twin/credits', '{}', TEXT, 415],
    ['ann', 'POST :vote/votes', '{}', TEXT, 415],
    ['operator', 'POST :vote/veto', '{}', TEXT, 415],
    ['owner', 'POST /v1/domains', JSON.stringify(MINE), { 'content-encoding': 'zstd' }, 415],
  ]);
  // What curl calls a form is read as what it is.
  for (const type of [form['content-type'], '', 'application/json; charset=utf-8'])
    created(await ask('owner', 'POST /v1/domains', MINE, { 'content-type': type }));
  for (const where of [names[':twin'], names[':protocol']]) {
    const answer = await ask('owner', `PATCH ${where}`, '{}', { ...TEXT, 'if-match': '"1"' });
    problem(answer, 415, 'unsupported-media-type');
    assert.is(answer.headers['accept-patch'], 'application/merge-patch+json, application/json-patch+json');
  }
});

test('what is no JSON, or hides something in it, is 400; what is too large is 413, also when it grows out of a small one', async () => {
  const deep = `${'['.repeat(COMMON_LIMITS.jsonBodyDepth + 1)}${']'.repeat(COMMON_LIMITS.jsonBodyDepth + 1)}`;
  const large = (bytes: number) => JSON.stringify({ ...MINE, metadata: { filler: 'y'.repeat(bytes) } });
  const gzipped = { 'content-encoding': 'gzip' };
  await refused([
    ...['', '{', '{"type":"Project",}', "{'type':'Project'}", `{"metadata":${deep}}`].map((body) =>
      posted(body, 400, 'bad-request'),
    ),
    posted(`{"type":"Project","class":"${COOKING}","metadata":{"__proto__":{"admin":true}}}`, 400, 'bad-request'),
    posted(`{"type":"Project","class":"${COOKING}","metadata":{"name":"\\ud800"}}`, 400, 'bad-request'),
    posted(Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]), 400, 'bad-request'),
    ['owner', 'POST /v1/domains', undefined, { 'content-type': 'application/json' }, 400, 'bad-request'],
    posted(large(SERVER_LIMITS.jsonBodyBytes), 413, 'too-large'),
    posted(large(SERVER_LIMITS.jsonBodyBytes - 200), 413, 'too-large'),
    ['owner', 'POST /v1/domains', gzipSync(large(SERVER_LIMITS.jsonBodyBytes)), gzipped, 413, 'too-large'],
  ]);
  created(await ask('owner', 'POST /v1/domains', gzipSync(JSON.stringify(MINE)), gzipped));
  assert.is(({} as { admin?: boolean }).admin, undefined);
});

test('without a known key everything is 401, and the answer does not tell which keys are near', async () => {
  const key = keyOf('owner');
  const seen = new Set<string>();
  for (const sent of [
    {},
    { authorization: `Bearer ${key}x` },
    { authorization: key },
    { authorization: `Basic ${Buffer.from(`x:${key}`).toString('base64')}` },
    { 'x-api-key': key },
  ] as Headers[])
    for (const line of ['GET /v1/domains', `GET /v1/domains?api_key=${key}`, 'GET /v1/nothing', 'PUT /v1']) {
      const answer = await ask(undefined, line, undefined, sent);
      seen.add(JSON.stringify(problem(answer, 401, 'unauthorized').error));
      assert.is(answer.headers['www-authenticate'], 'Bearer realm="twinline"');
    }
  assert.is(seen.size, 1);
});

test('an unknown address is 404, a known one with another method 405 with Allow', async () => {
  for (const where of ['', '/', '/nothing', '/domains/', '//domains', '/domains/a/b/c'])
    assert.is((await ask('owner', `GET /v1${where}`)).status, 404, where);
  problem(await ask('owner', 'GET /v1/nothing'), 404, 'not-found');
  for (const [line, allow] of [
    ['PUT /v1/domains', ['GET', 'HEAD', 'POST']],
    [`POST ${names[':twin']}`, ['DELETE', 'GET', 'HEAD', 'PATCH']],
    ['GET /v1/proposals/x/veto', ['POST']],
    ['TRACE /v1/limits', ['GET', 'HEAD']],
  ] as const) {
    const answer = await ask('owner', line);
    problem(answer, 405, 'method-not-allowed');
    assert.equal(answer.headers.allow!.split(', ').sort(), allow, line);
  }
  const { host } = new URL(server().url);
  for (const target of ['/v1/../v1/domains', '/./v1/domains', '//v1/domains', '/v1%2fdomains', '/v1;/domains']) {
    const answer = await raw(server().url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.match(answer, /^HTTP\/1.1 (401|404) /, `${target} is no way around the key`);
  }
});

// A body or a person that is null is left out.
for (const [title, rows] of Object.entries(
  fixture<{ readonly [title: string]: readonly Row[] }>('domain/refusals.json'),
))
  test(title, () => refused(rows));

test('a name that belongs to another is 409; what was deactivated is 410 and stays readable as it was', async () => {
  const renamed = { alsoKnownAs: ['did:ixo:org/taken'] };
  const gone = (who: Name, line: string): Row => [who, line, line.startsWith('P') ? {} : undefined, {}, 410, 'gone'];
  await refused([
    posted({ ...MINE, ...renamed }, 409, 'already-exists'),
    posted({ ...MINE, externalId: 'ext-1' }, 409, 'already-exists'),
    ['owner', 'PATCH :twin', renamed, { 'if-match': '"1"' }, 409, 'already-exists'],
    ['owner', 'POST /v1/protocols', { type: 'Protocol', alsoKnownAs: COOKING }, {}, 409, 'already-exists'],
    ...['GET :gone', 'PATCH :gone', 'DELETE :gone', 'POST :gone/transfer'].map((line) => gone('owner', line)),
    ...['graph', 'verification', 'eligibility', 'card'].map((part) => gone('owner', `GET :gone/${part}`)),
    gone('rep', 'POST :gone/proposals'),
    gone('issuer', 'POST :gone/credits'),
  ]);
  assert.is(view(await ask('owner', `GET ${names[':gone']}?at=1`)).status, 'Created');
  assert.is(view(await ask('owner', `GET ${names[':gone']}/history`)).items.length, 2);
});

test('parameters are read strictly, and a form that is not there is 406', async () => {
  const asked = (where: string, queries: readonly string[], status: number, code?: string) =>
    queries.map((query): Row => ['owner', `GET ${where}?${query}`, undefined, {}, status, code]);
  const limits = ['0', '-1', '1e3', '0x10', '1.5', '', 'Infinity', '1001', '1&limit=2'].map(
    (limit) => `limit=${limit}`,
  );
  const cursors = ['x', '', '%00', 'AAAA.AAAA', '1&cursor=2', 'a'.repeat(2_000)].map((cursor) => `cursor=${cursor}`);
  const lists = ['/v1/domains', '/v1/protocols', '/v1/proposals', ':twin/proposals', ':twin/credits', ':twin/history'];
  const { broken } = fixture<{ readonly broken: readonly string[] }>('domain/filters.json');
  const deep = `${'not('.repeat(20)}exists(a)${')'.repeat(20)}`;
  const filters = [...broken, deep, `eq(a,"${'x'.repeat(2_000)}")`].map(
    (filter) => `filter=${encodeURIComponent(filter)}`,
  );
  const ways = ['depth=0', 'depth=9', 'depth=x', 'direction=up', 'rel=a&rel=b', 'direction=in&direction=out'];
  const records = [':twin', ':protocol'];
  const views = ['view=secret', 'view=composed&view=composed', 'at=yesterday', 'at=', 'at=1.5', 'at=-1'];
  const moments = ['0', '99', '2999-01-01T00:00:00Z', '1999-01-01T00:00:00Z', '99999999999999999999'];
  const activities = ['x', 'constructor', '', 'carbon-credit-issuance&activity=x'].map((name) => `activity=${name}`);
  await refused([
    ...lists.flatMap((list) => asked(list, limits, 400, 'bad-limit')),
    ...lists.flatMap((list) => asked(list, cursors, 400, 'bad-cursor')),
    ...asked(
      '/v1/domains',
      ['sort=secret', 'validAt=yesterday', 'type=a&type=b', 'filter=eq(type,%22a%22)&filter=x'],
      400,
    ),
    ...asked('/v1/domains', filters, 400, 'bad-filter'),
    ...records.flatMap((record) => asked(record, views, 400, 'bad-request')),
    ...records.flatMap((record) =>
      asked(
        record,
        moments.map((at) => `at=${at}`),
        404,
        'not-found',
      ),
    ),
    ...asked(':twin/graph', ways, 400, 'bad-request'),
    ...asked(':twin/eligibility', activities, 400, 'bad-request'),
  ]);
  const answer = await ask('rep', `GET ${names[':twin']}/card`, undefined, { accept: 'image/png' });
  assert.match(problem(answer, 406, 'not-acceptable').detail, /application\/vc/);
});

test('HEAD answers as GET does, without the body', async () => {
  const { did } = await domain();
  const lists = ['/v1/domains?limit=1', '/v1/protocols', '/v1/proposals', '/v1/limits', '/v1/governance/config'];
  for (const where of [
    path(did),
    `${path(did)}/history`,
    `${path(did)}/graph`,
    `${path(did)}/eligibility`,
    ...lists,
    '/v1/none',
    `${path(did)}?at=9`,
  ]) {
    const [get, head] = [await ask('owner', `GET ${where}`), await ask('owner', `HEAD ${where}`)];
    assert.equal([head.status, head.text], [get.status, ''], where);
    for (const name of ['content-type', 'content-length', 'etag', 'link', 'cache-control'])
      assert.is(head.headers[name], get.headers[name], `${where} ${name}`);
  }
});

test('OPTIONS tells the methods and the kinds of patches; a preflight needs no key and allows what is needed', async () => {
  const answer = await ask('owner', 'OPTIONS /v1/domains/did:ixo:x');
  assert.equal([answer.status, answer.text], [204, '']);
  assert.equal(answer.headers.allow!.split(', ').sort(), ['DELETE', 'GET', 'HEAD', 'PATCH']);
  assert.is(answer.headers['accept-patch'], 'application/merge-patch+json, application/json-patch+json');
  problem(await ask('owner', 'OPTIONS /v1/none'), 404);
  const origin = { origin: 'https://a.example', 'access-control-request-method': 'PATCH' };
  const preflight = await ask(undefined, 'OPTIONS /v1/domains/did:ixo:x', undefined, {
    ...origin,
    'access-control-request-headers': 'if-match',
  });
  assert.is(preflight.status, 204);
  assert.match(preflight.headers['access-control-allow-headers']!, /If-Match/i);
  const shown = (await ask('owner', 'GET /v1/domains', undefined, { origin: 'https://a.example' })).headers[
    'access-control-expose-headers'
  ]!;
  for (const name of ['ETag', 'Location', 'Link', 'Retry-After']) assert.ok(shown.split(',').includes(name), name);
});

test.run();
