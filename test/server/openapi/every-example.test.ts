// The examples of the document, as /docs sends them: every operation takes its own, and answers as documented.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { showDeadLetter } from '../../../server/domain/routes/webhooks.ts';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { alice, oracle, text as token } from '../../delegation/tokens.ts';
import { type Headers, type Name, place } from '../domain/place.ts';
import { type Documented, documented } from '../support/documented.ts';
import { readEvents } from '../support/event-reader.ts';
import { type Answer, DIAL } from '../support/serve.ts';

interface Described {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: { readonly examples?: readonly string[]; readonly enum?: readonly string[] };
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly { readonly [scheme: string]: readonly string[] }[];
  readonly parameters?: readonly Described[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly example?: unknown } } };
}

/** What an example cannot know, and who sends it. */
interface Known {
  /** Whose API key is sent. @default owner */
  readonly as?: Name;
  readonly headers?: Headers;
  /** Parameters of the path that the server makes. */
  readonly with?: { readonly [name: string]: string };
  /** The status where it is no success, and why. */
  readonly refused?: readonly [status: number, why: string];
  /** Fields of the body that the server makes. */
  readonly body?: object;
  readonly method?: 'HEAD';
}

const test = suite('every example');

// The studio writes into it.
const menus = mkdtempSync(join(tmpdir(), 'twinline-examples-'));
cpSync('menus', menus, { recursive: true });

const SERVICES = join(menus, 'rules.mjs');
writeFileSync(SERVICES, "export default { 'claims.evaluate': async () => ({ approved: true }) };");
const CLAIMS = { CLAIMS_SECRET: 'cron-secret-of-the-examples', CLAIMS_SERVICE: 'claims.evaluate', SERVICES };

const { server, ask, domain, proposal, verified } = place(test, {
  env: { MENUS_DIR: menus, ORACLE_DID: oracle.did(), PLUGINS: 'user-preferences,claims,credits', ...CLAIMS },
});
// After the server has closed: its watcher would look for the folder in the one above.
test.after(() => rmSync(menus, { recursive: true }));

let document: OpenApiDocument;
let held: Documented;
test.before(async () => {
  document = (await server().ask('/openapi.json')).json() as OpenApiDocument;
  held = documented(document);
});

const operations = (): [line: string, operation: Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation as Operation,
    ]),
  );

const firstOf = ({ schema: { examples, enum: words } }: Described) => examples?.[0] ?? words?.[0];

test('every body, every parameter of a path and every header that must be there has an example', () => {
  const missing = operations().flatMap(([line, { parameters = [], requestBody }]) => [
    ...parameters.filter((one) => one.required && firstOf(one) === undefined).map(({ name }) => `${line}: ${name}`),
    ...Object.entries(requestBody?.content ?? {}).flatMap(([type, { example }]) =>
      example === undefined ? [`${line}: ${type}`] : [],
    ),
  ]);
  assert.equal(missing, []);
});

const needsUser = ({ security }: Operation) => security.some((scheme) => 'ucan' in scheme);

async function aliceHeaders(): Promise<Headers> {
  const invocation = await token({ issuer: alice, expiration: Math.floor(Date.now() / 1_000) + 300 });
  return { authorization: `Bearer ${invocation}`, 'x-auth-type': 'ucan' };
}

const encode = (type: string, example: unknown): unknown =>
  type.endsWith('urlencoded') ? new URLSearchParams(example as Record<string, string>).toString() : example;

/** Sends the examples of an operation, one request for each type of body. */
async function sendExamples(
  line: string,
  operation: Operation,
  known: Known & { headers: Headers; isWhole?: boolean },
): Promise<Answer[]> {
  const { parameters = [], requestBody } = operation;
  const filled = parameters
    .filter((one) => one.in === 'path')
    .reduce(
      (path, one) => path.replace(`{${one.name}}`, encodeURIComponent(known.with?.[one.name] ?? firstOf(one)!)),
      line,
    );
  const query = parameters
    .filter((one) => one.in === 'query' && (one.required || (known.isWhole && firstOf(one))))
    .map((one) => `${one.name}=${firstOf(one)}`);
  const address = query.length ? `${filled}?${query.join('&')}` : filled;
  const required = parameters.filter((one) => one.in === 'header' && one.required);
  const headers = { ...known.headers, ...Object.fromEntries(required.map((one) => [one.name, firstOf(one)!])) };
  const who = 'authorization' in headers ? undefined : (known.as ?? 'owner');
  const asked = known.method ? address.replace(/^\w+/, known.method) : address;
  const bodies = Object.entries(requestBody?.content ?? {});
  if (bodies.length === 0) return [await ask(who, asked, undefined, headers)];
  const answers: Answer[] = [];
  for (const [type, { example }] of bodies)
    answers.push(
      await ask(who, asked, encode(type, known.body ? { ...(example as object), ...known.body } : example), {
        ...headers,
        'content-type': type,
      }),
    );
  return answers;
}

