// A shop menu is built by form and drawing, from an empty folder, without a look at the JSON; the file is as a careful author writes it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../support/until.ts';
import { assertQuiet, assertReadable } from '../pages/clean.ts';
import { browser } from '../support/browser.ts';
import { DIAL, withServer } from '../support/serve.ts';
import { dial, part, text } from './hands.ts';

const test = suite('building by form');
const open = browser(test);
const MENUS = mkdtempSync(join(tmpdir(), 'twinline-building-'));
test.after(() => rmSync(MENUS, { recursive: true }));

/** As it is written by hand. */
const SHOP = `{
  "$schema": "./flow.schema.json",
  "flow": "main",
  "version": 1,
  "start": "home",
  "langs": ["en", "sw"],
  "vars": {
    "prices": { "type": "array", "default": ["Maize 145.50", "Beans 210"] },
    "pin": { "type": "string", "secret": true, "max": 6 },
    "account": { "type": "object" },
    "lang": { "type": "string", "default": "en" }
  },
  "screens": {
    "home": {
      "type": "menu",
      "text": { "en": "Farm shop", "sw": "Duka la shamba" },
      "options": [
        { "id": "prices", "text": { "en": "Prices", "sw": "Bei" }, "to": "prices" },
        { "id": "order", "text": { "en": "Order", "sw": "Agiza" }, "to": "pin" },
        { "id": "kiswahili", "text": "Kiswahili", "to": "home", "set": { "lang": "sw" } },
        { "id": "exit", "text": { "en": "Exit", "sw": "Ondoka" }, "to": "bye" }
      ]
    },
    "pin": {
      "type": "input",
      "text": { "en": "Your PIN?", "sw": "PIN yako?" },
      "save": "pin",
      "accept": { "digits": { "min": 4, "max": 6 } },
      "to": "account"
    },
    "account": {
      "type": "call",
      "service": "account.verifyPin",
      "with": { "pin": "=pin" },
      "save": "account",
      "done": [{ "when": "account.ok", "to": "ordered" }, { "to": "sorry" }],
      "fail": "sorry"
    },
    "ordered": { "type": "end", "text": { "en": "Thank you.", "sw": "Asante." } },
    "sorry": { "type": "end", "text": { "en": "Not possible now.", "sw": "Haiwezekani sasa." } },
    "prices": {
      "type": "list",
      "text": { "en": "Prices of today", "sw": "Bei za leo" },
      "items": "prices",
      "row": "{{row}}"
    },
    "bye": { "type": "end", "text": { "en": "Goodbye.", "sw": "Kwaheri." } }
  }
}
`;

const field = (page: Page, label: string) => page.locator('#form-fields').getByLabel(label, { exact: true });

/** Fills a field as a person does, and waits until the form that is made of the text has it. */
async function fillIn(place: Locator, value: string): Promise<void> {
  await place.fill(value);
  await place.press('Tab');
  await until(`the form has ${value}`, () =>
    place.evaluate((input, typed) => (input as unknown as Typed).dataset.first === typed, value),
  );
}

interface Typed {
  readonly dataset: { readonly first?: string };
}

async function fill(page: Page, label: string, value: string): Promise<void> {
  await fillIn(field(page, label).first(), value);
}

async function select(page: Page, screen: string): Promise<void> {
  await page.locator('#form-screen').selectOption(screen);
  await page.locator(`#form-fields[data-shown="/screens/${screen}"]`).waitFor();
}

interface Added {
  readonly id: string;
  readonly type: string;
  readonly text?: string;
  readonly more?: (page: Page) => Promise<unknown>;
}

/** Adds a screen by the dialog. */
async function add(page: Page, { id, type, text: words, more }: Added): Promise<void> {
  await page.locator('#add-screen').waitFor();
  await page.locator('#add-type').selectOption(type);
  await page.locator('#add-id').fill(id);
  if (words !== undefined) await page.locator('#add-text').fill(words);
  await more?.(page);
  await page.locator('#add-screen button.primary').click();
  await page.locator('#add-screen').waitFor({ state: 'hidden' });
  await page.locator(`#form-fields[data-shown="/screens/${id}"]`).waitFor();
}

