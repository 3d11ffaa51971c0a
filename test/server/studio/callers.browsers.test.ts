// What callers do, on the drawing of the studio: what phones did is what it says, on the ways and screens where they did it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertQuiet, assertReadable } from '../pages/clean.ts';
import { browser } from '../support/browser.ts';
import { DIAL, sharedServer } from '../support/serve.ts';

const test = suite('callers on the drawing');
const open = browser(test);
const MENUS = mkdtempSync(join(tmpdir(), 'twinline-callers-'));
const SHOP = {
  flow: 'shop',
  version: 1,
  start: 'welcome',
  vars: { sacks: { type: 'string', max: 1, default: '1' } },
  screens: {
    welcome: {
      type: 'menu',
      text: 'Welcome',
      options: [
        { id: 'buy', text: 'Buy', to: 'amount' },
        { id: 'hours', text: 'Hours', to: 'opening' },
      ],
    },
    amount: { type: 'input', text: 'How many?', accept: { digits: 1 }, save: 'sacks', to: 'size' },
    size: { type: 'branch', branch: [{ when: 'sacks == "8"', to: 'large' }, { to: 'bye' }] },
    large: { type: 'end', text: 'A lorry comes.' },
    bye: { type: 'end', text: 'Come by.' },
    opening: { type: 'end', text: '8 to 16' },
  },
};
writeFileSync(join(MENUS, 'shop.flow.json'), JSON.stringify(SHOP, null, 2));
const server = sharedServer(test, { env: { MENUS_DIR: MENUS, USSD_FLOW: 'shop', AGENT_FLOW: 'shop' } });
test.after(() => rmSync(MENUS, { recursive: true }));

const marks = async (page: Page, names: string) =>
  (await page.locator(`.callers-mark${names} text`).allTextContents()).sort();
const sentence = (page: Page) => page.locator('#callers-words');

test('ways have the turns of phones, also through a branch, and the screen where most hang up stands out', async () => {
  const { url, ussd } = server();
  const seen = await open(`${url}/studio#shop`);
  const { page } = seen;
  await page.getByLabel('Callers').selectOption('7 days');
  await sentence(page).getByText('Nobody dialled this flow in this time.').waitFor();
  assert.equal(await marks(page, ''), []);
  // Of eleven callers, six choose "Buy": one asks for one sack, one for eight, four hang up. Two ask for the hours.
  for (let nth = 0; nth < 11; nth++) {
    const phone = { ...DIAL, sessionId: `shop-${nth}` };
    await ussd(phone);
    if (nth < 6) await ussd({ ...phone, text: '1' });
    if (nth < 2) await ussd({ ...phone, text: nth === 0 ? '1*1' : '1*8' });
    if (nth === 6 || nth === 7) await ussd({ ...phone, text: '2' });
  }
  for (const look of [
    { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
    { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  ] as const) {
    const visit = await open(`${url}/studio#shop`, look);
    await visit.page.getByLabel('Callers').selectOption('24 hours');
    await sentence(visit.page)
      .getByText('11 sessions began here. Most hang up at amount: 4 of 6.', { exact: true })
      .waitFor();
    assert.equal(await marks(visit.page, '.turns'), ['1', '1', '2', '2', '6']);
    assert.equal(await marks(visit.page, '.worst'), ['−4 (67 %)']);
    assert.equal(await marks(visit.page, '.lost'), ['−3 (27 %)', '−4 (67 %)']);
    assert.is(await visit.page.locator('.edge.heat-5').count(), 1);
    await visit.page.locator('#callers-table summary').click();
    assert.match(
      (await visit.page.locator('#callers-table tbody tr').first().textContent())!,
      /^amount64 \(67 %\)01 s$/,
    );
    const [csv] = await Promise.all([
      visit.page.waitForEvent('download'),
      visit.page.getByRole('link', { name: 'CSV' }).click(),
    ]);
    assert.is(csv.suggestedFilename(), 'shop-callers.csv');
    await assertReadable(visit.page);
    await visit.page.getByLabel('Callers').selectOption('not shown');
    await visit.page.locator('.callers-mark').first().waitFor({ state: 'detached' });
    assertQuiet(visit);
  }
  assertQuiet(seen);
});

test.run();
