// The registry in a real browser: a twin is registered, proposed, voted on by three people and verified there, with a key for
// each of them.

import { text as readText } from 'node:stream/consumers';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keyOf, type Name, path, place } from '../domain/place.ts';
import { browser, fromElsewhere, type Visit } from '../support/browser.ts';
import { assertQuiet } from './clean.ts';

const test = suite('registry');
const RULES = { quorum: '0.9', votingPeriodSeconds: 3_600 };
const here = place(test, { rules: RULES });
const open = browser(test);

type As = BrowserContextOptions & { readonly url?: string };

/** The registry as somebody with a key sees it, from a part of it. */
async function as(name: Name, hash = '#/', { url = here.server().url, ...options }: As = {}): Promise<Visit> {
  const seen = await open(`${url}/registry${hash}`, options);
  await seen.page.getByLabel('API key').fill(keyOf(name));
  await seen.page.getByRole('button', { name: 'Open' }).click();
  await seen.page.getByText(`did:ixo:${name} ·`).waitFor();
  return seen;
}

const hashOf = (page: Page) => new URL(page.url()).hash;

test('a twin is registered, proposed, voted on by three people and verified in the browser only', async () => {
  const owner = await as('owner');
  await owner.page.getByRole('link', { name: 'Register a twin' }).click();
  await owner.page.getByLabel('Protocol').selectOption('Clean cooking');
  await owner.page.getByLabel('Name').fill('Stoves of Mukuni');
  await owner.page.getByLabel('metricTwo').fill('many');
  await owner.page.getByRole('button', { name: 'Register' }).click();
  await owner.page.getByRole('alert').filter({ hasText: 'metricTwo: "many" is not a valid number.' }).waitFor();
  await owner.page.getByLabel('metricTwo').fill('12');
  await owner.page.getByRole('button', { name: 'Register' }).click();
  await owner.page.getByRole('heading', { level: 1, name: 'Stoves of Mukuni' }).waitFor();
  assert.is(await owner.page.locator('h1 + .did').count(), 1);
  assert.is(
    await owner.page.getByRole('button', { name: 'Propose to verify' }).count(),
    0,
    'that is for representatives',
  );
  const twin = hashOf(owner.page);
  await owner.page.locator('.drawing-box svg [data-state]').first().waitFor();

  const rep = await as('rep', twin);
  await rep.page.getByRole('button', { name: 'Propose to verify' }).click();
  await rep.page.getByRole('heading', { name: 'What is voted on: revision 1' }).waitFor();
  const proposal = hashOf(rep.page);
  assert.match(proposal, /^#\/proposal\/[0-9a-f]{32}$/);
  assert.match((await rep.page.locator('#registry').textContent())!, /metricTwo: 12/);
  assert.is(await rep.page.getByRole('group', { name: 'Your vote' }).count(), 0, 'and votes are for voters');

  const { url } = here.server();
  for (const [name, choice, server] of [
    ['ann', 'Yes', url],
    ['bob', 'No', url],
    ['cid', 'Yes', fromElsewhere(url)],
  ] as const) {
    const { page } = await as(name, proposal, { url: server });
    await page.getByLabel('Your reason').fill(`${name} has looked at it.`);
    await page.getByRole('button', { name: choice, exact: true }).click();
    await page.getByText(`did:ixo:${name}`, { exact: true }).first().waitFor();
    assert.is(await page.locator('.choice.own').textContent(), choice);
    assert.is(await page.locator('#said').textContent(), `Your vote ${choice} is counted.`);
    assert.is(await page.getByRole('group', { name: 'Your vote' }).count(), 0, 'a ballot is final');
  }
  await rep.page.reload();
  await rep.page.getByRole('link', { name: 'The twin as it is now' }).click();
  await rep.page.locator('header .badge', { hasText: 'Verified' }).waitFor();
  await rep.page.locator('.history summary').first().click();
  assert.match((await rep.page.locator('.history li').first().textContent())!, /verify.*status/);
  await rep.page.locator('.history li').first().getByText('UnderReview').waitFor();
  assert.match((await rep.page.locator('.history li').first().textContent())!, /status.*UnderReview.*→.*Verified/);
  const [credential] = await Promise.all([
    rep.page.waitForEvent('download'),
    rep.page.getByRole('button', { name: 'Card as a credential' }).click(),
  ]);
  assert.match(credential.suggestedFilename(), /\.vc\.json$/);
  for (const seen of [owner, rep]) assertQuiet(seen);
});

test('open proposals are listed and decided by role; a deactivated twin is told as such, with its history', async () => {
  const { did } = await here.domain({ metadata: { name: 'Mill of Kabwe' } });
  const { id } = await here.proposal(did);
  const rep = await as('rep', '#/proposals');
  await rep.page.locator('.twins li', { hasText: did }).getByRole('link', { name: 'To verify Mill of Kabwe' }).click();
  await rep.page.getByRole('heading', { name: /What is voted on/ }).waitFor();
  assert.is(hashOf(rep.page), `#/proposal/${id}`);
  assert.is(await rep.page.getByRole('button', { name: 'Veto' }).count(), 0, 'that is for operators');
  await rep.page.getByRole('button', { name: 'Withdraw' }).click();
  await rep.page.getByRole('button', { name: 'Withdraw' }).waitFor({ state: 'detached' });
  await rep.page.getByRole('link', { name: 'Open proposals' }).click();
  await rep.page.getByRole('heading', { name: 'Open proposals' }).waitFor();
  assert.is(await rep.page.getByRole('link', { name: 'To verify Mill of Kabwe' }).count(), 0);

  assert.is((await here.ask('owner', `DELETE ${path(did)}`)).status, 200);
  const { page } = await as('nobody');
  await page.getByLabel('Status').selectOption('Deactivated');
  await page.getByRole('link', { name: 'Mill of Kabwe' }).click();
  await page.getByText(/This twin was deactivated by did:ixo:owner/).waitFor();
  assert.is(await page.locator('h1').textContent(), 'Mill of Kabwe');
  await page.locator('.history summary').first().click();
  await page.locator('.history li').first().getByText('Deactivated').waitFor();
});

test('a search is in the address and goes back, finds a pasted DID, counts, and is saved as CSV; votes are in the window', async () => {
  const twins = [];
  for (let at = 0; at < 27; at++) twins.push(await here.domain({ metadata: { name: `=Pump ${at} of Chongwe` } }));
  const { page } = await as('rep');
  await page.getByLabel('Name or DID').fill('chongwe');
  await page.keyboard.press('Enter');
  await page.getByText('25 of 27', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByText('27 of 27', { exact: true }).waitFor();
  const search = page.url();
  assert.is(hashOf(page), '#/?words=chongwe');
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  const lines = (await readText(await saved.createReadStream())).split('\r\n');
  assert.is(lines.length, 29);
  assert.ok(
    lines.some((line) => line.includes(`,'=Pump 3 of Chongwe,`)),
    'a spreadsheet runs no name',
  );
  await page.getByRole('link', { name: '=Pump 26 of Chongwe' }).click();
  await page.getByRole('heading', { level: 1, name: '=Pump 26 of Chongwe' }).waitFor();
  assert.is(await page.title(), '=Pump 26 of Chongwe · Registry · Twinline');
  await page.locator('.record time[title*="UTC"]').first().waitFor();
  await page.locator('.drawing-box svg a [data-state]').first().waitFor();
  await page.goBack();
  await page.getByText('25 of 27', { exact: true }).waitFor();
  assert.is(page.url(), search);
  assert.is(await page.getByLabel('Name or DID').inputValue(), 'chongwe');
  await page.getByLabel('Name or DID').fill(twins[5]!.did);
  await page.keyboard.press('Enter');
  await page.getByText('1 of 1', { exact: true }).waitFor();
  await page.getByRole('link', { name: '=Pump 5 of Chongwe' }).waitFor();
  await page.goBack();
  await page.getByText('25 of 27', { exact: true }).waitFor();

  const { id } = await here.proposal(twins[0]!.did);
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const voter = await as('ann', `#/proposal/${id}`, { viewport });
    const group = voter.page.getByRole('group', { name: 'Your vote' });
    await group.waitFor();
    const { y, height } = (await group.boundingBox())!;
    assert.ok(y + height <= viewport.height, `${y + height} of ${viewport.height}`);
  }
});

test('the key stays in the tab, stands in no address, and is forgotten by a button; a wrong one is told', async () => {
  const { page } = await as('ann');
  assert.is(await page.evaluate('localStorage.length'), 0);
  assert.equal(await page.context().cookies(), []);
  assert.not.match(page.url(), keyOf('ann'));
  await page.getByRole('button', { name: 'Forget the key' }).click();
  await page.getByLabel('API key').fill('a-wrong-key-0123456789');
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('alert').filter({ hasText: 'This server does not know the key.' }).waitFor();
  assert.is(await page.evaluate('sessionStorage.length'), 0);
});

const EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script>{{7*7}}';

test('what others wrote is text in every part, and on the page of a proposal, where the time goes on', async () => {
  const { did } = await here.domain({ metadata: { name: EVIL, description: EVIL } });
  const { id } = await here.proposal(did);
  await here.ask('ann', `POST /v1/proposals/${id}/votes`, { vote: 'yes', rationale: EVIL });
  const seen = await as('ann');
  for (const hash of ['#/', `#/twin/${encodeURIComponent(did)}`, `#/proposal/${id}`]) {
    await seen.page.goto(`${here.server().url}/registry${hash}`);
    await seen.page.locator('#registry', { hasText: EVIL }).waitFor();
    assert.is(await seen.page.locator('#registry img, #registry script').count(), 0);
  }
  assertQuiet(seen);

  const link = await here.ask('nobody', `GET /v1/proposals/${id}/page-link?rationales=show`);
  const shown = await open(new URL((link.json() as { url: string }).url, here.server().url).href);
  const { page } = shown;
  assert.is(await page.locator('h1').textContent(), `Verify ${EVIL}`);
  assert.is(await page.locator('blockquote').textContent(), EVIL);
  assert.is(await page.locator('main img, main script').count(), 0);
  await page.evaluate("document.querySelector('time[data-until]').textContent = ''");
  await page.locator('time[data-until]', { hasText: /minutes|1 hour/ }).waitFor();
  assertQuiet(shown);
});

test.run();
