// `twinline routes` says what a running server does: who may ask, how often, and how large bodies may be.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouteRow } from '../../../server/cli/verbs/routes.ts';
import { run } from '../support/command.ts';
import { json, sharedServer, withServer } from '../support/serve.ts';

const test = suite('routes');
const server = sharedServer(test, { env: { OPERATOR_TOKEN: 'operator-token-0123456789' } });

let rows: RouteRow[];
test.before(async () => {
  const { code, out, err } = await run(['routes', '--json'], { DATA_DIR: './nowhere', RATE_LIMIT_MAX: '7' });
  assert.is(code, 0, err);
  rows = JSON.parse(out) as RouteRow[];
});

test('they are those of the server', () => {
  const lines = (routes: readonly { method: string; path: string }[]) =>
    routes.map(({ method, path }) => `${method} ${path}`);
  assert.equal(lines(rows).sort(), lines(server().routes).sort());
});

test('what needs a proof refuses one who brings none, and what is public does not', async () => {
  const withoutBody = rows.filter(({ method, path }) => method === 'GET' && !path.includes(':'));
  assert.ok(withoutBody.length > 15);
  for (const { path, needs } of withoutBody) {
    const { status } = await server().ask(path);
    assert.is(status === 401, needs.length > 0, `${path} answers ${status}, and needs ${needs.join() || 'nothing'}`);
  }
});

test('a body of one byte more than it says is refused', async () => {
  const key = server().developmentKey!;
  for (const path of ['/v1/domains', '/delegation']) {
    const { bodyBytes } = rows.find((row) => row.method === 'POST' && row.path === path)!;
    const body = `"${'x'.repeat(bodyBytes! - 1)}"`;
    const headers = { authorization: `Bearer ${key}` };
    const { status } = await server().ask(path, { ...json(null, headers), body });
    assert.ok(path === '/delegation' ? status === 401 : status === 413, `${path}: ${status}`);
  }
  const ussd = rows.find(({ path }) => path === '/api/ussd')!;
  const refused = await server().ask('/api/ussd', json({ sessionId: 's', text: 'x'.repeat(ussd.bodyBytes!) }));
  assert.match(refused.text, /^END /);
});

test('the rate is that of the settings, and whom it says nothing of are never limited', async () => {
  const unlimited = rows.filter(({ rate }) => rate === undefined).map(({ path }) => path);
  assert.equal(rows.find(({ path }) => path === '/health')!.rate, { max: 7, windowMs: 60_000 });
  assert.equal(unlimited.sort(), ['/docs/:file', '/livez', '/menus/refused', '/pages/:file', '/readyz']);
  await withServer({ env: { RATE_LIMIT_MAX: '1' } }, async ({ ask }) => {
    await ask('/health');
    assert.is((await ask('/health')).status, 429);
    for (const path of ['/livez', '/readyz', '/pages/page.css'])
      for (let times = 0; times < 3; times++) assert.is((await ask(path)).status, 200, path);
  });
});

test('as a table for people; a bad setting is 78', async () => {
  const { code, out } = await run(['routes', '--rate-limit-max', '9']);
  assert.is(code, 0);
  const lines = out.split('\n');
  assert.match(lines[0]!, /^method +path +who +rate +body$/);
  assert.match(out, /^POST +\/v1\/domains +apiKey +9 in 60 s +1048576 bytes$/m);
  assert.match(out, /^POST +\/v1\/bulk +apiKey +9 in 60 s +1048576 bytes a line$/m);
  assert.match(out, /^GET +\/livez +public +any +-$/m);
  assert.is(lines.at(-1), `${rows.length} routes`);
  assert.is(
    (await run(['routes', '--port', 'x', '--log-level', 'loud'])).code,
    0,
    'where it listens is not its matter',
  );
  assert.is((await run(['routes', '--rate-limit-max', 'x'])).code, 78);
});

test.run();
