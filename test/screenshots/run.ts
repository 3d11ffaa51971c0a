// `npm run screenshots`: every page that people look at, as it looks with something in it, wide and narrow, light and dark.
// Words select: `npm run screenshots -- inspector`. They go to dist/screenshots.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { place } from '../server/domain/place.ts';
import { SCENES } from '../server/pages/scenes.ts';
import { browser } from '../server/support/browser.ts';
import { steps } from './steps.ts';

const FOLDER = join(process.cwd(), 'dist/screenshots');
const LOOKS = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ viewport: { width, height: 900 }, colorScheme })),
);

const words = process.argv.slice(2);
const strange = words.find((word) => !(word in SCENES));
if (strange !== undefined) {
  console.error(`There is no page "${strange}". There are: ${Object.keys(SCENES).join(', ')}.`);
  process.exit(2);
}
const chosen = Object.entries(SCENES).filter(([name]) => !words.length || words.includes(name));
const whole = steps();
const ground = place(whole);
const open = browser(whole);
mkdirSync(FOLDER, { recursive: true });
await whole.begin();
try {
  for (const [name, scene] of chosen)
    for (const look of LOOKS) {
      const { page } = await scene((path) => open(ground.server().url + path, look), ground);
      const file = [...name.match(/[\w-]+/g)!, look.viewport.width, look.colorScheme].join('-');
      await page.screenshot({ path: join(FOLDER, `${file}.png`) });
      await page.context().close();
      console.log(join(FOLDER, `${file}.png`));
    }
} finally {
  await whole.end();
}
