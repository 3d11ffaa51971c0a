// Addresses that the service gives away carry DIDs as they are written, lead somewhere, and are read in both spellings.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pathSegment } from '../../../lib/domain/did/did.ts';
import { COOKING, created, type Name, PROTOCOL, path, place, type View, view, YES } from './place.ts';

const test = suite('links');
const { ask, domain, proposal, server } = place(test);

/** Every address in a body: whatever stands under `links`, at any depth. */
function linksIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    name === 'links' ? (Object.values(part as object) as string[]) : linksIn(part),
  );
}

const encoded = (address: string) => address.replaceAll(':', '%3A');

test('locations and links are as DIDs are written, and lead there in both spellings', async () => {
  const { did } = await domain();
  const other = { ...PROTOCOL, alsoKnownAs: 'did:ixo:protocol/linked' };
  const bodies: readonly [who: Name, line: string, body: object][] = [
    ['owner', 'POST /v1/domains', { type: 'Project', class: COOKING }],
    ['owner', 'POST /v1/entities', { type: 'Project', protocol: COOKING }],
    ['owner', 'POST /v1/protocols', other],
    ['rep', `POST ${path(did)}/proposals`, { kind: 'verify' }],
    ['owner', 'POST /v1/webhooks', { url: 'https://hooks.example/in' }],
  ];
  const { id } = await proposal((await domain()).did);
  const addresses = linksIn(created(await ask('ann', `POST /v1/proposals/${id}/votes`, YES)));
  for (const [who, line, body] of bodies) {
    const answer = await ask(who, line, body);
    assert.not.match(answer.text, /%3A/i, line);
    addresses.push(answer.headers.location!, ...linksIn(created(answer)));
  }
  addresses.push(...linksIn(view(await ask('owner', `GET ${path(did)}/verification`))));
  assert.ok(addresses.length > 15, String(addresses.length));
  for (const address of addresses) {
    assert.not.match(address, /%/);
    for (const spelling of [address, encoded(address)]) view(await ask('owner', `GET ${spelling}`));
  }
});

test('Link headers carry DIDs as they are written, however they were sent, and lead to the next page', async () => {
  const { did } = await domain({ metadata: { name: 'a&b=c<d>é' } });
  for (const status of ['paused', 'x', 'y']) {
    const { headers } = await ask('owner', `GET ${path(did)}`);
    await ask(
      'owner',
      `PATCH ${path(did)}`,
      { metadata: { name: 'a&b=c<d>é', status } },
      { 'if-match': headers.etag! },
    );
  }
  await domain({ metadata: { name: 'a&b=c<d>é' } });
  const name = encodeURIComponent('a&b=c<d>é');
  for (const address of [
    `/v1/domains/${did}/history?limit=1`,
    `/v1/domains/${encodeURIComponent(did)}/history?limit=1`,
    `/v1/domains?class=${COOKING}&controller=did:ixo:owner&name=${name}&limit=1`,
    `/v1/domains?limit=1&class=${encodeURIComponent(COOKING)}&controller=did%3aixo%3Aowner&name=${name}&cursor=`,
  ]) {
    const first = await ask('owner', `GET ${address.replace(/&cursor=$/, '')}`);
    const [, next] = /^<([^<>\s]+)>; rel="next"$/.exec(first.headers.link ?? '') ?? [];
    assert.ok(next, address);
    assert.not.match(next, /%3A/i);
    assert.match(next, /did:ixo:/);
    const { cursor } = Object.fromEntries(new URL(next, server().url).searchParams);
    assert.is(cursor, (first.json() as View).next);
    const [second] = view(await ask('owner', `GET ${next}`)).items;
    assert.ok(second, next);
    assert.not.equal(second, (first.json() as View).items[0]);
  }
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

test('what would end the segment of a path stays escaped', () => {
  const cases = {
    'did:web:a.b%3A3000:c': 'did:web:a.b%253A3000:c',
    'did:ixo:protocol/x?y#z': 'did:ixo:protocol%2Fx%3Fy%23z',
    'did:ixo:entity:00': 'did:ixo:entity:00',
  };
  for (const [did, segment] of Object.entries(cases)) {
    assert.is(pathSegment(did), segment);
    assert.is(decodeURIComponent(segment), did);
  }
});

test.run();
