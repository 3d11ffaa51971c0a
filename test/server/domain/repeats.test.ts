// Requests that come twice: one Idempotency-Key, one effect, one answer, whichever instance is asked.

import { randomUUID } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import type { Answer } from '../support/serve.ts';
import { door, openDoor } from './door.ts';
import { COOKING, created, PROTOCOL, path, problem, type View, view, YES } from './place.ts';

const test = suite('repeated requests');
// Those who wait for another try of their request do so for a while.
const { ask, domain, proposal } = door(test, { clock: systemClock });

const once = (key: string = randomUUID()) => ({ 'idempotency-key': key });
const counted = async (type: string) => view(await ask('owner', `GET /v1/domains?type=${type}`)).items.length;
const shown = ({ status, text, headers }: Answer) => [status, text, headers.location, headers.etag];

test('50 parallel posts with one key make one domain, and all are told the same', async () => {
  const key = once();
  const body = { type: 'Organisation', class: COOKING, externalId: 'once' };
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask('owner', 'POST /v1/domains', body, key)));
  created(answers[0]!);
  for (const answer of answers) assert.equal(shown(answer), shown(answers[0]!));
  assert.equal([await counted('Organisation'), await counted('MembershipGroup')], [1, 1]);
  const { did } = answers[0]!.json() as View;
  view(await ask('owner', `PATCH ${path(did)}`, { metadata: { name: 'later' } }, { 'if-match': '"1"' }));
  assert.equal(shown(await ask('owner', 'POST /v1/domains', body, key)), shown(answers[0]!), 'still the first answer');
});

test('another body under the key is 422; another person, tenant, route or key is another request', async () => {
  const key = once();
  const body = { type: 'Keyed', class: COOKING };
  const { did } = created(await ask('owner', 'POST /v1/domains', body, key));
  problem(await ask('owner', 'POST /v1/domains', { ...body, metadata: {} }, key), 422, 'idempotency-mismatch');
  const others = [
    await ask('rival', 'POST /v1/domains', body, key),
    await ask('stranger', 'POST /v1/domains', body, key),
    await ask('owner', 'POST /v1/entities', body, key),
    await ask('owner', 'POST /v1/domains', body, once()),
  ];
  assert.is(new Set([did, ...others.map((answer) => created(answer).did)]).size, 5);
  problem(await ask('owner', 'POST /v1/domains', body, once('x'.repeat(DOMAIN_LIMITS.idempotencyKeyChars + 1))), 400);
});

test('a refusal is not remembered: the key is free for what is right, however it was refused', async () => {
  for (const [wrong, status] of [
    [{ type: 'Freed' }, 422],
    ['{"type":"Freed","metadata":{"name":"\\ud800"}}', 400],
    [{ type: 'Freed', class: COOKING, metadata: { filler: 'y'.repeat(SERVER_LIMITS.jsonBodyBytes - 200) } }, 413],
    [{ type: 'Freed', class: COOKING, alsoKnownAs: COOKING, parent: 'did:ixo:none' }, 404],
  ] as const) {
    const key = once();
    problem(await ask('owner', 'POST /v1/domains', wrong, key), status);
    created(await ask('owner', 'POST /v1/domains', { type: 'Freed', class: COOKING }, key));
  }
});

test('protocols, proposals, votes and credits heed the key as well', async () => {
  const twice = async (name: Parameters<typeof ask>[0], line: string, body: unknown) => {
    const key = once();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => ask(name, line, body, key)));
    for (const answer of answers) assert.equal(shown(answer), shown(answers[0]!), line);
    return answers[0]!.json() as View;
  };
  await twice('owner', 'POST /v1/protocols', { ...PROTOCOL, alsoKnownAs: 'did:ixo:protocol/twice' });
  const { did } = await domain();
  const { id } = await twice('rep', `POST ${path(did)}/proposals`, { kind: 'verify' });
  assert.is(view(await ask('rep', `GET ${path(did)}/proposals`)).items.length, 1);
  await twice('ann', `POST /v1/proposals/${id}/votes`, YES);
  const { status } = await twice('bob', `POST /v1/proposals/${id}/votes`, YES);
  assert.is(status, 'executed');
  await twice('issuer', `POST ${path(did)}/credits`, { amount: '1.5' });
  assert.is(view(await ask('rep', `GET ${path(did)}/credits`)).items.length, 1);
  const withdrawn = await proposal((await domain()).did);
  assert.is((await twice('rep', `POST /v1/proposals/${withdrawn.id}/withdraw`, undefined)).status, 'withdrawn');
});

test('what was done before the answer could be kept is found by the repeated request', async () => {
  for (const [line, body] of [
    ['POST /v1/domains', { type: 'Organisation', class: COOKING, alsoKnownAs: 'did:ixo:org/crashed', externalId: 'c' }],
    ['POST /v1/protocols', { type: 'Protocol', alsoKnownAs: 'did:ixo:protocol/crashed' }],
  ] as const) {
    let failures = 0;
    const inner = memoryDocuments({ clock: systemClock });
    const replace: DocumentStore['replace'] = (kind, ...rest) =>
      kind.name === 'idempotency' && failures-- > 0 ? Promise.reject(new Error('gone')) : inner.replace(kind, ...rest);
    const { ask: own, close } = await openDoor({ clock: systemClock, documents: { ...inner, replace }, mayFail: true });
    created(await own('owner', 'POST /v1/protocols', PROTOCOL));
    const key = once();
    failures = 1;
    problem(await own('owner', line, body, key), 500, 'internal');
    const { did } = created(await own('owner', line, body, key));
    problem(await own('owner', line, body), 409, 'already-exists');
    const list = line.endsWith('domains') ? '/v1/domains?type=Organisation' : '/v1/protocols';
    assert.is(view(await own('owner', `GET ${list}`)).items.filter((item) => item.did === did).length, 1);
    await close();
  }
});

test('two instances on one store are one: the same key, the same domain, the same answer', async () => {
  const documents = memoryDocuments({ clock: systemClock });
  const doors = await Promise.all([1, 2].map(() => openDoor({ clock: systemClock, documents })));
  const [one, two] = doors.map(({ ask }) => ask) as [typeof ask, typeof ask];
  const asks = [one, two];
  created(await one('owner', 'POST /v1/protocols', PROTOCOL));
  const key = once();
  const body = { type: 'Organisation', class: COOKING };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => asks[n % 2]!('owner', 'POST /v1/domains', body, key)),
  );
  for (const answer of answers) assert.equal(shown(answer), shown(answers[0]!));
  const { did } = created(answers[0]!);
  assert.is(view(await two('owner', 'GET /v1/domains')).items.length, 2);
  const { id } = created(await one('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }));
  const votes = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      asks[n % 2]!(n % 4 < 2 ? 'ann' : 'bob', `POST /v1/proposals/${id}/votes`, YES),
    ),
  );
  assert.is(votes.filter(({ status }) => status === 201).length, 2);
  assert.is(view(await two('rep', `GET ${path(did)}`)).status, 'Verified');
  for (const { close } of doors) await close();
});

test.run();
