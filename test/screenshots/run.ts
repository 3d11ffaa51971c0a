// `npm run screenshots`: every page that people look at, as it looks with something in it, wide and narrow, light and dark.
// A word selects: `npm run screenshots -- inspector`. They go to dist/screenshots.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { didOf, keyOf, type Place, place } from '../server/domain/place.ts';
import { handset } from '../server/pages/handset.ts';
import { browser, type Open } from '../server/support/browser.ts';
import { DIAL } from '../server/support/serve.ts';
import { steps } from './steps.ts';

const FOLDER = join(process.cwd(), 'dist/screenshots');
const LOOKS: readonly BrowserContextOptions[] = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ viewport: { width, height: 900 }, colorScheme })),
);
const VOTERS = ['ann', 'bob', 'cid'] as const;

const RULES = {
  threshold: { kind: 'percent', value: '2/3' },
  quorum: '0.5',
  votingPeriodSeconds: 259_200,
  allowRevoting: true,
  voters: VOTERS.map((name, at) => ({ did: didOf(name), power: String(3 - at) })),
};

interface Ground {
  readonly place: Place;
  readonly open: Open;
}
/** Opens a page and waits until it looks as it shall. */
type Scene = (ground: Ground, look: BrowserContextOptions) => Promise<Page>;

let callers = 0;

const SCENES: { readonly [name: string]: Scene } = {
  async inspector({ place, open }, look) {
    const { url, ussd } = place.server();
    const caller = { ...DIAL, sessionId: `caller-${++callers}`, phoneNumber: `+26097123${1000 + callers}` };
    const { page } = await open(`${url}/inspector#session=${caller.sessionId}`, look);
    await page.waitForSelector('#state .dot.live');
    for (const text of ['', '1', '1*1', '1*1*0', '1*1*0*0', '1*1*0*0*2']) await ussd({ ...caller, text });
    await page.waitForSelector('svg.drawing .state.active[data-state="accountMenu"]');
    return page;
  },
  async simulator({ place, open }, look) {
    const { page } = await open(`${place.server().url}/simulator`, look);
    const phone = handset(page);
    await phone.press('Dial');
    await phone.shows('Welcome to Twinline');
    await phone.say('1');
    await phone.shows('Know more');
    return page;
  },
  async tally({ place, open }, look) {
    const { did } = await place.domain({ metadata: { name: 'Clean stoves of Mukuni' } });
    const { id } = await place.proposal(did);
    const votes = { ann: ['yes', 'Both visits went well.'], bob: ['no', 'Two meters are missing.'] } as const;
    for (const [name, [vote, rationale]] of Object.entries(votes))
      await place.ask(name as 'ann', `POST /v1/proposals/${id}/votes`, { vote, rationale });
    const { url } = (await place.ask('nobody', `GET /v1/proposals/${id}/page-link`)).json() as { url: string };
    return (await open(new URL(url, place.server().url).href, look)).page;
  },
  async chat({ place, open }, look) {
    const { page } = await open(`${place.server().url}/chat`, look);
    for (const words of ['Hello', '2']) {
      await page.getByLabel('Your message', { exact: true }).fill(words);
      await page.getByLabel('Your message', { exact: true }).press('Enter');
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    }
    return page;
  },
  docs: async ({ place, open }, look) => {
    const { page } = await open(`${place.server().url}/docs`, look);
    await page.waitForSelector('.opblock-tag');
    return page;
  },
  guide: async ({ place, open }, look) => (await open(`${place.server().url}/docs/guides/first-menu`, look)).page,
  ...Object.fromEntries(
    ['flow-format', 'expressions', 'services', 'test-files'].map((name): [string, Scene] => [
      name,
      async ({ place, open }, look) => (await open(`${place.server().url}/docs/${name}`, look)).page,
    ]),
  ),
  registry: async ({ place, open }, look) => {
    const { did } = await place.domain({ metadata: { name: 'Clean stoves of Mukuni' }, properties: { metricTwo: 12 } });
    const { page } = await open(`${place.server().url}/registry#/twin/${encodeURIComponent(did)}`, look);
    await page.getByLabel('API key').fill(keyOf('rep'));
    await page.getByRole('button', { name: 'Open' }).click();
    await page.waitForSelector('.drawing-box svg');
    return page;
  },
  settings: async ({ place, open }, look) => (await open(`${place.server().url}/settings`, look)).page,
  home: async ({ place, open }, look) => (await open(`${place.server().url}/`, look)).page,
  search: async ({ place, open }, look) => (await open(`${place.server().url}/docs/search?q=private`, look)).page,
  missing: async ({ place, open }, look) => (await open(`${place.server().url}/nothing`, look)).page,
  errors: async ({ place, open }, look) => (await open(`${place.server().url}/docs/errors`, look)).page,
};

const words = process.argv.slice(2);
const strange = words.find((word) => !(word in SCENES));
if (strange !== undefined) {
  console.error(`There is no page "${strange}". There are: ${Object.keys(SCENES).join(', ')}.`);
  process.exit(2);
}
const chosen = Object.entries(SCENES).filter(([name]) => !words.length || words.includes(name));
const whole = steps();
const ground: Ground = { place: place(whole, { rules: RULES }), open: browser(whole) };
mkdirSync(FOLDER, { recursive: true });
await whole.begin();
try {
  for (const [name, scene] of chosen)
    for (const look of LOOKS) {
      const page = await scene(ground, look);
      const path = join(FOLDER, `${name}-${look.viewport!.width}-${look.colorScheme}.png`);
      await page.screenshot({ path });
      await page.context().close();
      console.log(path);
    }
} finally {
  await whole.end();
}
