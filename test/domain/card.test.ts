// Cards of domains: what they say, that they verify elsewhere, and that their status follows the domain.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Credential, verdictOn } from './credentials.ts';
import { type Body, COOKING, registered } from './registered.ts';

const test = suite('card');
const PUBLIC_URL = 'https://twins.example.com';
const { server, create, ask } = registered(test, { PUBLIC_URL: `${PUBLIC_URL}/` });

test.before(async () => {
  const relationships = { group: 'Group' };
  await create('/v1/protocols', {
    type: 'Protocol',
    alsoKnownAs: COOKING,
    properties: { burns: 'number' },
    relationships,
  });
});

async function domain(body: Body = {}): Promise<string> {
  return (await create('/v1/domains', { type: 'Device', class: COOKING, ...body })).did;
}

async function cardOf(did: string): Promise<Credential> {
  const answer = await ask(`/v1/domains/${did}/card`);
  assert.is(answer.status, 200, answer.text);
  assert.is(answer.headers['content-type'], 'application/vc');
  return answer.json() as Credential;
}

/** Lists come from the server as from anywhere: without a key. */
async function lookup(url: string): Promise<unknown> {
  assert.ok(url.startsWith(`${PUBLIC_URL}/v1/status/`), url);
  const answer = await server().ask(url.slice(PUBLIC_URL.length));
  assert.is(answer.status, 200, answer.text);
  return answer.json();
}

async function isGood(card: object): Promise<boolean> {
  return (await verdictOn(card, lookup)).verified;
}

interface Status {
  readonly statusPurpose: string;
  readonly statusListIndex: string;
  readonly statusListCredential: string;
}
const statusesOf = (card: Credential) => card.credentialStatus as readonly Status[];

/** Purposes of the bits that are set for a card. */
async function flagsOf(card: Credential): Promise<string[]> {
  const { decodeList } = await import('@digitalbazaar/vc-bitstring-status-list');
  const flags = statusesOf(card).map(async ({ statusPurpose, statusListIndex, statusListCredential }) => {
    const { credentialSubject } = (await lookup(statusListCredential)) as Credential;
    assert.is(credentialSubject.statusPurpose, statusPurpose);
    const list = await decodeList(credentialSubject as { encodedList: string });
    return list.getStatus(Number(statusListIndex)) ? [statusPurpose] : [];
  });
  return (await Promise.all(flags)).flat();
}

async function decide(did: string, kind: string, more: Body = {}): Promise<void> {
  const proposed = await ask(`/v1/domains/${did}/proposals`, { method: 'POST', body: { kind, ...more } });
  assert.is(proposed.status, 201, proposed.text);
  const { id } = proposed.json() as { id: string };
  const voted = await ask(`/v1/proposals/${id}/votes`, { method: 'POST', body: { vote: 'yes' } });
  assert.is(voted.status, 201, voted.text);
}

const RICH = {
  name: 'A stove',
  description: 'It burns.',
  keywords: ['stove', 'cooking'],
  url: 'https://stove.example.com',
  sameAs: ['https://twitter.example.com/stove', 'not a url'],
  logo: { type: 'schema:ImageObject', id: 'relative', '@context': 'https://evil.example.com' },
  address: { '@id': 'x', street: ['a', { deep: null }] },
  secretNote: 'is not on the card',
};

test('a card says what the record and its parts say, names its schema, and verifies elsewhere with its status', async () => {
  const did = await domain({
    metadata: RICH,
    verifiableCredential: [{ type: 'Licence', issuer: 'did:ixo:default' }],
    validUntil: '2999-01-01T00:00:00+02:00',
  });
  const card = await cardOf(did);
  assert.is(card.id, `${did}#dmn`);
  assert.equal(card.type, ['VerifiableCredential', 'ixo:DomainCard']);
  const schema = 'https://w3id.org/ixo/schemas/ixo-domain-card-1.json';
  assert.equal(card.credentialSchema, { id: schema, type: 'JsonSchema' });
  assert.is(card.validUntil, '2998-12-31T22:00:00Z');
  const { class: protocol, controller, ...subject } = card.credentialSubject;
  assert.match(String(protocol), /^did:ixo:entity:/);
  assert.is(controller, 'did:ixo:default');
  assert.equal(subject, {
    id: did,
    type: ['ixo:Device'],
    name: 'A stove',
    description: 'It burns.',
    keywords: ['stove', 'cooking'],
    url: ['https://stove.example.com'],
    sameAs: ['https://twitter.example.com/stove'],
    logo: RICH.logo,
    address: RICH.address,
    additionalType: 'Physical Twins',
    classVersion: 1,
    status: 'Created',
    entityVerified: false,
    revision: 1,
    credentials: [{ type: 'Licence', issuer: 'did:ixo:default' }],
  });
  const verdict = await verdictOn(card, lookup);
  assert.ok(verdict.verified, String(verdict.error?.errors ?? verdict.error));
  const whole = await cardOf(await domain({ type: 'Organisation' }));
  const { hasPart } = whole.credentialSubject.composition as { hasPart: Body[] };
  assert.is(hasPart[0]?.type, 'MembershipGroup');
  assert.ok(await isGood(whole));
});

