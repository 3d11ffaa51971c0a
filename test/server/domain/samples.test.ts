// The documented samples, also under the media type that curl sends, and the record that answers.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COOKING, created, didOf, path, place, view } from './place.ts';

const test = suite('documented samples');
const { server, ask, domain } = place(test);

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

test('the quick start sends protocol, the table says class, an entity leaves out a declared property', async () => {
  for (const [line, body] of [
    ['POST /v1/domains', { type: 'Project', protocol: COOKING }],
    ['POST /v1/domains', { type: 'Project', class: COOKING, validFrom: '2026-01-01T00:00:00Z', validUntil: null }],
    ['POST /v1/entities', { type: 'CleanCookingDevice', protocol: COOKING, properties: { metricOne: 'a' } }],
    ['POST /v1/entities', { type: 'Device', class: COOKING, properties: { metricOne: 'a', metricTwo: 1.5 } }],
    ['POST /v1/entities', { type: 'asset/device', class: COOKING, protocol: COOKING, properties: {} }],
  ] as const) {
    for (const headers of [{}, FORM, { 'content-type': 'application/json; charset=utf-8' }, { 'content-type': '' }]) {
      const made = created(await ask('owner', line, body, headers));
      assert.equal([made.class, made.protocol], [COOKING, COOKING]);
    }
  }
});

test('the record has every field of the interface, and reads the same by its Location', async () => {
  const sent = {
    metadata: { name: 'Stoves', colour: 'red' },
    properties: { metricTwo: 7, measurements: { a: [1] } },
    services: [{ id: '#data', type: 'DataIngestion', endpoint: 'https://data.example/in' }],
    verifiableCredential: [{ type: 'Licence', issuer: 'did:ixo:org/issuer' }],
    linkedResource: [{ id: '#page', type: 'Page' }],
    linkedClaim: [{ id: '#claim', type: 'Claim' }],
    linkedEntity: [{ id: 'did:ixo:entity/other', type: 'Group', relationship: 'member' }],
    accordedRight: [{ id: '#right', type: 'capability/attest' }],
    alsoKnownAs: 'did:ixo:entity/device-123',
    validFrom: '2026-01-01T00:00:00Z',
    validUntil: '2999-01-01T00:00:00Z',
  };
  const answer = await ask('owner', 'POST /v1/domains', { type: 'Project', class: COOKING, ...sent });
  const made = created(answer);
  const { did, created: at, updated, links, ...rest } = made;
  assert.match(did, /^did:ixo:entity:[0-9a-f]{32}$/);
  assert.match(String(at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.is(updated, at);
  assert.is((links as Record<string, string>).self, path(did));
  const { classVersion: _, parent: __, externalId: ___, ...fields } = rest;
  assert.equal(fields, {
    ...sent,
    type: 'Project',
    canonicalClass: 'Cognitive Twins',
    controller: didOf('owner'),
    class: COOKING,
    protocol: COOKING,
    status: 'Created',
    entityVerified: false,
    validity: 'valid',
    relationships: {},
    subDomains: [],
    alsoKnownAs: ['did:ixo:entity/device-123'],
    revision: 1,
  });
  const { location, etag } = answer.headers;
  assert.equal([location, etag], [path(did), '"1"']);
  for (const where of [location!, path(did, 'entities'), path('did:ixo:entity/device-123')]) {
    const read = await ask('owner', `GET ${where}`);
    assert.equal([view(read), read.headers.etag], [made, '"1"'], where);
  }
  assert.equal(view(await ask('owner', `GET /v1/domains/${did}`)), made, 'colons need no escape');
});

test('a card names status lists at the address of the server, whatever a request says its address is', async () => {
  const { did } = await domain();
  for (const headers of [
    {},
    { host: 'evil.example', origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
  ]) {
    const card = view(await ask('rep', `GET ${path(did)}/card`, undefined, headers));
    for (const { statusListCredential } of card.credentialStatus as { statusListCredential: string }[]) {
      assert.ok(statusListCredential.startsWith(`${server().url}/v1/status/`), statusListCredential);
      view(await ask(undefined, `GET ${new URL(statusListCredential).pathname}`));
    }
  }
});

test.run();
