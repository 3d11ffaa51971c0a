// Every page can be read, wide and narrow, light and dark: nothing that axe-core calls serious, and nothing that sticks out.
// Each page is opened once, with something in it, in one of the four looks by turns.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { choosePairs } from '../../support/size.ts';
import { place } from '../domain/place.ts';
import { browser } from '../support/browser.ts';
import { testRoutes, withServer } from '../support/serve.ts';
import { assertQuiet, assertReadable } from './clean.ts';
import { SCENES } from './scenes.ts';

const test = suite('looks');
const menus = mkdtempSync(join(tmpdir(), 'twinline-looks-'));
cpSync('menus', menus, { recursive: true });

const broken = testRoutes({
  'GET /broken': () => {
    throw new Error('of a test');
  },
});
const here = place(test, { env: { MENUS_DIR: menus }, routes: [broken] });
// After the server has closed: its watcher would look for the folder in the one above.
test.after(() => rmSync(menus, { recursive: true }));
const open = browser(test);

const [WIDE, NARROW] = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];
const LOOKS = [
  { viewport: WIDE, colorScheme: 'light' },
  { viewport: NARROW, colorScheme: 'dark' },
  { viewport: WIDE, colorScheme: 'dark' },
  { viewport: NARROW, colorScheme: 'light' },
] as const;

const ALL: typeof SCENES = { ...SCENES, 'an error': (at) => at('/broken') };
const FAILING = ['no such page', 'an error', 'a deactivated twin'];

for (const [[name, scene], look] of choosePairs(Object.entries(ALL), LOOKS))
  test(`${name} can be read: ${look.viewport.width} px, ${look.colorScheme}`, async () => {
    const seen = await scene((path) => open(here.server().url + path, look), here);
    await assertReadable(seen.page);
    // A browser complains of the status of an error by itself.
    if (!FAILING.includes(name)) assertQuiet(seen);
  });

test('too many requests and signing in can be read', () =>
  withServer({ env: { RATE_LIMIT_MAX: '1', OPERATOR_TOKEN: 'a-long-token-of-operators' } }, async ({ url }) => {
    for (const [path, title, look] of [
      ['/inspector', 'For operators', LOOKS[1]],
      ['/docs/guides', 'Too many requests', LOOKS[0]],
    ] as const) {
      const { page } = await open(url + path, look);
      assert.is(await page.locator('h1').textContent(), title);
      await assertReadable(page);
    }
  }));

test('on a phone the header is one line, and tables are lists: nothing is beyond the window', async () => {
  const { page } = await open(`${here.server().url}/docs/guides/operators`, { viewport: NARROW });
  const height = async (selector: string) => (await page.locator(selector).boundingBox())!.height;
  assert.ok((await height('header.site')) < 2 * (await height('.find')));
  const rights = await page.$$eval('.guide td', (cells) => cells.map((cell) => cell.getBoundingClientRect().right));
  assert.ok(Math.max(...rights) <= NARROW.width);
  const labels = await page.$$eval('.guide td:not(:first-child)', (cells) =>
    cells.map((cell) => cell.getAttribute('data-label')),
  );
  assert.ok(labels.length > 100 && labels.every(Boolean));
});

test('/ and Ctrl+K go to the search, which offers the first results; a page with its own search keeps / for it', async () => {
  const { url } = here.server();
  const { page } = await open(`${url}/docs/guides/menus`);
  const isFocused = (selector: string) => page.$eval(selector, (one) => one.matches(':focus'));
  await page.keyboard.press('/');
  assert.ok(await isFocused('.find input'));
  await page.keyboard.type('test-failed');
  await page.locator('.suggestions a', { hasText: 'test-failed' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/docs\/.*test-failed/);
  await page.goto(`${url}/docs/errors`);
  await page.keyboard.press('/');
  assert.ok(await isFocused('#filter-words'));
  await page.keyboard.type('full disk');
  assert.ok((await page.locator('.key:visible').count()) < (await page.locator('.key').count()));
  await page.keyboard.press('Control+k');
  assert.ok(await isFocused('.find input'));
});

test.run();
