// Names of records: URIs as RFC 3986 and DID Core write them, and never the DID of another record.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isFragmentOrUri, isUri, parseDidUrl } from '../../../lib/domain/did/did.ts';
import { COOKING, created, PROTOCOL, path, place, problem, view } from './place.ts';

const test = suite('names');
const { ask, domain } = place(test);

const URIS: readonly (readonly [text: string, is: boolean])[] = [
  ['did:ixo:entity:4c73552dbf8a4343016e7f7952836014', true],
  ['did:example:123/path?service=a#b', true],
  ['did:web:example.com%3A3000:users', true],
  ['urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6', true],
  ['https://example.com/a?b=c#d', true],
  ['https://example.com/%C3%BC', true],
  ['https://[2001:db8::1]/', true],
  ['mailto:a@example.com', true],
  ['tag:example.com,2026:x', true],
  ['tel:+260971230001', true],
  ['did:example:ünïcode', false],
  ['did:example:a b', false],
  ['did:example:', false],
  ['did:example', false],
  ['did:Example:a', false],
  ['DID:example:a', false],
  ['did:example:a%2', false],
  ['did:example:a%zz', false],
  ['did:example:a/b%zz', false],
  ['did:example:a?b=%', false],
  ['did:example:a#b#c', false],
  ['did:example:a/<b>', false],
  ['https://example.com/ü', false],
  ['https://exämple.com/', false],
  ['https://example.com/a b', false],
  ['https://example.com/%zz', false],
  ['https://example.com/\u200b', false],
  ['https://example.com/{x}', false],
  ['https://example.com/"', false],
  ['https://example.com/a\nb', false],
  ['urn:ü', false],
  ['x:', false],
  ['1x:a', false],
  ['no scheme', false],
  ['/a/path', false],
  ['#fragment', false],
  ['', false],
];

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
  // Over HTTP some of each kind.
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
