// Every page that people look at, with something in it: what tests of looks and screenshots open.

import type { Page } from 'playwright-core';
import { REFERENCES } from '../../../server/docs/docs-page.ts';
import { keyOf, type Place, path } from '../domain/place.ts';
import type { Visit } from '../support/browser.ts';
import { DIAL } from '../support/serve.ts';
import { handset } from './handset.ts';

/** Opens a page of the server with `at`, and waits until it looks as it shall. */
export type Scene = (at: (path: string) => Promise<Visit>, place: Place) => Promise<Visit>;

const plain =
  (path: string): Scene =>
  (at) =>
    at(path);

/** A page of the registry, where somebody with a key has waited for a part of it. */
const registry =
  (
    name: 'owner' | 'rep' | 'ann',
    { hash = '', awaits }: { hash?: string; awaits: (page: Page) => Promise<unknown> },
  ): Scene =>
  async (at) => {
    const seen = await at(`/registry${hash}`);
    await seen.page.getByLabel('API key').fill(keyOf(name));
    await seen.page.getByRole('button', { name: 'Open' }).click();
    await seen.page.getByText(`did:ixo:${name} ·`).waitFor();
    await awaits(seen.page);
    return seen;
  };

const first = (selector: string) => (page: Page) => page.locator(selector).first().waitFor();
const clicked = (selector: string, then: string) => async (page: Page) => {
  await page.locator(selector).first().click();
  await first(then)(page);
};

async function openProposal({ domain, proposal, ask }: Place): Promise<{ did: string; id: string }> {
  const { did } = await domain({ metadata: { name: 'Stoves of Mukuni' }, properties: { metricTwo: 12 } });
  const { id } = await proposal(did);
  await ask('ann', `POST /v1/proposals/${id}/votes`, { vote: 'yes', rationale: 'Seen.' });
  return { did, id };
}

let callers = 0;

export const SCENES: { readonly [name: string]: Scene } = {
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
    await phone.whole.locator('.log summary').first().click();
    return seen;
  },
  async inspector(at, { server }) {
    const sessionId = `looked-at-${++callers}`;
    const seen = await at(`/inspector#session=${sessionId}`);
    await seen.page.waitForSelector('#state .dot.live');
    for (const text of ['', '1', '1*1', '1*1*0', '1*1*0*0', '1*1*0*0*2'])
      await server().ussd({ ...DIAL, sessionId, phoneNumber: `+26097123${1000 + callers}`, text });
    await seen.page.waitForSelector('svg.drawing .state.active[data-state="accountMenu"]');
    return seen;
  },
  async chat(at) {
    const seen = await at('/chat');
    const message = seen.page.getByLabel('Your message', { exact: true });
    for (const words of ['Hello', '2']) {
      await message.fill(words);
      await message.press('Enter');
      await seen.page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    }
    return seen;
  },
  async studio(at) {
    const seen = await at('/studio#main');
    await first('#drawing svg [data-state]')(seen.page);
    return seen;
  },
  'registry, its door': plain('/registry'),
  async registry(at, place) {
    await place.domain({ metadata: { name: 'Stoves of Mukuni' } });
    return registry('owner', { awaits: first('.twins li') })(at, place);
  },
  'a new twin': registry('owner', { hash: '#/new', awaits: (page) => page.getByLabel('Protocol').waitFor() }),
  async twin(at, place) {
    const { did } = await openProposal(place);
    const awaits = clicked('.history summary', '.drawing-box svg [data-state]');
    return registry('rep', { hash: `#/twin/${encodeURIComponent(did)}`, awaits })(at, place);
  },
  async 'open proposals'(at, place) {
    await openProposal(place);
    return registry('ann', { hash: '#/proposals', awaits: first('.twins li') })(at, place);
  },
  async 'a deactivated twin'(at, place) {
    const { did } = await place.domain({ metadata: { name: 'Mill of Kabwe' } });
    await place.ask('owner', `DELETE ${path(did)}`);
    const awaits = clicked('.history summary', '.was');
    return registry('ann', { hash: `#/twin/${encodeURIComponent(did)}`, awaits })(at, place);
  },
  async 'a proposal in the registry'(at, place) {
    const { id } = await openProposal(place);
    const awaits = (page: Page) => page.getByRole('heading', { name: /What is voted on/ }).waitFor();
    return registry('ann', { hash: `#/proposal/${id}`, awaits })(at, place);
  },
  async 'the page of a proposal'(at, place) {
    const { id } = await openProposal(place);
    const link = (await place.ask('nobody', `GET /v1/proposals/${id}/page-link`)).json() as { url: string };
    const { pathname, search } = new URL(link.url, place.server().url);
    return at(pathname + search);
  },
  'no such page': plain('/nothing'),
};
