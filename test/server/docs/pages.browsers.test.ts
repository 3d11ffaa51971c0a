// The pages of the reference in a browser: what is looked for is found, with the keyboard and without a script.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertQuiet } from '../pages/clean.ts';
import { browser } from '../support/browser.ts';
import { sharedServer } from '../support/serve.ts';

const test = suite('reference in a browser');
const at = sharedServer(test, {});
const open = browser(test);

test('words are looked for with the keyboard alone, on this page and on the others', async () => {
  const visit = await open(`${at().url}/docs/expressions`);
  const { page } = visit;
  const entries = () => page.locator('.key:visible h3').allTextContents();
  const all = (await entries()).length;
  await page.keyboard.press('/');
  await page.keyboard.type('Whole Characters');
  assert.equal(await entries(), []);
  assert.is(await page.locator('#filter-found').textContent(), '0 found here');
  await page.keyboard.press('Escape');
  assert.is((await entries()).length, all);
  await page.keyboard.type('decimal places');
  assert.equal(await entries(), ['round(number) or round(number, places)']);
  await page.keyboard.press('Enter');
  assert.is(new URL(page.url()).hash, '#function-round');
  // A browser goes to the part of a page when it draws next, and takes the focus from wherever it is then.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
  await page.keyboard.press('/');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('verifyPin');
  await page.locator('#elsewhere a:visible').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs\/services#account-verifyPin-/);
  assertQuiet(visit);
});

test('a link to what is filtered out shows it', async () => {
  const { page } = await open(`${at().url}/docs/flow-format`);
  await page.locator('#filter-words').fill('luhn');
  assert.not.ok(await page.locator('#flow-start').isVisible());
  await page.evaluate('location.hash = "#flow-start"');
  await page.locator('#flow-start').waitFor();
  assert.is(await page.locator('#filter-words').inputValue(), '');
});

test('without a script everything is there, and no filter that does nothing', async () => {
  const { page } = await open(`${at().url}/docs/services`, { javaScriptEnabled: false });
  assert.not.ok(await page.locator('#filter').isVisible());
  assert.ok(await page.locator('#http-post-with-body').isVisible());
  assert.ok(await page.locator('#contents').isVisible());
});

test.run();
