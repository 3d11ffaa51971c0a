// Revisions over HTTP: ETags and preconditions, patches, history and `?at=`, HEAD and OPTIONS, lists page by page.

import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, json } from '../support/serve.ts';
import { COOKING, created, didOf, keyOf, path, place, problem, type View, view } from './place.ts';

const test = suite('revisions of the domain service');
const { server, ask, domain, proposal } = place(test);

const seen = (tag: string) => ({ 'if-match': tag });
const known = (tag: string) => ({ 'if-none-match': tag });
const MERGE = { 'content-type': 'application/merge-patch+json' };
const OPERATIONS = { 'content-type': 'application/json-patch+json' };

test('If-Match takes the present ETag, one of several, and *; nothing weak, stale or foreign', async () => {
  const { did } = await domain();
  let revision = 1;
  const patch = async (tag: string) => {
    const answer = await ask('owner', `PATCH ${path(did)}`, { metadata: { name: `n${revision}` } }, seen(tag));
    if (answer.status === 200) revision++;
    return answer;
  };
  for (const tag of ['"1"', '"9", "2"', '*', 'W/"1", "4"']) {
    const answer = await patch(tag);
    assert.equal([view(answer).revision, answer.headers.etag], [revision, `"${revision}"`], tag);
  }
  for (const tag of ['"4"', 'W/"5"', '5', '"05"', '"abc"', '""', '"5', "'5'"])
    problem(await patch(tag), 412, 'revision-changed');
  problem(await ask('owner', `PATCH ${path(did)}`, {}), 428, 'precondition-required');
  const same = await ask('owner', `PATCH ${path(did)}`, { metadata: { name: 'n4' } }, seen('"5"'));
  assert.equal([view(same).revision, same.headers.etag], [5, '"5"'], 'nothing changed, nothing is written');
  problem(await ask('owner', `POST ${path(did)}/transfer`, { controller: didOf('rival') }, seen('"4"')), 412);
  problem(await ask('owner', `DELETE ${path(did)}`, undefined, seen('"4"')), 412);
  view(await ask('owner', `POST ${path(did)}/transfer`, { controller: didOf('rival') }, seen('"5"')));
  problem(await ask('owner', `PATCH ${path(did)}`, {}, seen('"6"')), 403, 'not-controller');
  const gone = await ask('rival', `DELETE ${path(did)}`);
  assert.equal([view(gone).status, gone.headers.etag], ['Deactivated', '"7"']);
});

test('a version that the client has is 304 with its ETag and no body, also through HEAD', async () => {
  const { did } = await domain();
  const { id } = await proposal(did);
  for (const where of [
    path(did),
    path(did, 'entities'),
    path(COOKING, 'protocols'),
    `/v1/proposals/${id}`,
    `${path(did)}?at=1`,
  ]) {
    const { etag } = (await ask('owner', `GET ${where}`)).headers;
    for (const method of ['GET', 'HEAD'])
      for (const tag of [etag!, `W/${etag}`, `"x", ${etag}`, '*']) {
        const answer = await ask('owner', `${method} ${where}`, undefined, known(tag));
        assert.equal([answer.status, answer.text, answer.headers.etag], [304, '', etag], `${method} ${where} ${tag}`);
      }
    assert.is((await ask('owner', `GET ${where}`, undefined, known('"x"'))).status, 200);
  }
});

