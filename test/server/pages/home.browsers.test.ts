// The home of a server, its errors as pages, the header of all pages, and the search of the documentation.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GUIDES } from '../../../server/docs/guides.ts';
import { browser, fromElsewhere } from '../support/browser.ts';
import { sharedServer, testRoutes, withServer } from '../support/serve.ts';
import { assertQuiet, weightOf } from './clean.ts';

const test = suite('home');
const open = browser(test);
const server = sharedServer(test, {});
const HTML = { headers: { accept: 'text/html' } };
const PRODUCTION = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
};

test('programs get the same JSON as ever from /, and browsers a page', async () => {
  const plain = (await server().ask('/')).json() as { status: string; message: string };
  assert.equal([plain.status, plain.message], ['ok', 'Twinline is running']);
  const { status, headers, text } = await server().ask('/', HTML);
  assert.is(status, 200);
  assert.match(headers['content-type']!, 'text/html');
  assert.match(headers.vary!, 'Accept');
  assert.match(text, 'main');
});

test('visitors in production are told of no menu and no tool, and operators of both', async () => {
  for (const [env, leads] of [
    [PRODUCTION, false],
    [{ ...PRODUCTION, OPERATOR_TOKEN: 'a-long-token-of-operators' }, true],
  ] as const)
    await withServer({ env }, async ({ ask }) => {
      const { text } = await ask('/', HTML);
      assert.match(text, 'Twinline is running');
      for (const secret of ['wallet', '/simulator', '/studio', 'memory', 'production'])
        assert.not.match(text, secret, secret);
      assert.is(text.includes('href="/inspector"'), leads);
    });
});

test('each menu is there with what its tests say now, and an edit that is refused with the number of its problems', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-home-'));
  cpSync('menus', folder, { recursive: true });
  await withServer({ env: { MENUS_DIR: folder } }, async ({ url, refresh }) => {
    const { page } = await open(url);
    const row = (flow: string) =>
      page.locator('tbody tr', { has: page.getByRole('link', { name: flow, exact: true }) });
    const tests = async (flow: string) => (await row(flow).locator('td').nth(3).textContent()) ?? '';
    assert.match(await tests('wallet'), /^\d+ passed$/);
    const file = join(folder, 'wallet.test.json');
    const { tests: all } = JSON.parse(readFileSync(file, 'utf8')) as {
      tests: { name: string; steps: unknown[] }[];
    };
    const wrong = { ...all[0]!, name: 'this is not so', steps: [{ in: '', text: 'Nothing of the kind' }] };
    writeFileSync(file, JSON.stringify({ flow: 'wallet', tests: [wrong] }));
    await page.reload();
    assert.is(await tests('wallet'), '1 of 1 fail: this is not so');
    writeFileSync(join(folder, 'main.flow.json'), '{ "flow": "main" }');
    await refresh();
    await page.reload();
    assert.match((await page.locator('.signs').textContent())!, /not served|keep edits from being served/);
    await page.locator('#refused').filter({ hasText: 'An edit is not served' }).waitFor();
  }).finally(() => rmSync(folder, { recursive: true }));
});

test('an error is a page for browsers and JSON for programs', async () => {
  const { status, text, headers } = await server().ask('/nothing', HTML);
  assert.is(status, 404);
  assert.match(text, 'There is no such page');
  assert.match(text, headers['x-request-id']!);
  const plain = await server().ask('/nothing');
  assert.equal([plain.status, (plain.json() as { code: string }).code], [404, 'not-found']);
  const bearer = { headers: { accept: 'text/html', authorization: 'Bearer x' } };
  assert.match((await server().ask('/nothing', bearer)).headers['content-type']!, 'json');
  const fail = () => {
    throw new Error('the password is hunter2');
  };
  await withServer({ routes: [testRoutes({ 'GET /failing': fail })] }, async ({ ask }) => {
    const answer = await ask('/failing', HTML);
    assert.is(answer.status, 500);
    assert.match(answer.text, 'Something went wrong here');
    assert.not.match(answer.text, 'hunter2');
  });
});

