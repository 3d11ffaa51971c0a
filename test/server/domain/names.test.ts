// Names of records: URIs as RFC 3986 and DID Core write them, and never the DID of another record.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isFragmentOrUri, isUri, parseDidUrl } from '../../../lib/domain/did/did.ts';
import { fixture } from '../../support/fixture.ts';
import { door } from './door.ts';
import { COOKING, created, PROTOCOL, path, problem, view } from './place.ts';

const test = suite('names');
const { ask, domain } = door(test);

const { uris, others } = fixture<{ readonly uris: readonly string[]; readonly others: readonly string[] }>(
  'domain/uris.json',
);
const URIS = [...uris.map((text) => [text, true] as const), ...others.map((text) => [text, false] as const)];

test('a name is a URI in ASCII, and one of the scheme did a DID or DID URL', async () => {
  for (const [text, is] of URIS) assert.is(isUri(text), is, text);
  for (const [text, is] of URIS) if (/^did:/.test(text)) assert.is(parseDidUrl(text) !== undefined, is, text);
  for (const [text, is] of [
    ...URIS.filter(([one]) => one !== '#fragment'),
    ['#data', true],
    ['{id}#data', true],
  ] as const)
    assert.is(isFragmentOrUri(text), is, text);
  for (const text of ['#dätä', '#a b', '{id}#ä', '{id}', '#', '#a%z']) assert.not(isFragmentOrUri(text), text);
  // Some of each kind by the routes.
  for (const [at, [text, is]] of URIS.entries()) {
    if (at % 5) continue;
    const answer = await ask('owner', 'POST /v1/protocols', { type: 'Protocol', alsoKnownAs: at % 2 ? text : [text] });
    if (is) created(answer);
    else problem(answer, 422, 'invalid');
  }
  const service = (endpoint: string) => domain({ services: [{ id: '#s', type: 'S', endpoint }] });
  assert.equal((await service('https://example.com/{id}/in')).services, [
    { id: '#s', type: 'S', endpoint: 'https://example.com/{id}/in' },
  ]);
  const refused = {
    type: 'Project',
    class: COOKING,
    services: [{ id: '#s', type: 'S', endpoint: 'https://example.com/ü' }],
  };
  problem(await ask('owner', 'POST /v1/domains', refused), 422, 'invalid', ['/services/0/endpoint']);
});

test('no record takes the DID of another one as its name: by creation, patch, bulk and import', async () => {
  const victim = await domain();
  const protocol = created(await ask('owner', 'POST /v1/protocols', { ...PROTOCOL, alsoKnownAs: 'did:x:victim' }));
  const foreign = created(await ask('stranger', 'POST /v1/protocols', { type: 'Protocol' }));
  const own = await domain();
  const ownProtocol = created(await ask('owner', 'POST /v1/protocols', { type: 'Protocol', name: 'Own' }));
  const match = { 'if-match': '*' };
  const ndjson = { 'content-type': 'application/x-ndjson' };
  const exported = (await ask('operator', 'GET /v1/export')).text.split('\n').filter((line) => line !== '');
  const record = exported.map((line) => JSON.parse(line)).find(({ did, kind }) => did === own.did && kind === 'domain');
  for (const { did } of [victim, protocol, foreign]) {
    const names = { alsoKnownAs: ['did:x:free', did] };
    const twin = { type: 'Project', class: COOKING, ...names };
    for (const [line, body] of [
      ['POST /v1/domains', twin],
      ['POST /v1/entities', twin],
      ['POST /v1/protocols', { type: 'Protocol', ...names }],
      [`PATCH ${path(own.did)}`, names],
      [`PATCH ${path(ownProtocol.did, 'protocols')}`, names],
    ] as const) {
      const answer = await ask('owner', line, body, line.startsWith('PATCH') ? match : {});
      problem(answer, 409, 'already-exists', ['/alsoKnownAs/1']);
    }
    const minted = 'did:ixo:entity:00112233445566778899aabbccddeeff';
    const imported = {
      ...record,
      id: minted,
      did: minted,
      revision: 1,
      body: { ...record.body, did: minted, ...names },
    };
    const lines = [twin, { kind: 'protocol', ...names }, imported].map((line) => JSON.stringify(line)).join('\n');
    for (const query of ['?dryRun=true', '']) {
      const { text } = await ask('operator', `POST /v1/bulk${query}`, lines, ndjson);
      const rows = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.equal(
        rows.map(({ status, error }) => [status, error?.code]),
        rows.map(() => [409, 'already-exists']),
        text,
      );
    }
  }
  for (const alsoKnownAs of [['did:x:free'], ['did:x:free', 'did:x:more']])
    view(await ask('owner', `PATCH ${path(own.did)}`, { alsoKnownAs }, match));
});

test.run();
