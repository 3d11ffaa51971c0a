// Size × shape: every route of /v1 with the worst values in every field, every reader of what was stored, and every comparison of
// a query with it. No request stops the process for long, kills it, or makes it answer more than was asked for.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { type CostServer, startCostServer } from '../../support/cost.ts';
import { bodyOf, SHAPE_BYTES, SHAPES, type Shape, shortShapes } from '../../support/cost-shapes.ts';
import { fixture } from '../../support/fixture.ts';
import { chooseSize, isShort, sample } from '../../support/size.ts';
import { ask as askUrl } from '../support/serve.ts';
import { asker, COOKING, created, files, keyOf, type Name, path, problem, type View, view, YES } from './place.ts';

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
  readonly target?: keyof typeof TARGETS;
  readonly headers?: Readonly<Record<string, string>>;
  readonly readers?: keyof typeof READERS_OF;
}

const domain = async () => created(await ask('owner', 'POST /v1/domains', { type: 'Project', class: COOKING })).did;
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

/** What makes `:did` and `:id`. */
const TARGETS = { domain, verified, proposal, hook, protocol };
/** Read back what was stored. */
const READERS_OF = {
  twin: twinReaders,
  entity: ({ did }: View) => [['owner', path(did, 'entities')]] as const,
  protocol: protocolReaders,
  proposal: proposalReaders,
  credits: (_stored: View, did: string) => [['issuer', `${path(did)}/credits?limit=1`]] as const,
};
const WITH_LISTS = { services: [{}], linkedResource: [{ id: '#a', type: 'a' }] };
const ROWS = fixture<{ readonly [route: string]: Row }>('domain/cost-rows.json');

/** Routes that take no body: their parameters are tried, as `owner` where nothing else is said. */
const READERS: { readonly [route: string]: Name } = { 'GET /v1/export': 'operator', 'GET /v1/events': 'rep' };
const isRead = (route: string) => /^(GET|DELETE) |^POST \/1\.0\//.test(route);
const domainRoutes = () => server.routes.filter((route) => / \/(v1|1\.0)\//.test(route));

test('every route that takes a body has its row, and every row its route', () => {
  const written = domainRoutes().filter((route) => !isRead(route));
  assert.equal([...written].sort(), Object.keys(ROWS).sort());
});

const PART = chooseSize({ short: 256, day: 32, whole: 1 });
const headersFor = (who: Name, more = {}) => ({
  authorization: `Bearer ${keyOf(who)}`,
  'content-type': 'application/json',
  ...more,
});

async function tryField(route: string, { field, shapes }: { field: string; shapes: readonly Shape[] }): Promise<void> {
  const { who, base, target, headers, readers } = ROWS[route]!;
  const [method, template] = route.split(' ') as [string, string];
  const name = target ? await TARGETS[target]() : '';
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
    for (const [by, reader] of READERS_OF[readers](answer.json() as View, name))
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

/** Method and path of a route → the parameters of its query, as /openapi.json has them. */
async function readParameters(): Promise<ReadonlyMap<string, readonly string[]>> {
  type Operation = { readonly parameters?: readonly { readonly in: string; readonly name: string }[] };
  const { paths } = (await askUrl(`${server.url}/openapi.json`)).json() as {
    readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  };
  const routes = Object.entries(paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([method, { parameters = [] }]) => {
      const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name);
      return [`${method.toUpperCase()} ${template.replaceAll(/\{(\w+)\}/g, ':$1')}`, names] as const;
    }),
  );
  return new Map(routes);
}

