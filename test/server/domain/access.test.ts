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

/**
 * One route: who is right, the status of the answer, a request that is all right, and who has no right: whoever has a key but no role,
 * and the one named here, with the reason; 'free' when a key is enough, 'open' when not even that is needed.
 */
type Row = readonly [right: Name, status: number, to: () => Promise<Request>, not: Refused | 'free' | 'open'];
type Refused = readonly [who: Name, reason: string];

interface Request {
  /** What `:did`, `:id`, `:list` stand for; without it the route belongs to nobody in particular. */
  readonly target?: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Headers;
  /** What a stream is read to. */
  readonly until?: string;
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

const protocol = async (alias?: string) =>
  created(await ask('owner', 'POST /v1/protocols', { type: 'Protocol', ...(alias && { alsoKnownAs: alias }) }));

const nothing = async (): Promise<Request> => ({});
const someTwin = to(domain);
const someVote = to(opened, {}, idOf);
const someHook = to(hook, {}, idOf);
const NOT_MINE: Refused = ['rival', 'not-controller'];
const NO_REP: Refused = ['rep', 'role-missing'];
const NO_OWNER: Refused = ['owner', 'role-missing'];

const TWINS = (root: string): Record<string, Row> => ({
  [`POST ${root}`]: ['owner', 201, async () => ({ body: MINE }), NO_REP],
  [`GET ${root}`]: ['owner', 200, nothing, 'free'],
  [`GET ${root}/:did`]: ['owner', 200, someTwin, 'free'],
  [`PATCH ${root}/:did`]: ['owner', 200, to(domain, { body: { metadata: { name: 'x' } }, headers: SEEN }), NOT_MINE],
  [`POST ${root}/:did/transfer`]: ['owner', 200, to(domain, { body: { controller: 'did:ixo:rival' } }), NOT_MINE],
  [`DELETE ${root}/:did`]: ['owner', 200, someTwin, NOT_MINE],
  [`GET ${root}/:did/history`]: ['owner', 200, someTwin, 'free'],
  [`GET ${root}/:did/graph`]: ['owner', 200, someTwin, 'free'],
  [`POST ${root}/:did/proposals`]: ['rep', 201, to(domain, { body: { kind: 'verify' } }), NO_OWNER],
  [`GET ${root}/:did/proposals`]: ['rep', 200, someTwin, 'free'],
  [`GET ${root}/:did/verification`]: ['rep', 200, someTwin, 'free'],
  [`GET ${root}/:did/eligibility`]: ['rep', 200, someTwin, 'free'],
  [`POST ${root}/:did/credits`]: ['issuer', 201, to(verified, { body: { amount: '1' } }), NO_OWNER],
  [`GET ${root}/:did/credits`]: ['issuer', 200, someTwin, 'free'],
});

const LINES = { 'content-type': 'application/x-ndjson' };
const MOVED = { body: { url: 'https://hooks.example/there' }, headers: SEEN };

const ROWS: { readonly [route: string]: Row } = {
  ...TWINS('/v1/domains'),
  ...TWINS('/v1/entities'),
  'POST /v1/protocols': ['owner', 201, async () => ({ body: { type: 'Protocol' } }), NO_REP],
  'GET /v1/protocols': ['owner', 200, nothing, 'free'],
  'GET /v1/protocols/:did': ['owner', 200, to(() => protocol()), 'free'],
  'PATCH /v1/protocols/:did': ['owner', 200, to(() => protocol(), { body: { name: 'x' }, headers: SEEN }), NOT_MINE],
  'GET /v1/proposals': ['rep', 200, nothing, 'free'],
  'GET /v1/proposals/:id': ['rep', 200, someVote, 'free'],
  'GET /v1/proposals/:id/votes': ['rep', 200, someVote, 'free'],
  'POST /v1/proposals/:id/votes': ['ann', 201, to(opened, { body: YES }, idOf), ['operator', 'role-missing']],
  'POST /v1/proposals/:id/withdraw': ['rep', 200, someVote, ['deputy', 'not-proposer']],
  'POST /v1/proposals/:id/veto': ['operator', 200, someVote, NO_REP],
  'POST /v1/proposals/:id/execute': ['operator', 200, to(decided, {}, idOf), NO_REP],
  'GET /v1/proposals/:id/page-link': ['rep', 200, someVote, 'free'],
  'POST /v1/bulk': ['owner', 207, async () => ({ body: `${JSON.stringify(MINE)}\n`, headers: LINES }), NO_REP],
  'GET /v1/export': ['operator', 200, nothing, NO_OWNER],
  'GET /v1/governance/config': ['rep', 200, nothing, 'free'],
  'GET /v1/limits': ['rep', 200, nothing, 'free'],
  'GET /v1/whoami': ['rep', 200, nothing, 'free'],
  'GET /v1/domains/:did/card': ['rep', 200, someTwin, 'free'],
  'GET /v1/status/:list': ['rep', 200, to(listed, {}, idOf), 'open'],
  'GET /v1/events': ['rep', 200, async () => ({ query: '?after=0' }), 'free'],
  'POST /v1/webhooks': ['owner', 201, async () => ({ body: { url: 'https://hooks.example/new' } }), NO_REP],
  'GET /v1/webhooks': ['owner', 200, nothing, NO_REP],
  'GET /v1/webhooks/:id': ['owner', 200, someHook, NO_REP],
  'PATCH /v1/webhooks/:id': ['owner', 200, to(hook, MOVED, idOf), NO_REP],
  'DELETE /v1/webhooks/:id': ['owner', 200, someHook, NO_REP],
  'GET /v1/webhooks/:id/deliveries': ['owner', 200, someHook, NO_REP],
  // Nothing was sent yet, so there is nothing to send again.
  'POST /v1/webhooks/:id/deliveries/:seq/retry': ['owner', 404, someHook, NO_REP],
  // DIDs are for everybody to resolve; but who shows a key is told of its own tenant only.
  'GET /1.0/identifiers/:did': ['rep', 200, someTwin, 'open'],
  'POST /1.0/identifiers/:did': ['rep', 200, someTwin, 'open'],
};

const routes = () =>
  server()
    .routes.filter(({ path: of }) => of.startsWith('/v1/') || of.startsWith('/1.0/'))
    .map(({ method, path: of }) => `${method} ${of}`);

test('every route has its row, and every row its route', () => {
  assert.equal(routes().sort(), Object.keys(ROWS).sort());
});

/** A stream never ends: what came of it until this was in it, or its head. */
function peek(where: string, authorization: string, until = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(server().url + where, { headers: { authorization }, agent: false }, (res) => {
      let text = '';
      const look = (chunk: string) => {
        text += chunk;
        if (res.statusCode === 200 && !text.includes(until)) return;
        sent.destroy();
        resolve({ status: res.statusCode!, headers: res.headers as never, text, json: () => JSON.parse(text) });
      };
      res.setEncoding('utf8').on('data', look);
      res.on('error', () => {});
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function send(
  route: string,
  { target = '', query = '', body, headers = {}, until }: Request,
  authorization?: string,
) {
  const [method, template] = route.split(' ') as [string, string];
  const where = template.replace(/:(did|id|list)\b/, encodeURIComponent(target)).replace(':seq', '1') + query;
  if (template === '/v1/events' && authorization) return peek(where, authorization, until);
  return ask(undefined, `${method} ${where}`, body, { ...headers, ...(authorization && { authorization }) });
}
const as = (name: Name) => `Bearer ${keyOf(name)}`;
const codeOf = (answer: Answer) => (answer.json() as { error?: { code?: string } }).error?.code;

test('every route, every caller: no key, unknown key, another tenant, no role, not theirs, right', async () => {
  for (const route of routes()) {
    const [right, status, to, not] = ROWS[route]!;
    const asked = await to();
    const told = async (who: string, authorization: string | undefined, expected: number, code?: string) => {
      const answer = await send(route, asked, authorization);
      assert.is(answer.status, expected, `${route} by ${who}: ${answer.text}`);
      if (code !== undefined) assert.is(codeOf(answer), code, `${route} by ${who}`);
    };
    const isStatus = route.includes('/v1/status/');
    await told('nobody known', undefined, not === 'open' ? 200 : 401);
    await told('an unknown key', 'Bearer unknown-key-0123456789', isStatus ? 200 : 401);
    if (asked.target !== undefined && !isStatus) await told('another tenant', as('stranger'), 404);
    const isRefused = typeof not !== 'string';
    if (isRefused) await told('one without a role', as('nobody'), 403, 'role-missing');
    if (isRefused) await told('one to whom it does not belong', as(not[0]), 403, not[1]);
    await told('the right one', as(right), status);
    if (!isRefused) await told('one without a role', as('nobody'), status);
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
    const [right, , to] = ROWS[route]!;
    const asked = await to();
    for (const id of idsIn(await send(route, asked, as(right)))) foreign.add(id);
    if (route.includes('/v1/status/')) continue;
    // The stream of the stranger is read to an event that came after all of the others.
    const until = route === 'GET /v1/events' ? created(await ask('stranger', 'POST /v1/domains', MINE)).did : '';
    const seen = idsIn(await send(route, { ...asked, until }, as('stranger')));
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
    const [, , to] = ROWS[route]!;
    const asked = await to();
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

test.run();
