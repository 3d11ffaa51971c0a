// Issuers that are no did:key: their documents over real sockets, private addresses, time, memory, keys that change.

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SimulatedClock } from '../../lib/clock.ts';
import {
  didDocumentKeys,
  didIxoKeys,
  didWebKeys,
  didWebUrl,
  type ResolveKeys,
  tokenGuard,
} from '../../lib/delegation/index.ts';
import { issuerKeys } from '../../lib/delegation/issuer-keys.ts';
import { DELEGATION_LIMITS } from '../../lib/delegation/limits.ts';
import { type HttpExchange, httpExchange } from '../../lib/http/client.ts';
import { alice, bob, clockAt, mallory, oracle, text } from './tokens.ts';

const SITE = 'did:web:example.com';
const multikey = (did: string, id = '#key') => ({
  id,
  type: 'Multikey',
  publicKeyMultibase: did.slice('did:key:'.length),
});
const documentOf = (...keys: readonly string[]) => ({
  id: SITE,
  verificationMethod: keys.map((did, at) => multikey(did, `#k${at}`)),
});
const byWeb = (signer: typeof alice, did: `did:${string}:${string}` = SITE) => signer.withDID(did);

let server: Server;
let answer: RequestListener = (_request, response) => response.end();
const asked: string[] = [];
const real = httpExchange();
// What is outside stands on this machine here; everything else about the request stays as it is.
const toServer: HttpExchange = (request, options) => {
  const { port } = server.address() as AddressInfo;
  asked.push(request.url.href);
  return real({ ...request, url: new URL(request.url.pathname, `http://127.0.0.1:${port}`) }, options);
};
const guardBy = (methods: { readonly [method: string]: ResolveKeys }, clock = clockAt()) =>
  tokenGuard({ audience: oracle.did(), clock, methods });
const byServer = (clock?: SimulatedClock) => guardBy({ web: didWebKeys({ exchange: toServer }) }, clock);
const answerBy = (listener: RequestListener): void => {
  answer = listener;
};
const answerWith = (document: unknown, status = 200): void =>
  answerBy((_request, response) => response.writeHead(status, { connection: 'close' }).end(JSON.stringify(document)));

const test = suite('keys of issuers');

test.before(async () => {
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
test.before.each(() => void asked.splice(0));
test.after(() => {
  server.closeAllConnections();
  server.close();
});

test('a did:web issuer passes with any of the keys in its document, which is asked for once', async () => {
  answerWith(documentOf(mallory.did(), alice.did()));
  const guard = byServer();
  const tokens = await Promise.all(['a', 'b', 'c'].map((nonce) => text({ issuer: byWeb(alice), nonce })));
  for (const result of await Promise.all(tokens.map((token) => guard.checkInvocation(token)))) {
    assert.ok(result.ok, JSON.stringify(result));
    assert.is(result.issuer, SITE);
  }
  assert.equal(asked, ['https://example.com/.well-known/did.json']);
  const forged = await guard.checkInvocation(await text({ issuer: byWeb(bob) }));
  assert.equal(forged, { ok: false, reason: 'wrong-signature' });
});

test('a did:ixo issuer passes by a key that the index of its chain tells, over a real socket', async () => {
  const did = 'did:ixo:entity:1';
  let body = '';
  answerBy((request, response) => {
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { variables } = JSON.parse(body) as { variables: { did: string } };
      const nodes = variables.did === did ? [{ id: did, verificationMethod: [multikey(alice.did())] }] : [];
      response.end(JSON.stringify({ data: { iids: { nodes } } }));
    });
  });
  const { port } = server.address() as AddressInfo;
  const guard = guardBy({ ixo: didIxoKeys({ url: new URL(`http://127.0.0.1:${port}/graphql`) }) });
  const passed = await guard.checkInvocation(await text({ issuer: byWeb(alice, did) }));
  assert.ok(passed.ok, JSON.stringify(passed));
  assert.match((JSON.parse(body) as { query: string }).query, /^query Keys\(\$did: String!\)/);
  body = '';
  assert.equal(await guard.checkInvocation(await text({ issuer: byWeb(bob, did) })), {
    ok: false,
    reason: 'wrong-signature',
  });
  body = '';
  const other = await guard.checkInvocation(await text({ issuer: byWeb(alice, 'did:ixo:entity:2') }));
  assert.equal(other, { ok: false, reason: 'issuer-unresolved' });
});

test('with a list of hosts only those are asked for the documents of did:web', async () => {
  answerWith(documentOf(alice.did()));
  const by = (hosts: readonly string[]) => guardBy({ web: didWebKeys({ exchange: toServer, hosts }) });
  const token = await text({ issuer: byWeb(alice) });
  assert.equal(await by(['id.example.com', '*.example.com']).checkInvocation(token), {
    ok: false,
    reason: 'issuer-unresolved',
  });
  assert.equal(asked, []);
  assert.ok((await by(['example.com']).checkInvocation(token)).ok);
});

const FAILURES: readonly (readonly [name: string, prepare: () => void])[] = [
  ['the document is of somebody else', () => answerWith({ ...documentOf(alice.did()), id: 'did:web:evil.example' })],
  ['there is no document', () => answerWith({}, 404)],
  ['the host redirects', () => answerWith({}, 302)],
  ['the document is no JSON', () => answerBy((_request, response) => response.end('<html>'))],
  ['the document is too long', () => answerWith({ ...documentOf(alice.did()), pad: 'x'.repeat(100_000) })],
  ['the connection breaks', () => answerBy((request) => request.socket.destroy())],
];
for (const [name, prepare] of FAILURES)
  test(`a did:web issuer does not pass: ${name}`, async () => {
    prepare();
    const result = await byServer().checkInvocation(await text({ issuer: byWeb(alice) }));
    assert.equal(result, { ok: false, reason: 'issuer-unresolved' });
  });

