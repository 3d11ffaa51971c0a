// What the page of the studio asks its server: who may, what is refused, and what is kept.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkFlow } from '../../../lib/flow/lint/lint.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import { parseFlowTests } from '../../../lib/flow/testing/parse.ts';
import { runFlowTests } from '../../../lib/flow/testing/run.ts';
import { PAGE_LIMITS } from '../../../server/web/limits.ts';
import { STARTERS, writeStarter } from '../../../server/web/studio/starters.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { json, type Served, sharedServer, withServer } from '../support/serve.ts';

const test = suite('studio');

const OPERATED = { ...PRODUCTION, OPERATOR_TOKEN: TOKEN, PUBLIC_URL: 'https://twinline.example.com' };
const folder = mkdtempSync(join(tmpdir(), 'twinline-studio-'));
const menus = join(folder, 'menus');
cpSync('menus', menus, { recursive: true });
const calls = join(folder, 'calls');
const SERVICES = join(folder, 'pay.mjs');
writeFileSync(calls, '');
writeFileSync(
  SERVICES,
  `import { appendFileSync } from 'node:fs';
export default {
  'pay.out': async () => { appendFileSync(${JSON.stringify(calls)}, 'paid '); return {}; },
  'pay.slowly': (input, { signal }) => globalThis.paySlowly(signal),
};`,
);
const shared = globalThis as { paySlowly?: (signal: AbortSignal) => Promise<object> };
const env = { MENUS_DIR: menus, SERVICES };
const server = sharedServer(test, { env });
test.after(() => rmSync(folder, { recursive: true }));

/** As a page of the server asks. */
async function post(path: string, body: object) {
  const answer = await server().ask(`/studio${path}`, json(body, { origin: server().url }));
  return { status: answer.status, body: answer.json() as Record<string, unknown> };
}

