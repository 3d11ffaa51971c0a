// The tools of an author beside the studio's main way: private values behind a click that is audited, edits that are not served told on
// every page, and a flow of 1,000 screens that is drawn while one types.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { browser } from '../support/browser.ts';
import { DIAL, sharedServer } from '../support/serve.ts';
import { hold } from './hands.ts';

const test = suite('the tools of an author');
const open = browser(test);
const MENUS = mkdtempSync(join(tmpdir(), 'twinline-tools-'));
const CARD = '884213771';
const SCREENS = 1_000;

const option = (to: string) => ({ id: to, text: `To ${to}`, to });
const CLINIC = {
  flow: 'clinic',
  version: 1,
  start: 'card',
  vars: { card: { type: 'string', max: 9, private: true, sample: '204117386' } },
  screens: {
    card: { type: 'input', text: 'Your card?', accept: { digits: 9 }, save: 'card', to: 'menu' },
    menu: { type: 'menu', text: 'Card {{card|mask}}', options: [option('hours'), option('bye')] },
    hours: { type: 'end', text: '8 to 16' },
    bye: { type: 'end', text: 'Goodbye' },
  },
};
const BIG = {
  flow: 'big',
  version: 1,
  start: 's0',
  vars: { answer: { type: 'string', max: 20, default: '' } },
  screens: {
    ...Object.fromEntries(
      Array.from({ length: SCREENS }, (_, at) => [
        `s${at}`,
        { type: 'input', text: `Question ${at}?`, save: 'answer', to: at < SCREENS - 1 ? `s${at + 1}` : 'bye' },
      ]),
    ),
    bye: { type: 'end', text: 'Bye {{answer}}' },
  },
};

cpSync('menus', MENUS, { recursive: true });
for (const flow of [CLINIC, BIG]) writeFileSync(join(MENUS, `${flow.flow}.flow.json`), JSON.stringify(flow, null, 2));
const server = sharedServer(test, { env: { MENUS_DIR: MENUS, USSD_FLOW: 'clinic' } });
test.after(() => rmSync(MENUS, { recursive: true }));

const _active = (page: Page) => page.evaluate<string | null>(`document.activeElement.getAttribute('data-state')`);
const _line = async (page: Page) => (await page.locator('#editor .cm-activeLine').allTextContents()).join();

test('a private value is masked until an operator clicks, and the audit log says who was shown it', async () => {
  const phone = { ...DIAL, sessionId: 'private-1' };
  await server().ussd(phone);
  assert.match(await server().ussd({ ...phone, text: CARD }), 'Card ****3771');
  const { page } = await open(`${server().url}/inspector#session=private-1`);
  await page.waitForSelector('svg.drawing .state.active[data-state="menu"]');
  assert.not.match(await page.content(), CARD);
  const audited = () => server().logged.filter(({ audit }) => audit === 'session.private');
  assert.is(audited().length, 0);
  await page.locator('#reveal').click();
  await page.locator('#context', { hasText: CARD }).waitFor();
  await page.getByText('The audit log says that you were shown them.').waitFor();
  assert.is(audited().length, 1);
  assert.not.match(JSON.stringify(audited()), CARD, 'the log says that, and not what');
});

test('an address that is changed in an open inspector or studio selects what it names', async () => {
  for (const [sessionId, text] of [
    ['hash-1', ''],
    ['hash-2', CARD],
  ] as const) {
    await server().ussd({ ...DIAL, sessionId });
    if (text) await server().ussd({ ...DIAL, sessionId, text });
  }
  const { page } = await open(`${server().url}/inspector#session=hash-1`);
  await page.waitForSelector('svg.drawing .state.active[data-state="card"]');
  await page.evaluate("location.hash = '#session=hash-2'");
  await page.waitForSelector('svg.drawing .state.active[data-state="menu"]');
  await page.goto(`${server().url}/studio#clinic`);
  await page.locator('#file', { hasText: 'clinic.flow.json' }).waitFor();
  await page.evaluate("location.hash = '#wallet'");
  await page.locator('#file', { hasText: 'wallet.flow.json' }).waitFor();
  assert.match((await page.locator('link[rel="icon"]').getAttribute('href'))!, /^data:image\/svg/);
});

test('an edit that is not served is told on the simulator, the inspector and the studio, until it is mended', async () => {
  const file = join(MENUS, 'clinic.flow.json');
  const right = readFileSync(file, 'utf8');
  const pages = await Promise.all(
    ['/simulator', '/inspector', '/studio'].map(async (path) => (await open(server().url + path)).page),
  );
  writeFileSync(file, right.replace('"to": "menu"', '"to": "menus"'));
  for (const page of pages) {
    await page.locator('#refused').getByText('An edit is not served').waitFor();
    await page.locator('#refused').getByText('"menus"').waitFor();
  }
  assert.match(await server().ussd({ ...DIAL, sessionId: 'refused-1' }), 'Your card?');
  writeFileSync(file, right);
  for (const page of pages) await page.locator('#refused').waitFor({ state: 'hidden' });
});

test('while a flow of 1,000 screens is drawn, that is said, and what one types stands in the text', async () => {
  const { page } = await open(`${server().url}/studio`);
  await page.locator('#picture .state').first().waitFor();
  const release = await hold(page, '**/studio/drawing');
  await page.evaluate(`location.hash = '#big'`);
  await page.reload();
  await page.locator('#drawn', { hasText: 'Drawing …' }).waitFor();
  await page.locator('#editor .cm-content').press('Control+Home');
  await page.keyboard.press('Enter');
  await page.locator('#state', { hasText: 'Not saved' }).waitFor();
  assert.is(await page.locator('#drawn').textContent(), 'Drawing …', 'it is still being drawn');
  release();
  await page.locator('#drawn', { hasText: /^\d+ of 1001 states/ }).waitFor();
});

test.run();
