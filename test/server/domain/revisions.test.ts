// Revisions: ETags and preconditions, patches, lists.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { door } from './door.ts';
import { COOKING, didOf, path, problem, view } from './place.ts';

const test = suite('revisions of the domain service');
const { ask, domain, proposal, clock } = door(test);

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
  const weak = problem(await patch('W/"5", W/"4-gzip"'), 412, 'revision-changed');
  assert.match(weak.detail, 'If-Match is W/"5", W/"4-gzip", and a weak ETag never matches');
  assert.match(weak.detail, 'switch compression off there');
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
    // Proxies that compress make it weak, or add how they did.
    const compressed = [etag!.replace(/"$/, '-gzip"'), `W/${etag!.replace(/"$/, ';br"')}`];
    for (const method of ['GET', 'HEAD'])
      for (const tag of [etag!, `W/${etag}`, `"x", ${etag}`, '*', ...compressed]) {
        const answer = await ask('owner', `${method} ${where}`, undefined, known(tag));
        assert.equal([answer.status, answer.text, answer.headers.etag], [304, '', etag], `${method} ${where} ${tag}`);
      }
    assert.is((await ask('owner', `GET ${where}`, undefined, known('"x"'))).status, 200);
  }
});

test('the ETag changes with every change of what is shown, and with nothing else', async () => {
  const { did } = await domain({ validFrom: new Date(clock.now() + 1_000).toISOString() });
  const tag = async () => (await ask('owner', `GET ${path(did)}`)).headers.etag!;
  const early = await tag();
  assert.is(await tag(), early);
  problem(await ask('owner', `PATCH ${path(did)}`, {}, seen('"9-notYetValid"')), 412);
  view(await ask('owner', `PATCH ${path(did)}`, {}, seen(early)));
  await clock.advance(1_000);
  const late = await tag();
  assert.is.not(late, early);
  assert.is(view(await ask('owner', `GET ${path(did)}`, undefined, known(early))).validity, 'valid');
  await proposal(did);
  assert.is.not(await tag(), late);
});

test('each kind of patch is read by its media type, and of twenty at one revision one is applied', async () => {
  const { did } = await domain({ metadata: { name: 'A', note: 'n' }, properties: { metricTwo: 1 } });
  const patch = (body: unknown, type: Record<string, string>, tag: string) =>
    ask('owner', `PATCH ${path(did, 'entities')}`, body, { ...type, ...seen(tag) });
  const merged = view(await patch({ metadata: { note: null }, properties: { metricOne: 'x' } }, MERGE, '"1"'));
  assert.equal([merged.metadata, merged.properties], [{ name: 'A' }, { metricTwo: 1, metricOne: 'x' }]);
  const add = { op: 'add', path: '/metadata/colour', value: 'red' };
  assert.equal(view(await patch([add], OPERATIONS, '"2"')).metadata, { name: 'A', colour: 'red' });
  const untrue = { op: 'test', path: '/metadata/name', value: 'B' };
  problem(await patch([{ op: 'remove', path: '/metadata/name' }, untrue], OPERATIONS, '"3"'), 422, 'test-failed');
  problem(await patch({ ...add }, OPERATIONS, '"3"'), 422, 'invalid');
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, n) => patch({ metadata: { name: `n${n}` } }, MERGE, '"3"')),
  );
  assert.equal(many.map(({ status }) => status).sort(), [200, ...Array<number>(19).fill(412)]);
});

test('lists are filtered by every parameter', async () => {
  const soon = { validUntil: '2001-01-01T00:00:00Z' };
  const one = await domain({ type: 'Listed', externalId: 'list-1', metadata: { name: 'a&b=c' } });
  await clock.advance(1);
  const other = await domain({ type: 'Listed', externalId: 'list-2', metadata: { name: 'odd one' }, ...soon });
  for (const [parameters, expected] of [
    [{ sort: '-created' }, [other, one]],
    [{ name: 'a&b=c' }, [one]],
    [{ externalId: 'list-2' }, [other]],
    [{ validAt: new Date(clock.now()).toISOString() }, [one]],
    [{ controller: didOf('owner'), class: COOKING, status: 'Created' }, [one, other]],
    [{ filter: 'not(exists(validUntil))' }, [one]],
    [{ controller: didOf('rival') }, []],
    [{ class: 'did:x:none' }, []],
    [{ status: 'Verified' }, []],
  ] as const) {
    const query = new URLSearchParams({ type: 'Listed', ...parameters });
    const { items } = view(await ask('owner', `GET /v1/domains?${query}`));
    assert.equal(
      items.map(({ did }) => did),
      expected.map(({ did }) => did),
      String(query),
    );
  }
});

test.run();
