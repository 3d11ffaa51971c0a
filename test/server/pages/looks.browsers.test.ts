// Every page in all four looks: wide and narrow, light and dark, nothing that axe-core calls serious, nothing that sticks out, and no more
// than three files and 100 kB to load.
// Each page is opened once, with something in it.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { REFERENCES } from '../../../server/docs/docs-page.ts';
import { isWhole } from '../../support/size.ts';
import { keyOf, path, place } from '../domain/place.ts';
import { browser, type Visit } from '../support/browser.ts';
import { DIAL, type Served, testRoutes, withServer } from '../support/serve.ts';
import { assertLight, assertQuiet, assertReadable } from './clean.ts';
import { handset } from './handset.ts';

const test = suite('looks');
const menus = mkdtempSync(join(tmpdir(), 'twinline-looks-'));
cpSync('menus', menus, { recursive: true });
test.after(() => rmSync(menus, { recursive: true }));

const broken = testRoutes({
  'GET /broken': () => {
    throw new Error('of a test');
  },
});
const here = place(test, { env: { MENUS_DIR: menus }, routes: [broken] });
const open = browser(test);

const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };
/** Two of them every day: both widths and both colours are among them. */
const LOOKS = [
  { size: WIDE, colorScheme: 'light' },
  { size: NARROW, colorScheme: 'dark' },
  ...(isWhole
    ? ([
        { size: WIDE, colorScheme: 'dark' },
        { size: NARROW, colorScheme: 'light' },
      ] as const)
    : []),
] as const;

/** Looks at a page that is open. */
async function lookAt({ page }: Visit, name: string): Promise<void> {
  for (const { size, colorScheme } of LOOKS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await assertReadable(page).catch((error: Error) => {
      error.message = `${name}, ${size.width} px, ${colorScheme}: ${error.message}`;
      throw error;
    });
  }
}

type Scene = (at: (path: string) => Promise<Visit>) => Promise<Visit>;

const plain =
  (path: string): Scene =>
  (at) =>
    at(path);

async function enter(page: Page, name: 'owner' | 'rep' | 'ann'): Promise<void> {
  await page.getByLabel('API key').fill(keyOf(name));
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText(`did:ixo:${name} ·`).waitFor();
}

async function openProposal(): Promise<{ did: string; id: string }> {
  const { did } = await here.domain({ metadata: { name: 'Stoves of Mukuni' }, properties: { metricTwo: 12 } });
  const { id } = await here.proposal(did);
  await here.ask('ann', `POST /v1/proposals/${id}/votes`, { vote: 'yes', rationale: 'Seen.' });
  return { did, id };
}

