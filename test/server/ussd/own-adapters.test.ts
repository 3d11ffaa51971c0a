// Telecom dialects of a deployment: modules of ADAPTERS, served, counted, listed and documented as the shipped ones are.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadAdapters } from '../../../server/ussd/adapters.ts';
import { withFolder } from '../../support/process.ts';
import { type Answer, type Served, withServer } from '../support/serve.ts';

const test = suite('adapters of a deployment');

const USSD = JSON.stringify(new URL('../../../lib/ussd/index.ts', import.meta.url).href);

/** A dialect of nobody: a form with names of its own in, JSON out; the path names the session. */
const ZED = `
import { jsonReply, readFields, readMsisdn, readServiceCode, readSessionId, readText } from ${USSD};

const answer = ({ kind, text }) => jsonReply({ show: text, more: kind === 'continue' });

export default {
  name: 'zed',
  routes: [{
    method: 'POST',
    path: '/talk/:id',
    about: {
      summary: 'Zed Mobile',
      body: { schema: { type: 'object', required: ['caller'], properties: { caller: { type: 'string' } } } },
      answers: { 'application/json': { type: 'object', properties: { show: { type: 'string' } } } },
    },
  }],
  read(raw) {
    const { caller, code, typed, first } = readFields(raw.body);
    if (typed === '13') throw new Error('Cannot live with ' + typed);
    if (typed === '14') return { sessionId: 'x', text: typed };
    return {
      sessionId: readSessionId(raw.path[1]),
      serviceCode: first === '1' ? readServiceCode(code) : '',
      phoneNumber: readMsisdn(caller, 'caller'),
      text: first === '1' ? '' : readText(typed, 'typed'),
      event: 'turn',
      mode: 'latest',
      fresh: first === '1',
    };
  },
  write: (reply, request) => {
    if (request.text === '2') throw new Error('No pen');
    return answer(reply);
  },
  refuse: answer,
};
`;

function withZed<T>(work: (server: Served, say: Say) => Promise<T>, env: NodeJS.ProcessEnv = {}): Promise<T> {
  return withFolder((folder) => {
    const module = join(folder, 'zed.mjs');
    writeFileSync(module, ZED);
    return withServer({ env: { ADAPTERS: module, OPERATOR_TOKEN: 'operator', ...env } }, (server) => {
      const say: Say = (fields, { id = 'z1', headers = {} } = {}) =>
        server.ask(`/api/ussd/zed/talk/${id}`, {
          method: 'POST',
          headers,
          body: new URLSearchParams({ caller: '260971230001', ...fields }).toString(),
        });
      return work(server, say);
    });
  });
}

type Say = (
  fields: Readonly<Record<string, string>>,
  how?: { id?: string; headers?: Readonly<Record<string, string>> },
) => Promise<Answer>;

const FIRST = { first: '1', code: '*77#' };
const OPERATOR = { headers: { authorization: 'Bearer operator' } };

const shown = (answer: Answer) => (answer.json() as { show: string }).show;

test('a dialogue in the dialect of a module, seen by operators, counted, and in the documents', () =>
  withZed(async (server, say) => {
    const first = await say(FIRST);
    assert.is(first.headers['content-type'], 'application/json; charset=utf-8');
    assert.match(shown(first), /^Welcome to Twinline\n/);
    assert.match(shown(await say({ typed: '1' })), /^Know more/);
    assert.equal((await server.ask('/api/ussd/sessions', OPERATOR)).json(), { activeSessions: ['z1'], count: 1 });
    const debug = (await server.ask('/api/ussd/debug/z1', OPERATOR)).json() as { debugInfo: { context: object } };
    assert.is((debug.debugInfo.context as { phoneNumber: string }).phoneNumber, '+260971230001');
    const metrics = (await server.ask('/metrics', OPERATOR)).text;
    assert.match(metrics, /^twinline_ussd_turns_total\{dialect="zed",outcome="continue"\} 2$/m);
    assert.match(metrics, /^twinline_ussd_sessions_started_total\{dialect="zed"\} 1$/m);
    const { paths } = (await server.ask('/openapi.json')).json() as { paths: Record<string, { post: Operation }> };
    const { summary, requestBody, responses, parameters } = paths['/api/ussd/zed/talk/{id}']!.post;
    assert.is(summary, 'Zed Mobile');
    assert.equal(requestBody.content['application/x-www-form-urlencoded']!.schema.required, ['caller']);
    assert.ok('application/json' in responses[200]!.content);
    assert.equal(parameters.length, 1);
    assert.equal((await server.ask('/api/ussd/zed', { method: 'POST' })).status, 404);
    assert.equal((await server.ask('/api/ussd/zed/talk/z1')).status, 405);
  }));

