// Bodies and stored records that once stopped the process: each is refused, or answered in parts; what it costs is counted in lib (json-patch, json-diff, schema-cost).

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { door } from './door.ts';
import { COOKING, created, path, problem, view } from './place.ts';

const test = suite('budgets of the domain service');
const { ask, domain } = door(test);

const SEEN = { 'if-match': '*' };
const MINE = { type: 'Project', class: COOKING };

test('a page of a history of large records ends early, and the next ones tell the rest', async () => {
  const { did } = await domain({ metadata: { x: 'a'.repeat(600_000) } });
  for (let at = 0; at < 7; at++) view(await ask('owner', `PATCH ${path(did)}`, { metadata: { name: `n${at}` } }, SEEN));
  const seen: number[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const page = view(await ask('owner', `GET ${path(did)}/history?limit=25${cursor && `&cursor=${cursor}`}`));
    seen.push(...page.items.map(({ revision }) => revision));
    cursor = page.next;
  }
  assert.equal(seen, [8, 7, 6, 5, 4, 3, 2, 1]);
  assert.ok(pages > 1 && pages < 8, String(pages));
});

const twice = ($ref: string) => ({ anyOf: [{ $ref }, { $ref }] });
const BOMB = {
  $ref: '#/$defs/a0',
  $defs: Object.fromEntries(
    Array.from({ length: 25 }, (_, at) => [`a${at}`, at === 24 ? { type: 'number' } : twice(`#/$defs/a${at + 1}`)]),
  ),
};

test('a line with more values than a function takes arguments is no fault of ours', async () => {
  const metadata = { x: Array.from({ length: 300_000 }, () => 0) };
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await ask('owner', 'POST /v1/bulk', `${JSON.stringify({ ...MINE, metadata })}\n`, headers);
  assert.is((answer.json() as { status: number }).status, 201, answer.text.slice(0, 300));
});

test('a card shows so many texts of a field, each once, and is signed once for a revision', async () => {
  const keywords = Array.from({ length: 40_000 }, (_, at) => `k${at}`);
  const { did } = await domain({ metadata: { keywords: ['k0', ...keywords] } });
  const card = async () => view(await ask('owner', `GET ${path(did)}/card`));
  const first = await card();
  const subject = first.credentialSubject as { keywords: string[] };
  assert.equal(subject.keywords, keywords.slice(0, DOMAIN_LIMITS.textsPerCard));
  assert.equal((await card()).proof, first.proof);
  view(await ask('owner', `PATCH ${path(did)}`, { metadata: { name: 'new' } }, SEEN));
  assert.not.equal((await card()).proof, first.proof);
});

test('a number that cannot be kept is refused with its place, in bodies, patches and lines', async () => {
  const body = (amount: string) => `{"type":"Project","protocol":"${COOKING}","properties":{"metricTwo":${amount}}}`;
  for (const amount of ['1e999', '-1e999', '9007199254740993']) {
    problem(await ask('owner', 'POST /v1/entities', body(amount)), 422, 'invalid', ['/properties/metricTwo']);
    const headers = { 'content-type': 'application/x-ndjson' };
    const { error } = (await ask('owner', 'POST /v1/bulk', body(amount), headers)).json() as {
      error: { code: string; details: { field: string }[] };
    };
    assert.equal([error.code, error.details[0]!.field], ['invalid', '/properties/metricTwo']);
  }
  const { did } = await domain();
  const patch = await ask('owner', `PATCH ${path(did)}`, '{"properties":{"metricTwo":1e999}}', SEEN);
  problem(patch, 422, 'invalid', ['/properties/metricTwo']);
  const kept = created(await ask('owner', 'POST /v1/entities', body('9007199254740992')));
  assert.equal(kept.properties, { metricTwo: 9_007_199_254_740_992 });
});

test('a schema from before these rules, as an import brings it, stops nobody who uses the protocol', async () => {
  created(await ask('owner', 'POST /v1/protocols', { type: 'Protocol', alsoKnownAs: 'did:x:old', properties: {} }));
  const lines = (await ask('operator', 'GET /v1/export')).text.split('\n').filter(Boolean);
  const [line] = lines.map((text) => JSON.parse(text)).filter(({ body }) => body?.alsoKnownAs?.[0] === 'did:x:old');
  const did = line.did.replace(/.{8}$/, '01234567');
  const properties = { p: BOMB, q: { $ref: '#' } };
  const record = { ...line, id: did, did, body: { ...line.body, did, alsoKnownAs: [], properties } };
  const headers = { 'content-type': 'application/x-ndjson' };
  const imported = await ask('operator', 'POST /v1/bulk', `${JSON.stringify(record)}\n`, headers);
  assert.is((imported.json() as { status: number }).status, 201, imported.text);
  const body = { type: 'Project', class: did, properties: { p: 's', q: 1 } };
  const answer = await ask('owner', 'POST /v1/domains', body);
  const { error } = problem(answer, 422, 'invalid', ['/properties/p', '/properties/q']);
  assert.match(error.details[1]!.error, 'cannot be checked: what the protocol declares has a $ref that leads back');
});

test.run();
