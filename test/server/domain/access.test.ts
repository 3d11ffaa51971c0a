// Who may do what: every route that needs a key or a token against every kind of caller. Nothing of a tenant, or of a user, is told to
// another or changed by one, but what is public; what belongs to others is told in the words of what nobody has.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { DocumentStore, Kind } from '../../../lib/store/store.ts';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { newUser, ORACLE_KEY, type User } from '../plugins/users.ts';
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
const services = join(mkdtempSync(join(tmpdir(), 'twinline-access-')), 'rules.mjs');
writeFileSync(services, "export default { 'claims.evaluate': async () => ({ approved: true }) };");
test.after(() => rmSync(dirname(services), { recursive: true }));
const CLAIMS = { CLAIMS_SECRET: 'cron-secret-of-the-tests', CLAIMS_SERVICE: 'claims.evaluate', SERVICES: services };

const { server, ask, domain, proposal, verified } = place(test, {
  env: { ORACLE_KEY, PLUGINS: 'user-preferences,claims,credits', ...CLAIMS },
  stores: (opened) => ({ ...opened, documents: watched(opened.documents) }),
});

/** What is written of the tenant `one`, as it happens. */
const writes: string[] = [];

function watched(documents: DocumentStore): DocumentStore {
  const note = (kind: Kind, id: string, body: { readonly tenant?: unknown } | undefined) => {
    if (body?.tenant === 'one') writes.push(`${kind.name} ${id}`);
  };
  return {
    ...documents,
    insert: (kind, id, body) => {
      note(kind, id, body);
      return documents.insert(kind, id, body);
    },
    replace: (kind, id, expected, body) => {
      note(kind, id, body);
      return documents.replace(kind, id, expected, body);
    },
    remove: async (kind, id, expected) => {
      note(kind, id, (await documents.get(kind, id))?.body);
      return documents.remove(kind, id, expected);
    },
  };
}

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

/** What anybody is told of a tenant, with any key or none. */
const PUBLIC: { readonly [route: string]: string } = {
  'GET /v1/status/:list': 'whoever checks a card reads whether it counts: bits, at an address that only the card names',
  'GET /1.0/identifiers/:did': 'without a key DIDs are for everybody to resolve',
  'POST /1.0/identifiers/:did': 'without a key DIDs are for everybody to resolve',
};

/** Of users, who are tenants of their own: what is asked for about a chat of ann, or in general. */
interface Chat {
  readonly sessionId: string;
  readonly runId: string;
  readonly claim: string;
}
const USER_ROWS: { readonly [route: string]: { readonly of?: keyof Chat; readonly body?: (id: string) => object } } = {
  'POST /sessions': {},
  'GET /sessions': {},
  'DELETE /sessions/:sessionId': { of: 'sessionId' },
  'GET /sessions/:sessionId/run': { of: 'sessionId' },
  'GET /sessions/:sessionId/messages': { of: 'sessionId' },
  'GET /messages/:sessionId': { of: 'sessionId' },
  'POST /messages/abort': { of: 'sessionId', body: (sessionId) => ({ sessionId }) },
  'POST /messages/:sessionId': { of: 'sessionId', body: () => ({ message: 'hello' }) },
  'GET /runs/:runId': { of: 'runId' },
  'POST /delegation': { body: () => ({ raw: 'none' }) },
  'GET /delegation': {},
  'DELETE /delegation': {},
  'GET /user-preferences': {},
  'POST /claims': { body: () => ({ collection: 'c', data: {} }) },
  'GET /claims': {},
  'GET /claims/:id': { of: 'claim' },
  'GET /credits': {},
};

const routes = () => Object.keys(ROWS);

