// The page of the inspector in a real browser, while somebody dials: states light up, time goes back, tests come of it.

import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withoutTimes } from '../../support/times.ts';
import { until } from '../../support/until.ts';
import { assertQuiet, assertReadable } from '../pages/clean.ts';
import { runSaved } from '../pages/handset.ts';
import { browser, type Visit } from '../support/browser.ts';
import { DIAL, sharedServer } from '../support/serve.ts';

const PIN = '58213';
const test = suite('inspector page');
const server = sharedServer(test, {});
const open = browser(test);
const WIDE = { viewport: { width: 1280, height: 800 } };

let number = 0;

/** A phone that dials on. */
function phone() {
  number++;
  // Of one length, so that no name is the beginning of another.
  const fields = { ...DIAL, sessionId: `inspected-${1000 + number}`, phoneNumber: `+26097123${1000 + number}` };
  let text = '';
  return {
    label: fields.sessionId,
    async say(input?: string): Promise<string> {
      if (input !== undefined) text = text === '' ? input : `${text}*${input}`;
      return server().ussd({ ...fields, text });
    },
  };
}

/** The page, once it shows a session or, without one, a machine. */
async function watching(label?: string, options: object = WIDE): Promise<Visit> {
  const hash = label === undefined ? '' : `#session=${label}`;
  const seen = await open(`${server().url}/inspector${hash}`, options);
  await seen.page.waitForSelector('#state .dot.live');
  await seen.page.waitForSelector('svg.drawing');
  return seen;
}

const active = (page: Page, state: string) => page.waitForSelector(`svg.drawing .state.active[data-state="${state}"]`);
const told = (page: Page, selector: string, hasText: RegExp) => page.locator(selector, { hasText }).waitFor();
const taken = (page: Page) =>
  page.$$eval('svg.drawing .edge.taken', (edges) =>
    edges.map((edge) => `${edge.getAttribute('data-from')} ${edge.getAttribute('data-to')}`),
  );

// First: nobody has watched yet.
test('a session that nobody watched shows its screen; nothing that failed is said so', async () => {
  const caller = phone();
  await caller.say();
  await caller.say('2');
  const { page } = await watching(caller.label);
  await told(page, '#screen', /^Account\n1\. Log in/);
  assert.is(await page.textContent('#moment'), 'nothing yet');
  await told(page, '#trouble', /Nothing has failed/);
});

test('who dials is followed: the state lights up, the way there, the screen, the events, the variables', async () => {
  const caller = phone();
  const seen = await watching(caller.label);
  const { page } = seen;
  await caller.say();
  await active(page, 'preMenu');
  await caller.say('2');
  await active(page, 'accountMenu');
  assert.equal(await taken(page), ['preMenu accountMenu']);
  assert.match((await page.textContent('#screen'))!, /^Account\n1\. Log in/);
  assert.match((await page.textContent('#events li:last-child'))!, /opt\.account.*accountMenu.*typed “2”/);
  assert.match((await page.textContent('#context'))!, /\+2609••••••\d\d/);
  assert.match((await page.textContent('#sessions'))!, new RegExp(caller.label));
  await caller.say('0');
  await active(page, 'preMenu');
  const chips = await page.$$eval('svg.drawing .chip.taken', (marks) => marks.map((mark) => mark.textContent));
  assert.is(chips.length, 1, 'back is a word on its card');
  assertQuiet(seen);
});

test('a call shows both ways of its turn, and a PIN is nowhere on the page', async () => {
  const caller = phone();
  const { page } = await watching(caller.label);
  for (const input of [undefined, '2', '2', 'Tariro Moyo', PIN, PIN]) await caller.say(input);
  await active(page, 'created');
  assert.equal(await taken(page), ['repeatPin createAccount', 'createAccount created']);
  assert.match((await page.textContent('#events li:last-child'))!, /typed a secret/);
  const tree = page.locator('#context details.tree', { hasText: 'customerId' });
  await tree.locator('summary').waitFor();
  assert.match((await tree.textContent())!, /^\d fields.*ok: true/);
  assert.not.ok(withoutTimes(await page.content()).includes(PIN));
});

test('time stands still where one stops it, goes back and on, and outlives a reload', async () => {
  const caller = phone();
  const { page } = await watching(caller.label);
  for (const input of [undefined, '1', '1']) await caller.say(input);
  await active(page, 'about');
  await page.keyboard.press('ArrowLeft');
  await active(page, 'information');
  assert.is(await page.textContent('#pause'), 'Go live');
  await caller.say('1');
  await told(page, '#moment', /^2 of 4/);
  await active(page, 'information');
  await page.reload();
  await active(page, 'information');
  await told(page, '#moment', /^2 of 4/);
  await page.keyboard.press('ArrowLeft');
  await active(page, 'preMenu');
  await page.keyboard.press(' ');
  await told(page, '#moment', /^4 of 4/);
  assert.is(await page.textContent('#pause'), 'Pause');
});

