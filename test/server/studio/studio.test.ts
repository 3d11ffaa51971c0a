// What the page of the studio asks its server: who may, what is refused, and what is kept.

import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkFlow } from '../../../lib/flow/lint/lint.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import { parseFlowTests } from '../../../lib/flow/testing/parse.ts';
import { runFlowTests } from '../../../lib/flow/testing/run.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import { PAGE_LIMITS } from '../../../server/web/limits.ts';
import { STARTERS, writeStarter } from '../../../server/web/studio/starters.ts';
import { json, type Served, withServer } from '../support/serve.ts';

const test = suite('studio');

const PRODUCTION = {
  NODE_ENV: 'production',
  PIN_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  ORACLE_KEY: makeOracleKey(),
  OPERATOR_TOKEN: 'the-token-of-the-operators',
  PUBLIC_URL: 'https://twinline.example.com',
};
const OPERATOR = `Bearer ${PRODUCTION.OPERATOR_TOKEN}`;

async function inFolder(work: (server: Served, folder: string) => Promise<void>, env = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-studio-'));
  try {
    cpSync('menus', folder, { recursive: true });
    await withServer({ env: { MENUS_DIR: folder, ...env } }, (server) => work(server, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** As a page of the server asks. */
async function post(server: Served, path: string, body: object) {
  const { host } = new URL(server.url);
  const answer = await server.ask(`/studio${path}`, json(body, { origin: `http://${host}` }));
  return { status: answer.status, body: answer.json() as Record<string, unknown> };
}

const readFlow = async (server: Served, flow: string) =>
  (await server.ask(`/studio/flows/${flow}`)).json() as {
    flow: { text: string; hash: string };
    tests: { text: string; hash: string };
  };

for (const [name, starter] of Object.entries(STARTERS))
  test(`the starter "${name}" has no mistakes, and its tests pass`, async () => {
    const texts = writeStarter('fresh', starter);
    const { flow, problems } = checkFlow(texts.flow, 'fresh.flow.json', { services: new Set(['http.get']) });
    assert.equal(problems, []);
    const { file, problems: wrong } = parseFlowTests(texts.tests, 'fresh.test.json');
    assert.equal(wrong, []);
    const { tests } = await runFlowTests(compileFlow(flow!), file!);
    assert.equal(
      tests.flatMap(({ failures }) => failures),
      [],
    );
  });

test('only pages of this server ask, as operators; in production nobody until STUDIO is on', () =>
  inFolder(async (server) => {
    const draft = { flow: 'main', text: '{}' };
    assert.is((await server.ask('/studio/check', json(draft))).status, 400, 'no Origin');
    assert.is((await server.ask('/studio/check', json(draft, { origin: 'https://evil.example' }))).status, 400);
    assert.is((await post(server, '/check', draft)).status, 200);
    assert.is((await post(server, '/check', { flow: 'main' })).status, 400);
    assert.is((await post(server, '/complete', { ...draft, offset: -1 })).status, 400);
    const authorization = OPERATOR;
    await withServer({ env: PRODUCTION }, async (closed) => {
      assert.is((await closed.ask('/studio')).status, 401);
      const page = await closed.ask('/studio', { headers: { authorization, accept: 'text/html' } });
      assert.equal([page.status, page.text.includes('STUDIO=true')], [404, true]);
      assert.is((await closed.ask('/studio/flows', { headers: { authorization } })).status, 404);
    });
    await withServer({ env: { ...PRODUCTION, STUDIO: 'true' } }, async (on) => {
      assert.is((await on.ask('/studio/flows')).status, 401);
      assert.is((await on.ask('/studio/flows', { headers: { authorization } })).status, 200);
    });
  }));

test('a draft that is dialled calls services in development, and none in production', () =>
  inFolder(async (server, folder) => {
    const calls = join(folder, 'calls');
    const module = join(folder, 'pay.mjs');
    writeFileSync(calls, '');
    writeFileSync(
      module,
      `import { appendFileSync } from 'node:fs';
export default { 'pay.out': async () => { appendFileSync(${JSON.stringify(calls)}, 'paid '); return {}; } };`,
    );
    const text = JSON.stringify({
      ...{ flow: 'payment', version: 1, start: 'pay', langs: ['en'] },
      screens: {
        pay: { type: 'call', service: 'pay.out', done: 'paid', fail: 'failed' },
        paid: { type: 'end', text: 'Paid.' },
        failed: { type: 'end', text: 'Not paid.' },
      },
    });
    const phone = { sessionId: 'draft-1', phoneNumber: '+260971230001', serviceCode: '*2233#', typed: '' };
    const dial = async (at: Served, headers = {}) => {
      const origin = `http://${new URL(at.url).host}`;
      return at.ask('/studio/dial', json({ flow: 'payment', text, ...phone }, { origin, ...headers }));
    };
    const env = { SERVICES: module };
    await withServer({ env }, async (development) => {
      assert.match((await dial(development)).text, /"Paid\./);
    });
    assert.is(readFileSync(calls, 'utf8'), 'paid ');
    await withServer({ env: { ...PRODUCTION, ...env, STUDIO: 'true' } }, async (on) => {
      assert.match((await dial(on, { authorization: OPERATOR })).text, /"Not paid\./);
      const page = await on.ask('/studio', { headers: { authorization: OPERATOR, accept: 'text/html' } });
      assert.match(page.text, /Drafts call no services on this server/);
    });
    assert.is(readFileSync(calls, 'utf8'), 'paid ');
    assert.not.match((await server.ask('/studio')).text, /Drafts call no services/);
  }));

test('a name is never a path, and a flow that is there is not begun again', () =>
  inFolder(async (server, folder) => {
    const before = readdirSync(folder).sort();
    for (const flow of ['../out', '..%2fout', '', 'a/b', 'x'.repeat(65), '__proto__'.repeat(20)]) {
      assert.is((await server.ask(`/studio/flows/${encodeURIComponent(flow)}`)).status, 404, flow);
      assert.ok((await post(server, '/new', { flow, starter: 'menu' })).status >= 400, flow);
      assert.ok((await post(server, '/save', { flow, text: '{}', base: '' })).status >= 400, flow);
    }
    assert.is((await post(server, '/new', { flow: 'main', starter: 'menu' })).status, 409);
    assert.is((await post(server, '/new', { flow: 'fresh', starter: 'constructor' })).status, 400);
    assert.equal(readdirSync(folder).sort(), before);
    assert.is((await post(server, '/new', { flow: 'fresh', starter: 'menu' })).status, 200);
    assert.ok(readdirSync(folder).includes('fresh.flow.json'));
    assert.not.ok(readdirSync(folder).some((name) => name.endsWith('.part')));
  }));

test('two who save at once do not overwrite each other, and neither writes what fails', () =>
  inFolder(async (server, folder) => {
    const read = await readFlow(server, 'main');
    const edit = (word: string) => read.flow.text.replace('"version": 1', `"version": 1, "note": "${word}"`);
    const saves = ['one', 'two', 'three'].map((word) =>
      post(server, '/save', { flow: 'main', text: edit(word), base: read.flow.hash }),
    );
    const results = await Promise.all(saves);
    assert.equal(results.map(({ status }) => status).sort(), [200, 409, 409]);
    const lost = results.find(({ status }) => status === 409)!;
    const text = readFileSync(join(folder, 'main.flow.json'), 'utf8');
    assert.is((lost.body.present as { text: string }).text, text, 'the loser is shown what is there');
    const now = await readFlow(server, 'main');
    const failing = now.flow.text.replace('Welcome to Twinline', 'Hello');
    const refused = await post(server, '/save', { flow: 'main', text: failing, base: now.flow.hash });
    assert.is(refused.status, 422);
    assert.ok((refused.body.reports as { failures: object[] }[]).some(({ failures }) => failures.length));
    assert.is((await post(server, '/save', { flow: 'main', text: '{', base: now.flow.hash })).status, 422);
    assert.is(readFileSync(join(folder, 'main.flow.json'), 'utf8'), text);
  }));

test('the newest versions are kept, and the text of before the first save', () =>
  inFolder(async (server) => {
    let { flow } = await readFlow(server, 'assistant');
    const first = flow.text;
    for (let at = 1; at <= 4; at++) {
      const text = JSON.stringify({ ...JSON.parse(first), note: `edit ${at}` }, null, 2);
      const saved = await post(server, '/save', { flow: 'assistant', text, base: flow.hash });
      assert.is(saved.status, 200, JSON.stringify(saved.body).slice(0, 400));
      ({ flow } = saved.body as { flow: typeof flow });
    }
    const list = async () =>
      ((await server.ask('/studio/flows/assistant/versions')).json() as { versions: { id: string; by: string }[] })
        .versions;
    const versions = await list();
    assert.equal(
      versions.map(({ by }) => by),
      ['loopback', 'loopback', 'loopback', 'loopback', 'disk'],
    );
    const oldest = await server.ask(`/studio/flows/assistant/versions/${versions.at(-1)!.id}`);
    assert.is((oldest.json() as { text: string }).text, first);
    assert.is((await server.ask(`/studio/flows/main/versions/${versions[0]!.id}`)).status, 404, 'of another flow');
    assert.ok(PAGE_LIMITS.studioVersions >= 20);
  }));

test('a flow of 1,000 screens is checked, completed and drawn in part', () =>
  inFolder(async (server) => {
    const screens = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [
        `s${at}`,
        {
          type: 'input',
          text: `Question ${at} of a very long form?`,
          save: 'answer',
          to: at === 999 ? 'bye' : `s${at + 1}`,
        },
      ]),
    );
    const vars = { answer: { type: 'string', max: 20 } };
    const flow = {
      flow: 'main',
      version: 1,
      start: 's0',
      vars,
      screens: { ...screens, bye: { type: 'end', text: 'Bye' } },
    };
    const text = JSON.stringify(flow, null, 2);
    const checked = await post(server, '/check', { flow: 'main', text });
    assert.is((checked.body.screens as object[]).length, 1_001);
    assert.equal(
      (checked.body.problems as { severity: string }[]).filter(({ severity }) => severity === 'error'),
      [],
    );
    const offset = text.indexOf('"to": "s1"') + 7;
    const { body } = await post(server, '/complete', { flow: 'main', text, offset });
    assert.is((body.items as object[]).length, 1_001);
    const drawn = (await post(server, '/drawing', { flow: 'main', text, focus: 's500' })).body;
    assert.is(drawn.states, 1_001);
    assert.ok((drawn.shown as number) < 1_001);
    const large = JSON.stringify({ ...flow, note: 'x'.repeat(2_000_000) });
    assert.is(
      (await post(server, '/check', { flow: 'main', text: large })).status,
      200,
      'beyond the usual size of bodies',
    );
  }));

test.run();
