// The page of chats in a real browser: replies that stream, outlive a reload and a broken network, and can be stopped.

import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ResponderPart } from '../../../lib/agent/responder.ts';
import { browser, type Visit } from '../support/browser.ts';
import { chatPlace } from './chat-place.ts';
import { assertQuiet, assertReadable } from './clean.ts';

const test = suite('chat page');
const place = chatPlace(test);
const open = browser(test);
const visit = () => open(place.url());

/** Something that a script waits for and a test lets happen. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let pass = () => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { passed, open: () => pass() };
}

const text = (words: string): ResponderPart => ({ type: 'text', text: words });
const line = (page: Page) => page.getByLabel('Your message', { exact: true });
const reply = (page: Page) => page.getByRole('article', { name: 'Reply' }).last();

async function say(page: Page, words: string): Promise<void> {
  await line(page).fill(words);
  await line(page).press('Enter');
}

/** Waits until the last reply has these words. */
const shows = (page: Page, words: string | RegExp) => reply(page).filter({ hasText: words }).waitFor();
/** Waits until nothing is written any more. */
const rests = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).waitFor();
const saidIn = (page: Page) => page.locator('.message.ai .text').allTextContents();

test('a reply streams in with its thoughts, calls and components, and its choices can be pressed', async () => {
  const seen: Visit = await visit();
  const { page } = seen;
  const go = gate();
  const asked: string[] = [];
  place.answer(async function* ({ request }) {
    asked.push(request.message);
    if (request.message === '2') return yield text('You chose tea.');
    yield { type: 'reasoning', text: 'They are thirsty.' };
    yield { type: 'tool-call', id: 'c0', name: 'look.up', args: { what: 'a'.repeat(300) } };
    yield { type: 'tool-error', id: 'c0', error: 'Not there' };
    yield { type: 'tool-call', id: 'c1', name: 'kettle.state', args: { litres: 2 } };
    yield text('Let me see. ');
    await go.passed;
    yield { type: 'tool-result', id: 'c1', output: { hot: true, cups: ['red', 'blue'] } };
    yield { type: 'render', component: 'Weather', args: { city: 'Lusaka', days: [{ high: 31 }] } };
    yield text('<b>Drinks</b>\n1. Coffee\n2. Tea\n*. Nothing');
  });
  await say(page, 'What is there?');
  await shows(page, 'Let me see.');
  await reply(page).getByRole('region', { name: 'tool kettle.state' }).filter({ hasText: 'running' }).waitFor();
  assert.ok(await page.getByRole('button', { name: 'Stop' }).isVisible());
  go.open();
  await rests(page);
  const words = (await reply(page).textContent())!;
  for (const part of ['They are thirsty.', 'done', 'cups', 'blue', 'Weather', 'Lusaka', '31', '<b>Drinks</b>'])
    assert.ok(words.includes(part), `${part} in ${words}`);
  assert.is(await reply(page).locator('b').count(), 0, 'what a model says is text');
  await page.setViewportSize({ width: 390, height: 800 });
  await assertReadable(page);
  await reply(page).getByRole('button', { name: '2 Tea' }).click();
  await shows(page, 'You chose tea.');
  assert.equal(asked, ['What is there?', '2']);
  assert.is(await page.getByRole('button', { name: '1 Coffee' }).isDisabled(), true, 'only the last one is asked for');
  assertQuiet(seen);
});

test('a reload in the middle of a reply shows all of it, each part once', async () => {
  const seen = await visit();
  const { page } = seen;
  const [first, second] = [gate(), gate()];
  place.answer(async function* () {
    yield text('One, ');
    await first.passed;
    yield text('two, ');
    await second.passed;
    yield { type: 'tool-call', id: 'c1', name: 'count', args: {} };
    yield { type: 'tool-result', id: 'c1', output: 3 };
    yield text('three.');
  });
  await say(page, 'Count');
  await shows(page, 'One,');
  await page.reload();
  await shows(page, 'One,');
  first.open();
  await shows(page, 'One, two,');
  await page.reload();
  await shows(page, 'One, two,');
  second.open();
  await rests(page);
  await shows(page, 'One, two, three.');
  assert.equal(await saidIn(page), ['One, two, three.']);
  assert.is(await reply(page).locator('.event').count(), 1);
  assert.is(await page.locator('.message.human').count(), 1);
  await page.reload();
  await shows(page, 'One, two, three.');
  assert.equal(await saidIn(page), ['One, two, three.'], 'and once more from the transcript');
  assertQuiet(seen);
});

test('a broken connection is made again, and nothing is lost or doubled', async () => {
  const { page } = await visit();
  const go = gate();
  place.answer(async function* () {
    yield text('Before, ');
    await go.passed;
    yield text('after.');
  });
  await say(page, 'Go on');
  await shows(page, 'Before,');
  await place.cut();
  await page.getByText('The connection is lost').waitFor();
  go.open();
  await shows(page, 'Before, after.');
  await rests(page);
  assert.equal(await saidIn(page), ['Before, after.']);
  assert.is(await page.getByRole('alert').isVisible(), false);
});

test('a reply can be stopped, and what was said of it stays', async () => {
  const seen = await visit();
  const { page } = seen;
  const never = gate();
  let isStopped = false;
  place.answer(async function* ({ signal }) {
    signal.addEventListener('abort', () => {
      isStopped = true;
      never.open();
    });
    yield text('A long story');
    await never.passed;
  });
  await say(page, 'Tell me');
  await shows(page, 'A long story');
  await page.getByRole('button', { name: 'Stop' }).click();
  await shows(page, 'Stopped.');
  await rests(page);
  assert.ok(isStopped);
  assert.equal(await saidIn(page), ['A long story']);
  assertQuiet(seen);
});

test('a fault of the model is told, and so is a server that is away', async () => {
  const { page } = await visit();
  place.answer(async function* () {
    yield text('I would say ');
    yield { type: 'error', fault: { error: 'The model has too much to do.', kind: 'rate_limit', status: 429 } };
  });
  await say(page, 'Hello');
  await shows(page, 'The model has too much to do.');
  await shows(page, 'The reply failed.');
  await rests(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertReadable(page);
  await page.context().setOffline(true);
  await say(page, 'Are you there?');
  await page.getByRole('alert').filter({ hasText: 'The server does not answer' }).waitFor();
  assert.is(await line(page).inputValue(), 'Are you there?', 'what was typed is not lost');
});

test('the key of a browser is in a cookie that no script reads, and no token is kept', async () => {
  const { page } = await visit();
  await page.getByText('You are did:key:').waitFor();
  const [cookie, ...others] = await page.context().cookies();
  assert.is(others.length, 0);
  const { name, httpOnly, sameSite, path } = cookie!;
  assert.equal(
    { name, httpOnly, sameSite, path },
    { name: 'twinline-chat', httpOnly: true, sameSite: 'Strict', path: '/chat' },
  );
  assert.equal(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]'), [0, 0, '']);
  const user = await page.locator('#user').textContent();
  await page.reload();
  await page.getByText('You are did:key:').waitFor();
  assert.is(await page.locator('#user').textContent(), user, 'the same user again');
});

test.run();
