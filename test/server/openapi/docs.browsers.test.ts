// The documentation in a browser: Swagger UI from our own files only, on any screen, and requests that can be tried.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { browser } from '../support/browser.ts';
import { sharedServer } from '../support/serve.ts';

const shown = suite('docs in a browser');
const at = sharedServer(shown, {});
const open = browser(shown);

shown('/docs shows every door and lets its example of a dial be tried, from our own files only', async () => {
  const { page, complaints, strangers } = await open(`${at().url}/docs`, { colorScheme: 'dark' });
  await page.waitForSelector('[data-tag="USSD"]');
  const { tags } = (await at().ask('/openapi.json')).json() as { tags: { name: string }[] };
  assert.is(await page.locator('.opblock-tag').count(), tags.length);
  const dial = '#operations-USSD-dial';
  await page.click('[data-tag="USSD"]');
  for (const part of ['.opblock-summary-control', '.try-out__btn', '.execute']) await page.click(`${dial} ${part}`);
  await page.waitForSelector(`${dial} .live-responses-table`);
  assert.match((await page.locator(`${dial} .live-responses-table`).textContent()) ?? '', /CON Welcome to Twinline/);
  assert.equal([complaints, strangers], [[], []]);
});

shown('on a phone, /docs gives descriptions the width of the screen, and nothing leads out of it', async () => {
  const viewport = { width: 390, height: 844 };
  const { page, complaints } = await open(`${at().url}/docs`, { viewport });
  await page.waitForSelector('[data-tag="Health"]');
  const widths = await page
    .locator('.opblock-tag small')
    .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().width));
  assert.ok(widths.length > 10);
  assert.ok(Math.min(...widths) > viewport.width * 0.7, `${widths}`);
  await page.click('[data-tag="USSD"]');
  await page.click('#operations-USSD-dial .opblock-summary-control');
  await page.waitForSelector('#operations-USSD-dial .responses-table');
  assert.is(await page.evaluate('document.documentElement.scrollWidth'), viewport.width);
  assert.equal(complaints, []);
});

shown('/docs/errors shows the entry that a problem document names', async () => {
  const { page, complaints, strangers } = await open(`${at().url}/docs/errors#gone`);
  assert.ok(await page.locator('#gone').isVisible());
  const top = await page.locator('#gone').evaluate((element) => element.getBoundingClientRect().top);
  assert.ok(top >= 0 && top < 200, `${top}`);
  assert.equal([complaints, strangers], [[], []]);
});

shown.run();
