// Size × shape at the other doors: bodies of the agent service, its plugins and USSD, and what the query gateway is asked.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CostServer, startCostServer } from '../../support/cost.ts';
import { bodyOf, SHAPES, shortShapes } from '../../support/cost-shapes.ts';
import { chooseSize, sample } from '../../support/size.ts';
import { SET } from '../gateway/node.ts';
import { newUser, ORACLE_KEY } from '../plugins/users.ts';
import { DIAL, json } from '../support/serve.ts';

const test = suite('cost of the other doors');

const OPERATOR = { authorization: 'Bearer token-of-the-operator-0123456789' };
const folder = mkdtempSync(join(tmpdir(), 'twinline-cost-'));
let server: CostServer;
let headers: Readonly<Record<string, string>>;
let session: string;

test.before(async () => {
  writeFileSync(join(folder, 'set.binpb'), SET);
  writeFileSync(join(folder, 'services.mjs'), "export default { 'claims.evaluate': async () => ({}) };\n");
  const gateway = { descriptors: 'set.binpb', upstream: '127.0.0.1:9' };
  writeFileSync(join(folder, 'gateway.json'), JSON.stringify(gateway));
  server = await startCostServer({
    GATEWAY_FILE: join(folder, 'gateway.json'),
    PLUGINS: 'user-preferences,claims,credits,team-chat',
    CLAIMS_SECRET: 'secret-of-the-claims-0123456789-012345678',
    CLAIMS_SERVICE: 'claims.evaluate',
    SERVICES: join(folder, 'services.mjs'),
    TEAM_CHAT_SIGNING_SECRET: 'secret-of-the-team-chat-012345678',
    TEAM_CHAT_BOT_TOKEN: 'xoxb-of-the-team-chat',
    ORACLE_KEY,
    OPERATOR_TOKEN: 'token-of-the-operator-0123456789',
  });
  const user = await newUser();
  headers = user.headers;
  const grant = json({ amount: 1_000_000 }, { ...OPERATOR, 'idempotency-key': 'first' });
  const granted = await server.judge('POST /credits/:did', `/credits/${encodeURIComponent(user.did)}`, grant);
  assert.ok(granted.status < 300, granted.text);
  const made = await server.judge('POST /sessions', '/sessions', { method: 'POST', headers, body: '{}' });
  assert.is(made.status, 201, made.text);
  session = (made.json() as { sessionId: string }).sessionId;
});
test.after(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Row {
  readonly base: object;
  readonly fields: readonly string[];
  /** Whoever is let in. */
  readonly as?: 'operator' | 'nobody';
}

const TOOL = { name: 'a', description: 'b', schema: {} };
const MESSAGE = { message: 'hi', tools: [TOOL], attachments: [{ mxcUri: 'mxc://a/b', filename: 'a', mimetype: 'b' }] };
const ROWS: { readonly [route: string]: Row } = {
  'POST /sessions': { base: {}, fields: ['', '/a'] },
  'POST /messages/:sessionId': {
    base: MESSAGE,
    fields: [
      ...[
        '',
        '/message',
        '/metadata',
        '/metadata/multitask',
        '/tools',
        '/tools/0/schema',
        '/tools/0/name',
        '/agActions',
      ],
      ...['/attachments', '/attachments/0/mxcUri', '/mcpInvocations', '/mcpInvocations/a', '/timezone', '/model', '/x'],
    ],
  },
  'POST /messages/abort': { base: { sessionId: 'none' }, fields: ['', '/sessionId', '/runId'] },
  'POST /delegation': { base: { raw: 'a' }, fields: ['', '/raw', '/issuer', '/expiration'] },
  'POST /claims': { base: { collection: 'a', data: {} }, fields: ['', '/collection', '/data', '/data/x', '/a'] },
  'POST /credits/:did': { base: { amount: 1 }, fields: ['', '/amount', '/a'], as: 'operator' },
  'POST /team-chat/events': { base: {}, fields: ['', '/event', '/challenge'], as: 'nobody' },
  'POST /api/ussd': {
    base: DIAL,
    fields: ['', '/sessionId', '/serviceCode', '/phoneNumber', '/text', '/networkCode', '/x'],
    as: 'nobody',
  },
};

const PART = chooseSize({ short: 20, day: 4, whole: 1 });

for (const [route, { base, fields, as }] of Object.entries(ROWS))
  test(`${route}: every shape in every field`, async () => {
    const [method, template] = route.split(' ') as [string, string];
    const where = template.replace(':sessionId', session).replace(':did', encodeURIComponent('did:key:z6Mk'));
    const who = { operator: OPERATOR, nobody: {} };
    for (const [at, field] of fields.entries())
      for (const [n, shape] of SHAPES.entries()) {
        if (n % PART !== at % PART) continue;
        const body = bodyOf(base, field, shape);
        const sent = { ...(as ? who[as] : headers), 'content-type': 'application/json' };
        await server.judge(`${route} ${field || '(body)'} = ${shape.name}`, where, {
          method,
          headers: sent,
          body,
          // A claim comes back as it was sent.
          answerBytes: 65_536 + 2 * body.length,
          otherErrors: true,
        });
      }
    assert.equal(server.faults.splice(0), []);
  });

test('long values in the paths, parameters and headers of the query gateway', async () => {
  for (const { name, json: text } of sample(shortShapes(5_000), 3)) {
    const value = JSON.parse(text) as string;
    const coded = encodeURIComponent(value).slice(0, 7_000).replace(/%.?$/, '');
    for (const where of [`/grove/tree/${coded}`, `/grove/tree/1?a=${coded}`, `/grove/tree/1?${coded}=1`, `/${coded}`])
      await server.judge(`GET ${where.slice(0, 20)}… with ${name}`, where, {
        otherErrors: true,
        gatewayTimeouts: true,
      });
    for (const header of ['x-cosmos-block-height', 'accept', 'accept-language', 'if-none-match', 'x-forwarded-for'])
      await server.judge(`${header} with ${name}`, '/grove/tree/1', {
        headers: { [header]: value.replace(/[^\x20-\x7e]/g, 'x') },
        otherErrors: true,
        gatewayTimeouts: true,
      });
  }
  const many = Array.from({ length: 900 }, (_, at) => `a${at}=1`).join('&');
  await server.judge('900 parameters', `/grove/tree/1?${many}`, { otherErrors: true, gatewayTimeouts: true });
  assert.equal(server.faults.splice(0), []);
});

test('the process lives', async () => {
  assert.is((await server.judge('GET /livez', '/livez')).status, 200);
  const dialled = await server.judge('a dial', '/api/ussd', json(DIAL));
  assert.match(dialled.text, /^CON /);
});

test.run();
