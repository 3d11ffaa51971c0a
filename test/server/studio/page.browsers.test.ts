// The studio in a real browser: a menu is made, mended, tested, saved and dialled without leaving it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeProject } from '../../../server/cli/verbs/new.ts';
import { withFolder } from '../../support/process.ts';
import { browser, type Visit } from '../support/browser.ts';
import { DIAL, type Served, withServer } from '../support/serve.ts';
import { dial, hold, part, paste, pasteHere, problems, text } from './hands.ts';

const test = suite('the page of the studio');
const open = browser(test);

interface Place {
  readonly seen: Visit;
  readonly page: Page;
  readonly server: Served;
  /** The text of a file of the menus. */
  readonly file: (name: string) => string;
  readonly folder: string;
}

/** A fresh project of `twinline new ussd`, its server, and the studio in a browser. */
const inStudio = (work: (place: Place) => Promise<void>): Promise<void> =>
  withFolder((parent) => {
    const project = join(parent, 'project');
    makeProject({ template: 'ussd', folder: project, name: 'menus', twinline: '0.1.0' });
    const folder = join(project, 'menus');
    return withServer({ env: { MENUS_DIR: folder } }, async (server) => {
      const seen = await open(`${server.url}/studio`);
      const { page } = seen;
      await page.locator('#state', { hasText: 'Saved' }).waitFor();
      await work({ seen, page, server, folder, file: (name) => readFileSync(join(folder, name), 'utf8') });
    });
  });

const CHANGE =
  '"change": { "type": "menu", "text": "Call 2233 to change it.", "options": [{ "id": "end", "text": "End", "to": "bye" }] },';

test('mistakes are named where they stand, a screen is added, a dialogue becomes a test, and what is saved is dialled', () =>
  inStudio(async ({ seen, page, server, file }) => {
    await page.locator('#begin').click();
    await page.locator('#new-name').fill('market');
    await page.locator('label', { hasText: 'form: ' }).click();
    await page.locator('#create').click();
    await page.locator('#notice', { hasText: 'The flow was created' }).waitFor();
    const made = file('market.flow.json');

    const wrong = made
      .replace('"Thank you, {{name}}."', '"Thank you, {{nmae}}."')
      .replace('"to": "confirm"', '"to": "confrim"')
      .replace('{{bags}} bags?', '{bags} bags?');
    await paste(page, wrong);
    await page.locator('#problems li').nth(2).waitFor();
    const found = await problems(page);
    assert.is(found.length, 3, found.join('\n'));
    const lineOf = (words: string) => wrong.slice(0, wrong.indexOf(words)).split('\n').length;
    for (const [words, says] of [
      ['{{nmae}}', 'name'],
      ['"confrim"', 'confirm'],
      ['{bags}', '{{bags}}'],
    ] as const) {
      const named = found.find((line) => line.startsWith(`${lineOf(words)}:`) && line.includes(says));
      assert.ok(named, `${words} in line ${lineOf(words)}: ${found.join('\n')}`);
    }
    assert.match((await page.locator('#state').allTextContents()).join(), /errors?/);
    await page.locator('#save').click();
    await page.locator('#notice', { hasText: 'Not saved: the flow has errors.' }).waitFor();
    assert.is(file('market.flow.json'), made, 'nothing was written');

    // What is certain is mended by a button.
    await page.locator('#problems li', { hasText: 'confrim' }).getByRole('button', { name: 'Fix' }).click();
    await page.locator('#problems li', { hasText: 'confrim' }).waitFor({ state: 'detached' });
    assert.match(await text(page), '"to": "confirm"');

    const mended = made
      .replace('How many bags?', 'How many bags of maize?')
      .replace('"text": "No", "to": "bye"', '"text": "No", "to": "change"')
      .replace('"bye": {', `${CHANGE}\n    "bye": {`);
    assert.ok(mended.includes('"to": "change"'), mended);
    await paste(page, mended);
    await page.locator('#problems li').first().waitFor({ state: 'hidden' });
    await part(page, 'tests');
    await page.locator('#tested', { hasText: 'passed' }).waitFor();

    await part(page, 'phone');
    await page.locator('#dial').click();
    await page.locator('#device .screen', { hasText: 'Your name?' }).waitFor();
    await dial(page, [
      ['Ann Banda', 'How many bags of maize?'],
      ['7', 'Ann Banda, 7 bags?'],
      ['2', 'Call 2233 to change it.'],
    ]);
    await page.locator('#test-name').fill('somebody changes their mind');
    await page.locator('#record button').click();
    await page.locator('#notice', { hasText: 'The dialogue was added to the tests' }).waitFor();
    await part(page, 'tests');
    await page.locator('#results li', { hasText: 'somebody changes their mind' }).waitFor();
    assert.is(await page.locator('#results .failed').count(), 0);
    await page.locator('#save').click();
    await page.locator('#notice', { hasText: /Saved in .* and served/ }).waitFor();
    assert.is(file('market.flow.json'), mended);
    assert.match(file('market.test.json'), 'somebody changes their mind');
    const served = (await server.ask('/inspector/machines')).text;
    assert.match(served, '"market"');
    await part(page, 'history');
    await page.locator('#versions button', { hasText: 'Before the first save' }).waitFor();
    await page.locator('#versions button').last().click();
    await page.locator('#version-diff').waitFor();
    await page.locator('#restore').click();
    await page.locator('#state', { hasText: 'Not saved' }).waitFor();
    assert.is(await text(page), made, 'the version of before is in the editor');
    // Saving what has errors is refused by the server, which browsers call a complaint.
    assert.equal(
      seen.complaints.filter((words) => !words.includes('422')),
      [],
    );
    assert.equal(seen.strangers, []);
  }));

