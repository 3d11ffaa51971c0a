// Size × shape: every route of /v1 with the worst values in every field, and every reader of what was stored. No request
// stops the process for long, kills it, or makes it answer more than was asked for.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CostServer, startCostServer } from '../../support/cost.ts';
import { bodyOf, SHAPE_BYTES, SHAPES, type Shape, shortShapes } from '../../support/cost-shapes.ts';
import { chooseSize } from '../../support/size.ts';
import { ask as askUrl } from '../support/serve.ts';
import { asker, COOKING, created, files, keyOf, type Name, path, type View, view, YES } from './place.ts';

const test = suite('cost of the domain service');

const folder = mkdtempSync(join(tmpdir(), 'twinline-cost-'));
let server: CostServer;
const ask = asker(() => (where, options) => askUrl(server.url + where, options));

const PROTOCOL = {
  type: 'Protocol',
  alsoKnownAs: COOKING,
  properties: {
    text: 'string',
    open: { type: ['object', 'array', 'string'] },
    unique: { type: 'array', uniqueItems: true },
    strict: { type: 'array', items: { anyOf: [{ type: 'string', pattern: '^([a-z]+)+$' }, { type: 'object' }] } },
  },
  relationships: { operator: 'OrganisationEntity' },
};

test.before(async () => {
  server = await startCostServer(files(folder));
  for (const who of ['owner', 'stranger'] as const) created(await ask(who, 'POST /v1/protocols', PROTOCOL));
});
test.after(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Row {
  readonly who: Name;
  readonly base: object;
  /** Where shapes are put into the base, as JSON pointers; '' is the whole body. */
  readonly fields: readonly string[];
  /** What `:did`, `:id` stand for; asked for again for each field. */
  readonly target?: () => Promise<string>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Reads back what was stored. */
  readonly readers?: undefined | ((stored: View, did: string) => readonly (readonly [Name, string])[]);
}

const MINE = { type: 'Project', class: COOKING };
const domain = async () => created(await ask('owner', 'POST /v1/domains', MINE)).did;
const proposal = async () => created(await ask('rep', `POST ${path(await domain())}/proposals`, { kind: 'verify' })).id;
const hook = async () => created(await ask('owner', 'POST /v1/webhooks', { url: 'https://hooks.example/a' })).id;
const protocol = async () => created(await ask('owner', 'POST /v1/protocols', { type: 'Protocol' })).did;
const verified = async () => {
  const did = await domain();
  const { id } = created(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }));
  for (const name of ['ann', 'bob'] as const) created(await ask(name, `POST /v1/proposals/${id}/votes`, YES));
  return did;
};

const twinReaders = ({ did }: View) =>
  [
    ['owner', path(did)],
    ['owner', `${path(did)}?view=composed`],
    ['owner', `${path(did)}/history?limit=2`],
    ['owner', `${path(did)}/card`],
    ['owner', `${path(did)}/graph?direction=both`],
    ['owner', `/1.0/identifiers/${encodeURIComponent(did)}`],
    ['owner', '/v1/domains?sort=-updated&limit=1'],
  ] as const;
const protocolReaders = ({ did }: View) =>
  [
    ['owner', path(did, 'protocols')],
    ['owner', `${path(did, 'protocols')}?view=composed`],
    ['owner', `/1.0/identifiers/${encodeURIComponent(did)}`],
  ] as const;
const proposalReaders = ({ id }: View) =>
  [
    ['rep', `/v1/proposals/${id}`],
    ['rep', `/v1/proposals/${id}/votes`],
    ['rep', `/v1/proposals/${id}/page-link`],
  ] as const;

const CHANGEABLE = [
  ...['/metadata', '/metadata/x', '/metadata/name', '/metadata/keywords', '/metadata/sameAs', '/metadata/address'],
  ...['/properties', '/properties/text', '/properties/open', '/properties/unique', '/properties/strict'],
  ...['/relationships', '/relationships/operator', '/alsoKnownAs', '/class', '/protocol', '/validFrom', '/services'],
  ...['/services/0/id', '/linkedResource', '/linkedResource/0/proof', '/linkedClaim', '/linkedEntity'],
  ...['/accordedRight', '/verifiableCredential', '/unknown'],
];
const WITH_LISTS = { services: [{}], linkedResource: [{ id: '#a', type: 'a' }] };
const PARTS = ['/name', '/metadata', '/metadata/x', '/relationships', '/relationships/r', '/alsoKnownAs', '/parent'];
const SCHEMA = ['', '/enum', '/const', '/required', '/anyOf', '/properties', '/pattern', '/$defs', '/items', '/type'];
const ANY = { 'if-match': '*' };