test('every route that needs a key or a token has its row, and every row its route', async () => {
  const { paths } = (await server().ask('/openapi.json')).json() as OpenApiDocument;
  const isFor = (scheme: string) =>
    Object.entries(paths).flatMap(([of, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        (operation as { security: readonly object[] }).security.some((one) => scheme in one)
          ? [`${method.toUpperCase()} ${of.replace(/{(\w+)}/g, ':$1')}`]
          : [],
      ),
    );
  const served = server().routes.filter(({ path: of }) => /^\/(v1|1\.0)\//.test(of));
  const ofDomains = new Set([...isFor('apiKey'), ...served.map(({ method, path: of }) => `${method} ${of}`)]);
  assert.equal([...ofDomains].sort(), Object.keys(ROWS).sort());
  assert.equal(isFor('ucan').sort(), Object.keys(USER_ROWS).sort());
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

const IDS = /did:ixo:entity:[0-9a-f]{32}|\b[0-9a-f]{32}\b|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const idsIn = ({ text, headers }: Answer) =>
  new Set(`${text} ${decodeURIComponent(JSON.stringify(headers))}`.match(IDS) ?? []);
const NOBODYS = '0123456789abcdef0123456789abcdef';
const fake = (id: string) =>
  id.replace(/[0-9a-f]{32}/, NOBODYS).replace(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-/, '01234567-89ab-4def-8123-');
/** The answer without the id that was asked for. */
const wordsOf = ({ status, text }: Answer, id: string) =>
  `${status} ${text.replaceAll(id, '…').replaceAll(encodeURIComponent(id), '…')}`;

test('every route, every caller: no key, unknown key, another tenant, no role, not theirs, right; nothing is told or changed', async () => {
  const foreign = new Set<string>();
  let [asking, targets] = [0, 0];
  for (const route of routes()) {
    const [right, status, to, not] = ROWS[route]!;
    const asked = await to();
    const { target } = asked;
    const isPublic = route in PUBLIC;
    const isStatus = route.includes('/v1/status/');
    const told = async (who: string, authorization: string | undefined, expected?: number, code?: string) => {
      const answer = await send(route, asked, authorization);
      if (expected !== undefined) assert.is(answer.status, expected, `${route} by ${who}: ${answer.text}`);
      if (code !== undefined) assert.is(codeOf(answer), code, `${route} by ${who}`);
      return answer;
    };
    if (target !== undefined) targets++;
    for (const id of target?.match(IDS) ?? []) foreign.add(id);
    const outside = async (who: string, authorization: string | undefined, expected?: number) => {
      writes.length = 0;
      // The stream of the stranger is read to an event that came after all of the others.
      const isStream = route === 'GET /v1/events' && who === 'another tenant';
      const until = isStream ? created(await ask('stranger', 'POST /v1/domains', MINE)).did : '';
      const answer = await send(route, { ...asked, until }, authorization);
      if (expected !== undefined) assert.is(answer.status, expected, `${route} by ${who}: ${answer.text}`);
      assert.equal(writes, [], `${route} by ${who} writes`);
      asking++;
      if (isPublic && (isStatus || !authorization)) return;
      for (const id of idsIn(answer))
        assert.ok(!foreign.has(id) || target?.includes(id), `${route} shows ${id} to ${who}`);
      if (target === undefined) return;
      const none = await send(route, { ...asked, target: fake(target) }, authorization);
      assert.is(wordsOf(answer, target), wordsOf(none, fake(target)), `${route} by ${who}: foreign, unknown`);
    };
    await outside('nobody known', undefined, isPublic ? 200 : 401);
    await told('an unknown key', 'Bearer unknown-key-0123456789', isStatus ? 200 : 401);
    await outside('another tenant', as('stranger'), isStatus ? 200 : target === undefined ? undefined : 404);
    const isRefused = typeof not !== 'string';
    if (isRefused) await told('one without a role', as('nobody'), 403, 'role-missing');
    if (isRefused) await told('one to whom it does not belong', as(not[0]), 403, not[1]);
    // All of it is still there.
    for (const id of idsIn(await told('the right one', as(right), status))) foreign.add(id);
    if (!isRefused) await told('one without a role', as('nobody'), status);
  }
  assert.ok(foreign.size > targets, `${foreign.size} ids`);
  assert.is(asking, 2 * routes().length);
  for (const query of [
    'limit=1000',
    'status=Verified',
    'type=Project',
    'status=Deactivated',
    `class=${encodeURIComponent(COOKING)}`,
  ])
    for (const id of idsIn(await ask('stranger', `GET /v1/domains?${query}`))) assert.not.ok(foreign.has(id), query);
});

test('every route of users: nothing of one is told to another or changed, and sessions of others are as those of nobody', async () => {
  const [ann, mallory] = [await newUser(), await newUser()];
  for (const { did } of [ann, mallory])
    await ask(undefined, `POST /credits/${encodeURIComponent(did)}`, { amount: 1_000 });
  const by = (who: User | undefined, line: string, body?: object) => ask(undefined, line, body, who?.headers ?? {});
  const chat = async (): Promise<Chat> => {
    const { sessionId } = (await by(ann, 'POST /sessions')).json() as { sessionId: string };
    const said = await by(ann, `POST /messages/${sessionId}`, { message: 'hello' });
    const claim = (await by(ann, 'POST /claims', { collection: 'c', data: {} })).json() as { id: string };
    return { sessionId, runId: said.headers['x-run-id']!, claim: claim.id };
  };
  const standing = async ({ sessionId, runId, claim }: Chat) => {
    const lines = [
      `/messages/${sessionId}`,
      `/runs/${runId}?after=0`,
      `/claims/${claim}`,
      '/user-preferences',
      '/delegation',
    ];
    return Promise.all(lines.map(async (line) => (await by(ann, `GET ${line}`)).text));
  };
  await by(ann, 'POST /delegation', { raw: await ann.delegation() });
  const own = new Set<string>();
  for (const [route, { of, body }] of Object.entries(USER_ROWS)) {
    const theirs = await chat();
    for (const id of Object.values(theirs)) own.add(id);
    const before = await standing(theirs);
    for (const who of [mallory, undefined]) {
      const answerTo = (id: string) => by(who, route.replace(/:\w+/, id), body?.(id));
      const id = of === undefined ? '' : theirs[of];
      const answer = await answerTo(id);
      const label = `${route} by ${who ? 'another user' : 'nobody known'}`;
      if (!who) assert.is(answer.status, 401, label);
      for (const one of own) assert.ok(one === id || !answer.text.includes(one), `${label} shows ${one}`);
      assert.not.ok(answer.text.includes(ann.did), `${label} shows who`);
      if (of) assert.is(wordsOf(answer, id), wordsOf(await answerTo(fake(id)), fake(id)), `${label}: foreign, unknown`);
      if (of && who) assert.ok(answer.status >= 400, label);
    }
    assert.equal(await standing(theirs), before, `${route} changes`);
    // It was there all the time.
    if (of) assert.ok((await by(ann, route.replace(/:\w+/, theirs[of]), body?.(theirs[of]))).status < 300, route);
  }
});

test('an address that no route knows asks for a key first; a method that a public route does not take does not', async () => {
  const statuses = async (line: string) => [(await ask(undefined, line)).status, (await ask('nobody', line)).status];
  for (const line of ['GET /v1', 'GET /v1/none', 'OPTIONS /v1/none', 'GET /v1/status/1-revocation/more'])
    assert.equal(await statuses(line), [401, 404], line);
  for (const line of ['PUT /v1/domains', 'DELETE /v1/limits']) assert.equal(await statuses(line), [401, 405], line);
  assert.equal(await statuses('DELETE /v1/status/1-revocation'), [405, 405]);
});

test('what another tenant has is told in the same words as what nobody has where a body names it, and takes no name from others', async () => {
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
    const unreal = `did:ixo:entity:${NOBODYS}`;
    const [seen, unseen] = [await by(make(real)), await by(make(unreal))];
    assert.is(seen.text.replaceAll(real, '…'), unseen.text.replaceAll(unreal, '…'), field);
    assert.ok(seen.status >= 400);
  }
});

test.run();
