// Who may do what: every route of the server against every kind of caller, and nothing of a tenant is ever seen by another.

import { request } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Answer } from '../support/serve.ts';
import {
  type Body,
  COOKING,
  created,
  type Headers,
  keyOf,
  type Name,
  path,
  place,
  type View,
  view,
  YES,
} from './place.ts';

const test = suite('access to the domain service');
const { server, ask, domain, proposal, verified } = place(test);

/** One route: a request that is all right when `right` makes it. */
interface Row {
  readonly right: Name;
  readonly status: number;
  /** Everybody with a key may: no role is needed. */
  readonly free?: boolean;
  /** What one without a key is told, where none is needed. */
  readonly open?: { readonly keyless: number };
  /** Who has the role and still may not, because it is not theirs, and why. */
  readonly not?: readonly [Name, string];
  readonly to: () => Promise<Request>;
}

interface Request {
  /** What `:did`, `:id`, `:list` stand for; without it the route belongs to nobody in particular. */
  readonly target?: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Headers;
}

const to =
  (make: () => Promise<View>, more: Omit<Request, 'target'> = {}, pick: (made: View) => string = ({ did }) => did) =>
  async () => ({ target: pick(await make()), ...more });
const opened = async () => proposal((await domain()).did);
const idOf = ({ id }: View) => id;
const MINE = { type: 'Project', class: COOKING };
const SEEN = { 'if-match': '"1"' };
const hook = async () => created(await ask('owner', 'POST /v1/webhooks', { url: 'https://hooks.example/here' }));
const decided = async () => {
  const { did } = await verified();
  return view(await ask('rep', `GET ${path(did)}/proposals`)).items[0]!;
};
const listed = async () => {
  const card = view(await ask('owner', `GET ${path((await domain()).did)}/card`));
  const [status] = [card.credentialStatus].flat() as { statusListCredential: string }[];
  return { id: status!.statusListCredential.split('/').at(-1)! } as View;
};

const TWINS = (root: string): Record<string, Row> => ({
  [`POST ${root}`]: { right: 'owner', status: 201, to: async () => ({ body: MINE }) },
  [`GET ${root}`]: { right: 'owner', status: 200, free: true, to: async () => ({}) },
  [`GET ${root}/:did`]: { right: 'owner', status: 200, free: true, to: to(domain) },
  [`PATCH ${root}/:did`]: {
    right: 'owner',
    status: 200,
    not: ['rival', 'not-controller'],
    to: to(domain, { body: { metadata: { name: 'x' } }, headers: SEEN }),
  },
  [`POST ${root}/:did/transfer`]: {
    right: 'owner',
    status: 200,
    not: ['rival', 'not-controller'],
    to: to(domain, { body: { controller: 'did:ixo:rival' } }),
  },
  [`DELETE ${root}/:did`]: { right: 'owner', status: 200, not: ['rival', 'not-controller'], to: to(domain) },
  [`GET ${root}/:did/history`]: { right: 'owner', status: 200, free: true, to: to(domain) },
  [`GET ${root}/:did/graph`]: { right: 'owner', status: 200, free: true, to: to(domain) },
  [`POST ${root}/:did/proposals`]: {
    right: 'rep',
    status: 201,
    not: ['owner', 'role-missing'],
    to: to(domain, { body: { kind: 'verify' } }),
  },
  [`GET ${root}/:did/proposals`]: { right: 'rep', status: 200, free: true, to: to(domain) },
  [`GET ${root}/:did/verification`]: { right: 'rep', status: 200, free: true, to: to(domain) },
  [`GET ${root}/:did/eligibility`]: { right: 'rep', status: 200, free: true, to: to(domain) },
  [`POST ${root}/:did/credits`]: {
    right: 'issuer',
    status: 201,
    not: ['owner', 'role-missing'],
    to: to(verified, { body: { amount: '1' } }),
  },
  [`GET ${root}/:did/credits`]: { right: 'issuer', status: 200, free: true, to: to(domain) },
});