test('the ETag changes with every change of what is shown, and with nothing else', async () => {
  const { did } = await domain({ validFrom: new Date(Date.now() + 1_200).toISOString() });
  const tag = async () => (await ask('owner', `GET ${path(did)}`)).headers.etag!;
  const early = await tag();
  assert.is(await tag(), early);
  problem(await ask('owner', `PATCH ${path(did)}`, {}, seen('"9-notYetValid"')), 412);
  view(await ask('owner', `PATCH ${path(did)}`, {}, seen(early)));
  await pause(1_250);
  const late = await tag();
  assert.is.not(late, early);
  assert.is(view(await ask('owner', `GET ${path(did)}`, undefined, known(early))).validity, 'valid');
  await proposal(did);
  assert.is.not(await tag(), late);
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

test('merge patches and JSON patches change what they say, or nothing', async () => {
  const { did } = await domain({ metadata: { name: 'A', note: 'n' }, properties: { metricTwo: 1 } });
  const patch = (body: unknown, type: Record<string, string>, tag: string) =>
    ask('owner', `PATCH ${path(did, 'entities')}`, body, { ...type, ...seen(tag) });
  const merged = view(await patch({ metadata: { note: null }, properties: { metricOne: 'x' } }, MERGE, '"1"'));
  assert.equal([merged.metadata, merged.properties], [{ name: 'A' }, { metricTwo: 1, metricOne: 'x' }]);
  const add = { op: 'add', path: '/metadata/colour', value: 'red' };
  assert.equal(view(await patch([add], OPERATIONS, '"2"')).metadata, { name: 'A', colour: 'red' });
  const untrue = { op: 'test', path: '/metadata/name', value: 'B' };
  problem(await patch([{ op: 'remove', path: '/metadata/name' }, untrue], OPERATIONS, '"3"'), 422, 'test-failed');
  problem(await patch([{ op: 'remove', path: '/none' }], OPERATIONS, '"3"'), 422, 'invalid');
  problem(await patch([{ op: 'replace', path: '/status', value: 'Verified' }], OPERATIONS, '"3"'), 422, 'invalid');
  problem(await patch({ ...add }, OPERATIONS, '"3"'), 422, 'invalid');
  problem(await patch({ validUntil: '2020-01-01T00:00:00Z', validFrom: '2021-01-01T00:00:00Z' }, MERGE, '"3"'), 422);
  problem(await patch({ class: 'did:x:1', protocol: 'did:x:2' }, MERGE, '"3"'), 422);
  assert.is(view(await ask('owner', `GET ${path(did)}`)).revision, 3);
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, n) => patch({ metadata: { name: `n${n}` } }, MERGE, '"3"')),
  );
  assert.equal(many.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(412)]);
});

test('history tells who changed what, page by page; any revision and moment stays readable', async () => {
  const { did } = await domain({ metadata: { name: 'v1' } });
  for (let n = 1; n < 5; n++)
    view(await ask('owner', `PATCH ${path(did)}`, { metadata: { name: `v${n + 1}` } }, seen(`"${n}"`)));
  const items: View[] = [];
  for (let where = `${path(did)}/history?limit=2`, pages = 0; ; pages++) {
    assert.ok(pages < 3);
    const answer = await ask('rep', `GET ${where}`);
    const page = view(answer);
    items.push(...page.items);
    const [, link] = /^<(.+)>; rel="next"$/.exec(answer.headers.link ?? '') ?? [];
    assert.is(link === undefined, page.next === null);
    if (!link) break;
    where = link;
  }
  assert.equal(
    items.map(({ revision }) => revision),
    [5, 4, 3, 2, 1],
  );
  assert.equal(items[0]!.changes, [{ op: 'replace', path: '/metadata/name', value: 'v5' }]);
  assert.ok(items.every(({ by }) => by === didOf('owner')));
  for (let n = 1; n <= 5; n++) {
    const answer = await ask('rep', `GET ${path(did)}?at=${n}`);
    assert.equal([view(answer).metadata, answer.headers.etag], [{ name: `v${n}` }, `"${n}"`]);
  }
  const now = encodeURIComponent(new Date(Date.now()).toISOString());
  assert.is(view(await ask('rep', `GET ${path(did)}?at=${now}`)).revision, 5);
});

test('a protocol is versioned: by revision, by moment, composed with its parent', async () => {
  const parent = created(await ask('owner', 'POST /v1/protocols', { type: 'Protocol', properties: { a: 'string' } }));
  const made = created(
    await ask('owner', 'POST /v1/protocols', { type: 'Protocol', parent: parent.did, properties: { b: 'number' } }),
  );
  await pause(5);
  const before = new Date().toISOString();
  await pause(5);
  const where = path(made.did, 'protocols');
  const changed = await ask('owner', `PATCH ${where}`, { properties: { c: 'boolean' } }, seen('"1"'));
  assert.equal([view(changed).version, changed.headers.etag], [2, '"2"']);
  problem(await ask('owner', `PATCH ${where}`, { properties: { d: 'nonsense' } }, seen('"2"')), 422, 'invalid', [
    '/properties/d',
  ]);
  problem(await ask('owner', `PATCH ${where}`, { parent: made.did }, seen('"2"')), 422, 'invalid', ['/parent']);
  for (const at of ['1', before]) {
    const old = await ask('owner', `GET ${where}?at=${encodeURIComponent(at)}`);
    assert.equal([view(old).version, Object.keys(view(old).properties as object)], [1, ['b']]);
  }
  const composed = view(await ask('owner', `GET ${where}?view=composed`));
  assert.equal(Object.keys(composed.properties as object).sort(), ['a', 'b', 'c']);
  assert.equal(
    (composed.classChain as View[]).map(({ did }) => did),
    [made.did, parent.did],
  );
  const twin = view(await ask('owner', `GET ${path((await domain({ class: made.did })).did)}?view=composed`));
  assert.is(twin.composed, true);
});