test('what is typed while a text is checked moves the place that Fix changes, and what was edited there is left alone', () =>
  inStudio(async ({ page, file }) => {
    const right = file('main.flow.json');
    const [first, second] = Object.keys((JSON.parse(right) as { screens: object }).screens);
    const wrong = right.replaceAll(`"to": "${second}"`, `"to": "${second}x"`).replace('"start":', '"strat":');
    assert.ok(wrong.includes(`"to": "${second}x"`) && wrong.includes('"strat":'), `${first} leads to ${second}`);
    await paste(page, wrong);
    const mend = page.locator('#problems li', { hasText: 'strat' }).getByRole('button', { name: 'Fix' });
    await mend.waitFor();
    // From now on no check is answered.
    const release = await hold(page, '**/studio/check');
    await page.locator('#editor .cm-content').press('Control+Home');
    await pasteHere(page, '\n\n   ');
    await mend.click();
    const mended = wrong.replace('"strat":', '"start":');
    assert.is(await text(page), `\n\n   ${mended}`);
    await mend.click();
    await page.locator('#notice', { hasText: 'The text there has changed' }).waitFor();
    assert.is(await text(page), `\n\n   ${mended}`, 'the same change is not made twice');
    release();
    await mend.waitFor({ state: 'detached' });
    // Now the next kind of mistake is found; each is mended before the answer to the one before has come.
    const others = page.locator('#problems li', { hasText: `"${second}x"` }).getByRole('button', { name: 'Fix' });
    await others.first().waitFor();
    for (let at = (await others.count()) - 1; at >= 0; at--) await others.nth(at).click();
    assert.is((await text(page)).trim(), right.trim());
  }));

test('what is dialled is the flow as it is in the editor, and the served one is another until it is saved', () =>
  inStudio(async ({ page, server, file }) => {
    const before = file('main.flow.json');
    const { start, screens } = JSON.parse(before) as { start: string; screens: Record<string, { text: object }> };
    await paste(page, before.replace(Object.values(screens[start]!.text)[0] as string, 'A draft'));
    await page.locator('#state', { hasText: 'Not saved' }).waitFor();
    await part(page, 'phone');
    await page.locator('#dial').click();
    await page.locator('#device .screen', { hasText: 'A draft' }).waitFor();
    assert.not.match(await server.ussd(DIAL), 'A draft');
    // Its test expects the old words: it is not saved until they are written anew.
    await page.locator('#save').click();
    await page.locator('#notice', { hasText: 'its tests fail' }).waitFor();
    await page.locator('#results .removed').first().waitFor();
    await page.locator('#update').click();
    await page.locator('#tested', { hasText: /\d expectations? written/ }).waitFor();
    await page.locator('#save').click();
    await page.locator('#notice', { hasText: /Saved in .* and served/ }).waitFor();
    assert.match(await server.ussd({ ...DIAL, sessionId: 's2' }), 'A draft');
  }));

test('an edit on disk is shown, and never overwritten unless the author says so; what is not saved outlives a reload', () =>
  inStudio(async ({ page, folder, file }) => {
    const before = file('main.flow.json');
    const noted = before.replace('"version": 1,', '"version": 1,\n  "note": "from the browser",');
    await paste(page, noted);
    await page.locator('#state', { hasText: 'Not saved' }).waitFor();
    page.removeAllListeners('dialog');
    page.on('dialog', (dialog) => void dialog.accept());
    await page.reload();
    await page.locator('#notice', { hasText: 'Unsaved changes were restored.' }).waitFor();
    assert.is(await text(page), noted);
    const onDisk = before.replace('"version": 1,', '"version": 1,\n  "note": "from another editor",');
    writeFileSync(join(folder, 'main.flow.json'), onDisk);
    await page.locator('#save').click();
    await page.locator('#conflict').waitFor();
    assert.match((await page.locator('#conflict-diff .cm-content').allTextContents()).join(), 'from another editor');
    assert.is(file('main.flow.json'), onDisk);
    await page.locator('#keep-mine').click();
    await page.locator('#save').click();
    await page.locator('#notice', { hasText: /Saved in .* and served/ }).waitFor();
    assert.is(file('main.flow.json'), noted);
  }));

test('a file with line ends of Windows is not changed by being opened, and keeps them when it is saved', () =>
  inStudio(async ({ page, folder, file }) => {
    const windows = file('main.flow.json').replaceAll('\n', '\r\n');
    writeFileSync(join(folder, 'main.flow.json'), windows);
    await page.reload();
    await page.locator('#state', { hasText: /^Saved/ }).waitFor();
    const edited = windows.replace('"version": 1,', '"version": 1,\r\n  "note": "x",');
    await paste(page, edited.replaceAll('\r\n', '\n'));
    await page.locator('#state', { hasText: /^Not saved/ }).waitFor();
    await page.locator('#save').click();
    await page.locator('#notice', { hasText: /Saved in .* and served/ }).waitFor();
    assert.is(file('main.flow.json'), edited);
  }));

test.run();
