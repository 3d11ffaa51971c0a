// Chats with a model in a real browser: its Markdown is shown, nothing of it runs, and lists are no buttons.

import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { browser } from '../support/browser.ts';
import { chatPlace } from './chat-place.ts';
import { assertQuiet, assertReadable } from './clean.ts';

const test = suite('chat with a model');
const place = chatPlace(test, 'model');
const open = browser(test);
const visit = (options = {}) => open(place.url(), options);
const reply = (page: Page) => page.getByRole('article', { name: 'Reply' }).last();

async function ask(page: Page, answer: string): Promise<void> {
  place.answer(async function* () {
    // In pieces, as a model writes.
    for (let at = 0; at < answer.length; at += 7) yield { type: 'text', text: answer.slice(at, at + 7) };
  });
  await page.getByLabel('Your message', { exact: true }).fill('Tell me');
  await page.getByLabel('Your message', { exact: true }).press('Enter');
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
}

const LONG = `## Where to go

There are **two** offices, *both* open, see [the map](https://maps.example/x):

1. Chongwe
2. Kafue
   - by bus
   - on foot

| place | opens |
| --- | --- |
| Chongwe | 8:00 |
| Kafue | 9:30 |

\`\`\`js
const open = 1 < 2;
\`\`\`

> Bring \`papers\`.
- [x] asked
`;

test('lists, tables, code and links of a reply are elements, its lists are no buttons, and it reads the same after a reload', async () => {
  const seen = await visit();
  const { page } = seen;
  await ask(page, LONG);
  for (const reloaded of [false, true]) {
    if (reloaded) await page.reload();
    const said = reply(page).locator('.text');
    await said.locator('table').waitFor();
    assert.equal(await said.locator('ol > li').count(), 2);
    assert.equal(await said.locator('td').allTextContents(), ['Chongwe', '8:00', 'Kafue', '9:30']);
    assert.is(await said.locator('pre').textContent(), 'const open = 1 < 2;');
    assert.is(await said.locator('strong').textContent(), 'two');
    const link = said.locator('a');
    assert.equal(
      [await link.getAttribute('href'), await link.getAttribute('rel')],
      ['https://maps.example/x', 'noopener noreferrer'],
    );
    assert.is(await said.locator('button').count(), 0);
    assert.not.match((await said.textContent())!, /\*\*|##|```/);
  }
  await assertReadable(page);
  assertQuiet(seen);
});

test('nothing of a reply runs, loads or leads to a script', async () => {
  const seen = await visit();
  const { page } = seen;
  const hostile = [
    '<img src=x onerror=alert(1)> <script>alert(2)</script>',
    '[a](javascript:alert(3)) [b](data:text/html,x) ![c](https://evil.example/pixel.png)',
    '<a href="javascript:alert(4)">d</a>',
    '[e](JaVaScRiPt:alert(5)) <javascript:alert(6)>',
  ].join('\n\n');
  await ask(page, hostile);
  const said = reply(page).locator('.text');
  // Before it is drawn, nothing would be in it.
  await said.locator('a').first().waitFor();
  assert.is(await said.locator('img, script, iframe').count(), 0);
  assert.equal(await said.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href'))), [
    'https://evil.example/pixel.png',
  ]);
  assert.match((await said.textContent())!, '<script>alert(2)</script>');
  assertQuiet(seen);
});

test.run();