test('a card of which one character is changed, or one member is taken away or added, is refused', async () => {
  const did = await domain({ metadata: RICH, validUntil: '2999-01-01T00:00:00Z' });
  await decide(did, 'verify');
  const card = await cardOf(did);
  const leaves = leavesOf(card).filter(([first]) => first !== '@context');
  assert.ok(leaves.length > 40);
  for (const path of leaves) {
    const value = at(card, path);
    const other =
      typeof value === 'string' ? changed(value) : value === null ? 0 : typeof value === 'number' ? value + 1 : !value;
    assert.not.ok((await verdictOn(put(card, path, other))).verified, `changed ${path.join('.')}`);
    if (typeof path.at(-1) === 'string')
      assert.not.ok((await verdictOn(put(card, path, undefined))).verified, `removed ${path.join('.')}`);
  }
  for (const path of [['extra'], ['credentialSubject', 'extra'], ['proof', 'extra']])
    assert.not.ok((await verdictOn(put(card, path, 'added'))).verified, `added ${path.join('.')}`);
  const [, terms] = card['@context'] as [string, Record<string, unknown>];
  for (const term of ['ixo', 'schema', 'DomainVerification', 'keywords', 'status'])
    assert.not.ok((await verdictOn(put(card, ['@context', 1, term], 'https://evil.example.com/#'))).verified, term);
  assert.ok('keywords' in terms && (await verdictOn(card)).verified, 'the card itself stays good');
});

test('the card of a verified domain is its DomainVerification; its status follows suspension, reinstatement, revocation', async () => {
  const did = await domain();
  const before = await cardOf(did);
  await decide(did, 'verify');
  const card = await cardOf(did);
  assert.equal(card.type, ['VerifiableCredential', 'ixo:DomainCard', 'DomainVerification']);
  assert.is(card.credentialSubject.entityVerified, true);
  const { contentHash, proposal } = card.credentialSubject.verification as Body;
  assert.match(String(contentHash), /^[0-9a-f]{64}$/);
  assert.type(proposal, 'string');
  assert.ok(await isGood(card));
  assert.ok(await isGood(before));

  await decide(did, 'suspend');
  for (const one of [card, before]) {
    assert.equal(await flagsOf(one), ['suspension']);
    assert.not.ok(await isGood(one));
  }
  assert.equal((await cardOf(did)).type, ['VerifiableCredential', 'ixo:DomainCard']);

  await decide(did, 'reinstate');
  assert.ok(await isGood(card), 'it is what it was');
  assert.ok(await isGood(before));

  await decide(did, 'revoke');
  assert.equal(await flagsOf(card), ['revocation']);
  assert.not.ok(await isGood(await cardOf(did)), 'nor is a new card of a revoked domain good');

  await decide(did, 'verify', { package: { audited: true } });
  const again = await cardOf(did);
  assert.ok(await isGood(again));
  assert.not.ok(await isGood(card), 'what was revoked stays revoked');
  assert.ok(await isGood(before), 'what says nothing of a verification is good again');
});

test('a domain keeps its place, also when fifty ask at once; places are not told by what came before', async () => {
  const did = await domain();
  const cards = await Promise.all(Array.from({ length: 50 }, () => cardOf(did)));
  const places = new Set(cards.flatMap((card) => statusesOf(card).map(({ statusListIndex }) => statusListIndex)));
  assert.is(places.size, 1);
  const others = await Promise.all(Array.from({ length: 8 }, async () => cardOf(await domain())));
  const indexes = others.map((card) => Number(statusesOf(card)[0]!.statusListIndex));
  assert.is(new Set(indexes).size, 8);
  const gaps = indexes.slice(1).map((index, n) => Math.abs(index - indexes[n]!));
  assert.ok(
    gaps.some((gap) => gap > 100),
    indexes.join(', '),
  );
});

test('a list is a credential of its own, and there is no other than those that were begun', async () => {
  const did = await domain();
  const [status] = statusesOf(await cardOf(did));
  const path = status!.statusListCredential.slice(PUBLIC_URL.length);
  const list = await server().ask(path);
  assert.is(list.headers['content-type'], 'application/vc');
  assert.ok((await verdictOn(list.json() as object)).verified);
  const { encodedList, ...subject } = (list.json() as Credential).credentialSubject;
  assert.match(String(encodedList), /^u[\w-]+$/);
  assert.equal(subject, { id: `${PUBLIC_URL}${path}#list`, type: 'BitstringStatusList', statusPurpose: 'revocation' });

  const card = `/v1/domains/${did}/card`;
  assert.is((await ask(card, { headers: { accept: 'text/html' } })).status, 406);
  assert.is((await ask(card, { headers: { accept: 'application/json' } })).headers['content-type'], 'application/json');
  const unknown = '0'.repeat(32);
  for (const name of [`${unknown}-revocation`, `${unknown}-other`, unknown, '1-revocation', '__proto__-suspension'])
    assert.is((await server().ask(`/v1/status/${name}`)).status, 404, name);
});

type Path = readonly (string | number)[];

function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  if (Array.isArray(value)) return value.flatMap((part, n) => leavesOf(part, [...path, n]));
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part, [...path, name]));
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((part, step) => (part as Record<string | number, unknown>)[step], value);
}

/** A copy in which the value at the path is another one, or missing. */
function put(whole: object, path: Path, value: unknown): object {
  const copy = structuredClone(whole);
  const parent = at(copy, path.slice(0, -1)) as Record<string | number, unknown>;
  if (value === undefined) delete parent[path.at(-1)!];
  else parent[path.at(-1)!] = value;
  return copy;
}

function changed(text: string): string {
  const last = text.at(-1)!;
  const other = /\d/.test(last) ? String((Number(last) + 1) % 10) : last === 'a' ? 'b' : 'a';
  return text.slice(0, -1) + other;
}

test.run();