const TWINS = (root: string, readers: Row['readers'] = twinReaders): Record<string, Row> => ({
  [`POST ${root}`]: {
    who: 'owner',
    base: MINE,
    fields: ['', '/type', '/controller', '/externalId', '/parent', ...CHANGEABLE],
    readers,
  },
  [`PATCH ${root}/:did`]: {
    who: 'owner',
    base: {},
    fields: ['', '/status', ...CHANGEABLE],
    target: domain,
    headers: ANY,
    readers,
  },
  [`POST ${root}/:did/transfer`]: { who: 'owner', base: {}, fields: ['', '/controller'], target: domain },
  [`POST ${root}/:did/proposals`]: {
    who: 'rep',
    base: { kind: 'verify' },
    fields: ['', '/kind', '/package', '/package/x'],
    target: domain,
    readers: proposalReaders,
  },
  [`POST ${root}/:did/credits`]: {
    who: 'issuer',
    base: { amount: '1' },
    fields: ['', '/amount', '/unit', '/x'],
    target: verified,
    readers: (_stored, did) => [['issuer', `${path(did)}/credits?limit=1`]],
  },
});

const ROWS: { readonly [route: string]: Row } = {
  ...TWINS('/v1/domains'),
  ...TWINS('/v1/entities', ({ did }) => [['owner', path(did, 'entities')]]),
  'POST /v1/protocols': {
    who: 'owner',
    base: { type: 'Protocol', properties: { p: {} } },
    fields: ['', '/type', '/controller', ...PARTS, '/properties', ...SCHEMA.map((at) => `/properties/p${at}`)],
    readers: protocolReaders,
  },
  'PATCH /v1/protocols/:did': {
    who: 'owner',
    base: { properties: { p: {} } },
    fields: ['', ...PARTS, '/properties', ...SCHEMA.map((at) => `/properties/p${at}`)],
    target: protocol,
    headers: ANY,
    readers: protocolReaders,
  },
  'POST /v1/proposals/:id/votes': {
    who: 'ann',
    base: { vote: 'yes' },
    fields: ['', '/vote', '/rationale'],
    target: proposal,
  },
  'POST /v1/proposals/:id/veto': { who: 'operator', base: {}, fields: ['', '/reason'], target: proposal },
  'POST /v1/proposals/:id/withdraw': { who: 'rep', base: {}, fields: [''], target: proposal },
  'POST /v1/proposals/:id/execute': { who: 'operator', base: {}, fields: [''], target: proposal },
  'POST /v1/webhooks': { who: 'owner', base: {}, fields: ['', '/url', '/events', '/secret'] },
  'PATCH /v1/webhooks/:id': {
    who: 'owner',
    base: {},
    fields: ['', '/url', '/events', '/secret', '/status'],
    target: hook,
    headers: ANY,
  },
  'POST /v1/webhooks/:id/deliveries/:seq/retry': { who: 'owner', base: {}, fields: [''], target: hook },
  'POST /v1/bulk': {
    who: 'owner',
    base: MINE,
    fields: ['', '/kind', '/idempotencyKey', '/externalId', '/alsoKnownAs', '/metadata/x', '/relationships', '/import'],
    headers: { 'content-type': 'application/x-ndjson' },
  },
};

/** Routes that take no body: their parameters are tried. */
const READS: { readonly [route: string]: Name } = {
  'GET /v1/export': 'operator',
  'GET /v1/events': 'rep',
  'GET /v1/webhooks': 'owner',
  'GET /v1/webhooks/:id': 'owner',
  'GET /v1/webhooks/:id/deliveries': 'owner',
  'DELETE /v1/webhooks/:id': 'owner',
  ...Object.fromEntries(
    [
      ...['domains', 'entities'].flatMap((root) => [
        ...['GET', 'DELETE'].map((method) => `${method} /v1/${root}/:did`),
        ...['', '/:did/history', '/:did/graph', '/:did/proposals', '/:did/verification'].map(
          (rest) => `GET /v1/${root}${rest}`,
        ),
        ...['/:did/eligibility', '/:did/credits'].map((rest) => `GET /v1/${root}${rest}`),
      ]),
      ...['GET /v1/protocols', 'GET /v1/protocols/:did', 'GET /v1/proposals', 'GET /v1/proposals/:id'],
      ...['GET /v1/proposals/:id/votes', 'GET /v1/proposals/:id/page-link', 'GET /v1/governance/config'],
      ...['GET /v1/limits', 'GET /v1/whoami', 'GET /v1/domains/:did/card', 'GET /v1/status/:list'],
      ...['GET /1.0/identifiers/:did', 'POST /1.0/identifiers/:did'],
    ].map((route) => [route, 'owner' as const]),
  ),
};
const PARAMETERS = [
  ...['type', 'class', 'status', 'controller', 'name', 'externalId', 'validAt', 'filter', 'sort', 'cursor', 'limit'],
  ...['at', 'view', 'rel', 'direction', 'depth', 'after', 'types', 'kind', 'dryRun'],
];

