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

test.run();