test('a host that leads to a private address, too, is not asked at all', async () => {
  const resolve = async () => ['203.0.113.9', '10.0.0.1'].map((address) => ({ address, family: 4 }));
  const found = didWebKeys({ resolve })(SITE, new AbortController().signal);
  const error = await found.catch((reason: Error & { code: string }) => reason);
  assert.is((error as { code?: string }).code, 'ERR_SERVICE');
  assert.match((error as Error).message, /not public/);
});

test('a did:web that names an address, this machine or a way out of its folder has no document', () => {
  const bad = [
    ...['127.0.0.1', '127.0.0.1%3A8080', '2130706433', '0x7f.1', 'localhost', 'localhost%3A3000', '[::1]', '%5B::1%5D'],
    ...['a', 'example.com%3A99999', 'example.com%2F..', 'example.com:..:x', 'example.com:', 'user@example.com'],
    ...['example.com%3A', 'EXAMPLE.COM', 'example.1'],
  ];
  for (const name of bad) assert.is(didWebUrl(`did:web:${name}`), undefined, name);
  assert.is(didWebUrl('did:web:example.com')?.href, 'https://example.com/.well-known/did.json');
  assert.is(didWebUrl('did:web:example.com%3A8443:users:alice')?.href, 'https://example.com:8443/users/alice/did.json');
});

test('an issuer whose document does not come is given up after three seconds, and not asked again for thirty', async () => {
  const clock = clockAt();
  let calls = 0;
  const aborted: boolean[] = [];
  const never: ResolveKeys = (_did, signal) => {
    calls++;
    signal.addEventListener('abort', () => aborted.push(true));
    return new Promise(() => {});
  };
  const find = issuerKeys({ web: never }, clock);
  const waiting = find(SITE);
  await clock.advance(DELEGATION_LIMITS.issuerKeysMs);
  assert.is(await waiting, undefined);
  assert.equal(aborted, [true]);
  assert.is(await find(SITE), undefined);
  assert.is(calls, 1);
  await clock.advance(DELEGATION_LIMITS.issuerKeysFailedMs);
  const again = find(SITE);
  await clock.advance(DELEGATION_LIMITS.issuerKeysMs);
  assert.is(await again, undefined);
  assert.is(calls, 2);
});

test('only so many issuers are looked for at the same time', async () => {
  const clock = clockAt();
  let calls = 0;
  const find = issuerKeys({ web: () => new Promise(() => void calls++) }, clock);
  const waiting = Array.from({ length: DELEGATION_LIMITS.issuersAtOnce + 50 }, (_, at) =>
    find(`did:web:h${at}.example.com`),
  );
  assert.is(calls, DELEGATION_LIMITS.issuersAtOnce);
  await clock.advance(DELEGATION_LIMITS.issuerKeysMs);
  assert.ok((await Promise.all(waiting)).every((keys) => keys === undefined));
});

test('when too many tokens wait for keys, further ones are told to try again, and later they may', async () => {
  const clock = clockAt();
  const guard = guardBy({ web: () => new Promise<readonly string[]>(() => {}) }, clock);
  const [slow, quick] = [await text({ issuer: byWeb(alice) }), await text()];
  const waiting = Array.from({ length: DELEGATION_LIMITS.tokensAtOnce }, () => guard.checkInvocation(slow));
  assert.equal(await guard.checkInvocation(quick), { ok: false, reason: 'busy' });
  // All of them wait for the clock from here on.
  await new Promise(setImmediate);
  await clock.advance(DELEGATION_LIMITS.issuerKeysMs);
  for (const result of await Promise.all(waiting)) assert.equal(result, { ok: false, reason: 'issuer-unresolved' });
  assert.ok((await guard.checkInvocation(quick)).ok);
});

test('keys of a document: every form of Ed25519, those for acting and logging in, and no others', () => {
  const raw = Buffer.from((alice.toArchive().keys as Record<string, Uint8Array>)[alice.did()]!.subarray(-32));
  const jwk = { id: '#j', publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') } };
  const keys = (document: object) => didDocumentKeys(SITE, { id: SITE, ...document });
  assert.equal(keys({ verificationMethod: [jwk] }), [alice.did()]);
  assert.equal(keys({ verificationMethod: [jwk, multikey(alice.did()), multikey(bob.did())] }), [
    alice.did(),
    bob.did(),
  ]);
  const related = { verificationMethod: [jwk, multikey(bob.did(), `${SITE}#b`)], authentication: ['#b'] };
  assert.equal(keys(related), [bob.did()], 'only those that are named when any is');
  assert.equal(keys({ capabilityInvocation: [multikey(mallory.did())] }), [mallory.did()], 'in the relation itself');
  assert.equal(keys({ verificationMethod: [jwk], keyAgreement: ['#j'], authentication: ['#x'] }), []);
  const unread = [{ publicKeyJwk: null }, { publicKeyJwk: { kty: 'RSA' } }, { publicKeyBase58: 'x0' }];
  const junk = [null, 1, 'x', {}, ...unread, { publicKeyMultibase: 'zzz' }];
  assert.equal(keys({ verificationMethod: junk }), []);
  assert.is(keys({ verificationMethod: Array.from({ length: 60 }, () => multikey(alice.did())) })!.length, 1);
  for (const document of [undefined, null, 1, 'x', {}, []]) assert.is(didDocumentKeys(SITE, document), undefined);
});

test.run();
