// What Twinline is for, whole: from an empty folder and the tarball to a menu that somebody without a program but a browser has changed,
// broken, mended, tested and saved, and that callers dial.

import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dial, part, paste, problems, text } from '../server/studio/hands.ts';
import { browser } from '../server/support/browser.ts';
import { ask, DIAL, json } from '../server/support/serve.ts';
import { killed } from '../support/process.ts';
import { addressIn } from './listening.ts';
import { buildPackage, linkDependencies, packTarball } from './packed.ts';

const test = suite('from an empty folder to a menu that is dialled');
const open = browser(test);

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinline-shows-')));
const project = join(folder, 'water');
const env = { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), HOME: folder };

/** A command in a folder; what it printed. */
function run(cwd: string, command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env });
  assert.is(status, 0, stdout + stderr);
  return stdout;
}

test.before(async () => {
  await buildPackage(join(folder, 'source'));
  const tarball = packTarball(join(folder, 'source'), folder);
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  writeFileSync(join(empty, 'package.json'), '{}');
  const offline = ['--offline', '--no-audit', '--no-fund'];
  run(empty, 'npm', 'install', `../${basename(tarball)}`, ...offline);
  linkDependencies(join(empty, 'node_modules'));
  run(empty, join(empty, 'node_modules/.bin/twinline'), 'new', 'ussd', project);
  run(project, 'npm', 'install', ...offline);
  linkDependencies(join(project, 'node_modules'));
  copyFileSync(join(project, '.env.example'), join(project, '.env'));
});
test.after(() => rmSync(folder, { recursive: true }));

/** Replaces one place that must be there. */
function edit(whole: string, from: string, to: string): string {
  assert.ok(whole.includes(from), from);
  return whole.replace(from, () => to);
}

const MISTAKES = [
  ['{{bill.name|trunc:30}}', '{{bill.nmae|trunc:30}}', 'Did you mean "name"?'],
  ['"to": "findBill"', '"to": "findBil"', 'Did you mean "findBill"?'],
  ['"There is no meter {{meter}}."', '"There is no meter {meter}."', 'single braces mean nothing'],
] as const;

const OPTION = ',\n        { "id": "tariff", "text": { "en": "Tariff", "sw": "Bei" }, "to": "tariff" }';
const SCREEN =
  '"tariff": { "type": "end", "text": { "en": "KES 60 for 1,000 litres.", "sw": "KES 60 kwa lita 1,000." } },\n    ';

test('a text is changed, three mistakes are named and mended, a screen is added, a dialogue is a test, and callers dial it', async () => {
  const bin = join(project, 'node_modules/.bin/twinline');
  const child = spawn(bin, ['start'], {
    cwd: project,
    env: { ...env, PORT: '0', HOST: '127.0.0.1', DATA_DIR: ':memory:' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    const url = await addressIn(child);
    const file = (name: string) => readFileSync(join(project, 'menus', name), 'utf8');
    const call = async (typed: string) =>
      (await ask(`${url}/api/ussd`, json({ ...DIAL, sessionId: 'caller-1', text: typed }))).text;
    const seen = await open(`${url}/studio`);
    const { page } = seen;
    await page.locator('#state', { hasText: 'Saved' }).waitFor();
    const changed = edit(file('main.flow.json'), 'Green Valley Water', 'Hill Water Company');

    const wrong = MISTAKES.reduce((now, [from, to]) => edit(now, from, to), changed);
    await paste(page, wrong);
    await page
      .locator('#problems li')
      .nth(MISTAKES.length - 1)
      .waitFor();
    const named = await problems(page);
    assert.is(named.length, MISTAKES.length, named.join('\n'));
    for (const [, to, says] of MISTAKES) {
      const line = wrong.slice(0, wrong.indexOf(to)).split('\n').length;
      assert.ok(
        named.some((one) => one.startsWith(`${line}:`) && one.includes(says)),
        `${to} in line ${line}: ${named.join('\n')}`,
      );
    }
    for (let left = MISTAKES.length; left > 0; left--) {
      await page.locator('#problems').getByRole('button', { name: 'Mend' }).first().click();
      await page
        .locator('#problems li')
        .nth(left - 1)
        .waitFor({ state: 'detached' });
    }
    assert.is(await text(page), changed, 'mended, and nothing else was touched');

    const last = '"to": "welcome"\n        }';
    await paste(page, edit(edit(changed, last, last + OPTION), '"trouble": {', `${SCREEN}"trouble": {`));
    await page.locator('#picture .state[data-state="tariff"]').waitFor();
    await part(page, 'tests');
    await page.locator('#results .removed').first().waitFor();
    await page.locator('#update').click();
    await page.locator('#tested', { hasText: /\d expectations? written/ }).waitFor();
    await part(page, 'phone');
    await page.locator('#dial').click();
    await page.locator('#device .screen', { hasText: 'Hill Water Company' }).waitFor();
    await dial(page, [['3', 'KES 60 for 1,000 litres.']]);
    await page.locator('#test-name').fill('somebody asks for the tariff');
    await page.locator('#record button').click();
    await page.locator('#notice', { hasText: 'The dialogue is a test now' }).waitFor();

    assert.match(await call(''), 'Green Valley Water', 'callers have the menu that was saved');
    await page.locator('#save').click();
    await page.locator('#notice', { hasText: 'Saved, and served' }).waitFor();
    const dialled = await ask(`${url}/api/ussd`, json({ ...DIAL, sessionId: 'caller-2' }));
    assert.match(dialled.text, 'CON Hill Water Company\n1. My bill\n2. Kiswahili\n3. Tariff');
    const tariff = await ask(`${url}/api/ussd`, json({ ...DIAL, sessionId: 'caller-2', text: '3' }));
    assert.match(tariff.text, 'END KES 60 for 1,000 litres.');
    assert.equal([seen.complaints, seen.strangers], [[], []]);
  } finally {
    await killed(child);
  }
  // What the browser has written is what the project's own commands run.
  assert.match(run(project, bin, 'lint'), '0 errors, 0 warnings');
  assert.match(run(project, bin, 'test', '--threshold', '100'), '3 passed, 0 failed');
});

test.run();