interface Operation {
  summary: string;
  parameters: readonly unknown[];
  requestBody: { content: Record<string, { schema: { required: string[] } }> };
  responses: Record<number, { content: object }>;
}

test('its callers are limited, and its gateway shows a secret', async () => {
  const secret = 'a secret of the gateway';
  const sign = { authorization: `Basic ${Buffer.from(`zed:${secret.replaceAll(' ', '-')}`).toString('base64')}` };
  const env = {
    USSD_GATEWAYS: `zed:${secret.replaceAll(' ', '-')}`,
    RATE_LIMIT_MAX: '3',
    RATE_LIMIT_EXEMPT: '127.0.0.1',
  };
  await withZed(async (server, say) => {
    assert.is((await say(FIRST)).status, 403);
    assert.is((await say(FIRST, { headers: sign })).status, 200);
    for (const typed of ['1', '1']) await say({ typed }, { headers: sign });
    const limited = await say({ typed: '1' }, { headers: sign });
    assert.equal([limited.status, shown(limited)], [429, 'Too many requests. Please try again later.']);
    const metrics = (await server.ask('/metrics', OPERATOR)).text;
    assert.match(metrics, /\{dialect="zed",reason="secret"\} 1$/m);
  }, env);
});

test('whatever an adapter throws or reads, the caller is answered, and nothing that was typed is logged', () =>
  withZed(async (server, say) => {
    await say(FIRST);
    const invalid = 'Invalid input. Please try again.';
    assert.is(shown(await say({ typed: '13' })), invalid);
    assert.is(shown(await say({ typed: '14' })), invalid);
    assert.is(shown(await say({ caller: '12' })), invalid);
    const unwritten = await say({ typed: '2' });
    assert.match(unwritten.text, /^CON /);
    const failures = server.logged.filter(({ msg }) => String(msg).startsWith('an adapter failed'));
    assert.equal(
      failures.map(({ dialect }) => dialect),
      ['zed', 'zed'],
    );
    assert.not.match(JSON.stringify(server.logged), /Cannot live|No pen/);
  }));

test('modules that are no adapters: every problem at once', () =>
  withFolder(async (folder) => {
    const sources = {
      'none.mjs': 'export const nothing = 1;',
      'half.mjs':
        'export default { name: "Half", routes: [{ method: "GET", path: "x" }], reed() {}, write() {}, refuse() {} };',
      'taken.mjs':
        'export default { name: "hubtel", routes: [{ method: "GET", path: "" }], read() {}, write() {}, refuse() {} };',
      'mute.mjs':
        'export default { name: "mute", routes: [{ method: "GET", path: "" }], read() {}, write() {}, refuse() {} };',
      'rude.mjs':
        'export default { name: "rude", routes: [{ method: "GET", path: "" }], read() {}, write() {}, refuse() { throw new Error("No"); } };',
    };
    for (const [name, source] of Object.entries(sources)) writeFileSync(join(folder, name), source);
    const adapters = ['./gone.mjs', ...Object.keys(sources).map((name) => `./${name}`)];
    const problems = await loadAdapters({ adapters, textMode: 'cumulative' }, { folder }).then(
      () => '',
      (error: Error) => error.message,
    );
    const lines = problems.split('\n');
    assert.match(lines[0]!, /^ADAPTERS: "\.\/gone\.mjs" is not there\./);
    assert.match(lines[1]!, /^ADAPTERS: "\.\/none\.mjs" has no default export that is an adapter\. Write: /);
    assert.match(lines[2]!, /half\.mjs" has an invalid "name"/);
    assert.match(lines[3]!, /half\.mjs" has invalid "routes"/);
    assert.match(lines[4]!, /half\.mjs" has no function "read"\. Did you mean "reed"\?/);
    assert.match(lines[5]!, /taken\.mjs" has the name "hubtel", but \/api\/ussd\/hubtel already exists/);
    assert.match(lines[6]!, /mute\.mjs" has a "refuse" that does not return \{ status, type, body \}/);
    assert.match(lines[7]!, /rude\.mjs" has a "refuse" that throws on an empty request: No\. It must never throw\./);
    assert.is(lines.length, 8);
  }));

test.run();
