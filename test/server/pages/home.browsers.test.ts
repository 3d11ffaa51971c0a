// The home of a server in a browser, the header of all pages, guides, and how operators sign in and out.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GUIDES } from '../../../server/docs/guides.ts';
import { withFolder } from '../../support/process.ts';
import { browser, fromElsewhere } from '../support/browser.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { sharedServer, withServer } from '../support/serve.ts';
import { assertQuiet } from './clean.ts';

const test = suite('home in a browser');
const open = browser(test);
const server = sharedServer(test, {});

test('each menu is there with what its tests say now, and an edit that is refused with the number of its problems', () =>
  withFolder(async (folder) => {
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
    });
  }));

test('the header leads to a result from any page without a script', async () => {
  for (const path of ['/', '/docs/guides', '/docs/errors', '/simulator', '/nothing']) {
    const { page } = await open(server().url + path, { javaScriptEnabled: false });
    await page.getByLabel('Search the documentation').fill('webhook');
    await page.getByLabel('Search the documentation').press('Enter');
    await page.locator('.found a').first().waitFor();
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

test('a browser signs in once, and no script can read how', () =>
  withServer({ env: { ...PRODUCTION, OPERATOR_TOKEN: TOKEN } }, async ({ url, logged }) => {
    const { page } = await open(`${url}/simulator`);
    assert.is(await page.locator('h1').textContent(), 'For operators');
    await page.getByLabel('Token').fill('another-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'not the OPERATOR_TOKEN' }).waitFor();
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('h1', { hasText: 'Phones' }).waitFor();
    await page.goto(`${url}/chat`);
    await page.getByText('You are did:key:').waitFor();
    assert.is(await page.evaluate('document.cookie'), '');
    assert.not.match(JSON.stringify(logged), TOKEN);
    for (const { name, value } of await page.context().cookies()) assert.not.match(JSON.stringify(logged), value, name);
  }));

test('a browser signs out by a button of any page, and is asked for a token again', () =>
  withServer({ env: { ...PRODUCTION, OPERATOR_TOKEN: TOKEN } }, async ({ url }) => {
    const { page } = await open(`${url}/inspector`);
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('h1', { hasText: 'Inspector' }).waitFor();
    for (const path of ['/inspector', '/simulator', '/chat', '/studio', '/']) {
      await page.goto(url + path);
      assert.is(await page.getByRole('button', { name: 'Sign out' }).count(), 1, path);
    }
    const cookies = async () => (await page.context().cookies()).map(({ name }) => name);
    const before = await cookies();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Twinline is running' }).waitFor();
    assert.equal([before.length - (await cookies()).length, await cookies()], [1, ['twinline-chat']]);
    await page.goto(`${url}/inspector`);
    assert.is(await page.locator('h1').textContent(), 'For operators');
  }));

test.run();