test('odd names and parameters cost no more, wherever they stand', async () => {
  const parameters = await readParameters();
  for (const route of domainRoutes().filter(isRead)) {
    const who = READERS[route] ?? 'owner';
    const [method, template] = route.split(' ') as [string, string];
    if (template === '/v1/events' || template === '/v1/export') continue;
    const names = parameters.get(route) ?? [];
    assert.ok(parameters.has(route), route);
    for (const [at, { name, json }] of shortShapes(5_000).entries()) {
      const text = encodeURIComponent(JSON.parse(json) as string)
        .slice(0, 7_000)
        .replace(/%.?$/, '');
      const inPath = template.replace(/:(did|id|list)\b/, text).replace(':seq', text);
      const inQuery = sample(names, 2).map((parameter) => `${template}?${parameter}=${text}`);
      for (const where of template.includes(':') ? [inPath] : at === 0 || !isShort ? inQuery : inQuery.slice(0, 1))
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

/** What is worst to compare with, by the field where it is stored. */
const STORED: { readonly [name: string]: { readonly field: string; readonly x: unknown } } = {
  text: { field: 'metadata.x', x: 'a'.repeat(SHAPE_BYTES) },
  numbers: { field: 'metadata.x', x: Array.from({ length: SHAPE_BYTES / 2 }, () => 0) },
  texts: { field: 'metadata.x', x: Array.from({ length: SHAPE_BYTES / 8 }, () => 'aaaaa') },
  objects: { field: 'metadata.x.a', x: Array.from({ length: SHAPE_BYTES / 8 }, () => ({ a: 0 })) },
};

/** For each operation of the grammar the longest one, and as many as there is room for. */
async function listFilters(field: string): Promise<string[]> {
  const refusal = (await ask('owner', 'GET /v1/domains?filter=none(a,1)')).text;
  const [, words] = /has no operation none; use ([\w, ]+)/.exec(refusal)!;
  const operations = words!.split(', ');
  const comparisons = operations.filter((one) => !['and', 'or', 'not'].includes(one));
  assert.equal([comparisons.length, operations.length], [9, 12], refusal);
  const write = (op: string, value: string) => (op === 'exists' ? `exists(${field})` : `${op}(${field},${value})`);
  const fill = (begin: string, part: string, end: string) => {
    const times = Math.floor((DOMAIN_LIMITS.filterChars - begin.length - end.length) / (part.length + 1));
    return begin + Array.from({ length: times }, () => part).join() + end;
  };
  const long = JSON.stringify(`*${'a'.repeat(DOMAIN_LIMITS.filterChars - 100)}b`);
  return comparisons.flatMap((op) => [
    op === 'in' ? `in(${field},${Array.from({ length: COMMON_LIMITS.valuesPerIn }, () => 1).join()})` : write(op, long),
    // What holds goes on to the next in `and`, what does not in `or`.
    ...['or', 'and'].flatMap((join) => ['1', '"*b"', '"*"'].map((value) => fill(`${join}(`, write(op, value), ')'))),
  ]);
}

test('a query costs no more, whichever operation it compares with whatever was stored', async () => {
  for (const [name, { field, x }] of Object.entries(STORED)) {
    for (const externalId of [name, `${name}-again`])
      created(await ask('owner', 'POST /v1/domains', { type: 'Device', class: COOKING, externalId, metadata: { x } }));
    for (const filter of new Set(await listFilters(field))) {
      const query = new URLSearchParams({ externalId: name, limit: '1', filter });
      const answer = await server.judge(`filter=${filter.slice(0, 60)} on ${name}`, `/v1/domains?${query}`, {
        headers: headersFor('owner'),
        answerBytes: 2 * SHAPE_BYTES,
      });
      assert.ok([200, 400].includes(answer.status), answer.text.slice(0, 300));
      if (answer.status === 400) problem(answer, 400, 'bad-filter');
      assert.equal(server.faults.splice(0), []);
    }
  }
});

test('an option of DID resolution costs no more, in the address or in a body, whatever services it meets', async () => {
  const services = Array.from({ length: DOMAIN_LIMITS.itemsPerList }, (_, at) => ({
    id: `{id}#${at}`,
    type: 'a',
    endpoint: `https://files.example/${'a'.repeat(2_000)}/`,
  }));
  const { did } = created(await ask('owner', 'POST /v1/domains', { type: 'Device', class: COOKING, services }));
  const where = `/1.0/identifiers/${encodeURIComponent(did)}`;
  const judge = (name: string, address: string, body?: object) =>
    server.judge(`${name}, ${body ? 'in a body' : 'in the address'}`, address, {
      headers: headersFor('owner'),
      answerBytes: 4 * SHAPE_BYTES,
      otherErrors: true,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  for (const option of ['relativeRef', 'service', 'serviceType', 'versionId', 'versionTime', 'noCache'])
    for (const part of sample(['a', '%25', '😀', './', '/', '{id}'], option === 'relativeRef' ? 1 : 3)) {
      const options = (characters: number) => ({
        ...(option === 'relativeRef' && { serviceType: 'a' }),
        [option]: part.repeat(characters / part.length),
      });
      const sizes = [DOMAIN_LIMITS.resolutionOptionChars, SHAPE_BYTES];
      await judge(`${option}=${part}…`, `${where}?${new URLSearchParams(options(sizes[0]!))}`);
      for (const characters of sizes) await judge(`${option}=${part}…`, where, options(characters));
      assert.equal(server.faults.splice(0), []);
    }
});

test('the process lives, and lists of what was stored are cut to a size', async () => {
  for (const where of ['/v1/domains?limit=1000', '/v1/protocols?limit=1000', '/v1/proposals?limit=1000'])
    await server.judge(`GET ${where}`, where, { headers: headersFor('rep'), answerBytes: 16 * SHAPE_BYTES });
  assert.equal(server.faults.splice(0), []);
  assert.is((await ask('owner', 'GET /v1/limits')).status, 200);
  view(await ask('owner', `GET ${path(await domain())}`));
});

test.run();