test('every route has its row, and every row its route', () => {
  const routes = server.routes.filter((route) => / \/(v1|1\.0)\//.test(route));
  assert.equal([...routes].sort(), [...Object.keys(ROWS), ...Object.keys(READS)].sort());
});

const PART = chooseSize({ short: 256, day: 16, whole: 1 });
const headersFor = (who: Name, more = {}) => ({
  authorization: `Bearer ${keyOf(who)}`,
  'content-type': 'application/json',
  ...more,
});

async function tryField(route: string, { field, shapes }: { field: string; shapes: readonly Shape[] }): Promise<void> {
  const { who, base, target, headers, readers } = ROWS[route]!;
  const [method, template] = route.split(' ') as [string, string];
  const name = (await target?.()) ?? '';
  const where = template.replace(/:(did|id)\b/, encodeURIComponent(name)).replace(':seq', '1');
  for (const shape of shapes) {
    const body = bodyOf({ ...base, ...(/^\/(services|linkedResource)\/0\//.test(field) && WITH_LISTS) }, field, shape);
    const what = `${route} ${field || '(body)'} = ${shape.name}`;
    const sent = {
      method,
      headers: headersFor(who, headers),
      body,
      answerBytes: 65_536 + 2 * (SHAPE_BYTES + body.length),
    };
    const answer = await server.judge(what, where, sent);
    if (![200, 201].includes(answer.status) || !readers) continue;
    for (const [by, reader] of readers(answer.json() as View, name))
      await server.judge(`${what}, then GET ${reader}`, reader, {
        headers: headersFor(by),
        answerBytes: 65_536 + 8 * SHAPE_BYTES,
        // A history of two compares three of them.
        records: reader.includes('/history') ? 3 : 1,
      });
  }
}

for (const [route, { fields }] of Object.entries(ROWS))
  test(`${route}: every shape in every field, and every reader of what was stored`, async () => {
    for (const [at, field] of fields.entries()) {
      const shapes = SHAPES.filter((_shape, n) => n % PART === at % PART);
      await tryField(route, { field, shapes });
    }
    assert.equal(server.faults.splice(0), []);
  });

test('odd names and parameters cost no more, wherever they stand', async () => {
  for (const [route, who] of Object.entries(READS)) {
    const [method, template] = route.split(' ') as [string, string];
    if (template === '/v1/events' || template === '/v1/export') continue;
    for (const [at, { name, json }] of shortShapes(5_000).entries()) {
      const text = encodeURIComponent(JSON.parse(json) as string)
        .slice(0, 7_000)
        .replace(/%.?$/, '');
      const inPath = template.replace(/:(did|id|list)\b/, text).replace(':seq', text);
      const parameter = PARAMETERS[(at + route.length) % PARAMETERS.length]!;
      for (const where of template.includes(':') ? [inPath] : [`${template}?${parameter}=${text}`])
        await server.judge(`${method} ${template} with ${name}`, where, {
          method,
          headers: headersFor(who),
          answerBytes: 16 * SHAPE_BYTES,
          otherErrors: true,
        });
    }
  }
  assert.equal(server.faults.splice(0), []);
});

test('a filter that nothing matches looks at so many bytes and no more, with pauses', async () => {
  const where = `/v1/entities?filter=${encodeURIComponent('like(metadata.name,"*a*b*")')}&limit=1`;
  const [answer, alive] = await Promise.all([ask('owner', `GET ${where}`), ask('owner', 'GET /v1/limits')]);
  assert.is(answer.status, 200);
  assert.is(alive.status, 200);
});

test('the process lives, and lists of what was stored are cut to a size', async () => {
  for (const where of ['/v1/domains?limit=1000', '/v1/protocols?limit=1000', '/v1/proposals?limit=1000'])
    await server.judge(`GET ${where}`, where, { headers: headersFor('rep'), answerBytes: 16 * SHAPE_BYTES });
  assert.equal(server.faults.splice(0), []);
  assert.is((await ask('owner', 'GET /v1/limits')).status, 200);
  view(await ask('owner', `GET ${path(await domain())}`));
});

test.run();