test('a session becomes a flow test that passes, with dummies for its PIN', async () => {
  const caller = phone();
  const { page } = await watching(caller.label);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const input of [undefined, '2', '2', 'Tariro Moyo', PIN, PIN, '1', PIN]) await caller.say(input);
  await active(page, 'accountHome');
  await page.click('#copy');
  await told(page, '#notice', /^Copied/);
  const text = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.not.ok(withoutTimes(text).includes(PIN));
  const { tests } = JSON.parse(text) as { tests: { steps: { screen: string }[]; note?: string }[] };
  assert.equal(
    tests[0]!.steps.map(({ screen }) => screen),
    ['preMenu', 'accountMenu', 'fullName', 'newPin', 'repeatPin', 'created', 'loginPin', 'accountHome'],
  );
  assert.is(tests[0]!.note, undefined);
  assert.equal(await runSaved({ name: 'main.test.json', text }), []);
});

test('nothing goes to stately.ai before it was asked for in plain words', async () => {
  const seen = await open(`${server().url}/inspector/stately`);
  assert.match((await seen.page.textContent('#hand-off'))!, /shown by a page of stately\.ai/);
  await assertReadable(seen.page);
  assertQuiet(seen);
  await seen.page.context().route('https://stately.ai/**', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: '<script>parent.postMessage({type:"@statelyai.connected"},"*");window.seen=[];onmessage=e=>seen.push(e.data)</script>',
    }),
  );
  await phone().say();
  await seen.page.click('#send');
  assert.match((await seen.page.textContent('#notice'))!, /^Shown by https/);
  assert.is(await seen.page.isVisible('#hand-off'), false);
  const frame = await (await seen.page.waitForSelector('iframe'))!.contentFrame();
  await phone().say();
  await frame!.waitForFunction('seen.some(({ type }) => type === "@xstate.snapshot")');
  const messages = await frame!.evaluate<{ type: string; definition?: string; twinline?: unknown }[]>('seen');
  assert.ok(
    messages.every(({ twinline }) => twinline === undefined),
    'what Stately does not know of stays here',
  );
  assert.ok(messages.every(({ type, definition }) => type !== '@xstate.actor' || definition!.includes('"initial"')));
});

test('a caller is found by the end of a number, which no page and no log holds, and others are not', async () => {
  const caller = phone();
  await caller.say();
  const other = phone();
  await other.say();
  const { page } = await watching();
  // Long enough to be in no moment and no id of a log by chance.
  const digits = `97123${1000 + number - 1}`;
  await page.locator('#search').fill(digits);
  await told(page, '#searched', new RegExp(`^1 of \\d+ living sessions: the number is ${digits} or ends so`));
  assert.equal(await page.locator('#sessions .line .where').allTextContents(), [`${caller.label} · main · preMenu`]);
  await page.locator('#sessions .line').click();
  await active(page, 'preMenu');
  assert.not.match((await page.textContent('#inspector'))!, `260${digits}`);
  assert.not.match(JSON.stringify(server().logged), digits);
  await page.locator('#search').fill('+990000000000');
  await told(page, '#searched', /^0 of/);
  await told(page, '#quiet', /^No session matches “\+990000000000”\.$/);
});

test('a session is ended by two presses: its caller reads so, and the audit log who it was', async () => {
  const caller = phone();
  const seen = await watching(caller.label);
  const { page } = seen;
  await caller.say();
  await caller.say('2');
  await active(page, 'accountMenu');
  await page.click('#end');
  await told(page, '#end', /^Really end it$/);
  assert.match(await caller.say('0'), /^CON Welcome/, 'one press ends nothing');
  await page.click('#end');
  await told(page, '#notice', /^The session has ended/);
  assert.is(await caller.say('2'), 'END Your session has ended. Please dial again.');
  await told(page, '#events li:last-child', /ended by an operator/);
  await told(page, '#sessions [aria-current]', /ended/);
  assert.is(await page.isVisible('#end'), false);
  const noted = server().logged.filter((line) => (line as { audit?: string }).audit === 'session.ended');
  assert.match(JSON.stringify(noted), `"by":"loopback"`);
  assert.match(JSON.stringify(noted), `"session":"${caller.label}"`);
  assertQuiet(seen);
});

test('sessions are filtered by flow, screen and standing', async () => {
  const one = phone();
  for (const input of [undefined, '2']) await one.say(input);
  const gone = phone();
  const { page } = await watching(gone.label);
  for (const input of [undefined, '*']) await gone.say(input);
  await told(page, '#sessions .where', new RegExp(`${gone.label} .*ended`));
  const shows = (end: string) =>
    until(`sessions that end with ${end}, and no others`, async () => {
      const lines = await page.locator('#sessions .where').allTextContents();
      return lines.length > 0 && lines.every((line) => line.endsWith(end));
    });
  await page.locator('#filter-standing').selectOption('Ended');
  await shows(' · ended');
  await page.locator('#filter-standing').selectOption('Living');
  await page.locator('#filter-state').selectOption('accountMenu');
  await shows(' · accountMenu');
  await told(page, '#sessions .where', new RegExp(one.label));
  await page.locator('#filter-machine').selectOption('wallet');
  await told(page, '#quiet', /^No session is so\.$/);
});

test.run();