/** Chooses a new screen where a way leads. */
const lead = (page: Page, label: string) =>
  page.locator(`#form-fields select[aria-label="${label}"]`).first().selectOption({ label: 'New …' });

test('a two-language shop with a PIN, a list and a call is built without touching the JSON', () =>
  withServer({ env: { MENUS_DIR: MENUS } }, async (server) => {
    const seen = await open(`${server.url}/studio`);
    const { page } = seen;
    // The folder is empty: the studio asks for the first flow, of the name that a dial starts.
    await page.locator('#new-flow').waitFor();
    assert.is(await page.locator('#new-name').inputValue(), 'main');
    await page.locator('#new-flow label', { hasText: 'blank: ' }).click();
    await page.locator('#create').click();
    await page.locator('#notice', { hasText: 'The flow was created' }).waitFor();
    assert.match((await page.locator('#file').textContent())!, /main\.flow\.json$/);

    const fields = page.locator('#form-fields');
    await fields.locator('summary', { hasText: 'More' }).first().click();
    for (const [at, lang] of ['en', 'sw'].entries()) {
      await fields.getByRole('button', { name: 'Add to Languages' }).click();
      await fill(page, `Languages ${at + 1}`, lang);
    }

    await select(page, 'home');
    await fill(page, 'Text, en', 'Farm shop');
    await fill(page, 'Text, sw', 'Duka la shamba');
    await page.locator('#form-add').click();
    await add(page, { id: 'prices', type: 'list', text: 'Prices of today', more: line('Prices') });
    await select(page, 'home');
    await page.locator('#form-add').click();
    const pin = async () => {
      await line('Order')(page);
      await page.locator('#add-answer').selectOption('pin');
    };
    await add(page, { id: 'pin', type: 'input', text: 'Your PIN?', more: pin });
    await lead(page, 'Leads to');
    await add(page, {
      id: 'account',
      type: 'call',
      more: () => page.locator('#add-service').fill('account.verifyPin'),
    });
    await lead(page, 'Then');
    await add(page, { id: 'sorry', type: 'end', text: 'Not possible now.' });
    await select(page, 'account');
    await fields.locator('select[aria-label="If it fails"]').selectOption('"sorry"');
    const then = fields.locator('[data-pointer="/screens/account/done"]');
    await then.locator('summary', { hasText: 'Add a way' }).click();
    await then.getByLabel('A condition').pressSequentially('account.o');
    await then.getByRole('option', { name: 'ok' }).waitFor();
    await page.keyboard.press('Enter');
    await then.getByRole('button', { name: 'Add the way' }).click();
    await then.getByText('account.ok is true').first().waitFor();
    await then.getByLabel('Leads to').first().selectOption({ label: 'New …' });
    await add(page, { id: 'ordered', type: 'end', text: 'Thank you.' });

    await select(page, 'home');
    // Lines are moved by the keyboard; the focus stays with them.
    await fields.getByRole('button', { name: 'Move Lines 1 down' }).press('Enter');
    await fields.getByText('1 · prices').waitFor();
    await fields.getByRole('button', { name: 'Move Lines 2 down' }).press('Enter');
    await fields.getByText('2 · order').waitFor();
    const lines = fields.locator('[data-pointer="/screens/home/options"]');
    for (const [at, words] of ['Bei', 'Agiza', 'Ondoka'].entries()) {
      await fillIn(lines.getByLabel('Text, sw').nth(at), words);
    }
    for (const [screen, words] of Object.entries(SWAHILI)) {
      await select(page, screen);
      await fill(page, 'Text, sw', words);
    }
    await page.locator('#form-screen').selectOption('');
    await fields.locator('[data-pointer="/vars/prices/default"]').waitFor();
    for (const [at, price] of ['Maize 145.50', 'Beans 210'].entries()) {
      await fields.locator('[data-pointer="/vars/prices/default"]').getByRole('button', { name: 'Add to' }).click();
      await fill(page, `At first ${at + 1}`, price);
    }

    // What lint misses is said at its field.
    const variables = fields.locator('[data-pointer="/vars"]');
    await fields.locator('.field-problem', { hasText: 'no variable "lang"' }).waitFor();
    await variables.getByLabel('New name in Variables').fill('lang');
    await page.keyboard.press('Enter');
    const lang = variables.locator('[data-pointer="/vars/lang"]');
    await lang.getByLabel('At first', { exact: true }).fill('en');
    await page.keyboard.press('Tab');
    await page.locator('#problems li', { hasText: 'Let an option choose' }).waitFor();
    await select(page, 'home');
    await lines.getByLabel('Text of a new line').fill('Kiswahili');
    await page.keyboard.press('Enter');
    const chooses = fields.locator('[data-pointer="/screens/home/options/3"]');
    await chooses.locator('summary', { hasText: 'More' }).click();
    await chooses.getByLabel('New name in Remember').fill('lang');
    await page.keyboard.press('Enter');
    await chooses.getByLabel('lang', { exact: true }).fill('sw');
    await page.keyboard.press('Tab');
    await page.locator('#problems').waitFor({ state: 'hidden' });
    await chooses.getByLabel('Key', { exact: true }).press('Alt+ArrowUp');
    await fields.getByText('3 · kiswahili').waitFor();
    assert.is(await page.evaluate('document.activeElement.dataset.at'), '/screens/home/options/2/key');
    assert.is(await text(page), SHOP);
    // Each edit is one step back and forth.
    await page.locator('#undo').click();
    await fields.getByText('4 · kiswahili').waitFor();
    await page.locator('#redo').click();
    await fields.getByText('3 · kiswahili').waitFor();
    assert.is(await text(page), SHOP);
    assert.is(await page.locator('.field-problem').count(), 0);
    await assertReadable(page);
    await page.locator('#save').click();
    await page.locator('#notice', { hasText: /Saved in .*main\.flow\.json and served/ }).waitFor();
    assert.is(readFileSync(join(MENUS, 'main.flow.json'), 'utf8'), SHOP);
    assert.is(await server.ussd(DIAL), 'CON Farm shop\n1. Prices\n2. Order\n3. Kiswahili\n4. Exit');
    await part(page, 'phone');
    await page.locator('#dial').click();
    await page.locator('#device .screen', { hasText: 'Farm shop' }).waitFor();
    await dial(page, [['1', 'Beans 210']]);
    // Drafts with errors are neither drawn nor tested, which browsers call a complaint.
    assertQuiet({ ...seen, complaints: seen.complaints.filter((words) => !words.includes('400')) });
  }));