test('the search finds keys, settings, errors, routes and parts of guides, also with a letter wrong', async () => {
  const first = async (words: string) => {
    const { text } = await server().ask(`/docs/search?q=${encodeURIComponent(words)}`);
    return /<ol class="found"><li><a href="([^"]+)"/.exec(text)?.[1];
  };
  assert.is(await first('USSD_GATEWAYS'), '/docs/guides/operators#settings');
  assert.match((await first('verifyPin'))!, '/docs/services#account-verifyPin');
  assert.is(await first('ERR_TURN_LIMIT'), '/docs/errors#ERR_TURN_LIMIT');
  assert.match((await first('delegation revoke'))!, '/docs#/');
  assert.is(await first('audit log'), '/docs/guides/operators#the-audit-log');
  assert.is(await first('governence'), await first('governance'));
  assert.is(await first('qqqqzzzz'), undefined);
  const { text } = await server().ask(`/docs/search?q=${encodeURIComponent('"><script>x</script>')}`);
  assert.not.match(text, '<script>x');
  for (const strange of ['', '   ', '(', '*'.repeat(99), 'x'.repeat(5_000)])
    assert.is((await server().ask(`/docs/search?q=${encodeURIComponent(strange)}`)).status, 200, strange.slice(0, 9));
});

test('the header leads to a result from any page without a script', async () => {
  for (const path of ['/', '/docs/guides', '/docs/errors', '/simulator', '/nothing']) {
    const { page } = await open(server().url + path, { javaScriptEnabled: false });
    await page.getByLabel('Search the documentation').fill('webhook');
    await page.getByLabel('Search the documentation').press('Enter');
    await page.locator('.found a').first().waitFor();
    await page.context().close();
  }
});

test('a guide has its parts beside it, its neighbours below, code in colours, and copies a command', async () => {
  const visit = await open(`${server().url}/docs/guides/first-menu`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const { page } = visit;
  await page.locator('.here a', { hasText: '3. Change a text' }).click();
  assert.is(new URL(page.url()).hash, '#3-change-a-text');
  const command = page.locator('figure.command').first();
  await command.getByRole('button', { name: 'Copy' }).click();
  await command.getByRole('button', { name: 'Copied' }).waitFor();
  assert.is(await page.evaluate('navigator.clipboard.readText()'), 'npx twinline new ussd water\ncd water');
  assert.ok((await page.locator('.hljs-attr').count()) > 0);
  assert.is(await page.locator('figure.output button').count(), 0);
  const boxes = await page.locator('figure.code').allTextContents();
  for (const box of boxes) assert.not.match(box, /^\s*…\s*$/);
  assert.is(await page.locator('figcaption', { hasText: '#/' }).count(), 0, 'no pointers');
  await page.locator('.neighbours a[rel=next]').click();
  await page.getByRole('heading', { level: 1, name: GUIDES.menus[0] }).waitFor();
  assert.is(await page.locator('.neighbours a').count(), 2);
  assertQuiet(visit);
});

test('where a page has no clipboard, its button says that it could not copy', async () => {
  const { page } = await open(fromElsewhere(`${server().url}/docs/guides/first-menu`));
  await page.locator('figure.command').first().getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('button', { name: 'Not allowed' }).waitFor();
});

test('every page is three requests and less than 100 kB compressed', async () => {
  const paths = [
    '/',
    '/settings',
    '/registry',
    '/simulator',
    '/chat',
    '/inspector',
    '/docs/search?q=private',
    '/docs/errors',
  ];
  for (const path of [...paths, ...Object.keys(GUIDES).map((name) => `/docs/guides/${name}`)]) {
    const bytes = await weightOf(server().url + path);
    assert.ok(bytes < 100_000, `${path}: ${bytes}`);
  }
});

test.run();
