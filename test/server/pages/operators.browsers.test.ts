// How operators sign in and out in a browser.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { browser } from '../support/browser.ts';
import { withServer } from '../support/serve.ts';
import { PRODUCTION, TOKEN } from './production.ts';

const test = suite('operators in a browser');
const open = browser(test);

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