const protocol = async (alias?: string) =>
  created(await ask('owner', 'POST /v1/protocols', { type: 'Protocol', ...(alias && { alsoKnownAs: alias }) }));

const ROWS: { readonly [route: string]: Row } = {
  ...TWINS('/v1/domains'),
  ...TWINS('/v1/entities'),
  'POST /v1/protocols': { right: 'owner', status: 201, to: async () => ({ body: { type: 'Protocol' } }) },
  'GET /v1/protocols': { right: 'owner', status: 200, free: true, to: async () => ({}) },
  'GET /v1/protocols/:did': { right: 'owner', status: 200, free: true, to: to(() => protocol()) },
  'PATCH /v1/protocols/:did': {
    right: 'owner',
    status: 200,
    not: ['rival', 'not-controller'],
    to: to(() => protocol(), { body: { name: 'x' }, headers: SEEN }),
  },
  'GET /v1/proposals': { right: 'rep', status: 200, free: true, to: async () => ({}) },
  'GET /v1/proposals/:id': { right: 'rep', status: 200, free: true, to: to(opened, {}, idOf) },
  'GET /v1/proposals/:id/votes': { right: 'rep', status: 200, free: true, to: to(opened, {}, idOf) },
  'POST /v1/proposals/:id/votes': {
    right: 'ann',
    status: 201,
    not: ['operator', 'role-missing'],
    to: to(opened, { body: YES }, idOf),
  },
  'POST /v1/proposals/:id/withdraw': {
    right: 'rep',
    status: 200,
    not: ['deputy', 'not-proposer'],
    to: to(opened, {}, idOf),
  },
  'POST /v1/proposals/:id/veto': {
    right: 'operator',
    status: 200,
    not: ['rep', 'role-missing'],
    to: to(opened, {}, idOf),
  },
  'POST /v1/proposals/:id/execute': {
    right: 'operator',
    status: 200,
    not: ['rep', 'role-missing'],
    to: to(decided, {}, idOf),
  },
  'GET /v1/proposals/:id/page-link': { right: 'rep', status: 200, free: true, to: to(opened, {}, idOf) },
  'POST /v1/bulk': {
    right: 'owner',
    status: 207,
    not: ['rep', 'role-missing'],
    to: async () => ({ body: `${JSON.stringify(MINE)}\n`, headers: { 'content-type': 'application/x-ndjson' } }),
  },
  'GET /v1/export': { right: 'operator', status: 200, not: ['owner', 'role-missing'], to: async () => ({}) },
  'GET /v1/governance/config': { right: 'rep', status: 200, free: true, to: async () => ({}) },
  'GET /v1/limits': { right: 'rep', status: 200, free: true, to: async () => ({}) },
  'GET /v1/whoami': { right: 'rep', status: 200, free: true, to: async () => ({}) },
  'GET /v1/domains/:did/card': { right: 'rep', status: 200, free: true, to: to(domain) },
  'GET /v1/status/:list': {
    right: 'rep',
    status: 200,
    free: true,
    open: { keyless: 200 },
    to: to(listed, {}, idOf),
  },
  'GET /v1/events': { right: 'rep', status: 200, free: true, to: async () => ({ query: '?after=0' }) },
  'POST /v1/webhooks': {
    right: 'owner',
    status: 201,
    not: ['rep', 'role-missing'],
    to: async () => ({ body: { url: 'https://hooks.example/new' } }),
  },
  'GET /v1/webhooks': { right: 'owner', status: 200, not: ['rep', 'role-missing'], to: async () => ({}) },
  'GET /v1/webhooks/:id': { right: 'owner', status: 200, not: ['rep', 'role-missing'], to: to(hook, {}, idOf) },
  'PATCH /v1/webhooks/:id': {
    right: 'owner',
    status: 200,
    not: ['rep', 'role-missing'],
    to: to(hook, { body: { url: 'https://hooks.example/there' }, headers: SEEN }, idOf),
  },
  'DELETE /v1/webhooks/:id': { right: 'owner', status: 200, not: ['rep', 'role-missing'], to: to(hook, {}, idOf) },
  'GET /v1/webhooks/:id/deliveries': {
    right: 'owner',
    status: 200,
    not: ['rep', 'role-missing'],
    to: to(hook, {}, idOf),
  },
  // Nothing was sent yet, so there is nothing to send again.
  'POST /v1/webhooks/:id/deliveries/:seq/retry': {
    right: 'owner',
    status: 404,
    not: ['rep', 'role-missing'],
    to: to(hook, {}, idOf),
  },
  // DIDs are for everybody to resolve; but who shows a key is told of its own tenant only.
  'GET /1.0/identifiers/:did': {
    right: 'rep',
    status: 200,
    free: true,
    open: { keyless: 200 },
    to: to(domain),
  },
  'POST /1.0/identifiers/:did': {
    right: 'rep',
    status: 200,
    free: true,
    open: { keyless: 200 },
    to: to(domain),
  },
};

