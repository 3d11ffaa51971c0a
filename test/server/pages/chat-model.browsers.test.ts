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

/** The edges of the window, of the line that is written in, and of the newest reply and its list. */
const EDGES = `(() => {
  const edges = (element) => element.getBoundingClientRect();
  const replies = [...document.querySelectorAll('.message.ai')];
  const { left, right, bottom } = edges(document.getElementById('messages'));
  return {
    below: edges(document.getElementById('composer')).bottom - innerHeight,
    hidden: edges(replies.at(-1)).bottom - bottom,
    wide: replies.filter((one) => edges(one).left < left || edges(one).right > right).length,
    scrolled: document.documentElement.scrollHeight - innerHeight,
    above: edges(replies[0]).top < 0,
  };
})()`;

test('after many replies the line to write in and the newest reply are in the window, and none is wider than it', async () => {
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    const { page } = await visit({ viewport: { width, height } });
    for (let count = 0; count < 4; count++) await ask(page, `${LONG}\n\`\`\`\n${'const a = 1; '.repeat(30)}\n\`\`\``);
    const seen = await page.evaluate<Record<string, number>>(EDGES);
    const { below, hidden, wide, scrolled, above } = seen as never as Record<
      'below' | 'hidden' | 'wide' | 'scrolled' | 'above',
      number
    >;
    assert.ok(below <= 0 && hidden <= 0 && scrolled <= 0, `${width} px: ${JSON.stringify(seen)}`);
    assert.equal([wide, above], [0, true], `${width} px`);
  }
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