const SCENES: { readonly [name: string]: Scene } = {
  home: plain('/'),
  settings: plain('/settings'),
  guides: plain('/docs/guides'),
  'a guide': plain('/docs/guides/operators'),
  ...Object.fromEntries(Object.values(REFERENCES).map(({ path }) => [path, plain(path)])),
  errors: plain('/docs/errors'),
  search: plain('/docs/search?q=private'),
  async '/docs'(at) {
    const seen = await at('/docs');
    const { page } = seen;
    for (const [tag, id] of [
      ['USSD', 'dial'],
      ['Domains and entities', 'changeDomain'],
    ] as const) {
      const operation = page.locator(`[id="operations-${tag.replaceAll(' ', '_')}-${id}"]`);
      await page.click(`[data-tag="${tag}"]`);
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.try-out__btn').click();
    }
    await page.click('#operations-USSD-dial .execute');
    await page.waitForSelector('#operations-USSD-dial .live-responses-table');
    return seen;
  },
  async phones(at) {
    const seen = await at('/simulator');
    const phone = handset(seen.page);
    await phone.press('Dial');
    await phone.shows('Welcome to Twinline');
    await phone.say('1');
    await phone.shows('Know more');
    return seen;
  },
  async inspector(at) {
    const seen = await at('/inspector#session=looked-at');
    await seen.page.waitForSelector('#state .dot.live');
    for (const text of ['', '1']) await here.server().ussd({ ...DIAL, sessionId: 'looked-at', text });
    await seen.page.waitForSelector('svg.drawing .state.active[data-state="information"]');
    return seen;
  },
  async chat(at) {
    const seen = await at('/chat');
    const message = seen.page.getByLabel('Your message', { exact: true });
    await message.fill('Hello');
    await message.press('Enter');
    await seen.page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    return seen;
  },
  async studio(at) {
    const seen = await at('/studio#main');
    await seen.page.locator('#drawing svg [data-state]').first().waitFor();
    return seen;
  },
  'registry, its door': plain('/registry'),
  async registry(at) {
    await here.domain({ metadata: { name: 'Stoves of Mukuni' } });
    const seen = await at('/registry');
    await enter(seen.page, 'owner');
    await seen.page.locator('.twins li').first().waitFor();
    return seen;
  },
  async 'a new twin'(at) {
    const seen = await at('/registry#/new');
    await enter(seen.page, 'owner');
    await seen.page.getByLabel('Protocol').waitFor();
    return seen;
  },
  async twin(at) {
    const { did } = await openProposal();
    const seen = await at(`/registry#/twin/${encodeURIComponent(did)}`);
    await enter(seen.page, 'rep');
    await seen.page.locator('.drawing-box svg [data-state]').first().waitFor();
    await seen.page.locator('.history summary').first().click();
    return seen;
  },
  async 'open proposals'(at) {
    await openProposal();
    const seen = await at('/registry#/proposals');
    await enter(seen.page, 'ann');
    await seen.page.locator('.twins li').first().waitFor();
    return seen;
  },
  async 'a deactivated twin'(at) {
    const { did } = await here.domain({ metadata: { name: 'Mill of Kabwe' } });
    await here.ask('owner', `DELETE ${path(did)}`);
    const seen = await at(`/registry#/twin/${encodeURIComponent(did)}`);
    await enter(seen.page, 'ann');
    await seen.page.locator('.history summary').first().click();
    await seen.page.locator('.was').first().waitFor();
    return seen;
  },
  async 'a proposal in the registry'(at) {
    const { id } = await openProposal();
    const seen = await at(`/registry#/proposal/${id}`);
    await enter(seen.page, 'ann');
    await seen.page.getByRole('heading', { name: /What is voted on/ }).waitFor();
    return seen;
  },
  async 'the page of a proposal'(at) {
    const { id } = await openProposal();
    const link = (await here.ask('nobody', `GET /v1/proposals/${id}/page-link`)).json() as { url: string };
    const { pathname, search } = new URL(link.url, here.server().url);
    return at(pathname + search);
  },
  'no such page': plain('/nothing'),
  'an error': plain('/broken'),
};

const FAILING = ['no such page', 'an error', 'a deactivated twin'];

for (const [name, scene] of Object.entries(SCENES))
  test(`${name} can be read in all four looks`, async () => {
    const seen = await scene((path) => open(here.server().url + path));
    await assertLight(seen.page);
    await lookAt(seen, name);
    // A browser complains of the status of an error by itself.
    if (!FAILING.includes(name)) assertQuiet(seen);
    await seen.page.context().close();
  });

test('too many requests and signing in can be read in all four looks', () =>
  withServer({ env: { RATE_LIMIT_MAX: '1', OPERATOR_TOKEN: 'a-long-token-of-operators' } }, async ({ url }: Served) => {
    for (const [path, title] of [
      ['/inspector', 'For operators'],
      ['/docs/guides', 'Too many requests'],
    ] as const) {
      const seen = await open(url + path);
      assert.is(await seen.page.locator('h1').textContent(), title);
      await lookAt(seen, title);
      await seen.page.context().close();
    }
  }));

test.run();
