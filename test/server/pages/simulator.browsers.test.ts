// The page of phones in a real browser: dialogues that outlive a reload, a network that misbehaves, and flow tests of both.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { FlowTestFile } from '../../../lib/flow/testing/file.ts';
import { withFolder } from '../../support/process.ts';
import { browser } from '../support/browser.ts';
import { sharedServer, withServer } from '../support/serve.ts';
import { assertQuiet, assertReadable } from './clean.ts';
import { type Handset, handset, runSaved, type Saved } from './handset.ts';

const PIN = '48291';
const test = suite('simulator');
const server = sharedServer(test, {});
const open = browser(test);
const visit = () => open(`${server().url}/simulator`);

async function toPin(phone: Handset): Promise<void> {
  await phone.press('Dial');
  await phone.shows('Welcome to Twinline');
  await phone.say('2');
  await phone.shows('Create an account');
  await phone.say('2');
  await phone.shows('full name');
  await phone.say('Tariro Moyo');
  await phone.shows('Choose a PIN');
}

/** Saves the dialogue of a phone. */
async function saved(page: Page, phone: Handset): Promise<Saved> {
  const coming = page.waitForEvent('download');
  await phone.press('Save as flow test');
  const download = await coming;
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

test('a phone dials another flow, in another language and every dialect; a test of it begins so, too', async () => {
  const seen = await visit();
  const { page } = seen;
  const phone = handset(page);
  const choose = (what: string, value: string) => phone.whole.getByLabel(`${what}, Phone 1`).selectOption(value);
  await phone.whole.getByText('Flow, language, dialect').click();
  await choose('Flow', 'wallet');
  await choose('Language', 'sw');
  await assertReadable(page);
  for (const dialect of ['', 'africastalking', 'hubtel', 'nalo', 'arkesel', 'infobip', 'comviva']) {
    await choose('Dialect', dialect);
    await phone.press('Dial');
    const first = await phone.shows('Karibu');
    const option = /(\d)\. English/.exec(first)![1]!;
    await phone.say(option);
    await phone.shows('Welcome');
    const [sent] = await phone.sent();
    assert.match(sent!, dialect === 'infobip' ? /^text=/ : new RegExp(`=${option}$`), dialect);
    const canExpire = await phone.whole.getByRole('button', { name: 'Time out' }).isEnabled();
    assert.is(canExpire, !['nalo', 'arkesel'].includes(dialect), dialect);
  }
  await choose('Dialect', 'hubtel');
  await phone.press('Dial');
  await phone.shows('Karibu');
  await phone.press('Time out');
  await page.locator('.log', { hasText: 'time-out' }).waitFor();
  await phone.say('1');
  await phone.shows('Your session has ended');
  assert.match(await phone.room(), 'end');
  await phone.press('New session');
  await phone.shows('Karibu');
  const file = await saved(page, phone);
  assert.is(file.name, 'wallet.test.json');
  assert.equal((JSON.parse(file.text) as { tests: { given: object }[] }).tests[0]!.given, { lang: 'sw' });
  assert.equal(await runSaved(file), []);
  assertQuiet(seen);
});

test('a phone dials the codes of USSD_FLOW, chosen or typed, with answers behind them; a test of it is one of that flow', () =>
  withServer({ env: { USSD_FLOW: '*700*4#:wallet,main' } }, async ({ url }) => {
    const seen = await open(`${url}/simulator`);
    const phone = handset(seen.page);
    const code = phone.whole.getByLabel('Code');
    assert.is(await code.inputValue(), '*700*4#');
    assert.equal(
      await phone.whole.locator('datalist option').evaluateAll((all) => all.map((one) => one.getAttribute('value'))),
      ['*700*4#'],
    );
    await phone.press('Dial');
    await phone.shows('Wallet');
    const file = await saved(seen.page, phone);
    assert.is(file.name, 'wallet.test.json');
    assert.equal(await runSaved(file), []);
    await code.fill('*700*5#');
    await phone.press('Dial');
    await phone.shows('Welcome to Twinline');
    await phone.whole.getByText('Flow, language, dialect').click();
    const language = phone.whole.getByLabel('Language, Phone 1');
    await code.fill('*700*4*9#');
    assert.equal(await language.locator('option').evaluateAll((all) => all.map((one) => one.getAttribute('value'))), [
      '',
      'en',
      'sw',
    ]);
    await phone.press('Dial');
    await phone.shows('Wallet');
    assertQuiet(seen);
  }));

test('a dialogue goes on after a reload, hides its PIN, and becomes a flow test that passes', async () => {
  const seen = await visit();
  const { page } = seen;
  const phone = handset(page);
  await toPin(phone);
  assert.ok(await phone.whole.locator('.answer input.secret').isVisible(), 'what is typed is hidden');
  await page.reload();
  await phone.shows('Choose a PIN');
  assert.ok(await phone.whole.locator('.answer input.secret').isVisible());
  await phone.say(PIN);
  await phone.shows('PIN once more');
  await page.reload();
  await phone.say(PIN);
  const created = await phone.shows('Your account is ready, Tariro Moyo');
  assert.match(created, '1. Log in');
  assert.not.match(await page.content(), PIN);
  assert.match((await phone.sent())[0]!, 'text=…ro Moyo*••••*••••');

  const file = await saved(page, phone);
  assert.is(file.name, 'main.test.json');
  assert.not.match(file.text, PIN);
  const { tests } = JSON.parse(file.text) as { tests: { steps: { in: string }[]; services: object }[] };
  const typed = tests[0]!.steps.map((step) => step.in);
  assert.equal(typed.slice(0, 4), ['', '2', '2', 'Tariro Moyo']);
  assert.match(typed[4]!, /^\d{5}$/);
  assert.is(typed[4], typed[5], 'the same secret twice is the same other one twice');
  assert.equal(Object.keys(tests[0]!.services), ['account.create']);
  assert.equal(await runSaved(file), []);
  const broken = file.text.replace('Your account is ready', 'Your account is gone');
  assert.ok((await runSaved({ ...file, text: broken })).length > 0, 'and can fail');
  assertQuiet(seen);
});

test('a retry shows the same, two at once count once, and a lost answer is asked for again', async () => {
  const seen = await visit();
  const phone = handset(seen.page);
  await phone.press('Dial');
  const first = await phone.shows('Welcome to Twinline');
  await phone.press('Retry');
  assert.is(await phone.shows('Welcome to Twinline'), first);
  await phone.press('Send twice');
  await phone.say('1');
  const second = await phone.shows('Know more');
  await seen.page.locator('.log li').nth(3).waitFor();
  assert.is(await seen.page.locator('.log li').count(), 4);
  const bodies = await phone.whole.locator('.log pre:not(.sent)').allTextContents();
  assert.is(bodies[0], bodies[1], 'byte for byte');
  assert.is(bodies[2], bodies[3]);
  await phone.press('Retry');
  assert.is(await phone.shows('Know more'), second, 'the second of the two has changed nothing');
  await phone.press('Lose answer');
  await phone.say('3');
  await phone.shows('The answer was lost');
  await phone.whole.locator('.log .lost', { hasText: 'lost' }).waitFor();
  await phone.press('Retry');
  await phone.shows('Forgot your PIN?');
  const file = await saved(seen.page, phone);
  assert.equal(await runSaved(file), []);
  assert.is((JSON.parse(file.text) as { tests: { steps: object[] }[] }).tests[0]!.steps.length, 3);
  assertQuiet(seen);
});

const LATEST = {
  ...{ flow: 'main', version: 1, start: 'hello' },
  screens: {
    hello: { type: 'menu', text: 'Karibu 🎉', options: [{ id: 'go', text: 'Go', to: 'bye' }] },
    bye: { type: 'end', text: 'Bye' },
  },
};

test('the latest answer alone is sent where the server takes it so, and room is counted as the screen needs', async () => {
  await withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(LATEST));
    await withServer({ env: { MENUS_DIR: folder, USSD_TEXT_MODE: 'latest' } }, async ({ url }) => {
      const seen = await open(`${url}/simulator`);
      const phone = handset(seen.page);
      await phone.press('Dial');
      const text = await phone.shows('Karibu');
      assert.match(await phone.room(), `${text.length}/80 characters (UCS-2)`);
      await phone.say('7');
      await phone.shows('Karibu');
      await phone.say('1');
      await phone.shows('Bye');
      assert.match((await phone.sent())[0]!, /text=1\b/);
      assert.match(await phone.room(), '3/182 characters');
      assert.equal(await runSaved(await saved(seen.page, phone), folder), []);
      assertQuiet(seen);
    });
  });
});

const RECORDED = 'test/conversations/languages';

test('dialogues in French, Amharic, Arabic and Hindi are on the phone as recorded', async () => {
  const { tests } = JSON.parse(readFileSync(join(RECORDED, 'market.test.json'), 'utf8')) as FlowTestFile;
  await withServer({ env: { MENUS_DIR: RECORDED, USSD_FLOW: 'market' } }, async ({ url }) => {
    const { page } = await open(`${url}/simulator`);
    const phone = handset(page);
    for (const { steps } of tests) {
      await phone.press('Dial');
      for (const [at, { in: typed, text = '' }] of steps.entries()) {
        if (at > 0) await phone.say(typed as string);
        assert.is((await phone.shows(text)).trim(), text);
      }
    }
    await assertReadable(page);
  });
});

test.run();