test('a screen that is opened in the drawing has the focus in its form; renamed there, it is renamed in the tests, and both are taken back', () =>
  withServer({}, async (server) => {
    const { page } = await open(`${server.url}/studio#main`);
    await page.locator('#picture .state.start').first().press('Enter');
    await page.locator('#form-fields[data-shown="/screens/preMenu"]').waitFor();
    await page.locator('#form-fields :focus').waitFor();
    const before = await text(page);
    await page.locator('#form-rename').click();
    await page.locator('#name-name').fill('information');
    await page.locator('#name-screen button.primary').click();
    await page.locator('#name-screen [role="alert"]', { hasText: 'There is a screen "information" already' }).waitFor();
    await page.locator('#name-name').fill('welcome');
    await page.keyboard.press('Enter');
    await page.locator('#form-fields[data-shown="/screens/welcome"]').waitFor();
    assert.is(await text(page), before.replaceAll('"preMenu"', '"welcome"'));
    await page.locator('#show-tests').click();
    const tests = await text(page);
    assert.ok(tests.includes('"welcome"') && !tests.includes('"preMenu"'));
    await page.locator('#undo').click();
    assert.is(await text(page), tests.replaceAll('"welcome"', '"preMenu"'));
    await page.locator('#show-flow').click();
    assert.is(await text(page), before);
    await page.locator('#state', { hasText: /^Saved/ }).waitFor();
  }));