async function walked(first: string): Promise<View[]> {
  const items: View[] = [];
  for (let where: string | undefined = first; where; ) {
    const answer: Answer = await ask('owner', `GET ${where}`);
    items.push(...view(answer).items);
    where = /^<(.+)>; rel="next"$/.exec(answer.headers.link ?? '')?.[1];
    assert.is(where === undefined, view(answer).next === null, 'Link and next say the same');
  }
  return items;
}

test('lists are filtered by every parameter and followed by Link from page to page, whole and in order', async () => {
  const made: View[] = [];
  for (let n = 0; n < 23; n++)
    made.push(
      await domain({
        type: n % 2 ? 'Listed' : 'ListedToo',
        externalId: `list-${n}`,
        metadata: { name: n % 3 ? 'odd one' : 'a&b=c' },
        ...(n === 7 && { validUntil: '2001-01-01T00:00:00Z' }),
      }),
    );
  const ids = (items: readonly View[]) => items.map(({ did }) => did);
  const wanted = (holds: (n: number) => boolean) => made.filter((_, n) => holds(n)).map(({ did }) => did);
  assert.equal(
    ids(await walked('/v1/domains?type=Listed&limit=4')),
    wanted((n) => n % 2 === 1),
  );
  assert.equal(
    ids(await walked('/v1/entities?type=Listed&limit=4&sort=-created')),
    wanted((n) => n % 2 === 1).reverse(),
  );
  assert.equal(
    ids(await walked('/v1/domains?name=a%26b%3Dc&limit=3')),
    wanted((n) => n % 3 === 0),
    'a name keeps the order',
  );
  assert.equal(
    ids(await walked('/v1/domains?type=Listed&name=odd+one&limit=1')),
    wanted((n) => n % 2 === 1 && n % 3 > 0),
  );
  assert.equal(ids(await walked('/v1/domains?externalId=list-5')), [made[5]!.did]);
  const valid = `type=Listed&validAt=${encodeURIComponent(new Date().toISOString())}`;
  assert.equal(
    ids(await walked(`/v1/domains?${valid}&limit=2`)),
    wanted((n) => n % 2 === 1 && n !== 7),
  );
  const owner = encodeURIComponent(didOf('owner'));
  const all = `controller=${owner}&class=${encodeURIComponent(COOKING)}&status=Created`;
  assert.is((await walked(`/v1/domains?${all}&type=ListedToo&limit=5`)).length, 12);
  const filter = encodeURIComponent('and(eq(type,"Listed"),in(externalId,"list-1","list-3"),not(exists(validUntil)))');
  assert.equal(ids(await walked(`/v1/domains?filter=${filter}&limit=1`)), [made[1]!.did, made[3]!.did]);
  for (const none of [`controller=${encodeURIComponent(didOf('rival'))}`, 'class=did:x:none', 'status=Verified'])
    assert.equal(await walked(`/v1/domains?${none}&type=Listed`), []);
  const { next } = view(await ask('owner', 'GET /v1/domains?type=Listed&limit=2'));
  problem(
    await ask('owner', `GET /v1/domains?type=ListedToo&limit=2&cursor=${encodeURIComponent(next!)}`),
    400,
    'bad-cursor',
  );
  view(await ask('owner', `DELETE ${path(made[3]!.did)}`));
  assert.equal(
    ids(await walked('/v1/domains?type=Listed')),
    wanted((n) => n % 2 === 1 && n !== 3),
  );
  assert.equal(ids(await walked('/v1/domains?type=Listed&status=Deactivated')), [made[3]!.did]);
});

test('the graph is walked in both directions and by relation', async () => {
  const oracle = await domain({ type: 'Oracle', metadata: { name: 'Eye' } });
  const { did } = await domain({ relationships: { verifier: oracle.did } });
  const graph = async (of: string, query: string) => {
    const { nodes, edges } = view(await ask('rep', `GET ${path(of)}/graph?${query}`));
    return { nodes: (nodes as View[]).map((node) => node.did), edges: (edges as View[]).length };
  };
  assert.equal(await graph(did, 'rel=verifier'), { nodes: [did, oracle.did], edges: 1 });
  assert.equal(await graph(oracle.did, 'rel=verifier&direction=in'), { nodes: [oracle.did, did], edges: 1 });
  assert.equal(await graph(oracle.did, 'rel=verifier&direction=out'), { nodes: [oracle.did], edges: 0 });
});

test('the key of one header is never another: 1,000 headers of our names change nothing', async () => {
  const body = json(
    { type: 'Project', class: COOKING },
    { authorization: `Bearer ${keyOf('owner')}`, 'if-match': '"7"' },
  );
  assert.is((await server().ask('/v1/domains', body)).status, 201, 'a creation has no revision to match');
});

test.run();