const routes = () =>
  server()
    .routes.filter(({ path: of }) => of.startsWith('/v1/') || of.startsWith('/1.0/'))
    .map(({ method, path: of }) => `${method} ${of}`);

test('every route has its row, and every row its route', () => {
  assert.equal(routes().sort(), Object.keys(ROWS).sort());
});

/** Streams never end: what came within a moment. */
function peek(where: string, authorization: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(server().url + where, { headers: { authorization }, agent: false }, (res) => {
      let text = '';
      res.on('data', (chunk) => {
        text += chunk;
      });
      const end = () => {
        clearTimeout(timer);
        sent.destroy();
        resolve({ status: res.statusCode!, headers: res.headers as never, text, json: () => JSON.parse(text) });
      };
      const timer = setTimeout(end, 300);
      res.on('end', end);
      res.on('error', () => {});
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function send(route: string, { target = '', query = '', body, headers = {} }: Request, authorization?: string) {
  const [method, template] = route.split(' ') as [string, string];
  const where = template.replace(/:(did|id|list)\b/, encodeURIComponent(target)).replace(':seq', '1') + query;
  if (template === '/v1/events' && authorization) return peek(where, authorization);
  return ask(undefined, `${method} ${where}`, body, { ...headers, ...(authorization && { authorization }) });
}
const as = (name: Name) => `Bearer ${keyOf(name)}`;
const codeOf = (answer: Answer) => (answer.json() as { error?: { code?: string } }).error?.code;

test('every route, every caller: no key, unknown key, another tenant, no role, not theirs, right', async () => {
  for (const route of routes()) {
    const row = ROWS[route]!;
    const asked = await row.to();
    const told = async (who: string, authorization: string | undefined, status: number, code?: string) => {
      const answer = await send(route, asked, authorization);
      assert.is(answer.status, status, `${route} by ${who}: ${answer.text}`);
      if (code !== undefined) assert.is(codeOf(answer), code, `${route} by ${who}`);
    };
    const isStatus = route.includes('/v1/status/');
    await told('nobody known', undefined, row.open?.keyless ?? 401);
    await told('an unknown key', 'Bearer unknown-key-0123456789', isStatus ? 200 : 401);
    if (asked.target !== undefined && !isStatus) await told('another tenant', as('stranger'), 404);
    if (!row.free) await told('one without a role', as('nobody'), 403, 'role-missing');
    if (row.not) await told('one to whom it does not belong', as(row.not[0]), 403, row.not[1]);
    await told('the right one', as(row.right), row.status);
    if (row.free) await told('one without a role', as('nobody'), row.status);
  }
});

test('an address that no route knows asks for a key first; a method that a public route does not take does not', async () => {
  const statuses = async (line: string) => [(await ask(undefined, line)).status, (await ask('nobody', line)).status];
  for (const line of ['GET /v1', 'GET /v1/none', 'OPTIONS /v1/none', 'GET /v1/status/1-revocation/more'])
    assert.equal(await statuses(line), [401, 404], line);
  for (const line of ['PUT /v1/domains', 'DELETE /v1/limits']) assert.equal(await statuses(line), [401, 405], line);
  assert.equal(await statuses('DELETE /v1/status/1-revocation'), [405, 405]);
});

const IDS = /did:ixo:entity:[0-9a-f]{32}|\b[0-9a-f]{32}\b/g;
const idsIn = ({ text, headers }: Answer) =>
  new Set(`${text} ${decodeURIComponent(JSON.stringify(headers))}`.match(IDS) ?? []);

test('nothing of a tenant is in any list, count, error, link or event that another one gets', async () => {
  const foreign = new Set<string>();
  for (const route of routes()) {
    const row = ROWS[route]!;
    const asked = await row.to();
    for (const id of idsIn(await send(route, asked, as(row.right)))) foreign.add(id);
    if (route.includes('/v1/status/')) continue;
    const seen = idsIn(await send(route, asked, as('stranger')));
    for (const id of seen) assert.ok(!foreign.has(id) || id === asked.target?.match(IDS)?.[0], `${route} shows ${id}`);
  }
  assert.ok(foreign.size > 100);
  for (const query of [
    'limit=1000',
    'status=Verified',
    'type=Project',
    'status=Deactivated',
    `class=${encodeURIComponent(COOKING)}`,
  ])
    for (const id of idsIn(await ask('stranger', `GET /v1/domains?${query}`))) assert.not.ok(foreign.has(id), query);
});

test('what another tenant has is told in the same words as what nobody has', async () => {
  const none = { 'GET /1.0/identifiers/:did': 0, 'POST /1.0/identifiers/:did': 0, 'GET /v1/status/:list': 0 };
  for (const route of routes().filter((name) => /:(did|id)\b/.test(name) && !(name in none))) {
    const asked = await ROWS[route]!.to();
    const fake = asked.target!.replace(/[0-9a-f]{32}/, '0123456789abcdef0123456789abcdef');
    const words = async (target: string) => {
      const answer = await send(route, { ...asked, target }, as('stranger'));
      return `${answer.status} ${answer.text.replaceAll(target, '…').replaceAll(encodeURIComponent(target), '…')}`;
    };
    assert.is(await words(asked.target!), await words(fake), route);
  }
  const { did } = await domain({ alsoKnownAs: 'did:ixo:org/one', externalId: 'one' });
  const by = async (body: Body) => ask('stranger', 'POST /v1/domains', { ...MINE, ...body });
  created(await by({ alsoKnownAs: 'did:ixo:org/one', externalId: 'one' }));
  const oracle = await domain({ type: 'Oracle' });
  for (const [field, make] of Object.entries({
    parent: (of: string) => ({ parent: of }),
    relationships: (of: string) => ({ relationships: { verifier: of } }),
    class: (of: string) => ({ class: of }),
  })) {
    const real = field === 'class' ? (await protocol()).did : field === 'parent' ? did : oracle.did;
    const unreal = 'did:ixo:entity:0123456789abcdef0123456789abcdef';
    const [seen, unseen] = [await by(make(real)), await by(make(unreal))];
    assert.is(seen.text.replaceAll(real, '…'), unseen.text.replaceAll(unreal, '…'), field);
    assert.ok(seen.status >= 400);
  }
});

test('the guarded activity asks for the role first, and an operator may do all but vote', async () => {
  const { did } = await domain();
  const credits = (name: Name) => ask(name, `POST ${path(did)}/credits`, { amount: '1' });
  assert.equal([(await credits('owner')).status, codeOf(await credits('issuer'))], [403, 'domain-not-verified']);
  created(await ask('operator', `POST ${path(did)}/proposals`, { kind: 'verify' }));
  assert.is(
    (await ask('operator', `PATCH ${path(did)}`, { metadata: { name: 'o' } }, { 'if-match': '"2"' })).status,
    200,
  );
  assert.is((await ask('operator', `DELETE ${path(did)}`)).status, 200);
});

test.run();