const readFlow = async (flow: string) =>
  (await server().ask(`/studio/flows/${flow}`)).json() as {
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

test('only pages of this server ask, as operators; in production nobody until STUDIO is on, and drafts call no services then', async () => {
  const draft = { flow: 'main', text: '{}' };
  assert.is((await server().ask('/studio/check', json(draft))).status, 400, 'no Origin');
  assert.is((await post('/check', draft)).status, 200);
  assert.is((await post('/check', { flow: 'main' })).status, 400);
  assert.is((await post('/complete', { ...draft, offset: -1 })).status, 400);

  const text = draftOf('pay.out');
  const phone = { sessionId: 'draft-1', phoneNumber: '+260971230001', serviceCode: '*2233#', typed: '' };
  const dial = (at: Served, headers = {}) =>
    at.ask('/studio/dial', json({ flow: 'payment', text, ...phone }, { origin: at.url, ...headers }));
  assert.match((await dial(server())).text, /"Paid\./);
  assert.is(readFileSync(calls, 'utf8'), 'paid ');
  assert.not.match((await server().ask('/studio')).text, /Drafts call no services/);

  const headers = { authorization: `Bearer ${TOKEN}` };
  const html = { headers: { ...headers, accept: 'text/html' } };
  await withServer({ env: OPERATED }, async (closed) => {
    assert.is((await closed.ask('/studio')).status, 401);
    const page = await closed.ask('/studio', html);
    assert.equal([page.status, page.text.includes('STUDIO=true')], [404, true]);
    assert.is((await closed.ask('/studio/flows', { headers })).status, 404);
  });
  await withServer({ env: { ...OPERATED, SERVICES, STUDIO: 'true' } }, async (on) => {
    assert.is((await on.ask('/studio/flows')).status, 401);
    assert.is((await on.ask('/studio/flows', { headers })).status, 200);
    assert.match((await dial(on, headers)).text, /"Not paid\./);
    assert.match((await on.ask('/studio', html)).text, /On this server drafts call no services/);
  });
  assert.is(readFileSync(calls, 'utf8'), 'paid ');
});

const draftOf = (service: string) =>
  JSON.stringify({
    ...{ flow: 'payment', version: 1, start: 'pay', langs: ['en'] },
    screens: {
      pay: { type: 'call', service, done: 'paid', fail: 'failed' },
      paid: { type: 'end', text: 'Paid.' },
      failed: { type: 'end', text: 'Not paid.' },
    },
  });

test('whatever is worked out of a draft waits for its turn in the thread, and callers of the server do not', async () => {
  const flow = 'payment';
  const order: string[] = [];
  const note = async <T>(name: string, answer: Promise<T>) => {
    const result = await answer;
    order.push(name);
    return result;
  };
  let pay = (_answer: object) => {};
  const called = new Promise<void>((resolve) => {
    shared.paySlowly = () =>
      new Promise((done) => {
        pay = done;
        resolve();
      });
  });
  const phone = { sessionId: 'draft-2', phoneNumber: '+260971230001', serviceCode: '*2233#' };
  const first = note('first', post('/dial', { flow, text: draftOf('pay.slowly'), ...phone, typed: '' }));
  await called;
  const draft = { flow, text: draftOf('pay.out'), tests: '' };
  const others = [
    note('complete', post('/complete', { ...draft, offset: 2 })),
    note('explain', post('/explain', { ...draft, offset: 2 })),
    note('texts', post('/texts', draft)),
    note('test', post('/test', draft)),
    note('record', post('/record', { ...draft, name: 'One', ...phone, inputs: [''] })),
    note('dial', post('/dial', { ...draft, ...phone, sessionId: 'draft-3', typed: '' })),
    note('phone', server().ask('/studio/phones/draft-2')),
  ];
  for (let at = 0; at < 5; at++) await note('live', server().ask('/livez'));
  pay({});
  assert.is((await first).body.text, 'Paid.');
  await Promise.all(others);
  assert.equal(order.slice(0, 6), [...Array(5).fill('live'), 'first']);
  assert.is(order.length, 6 + others.length);
});

test('a flow begins as a copy under another name, and an export of RapidPro as all of its flows, with what has no counterpart', async () => {
  const main = await readFlow('main');
  const copied = await post('/new', { starter: '', flow: 'main2', text: main.flow.text, tests: main.tests.text });
  assert.equal([copied.status, copied.body.flow], [200, 'main2']);
  const copy = await readFlow('main2');
  assert.is(copy.flow.text, main.flow.text.replace('"flow": "main"', '"flow": "main2"'));
  assert.is(copy.tests.text, main.tests.text.replace('"flow": "main"', '"flow": "main2"'));
  const { flows } = (await server().ask('/studio/flows')).json() as { flows: { flow: string }[] };
  assert.ok(
    flows.some(({ flow }) => flow === 'main2'),
    'it is served',
  );

  const says = (uuid: string, text: string) => ({ uuid, type: 'send_msg', text, quick_replies: [] });
  const node = { uuid: 'n1', actions: [says('a1', 'Hello')], exits: [{ uuid: 'e1', destination_uuid: null }] };
  const exported = {
    version: '13',
    flows: [{ uuid: 'f1', name: 'Greeting', type: 'messaging', language: 'eng', nodes: [node] }],
  };
  const begun = await post('/new', { starter: '', flow: 'imported', text: JSON.stringify(exported) });
  assert.is(begun.status, 200, JSON.stringify(begun.body));
  assert.match((await readFlow(String(begun.body.flow))).flow.text, 'Hello');
  assert.ok(Array.isArray(begun.body.report));

  assert.is((await post('/new', { starter: '', flow: 'main2', text: main.flow.text })).status, 409);
  assert.is((await post('/new', { starter: '', flow: 'nothing', text: '{"a":1}' })).status, 400);
  assert.is((await post('/new', { starter: '', flow: 'nothing' })).status, 400);
  assert.not.ok(readdirSync(menus).includes('nothing.flow.json'));
});

test('an error repeats no more than a few words of what was sent', async () => {
  const name = 'a'.repeat(1_000_000);
  const text = draftOf('pay.out');
  const phone = { sessionId: 'draft-4', phoneNumber: '+260971230001', serviceCode: '*2233#' };
  const record = { flow: 'payment', text, ...phone, name: 'One', inputs: [''] };
  for (const [path, body] of [
    ['/record', { ...record, tests: `{"${name}":1}` }],
    ['/record', { ...record, text: text.replaceAll('"paid"', `"${name}"`), tests: '' }],
    ['/dial', { ...record, text: text.replace('"screens"', `"${name}"`), typed: '' }],
  ] as const) {
    const refused = await post(path, body);
    assert.is(refused.status, 400, path);
    assert.ok(JSON.stringify(refused.body).length < 600, JSON.stringify(refused.body).slice(0, 1_000));
  }
});

test('a name is never a path, and a flow that is there is not begun again', async () => {
  const before = readdirSync(menus).sort();
  for (const flow of ['../out', '..%2fout', '', 'a/b', 'x'.repeat(65), '__proto__'.repeat(20)]) {
    assert.is((await server().ask(`/studio/flows/${encodeURIComponent(flow)}`)).status, 404, flow);
    assert.ok((await post('/new', { flow, starter: 'menu' })).status >= 400, flow);
    assert.ok((await post('/save', { flow, text: '{}', base: '' })).status >= 400, flow);
  }
  assert.is((await post('/new', { flow: 'main', starter: 'menu' })).status, 409);
  assert.is((await post('/new', { flow: 'fresh', starter: 'constructor' })).status, 400);
  assert.equal(readdirSync(menus).sort(), before);
  assert.is((await post('/new', { flow: 'fresh', starter: 'menu' })).status, 200);
  assert.ok(readdirSync(menus).includes('fresh.flow.json'));
  assert.not.ok(readdirSync(menus).some((name) => name.endsWith('.part')));
});

test('two who save at once do not overwrite each other, and neither writes what fails', async () => {
  const read = await readFlow('main');
  const edit = (word: string) => read.flow.text.replace('"version": 1', `"version": 1, "note": "${word}"`);
  const saves = ['one', 'two', 'three'].map((word) =>
    post('/save', { flow: 'main', text: edit(word), base: read.flow.hash }),
  );
  const results = await Promise.all(saves);
  assert.equal(results.map(({ status }) => status).sort(), [200, 409, 409]);
  const lost = results.find(({ status }) => status === 409)!;
  const text = readFileSync(join(menus, 'main.flow.json'), 'utf8');
  assert.is((lost.body.present as { text: string }).text, text, 'the loser is shown what is there');
  const now = await readFlow('main');
  const failing = now.flow.text.replace('Welcome to Twinline', 'Hello');
  const refused = await post('/save', { flow: 'main', text: failing, base: now.flow.hash });
  assert.is(refused.status, 422);
  assert.ok((refused.body.reports as { failures: object[] }[]).some(({ failures }) => failures.length));
  assert.is((await post('/save', { flow: 'main', text: '{', base: now.flow.hash })).status, 422);
  assert.is(readFileSync(join(menus, 'main.flow.json'), 'utf8'), text);
});

test('the newest versions are kept, and the text of before the first save', async () => {
  let { flow } = await readFlow('assistant');
  const first = flow.text;
  for (let at = 1; at <= 4; at++) {
    const text = JSON.stringify({ ...JSON.parse(first), note: `edit ${at}` }, null, 2);
    const saved = await post('/save', { flow: 'assistant', text, base: flow.hash });
    assert.is(saved.status, 200, JSON.stringify(saved.body).slice(0, 400));
    ({ flow } = saved.body as { flow: typeof flow });
  }
  const list = async () =>
    ((await server().ask('/studio/flows/assistant/versions')).json() as { versions: { id: string; by: string }[] })
      .versions;
  const versions = await list();
  assert.equal(
    versions.map(({ by }) => by),
    ['loopback', 'loopback', 'loopback', 'loopback', 'disk'],
  );
  const oldest = await server().ask(`/studio/flows/assistant/versions/${versions.at(-1)!.id}`);
  assert.is((oldest.json() as { text: string }).text, first);
  assert.is((await server().ask(`/studio/flows/main/versions/${versions[0]!.id}`)).status, 404, 'of another flow');
  assert.ok(PAGE_LIMITS.studioVersions >= 20);
});

test.run();
