// Whole flows by hand: one begins from the gallery, is drafted, published with its difference in sight, dialled, renamed, deleted and
// restored; a draft is dialled by a link on a phone's browser without any right.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertQuiet, assertReadable } from '../pages/clean.ts';
import { browser } from '../support/browser.ts';
import { DIAL, withServer } from '../support/serve.ts';
import { part, paste, text } from './hands.ts';

const test = suite('flows by hand');
const open = browser(test);
const folder = mkdtempSync(join(tmpdir(), 'twinline-hands-'));
test.after(() => rmSync(folder, { recursive: true }));
const env = { MENUS_DIR: folder };

const notice = (page: Page, words: string | RegExp) => page.locator('#notice', { hasText: words }).waitFor();
const row = (page: Page, flow: string) => page.locator(`#flow-rows [data-flow="${flow}"]`);
const told = (page: Page, words: string) => page.locator('#flows-notice', { hasText: words }).waitFor();

test('a flow is begun from the gallery, drafted, published, dialled, renamed, deleted and restored', () =>
  withServer({ env }, (server) =>
    withServer({ env }, async (other) => {
      const seen = await open(`${server.url}/studio`);
      const { page } = seen;
      await page.locator('#new-flow').waitFor();
      await page.locator('#new-flow label', { hasText: 'wallet: ' }).click();
      await page.locator('#template[data-shown="wallet"] svg').waitFor();
      assert.equal(
        (await page.locator('#template .screen').allInnerTexts()).map((words) => words.split('\n')[0]),
        ['Welcome to your wallet', 'Enter your PIN:', 'Wanjiku Otieno'],
      );
      await assertReadable(page);
      await page.locator('#new-flow label', { hasText: 'menu: ' }).click();
      await page.locator('#template[data-shown="menu"]').waitFor();
      await page.locator('#create').click();
      await notice(page, 'The flow was created');
      await page.locator('#state', { hasText: /^Saved/ }).waitFor();

      // Save serves at once here; a draft is kept apart, and so are the saves that follow.
      const first = await text(page);
      await paste(page, first.replace('"Welcome"', '"A draft"'));
      await page.locator('#save-draft').click();
      await notice(page, 'Saved as a draft');
      assert.equal(
        readdirSync(folder).filter((name) => name.includes('draft')),
        ['main.draft-tests.json', 'main.draft.json'],
      );
      assert.match(await server.ussd(DIAL), 'Welcome');
      await page.locator('#publish').click();
      await page.locator('#publish-draft #publish-flow-diff .cm-deletedChunk', { hasText: 'Welcome' }).waitFor();
      assert.match((await page.locator('#publish-who').textContent())!, /saved by loopback/);
      await assertReadable(page);
      await page.locator('#publish-do').click();
      await page.locator('#publish-reasons', { hasText: 'The test “about us” fails' }).waitFor();
      await page.locator('#publish-draft .cancel').click();
      await page.locator('#show-tests').click();
      await paste(page, (await text(page)).replace('Welcome', 'A draft'));
      await page.locator('#publish').click();
      await page.locator('#publish-do').click();
      await notice(page, 'Published');
      await page.locator('#publish').waitFor({ state: 'hidden' });
      assert.match(readFileSync(join(folder, 'main.flow.json'), 'utf8'), '"A draft"');
      for (const at of [server, other]) {
        await at.refresh();
        assert.match(await at.ussd({ ...DIAL, sessionId: 's2' }), 'A draft');
      }
      await part(page, 'history');
      await page.locator('#versions button', { hasText: '· published · loopback' }).first().waitFor();
      await page.locator('#versions button').last().click();
      await page.locator('#restore').click();
      await page.locator('#state', { hasText: 'Not saved' }).waitFor();
      assert.is(await text(page), first, 'an earlier version is in the editor');
      await page.locator('#save').click();
      await notice(page, 'and served');
      assert.match(await server.ussd({ ...DIAL, sessionId: 's3' }), 'Welcome');

      await page.locator('#begin').click();
      await page.locator('#new-name').fill('shop');
      await page.locator('#create').click();
      await notice(page, '“Flows …” changes that');
      await page.locator('#manage').click();
      await assertReadable(page);
      await row(page, 'shop').getByRole('button', { name: 'Dial this one' }).click();
      await told(page, 'A dial starts "shop"');
      await row(page, 'shop').getByRole('button', { name: 'Rename …' }).click();
      await page.getByLabel('New name').fill('bazaar');
      await page.getByLabel('New name').press('Enter');
      await told(page, 'Renamed to "bazaar"');
      assert.is(await page.locator('#flows').inputValue(), 'bazaar', 'the open flow goes with its name');
      assert.is(readFileSync(join(folder, 'dialled.json'), 'utf8'), '{"flow":"bazaar"}\n');
      await row(page, 'bazaar').getByRole('button', { name: 'Delete …' }).click();
      await row(page, 'bazaar').getByRole('button', { name: 'Delete bazaar' }).click();
      await told(page, 'a dial starts it');
      await row(page, 'main').getByRole('button', { name: 'Delete …' }).click();
      await row(page, 'main').getByRole('button', { name: 'Delete main' }).click();
      await told(page, '"main" was deleted');
      assert.not.ok(readdirSync(folder).includes('main.flow.json'));
      await page.locator('#deleted-rows li', { hasText: 'main · deleted by loopback' }).getByRole('button').click();
      await told(page, '"main" is there again');
      await row(page, 'main').waitFor();
      assert.match(readFileSync(join(folder, 'main.flow.json'), 'utf8'), '"Welcome"');
      await page.locator('#all-flows .cancel').click();
      // What is refused is an answer that browsers call a complaint.
      assertQuiet({ ...seen, complaints: seen.complaints.filter((words) => !/40[49]|422/.test(words)) });
    }),
  ));

test('a link to a preview is a phone without a studio, on a narrow screen too', () =>
  withServer({}, async (server) => {
    const { page } = await open(`${server.url}/studio#main`);
    await page.locator('#state', { hasText: /^Saved/ }).waitFor();
    await paste(page, (await text(page)).replace('Welcome to Twinline', 'Not saved'));
    await part(page, 'phone');
    await page.locator('#preview-link').click();
    const link = (await page.locator('#preview-made a').getAttribute('href'))!;
    for (const look of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ])
      for (const colorScheme of ['light', 'dark'] as const) {
        const seen = await open(link, { viewport: look, colorScheme });
        await seen.page.locator('#device .screen', { hasText: 'Not saved' }).waitFor();
        assert.match((await seen.page.locator('#about').textContent())!, /^A draft as it was on .* This link ends on /);
        await assertReadable(seen.page);
        await seen.page.locator('#device .answer input').fill('1');
        await seen.page.keyboard.press('Enter');
        await seen.page.locator('#device .screen', { hasText: 'What Twinline does' }).waitFor();
        assert.is(await seen.page.locator('nav, a').count(), 0, 'it leads nowhere else');
        assertQuiet(seen);
      }
    const wrong = await open(link.replace(/.$/, '-'));
    await wrong.page.locator('#about', { hasText: 'This is no link to a preview' }).waitFor();
  }));

test.run();