/** The middle of an arrow, or of the card of a screen, in the window. */
const middle = (page: Page, selector: string) =>
  page.evaluate<{ x: number; y: number }>(`(() => {
    const found = document.querySelector(${JSON.stringify(selector)});
    const track = found.querySelector('.track');
    const { left, top, width, height } = found.getBoundingClientRect();
    if (!track) return { x: left + width / 2, y: top + height / 2 };
    const at = track.getPointAtLength(track.getTotalLength() / 2);
    const { x, y } = new DOMPoint(at.x, at.y).matrixTransform(track.getScreenCTM());
    return { x, y };
  })()`);

test('an arrow that is dragged to another screen leads its way there, as one step of undo; of several ways the author chooses', () =>
  withServer({}, async (server) => {
    const { page } = await open(`${server.url}/studio#main`, { viewport: { width: 1600, height: 2600 } });
    await page.locator('#picture .edge').first().waitFor();
    for (let step = 0; step < 6; step++) await page.locator('#smaller').click();
    const before = await text(page);
    const drag = async (arrow: string, to: string, isLetGo = true) => {
      const [from, target] = [
        await middle(page, `#picture .edge${arrow}`),
        await middle(page, `#picture [data-state="${to}"]`),
      ];
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(target.x, target.y, { steps: 4 });
      await page.locator(`#picture .drop[data-state="${to}"]`).waitFor();
      if (isLetGo) await page.mouse.up();
    };
    await drag('[data-from="preMenu"][data-to="accountMenu"]', 'information', false);
    await page.keyboard.press('Escape');
    await page.mouse.up();
    assert.is(await page.locator('#picture .dragging').count(), 0);
    assert.is(await text(page), before, 'Escape lets go of it');
    await drag('[data-from="preMenu"][data-to="accountMenu"]', 'information');
    const led = before.replace('"text": "Account", "to": "accountMenu"', '"text": "Account", "to": "information"');
    assert.is.not(led, before);
    await until('the way leads there', async () => (await text(page)) === led);
    // Now two lines of the menu lead to one screen, by one arrow.
    await page.locator('#picture .edge[data-from="preMenu"][data-to="accountMenu"]').waitFor({ state: 'detached' });
    await drag('[data-from="preMenu"][data-to="information"]', 'accountMenu');
    await page.locator('#which-way').waitFor();
    assert.equal(await page.locator('#which-ways option').allInnerTexts(), [
      'preMenu › “Know more”',
      'preMenu › “Account”',
    ]);
    await page.locator('#which-ways').selectOption({ label: 'preMenu › “Account”' });
    await page.locator('#which-way .primary').click();
    await until('it is as before', async () => (await text(page)) === before);
    await page.locator('#undo').click();
    assert.is(await text(page), led);
  }));

const line = (words: string) => (page: Page) => page.locator('#add-line').fill(words);
const SWAHILI = {
  pin: 'PIN yako?',
  ordered: 'Asante.',
  sorry: 'Haiwezekani sasa.',
  prices: 'Bei za leo',
  bye: 'Kwaheri.',
};

test('what is half typed while the form is made anew counts when the field is left', () =>
  withServer({ env: { MENUS_DIR: MENUS } }, async (server) => {
    const { page } = await open(`${server.url}/studio`);
    const fields = page.locator('#form-fields');
    await fields.locator('summary', { hasText: 'More' }).first().waitFor();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const asked = page.waitForRequest('**/studio/form');
    await page.route('**/studio/form', async (route) => {
      await released;
      await route.continue();
    });
    await fields.getByRole('button', { name: 'Add to Languages' }).click();
    await asked;
    const version = field(page, 'version').first();
    await version.fill('7');
    release();
    await fields.getByLabel('Languages 3', { exact: true }).first().waitFor();
    await version.press('Tab');
    await page.locator('.cm-content', { hasText: '"version": 7' }).waitFor();
  }));

test.run();
