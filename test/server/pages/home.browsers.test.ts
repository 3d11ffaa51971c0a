// The home of a server in a browser, and how operators sign in and out.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../../support/process.ts';
import { browser } from '../support/browser.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { sharedServer, withServer } from '../support/serve.ts';

const test = suite('home in a browser');
const open = browser(test);
const _server = sharedServer(test, {});

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