/** Everything that the examples are about, made once: twins, proposals, a webhook, a chat. */
async function makeKnown(): Promise<(id: string) => Known> {
  const [entity, one, other] = [await domain(), await verified(), await verified()];
  const open = async () => ({ id: (await proposal((await domain()).did)).id });
  const decided = (await ask('rep', `GET /v1/domains/${encodeURIComponent(one.did)}/verification`)).json();
  const card = (await ask('nobody', `GET /v1/domains/${encodeURIComponent(one.did)}/card`)).text;
  const hook = (await ask('owner', 'POST /v1/webhooks', { url: 'https://example.com/in', events: [] })).json();
  await ask(undefined, `POST /credits/${encodeURIComponent(alice.did())}`, { amount: 1_000 });
  const claim = (await ask(undefined, 'POST /claims', { collection: 'c', data: {} }, await aliceHeaders())).json();
  const chat = (await ask(undefined, 'POST /sessions', undefined, await aliceHeaders())).json();
  const { sessionId } = chat as { sessionId: string };
  const said = await ask(undefined, `POST /messages/${sessionId}`, { message: 'Hi' }, await aliceHeaders());
  const main = (await server().ask('/studio/flows/main')).json() as { flow: { text: string; hash: string } };
  const [hookId, list] = [(hook as { id: string }).id, /\/v1\/status\/([^"#]+)/.exec(card)![1]!];
  const [read, vetoed, withdrawn] = [await open(), await open(), await open()];
  const about: { readonly [words: string]: Known } = {
    'changeEntity getEntity listEntityHistory getEntityGraph': { with: { did: entity.did } },
    deactivateEntity: { as: 'operator', with: { did: entity.did } },
    'transferEntity listEntityProposals getEntityVerification getEntityEligibility listEntityCredits': {
      with: { did: entity.did },
    },
    'issueDomainCredits issueEntityCredits': { as: 'issuer', with: { did: other.did } },
    getDomainCard: { with: { did: one.did } },
    getStatusList: { with: { list } },
    'resolve resolveWithOptions': { with: { did: one.did } },
    proposeDomain: { as: 'rep' },
    proposeEntity: { as: 'rep', with: { did: entity.did } },
    createProtocol: { refused: [409, 'the place has made it already'] },
    'getProposal getProposalPageLink listVotes': { with: read },
    vote: { as: 'ann', with: read },
    withdrawProposal: { as: 'rep', with: withdrawn },
    vetoProposal: { as: 'operator', with: vetoed },
    executeProposal: { as: 'operator', with: { id: (decided as { proposal: { id: string } }).proposal.id } },
    'getWebhook changeWebhook removeWebhook listLetters': { with: { id: hookId } },
    retryLetter: { with: { id: hookId }, refused: [404, 'everything was delivered'] },
    deactivateDomain: { as: 'operator' },
    exportAll: { as: 'operator' },
    'deleteSession getOpenRun pageMessages listMessages sendMessage': { with: { sessionId } },
    abortRun: { body: { sessionId } },
    followRun: { with: { runId: said.headers['x-run-id']! } },
    answerCall: { refused: [404, 'addresses of callbacks are made by the server'] },
    storeDelegation: { refused: [400, 'a delegation is made by its user, for this agent'] },
    'signIn signOut': { refused: [404, 'this server has no OPERATOR_TOKEN'] },
    getClaim: { with: { id: (claim as { id: string }).id } },
    processClaims: { headers: { authorization: `Bearer ${CLAIMS.CLAIMS_SECRET}` } },
    'takeFlowTest showPrivate endCall': { refused: [404, 'names of sessions are made by the stream'] },
    'readStudioVersion restoreFlow': { refused: [404, 'ids of versions are made by saving'] },
    'openPreview dialPreview': { refused: [404, 'links are made by the server'] },
    chooseDialledFlow: { refused: [400, 'the flow is a draft by then'] },
    publishDraft: { refused: [409, 'hashes are those of files'] },
    deleteFlow: { refused: [404, 'the flow has another name by then'] },
    saveDraft: { body: { flow: 'main', text: main.flow.text, base: main.flow.hash } },
    'followEvents watch': { method: 'HEAD' },
  };
  const known = new Map(Object.entries(about).flatMap(([words, one]) => words.split(' ').map((id) => [id, one])));
  return (id) => known.get(id) ?? {};
}

/** How the answer of each dialect says that a session goes on. */
const GOES_ON: { readonly [path: string]: (answer: Answer) => boolean } = {
  '/api/ussd': ({ text }) => text.startsWith('CON '),
  '/api/ussd/africastalking': ({ text }) => text.startsWith('CON '),
  '/api/ussd/hubtel': (answer) => (answer.json() as { Type: string }).Type === 'Response',
  '/api/ussd/nalo': (answer) => (answer.json() as { MSGTYPE: boolean }).MSGTYPE,
  '/api/ussd/arkesel': (answer) => (answer.json() as { continueSession: boolean }).continueSession,
  '/api/ussd/infobip/session/{id}/start': (answer) => !(answer.json() as { shouldClose: boolean }).shouldClose,
  '/api/ussd/infobip/session/{id}/response': (answer) => !(answer.json() as { shouldClose: boolean }).shouldClose,
  '/api/ussd/infobip/session/{id}/end': (answer) =>
    (answer.json() as { responseExitCode: number }).responseExitCode === 200,
  '/api/ussd/comviva': ({ headers }) => headers.freeflow === 'FC',
};

/** Before what they need, or after what would be gone. */
const FIRST = ['createDomain', 'beginFlow', 'dialDraft'];
const LAST = [
  'transferDomain',
  'transferEntity',
  'deactivateDomain',
  'deactivateEntity',
  'removeWebhook',
  'deleteSession',
  ...['dropDraft', 'unpublishFlow', 'chooseDialledFlow', 'publishDraft', 'renameFlow', 'deleteFlow'],
];
const turnOf = (id: string) => (FIRST.includes(id) ? 0 : LAST.includes(id) ? 2 + LAST.indexOf(id) : 1);

test('every example is taken: it is a success wherever the server does not make the names itself', async () => {
  const known = await makeKnown();
  const wrong: string[] = [];
  const sorted = operations().sort(([, one], [, other]) => turnOf(one.operationId) - turnOf(other.operationId));
  for (const [line, operation] of sorted) {
    const about = known(operation.operationId);
    const user = needsUser(operation) && (await aliceHeaders());
    const headers = { origin: server().url, ...user, ...about.headers };
    for (const answer of await sendExamples(line, operation, { ...about, headers })) {
      const isTaken = about.refused ? answer.status === about.refused[0] : answer.status < 300;
      if (!isTaken) wrong.push(`${line} ${answer.status}: ${answer.text.slice(0, 200)}`);
      wrong.push(...held.problemsOf(line, answer));
    }
  }
  assert.equal(wrong, []);
});

test('the example of every USSD route goes on, twice over and in each type', async () => {
  const dialling = operations().filter(([line]) => line.split(' ')[1]! in GOES_ON);
  assert.is(new Set(dialling.map(([line]) => line.split(' ')[1])).size, Object.keys(GOES_ON).length);
  for (const [line, operation] of [...dialling, ...dialling])
    for (const answer of await sendExamples(line, operation, { headers: { authorization: '' }, isWhole: true }))
      assert.ok(GOES_ON[line.split(' ')[1]!]!(answer), `${line}: ${answer.text}`);
});

test('an event that could not be delivered is shown as documented', () => {
  const failure = { at: 1, status: 500, error: 'no' };
  const at = '2026-01-01T00:00:00Z';
  const event = { seq: 16, type: 'domain.created', did: 'did:ixo:a', revision: 1, at, data: {} };
  const letter = { webhook: 'w', created: 1, seq: 16, event, status: 'dead', attempts: 9, failure, dueAt: 2 } as const;
  const text = JSON.stringify(showDeadLetter({ id: 'w.16', revision: 1, body: letter as never }));
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, text, json: () => JSON.parse(text) };
  assert.equal(held.problemsOf('POST /v1/webhooks/{id}/deliveries/{seq}/retry', answer), []);
});

test('the inspector: a session that runs', async () => {
  const seen = await readEvents(`${server().url}/inspector/stream`, {});
  await server().ussd({ ...DIAL, sessionId: 'watched' });
  const actor = () =>
    (seen.events() as unknown as { type: string; sessionId: string; twinline?: { label: string } }[]).find(
      ({ type, twinline }) => type === '@xstate.snapshot' && twinline!.label === 'watched',
    )?.sessionId;
  await seen.until(() => actor() !== undefined);
  const told = async (method: string, what: string) => {
    const answer = await ask(undefined, `${method} /inspector/sessions/${actor()}${what}`);
    return `${answer.status} ${answer.text}`;
  };
  assert.match(await told('GET', '/flow-test'), /^200 .*preMenu/s);
  assert.is(await told('POST', '/private'), '200 {"values":{}}');
  assert.match(await told('DELETE', ''), /^200 /);
  assert.match(await told('DELETE', ''), /^404 /);
  await seen.close();
});

test.run();
