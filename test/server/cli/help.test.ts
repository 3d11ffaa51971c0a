// What the command line says about itself, word by word, and the completion that shells make of it.
// After a change on purpose: UPDATE_GOLDEN=1 npm test -- cli-help, and a look at the difference.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listFlags } from '../../../server/cli/verb.ts';
import { loadVerbs, VERBS } from '../../../server/cli/verbs.ts';
import type { Setting } from '../../../server/config/kinds.ts';
import { SETTINGS } from '../../../server/config/settings.ts';
import { ROOT } from '../../package/manifest.ts';
import { skipWithout } from '../../support/on-path.ts';
import { run } from '../support/command.ts';

const test = suite('help');
const GOLDEN = join(ROOT, 'test/fixtures/cli/help');
// It lists the settings, which have tests of their own.
const LISTED = Object.keys(VERBS).filter((name) => name !== 'start');

/** Compares with the file of this name, or writes it. */
function golden(name: string, text: string): void {
  const file = join(GOLDEN, `${name}.txt`);
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(GOLDEN, { recursive: true });
    writeFileSync(file, `${text}\n`);
  }
  assert.ok(existsSync(file), `${file} is not there: UPDATE_GOLDEN=1 npm test -- cli-help writes it`);
  assert.is(
    `${text}\n`,
    readFileSync(file, 'utf8'),
    `${name}: UPDATE_GOLDEN=1 npm test -- cli-help takes the new words`,
  );
}

test('the overview is as it was', async () => golden('overview', (await run(['--help'])).out));

for (const name of LISTED)
  test(`the help of ${name} is as it was`, async () => golden(name, (await run([name, '--help'])).out));

test('the guide to the command line has a section for every verb', () => {
  const guide = readFileSync(join(ROOT, 'server/docs/guides/cli.md'), 'utf8');
  const named = [...guide.matchAll(/^## (\w+)$/gm)].map(([, name]) => name!);
  assert.equal(named, Object.keys(VERBS));
});

test('there is no help of a verb that is gone', () => {
  const kept = readdirSync(GOLDEN).map((file) => file.replace('.txt', ''));
  assert.equal(
    kept.filter((name) => name !== 'overview' && !(name in VERBS)),
    [],
  );
});

test('every verb takes the flags that its help names, and refuses one letter more with a suggestion', async () => {
  for (const [name, verb] of Object.entries(await loadVerbs()))
    for (const flag of listFlags(verb)) {
      if (flag.includes('<')) continue;
      const { code, err } = await run([name, `${flag}x`]);
      assert.is(code, 2, `${name} ${flag}x`);
      assert.match(err, new RegExp(`^There is no ${flag}x here\\. Did you mean "--`), `${name} ${flag}`);
    }
});

test('start has a flag for every setting but secrets, which other users of a machine would see', async () => {
  const { out } = await run(['start', '--help']);
  for (const [name, { secret }] of Object.entries(SETTINGS) as [string, Setting][]) {
    const flag = `--${name.toLowerCase().replaceAll('_', '-')} `;
    assert.is(out.includes(flag), secret === undefined, flag);
  }
});

test('bash completes verbs, and the flags of the verb', async () => {
  skipWithout(['bash']);
  const { out } = await run(['completion', 'bash']);
  const complete = (...words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const script = `${out}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _twinline; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim();
  };
  assert.is(complete('twinline', 'li'), 'lint');
  assert.is(complete('twinline', 'lint', '--s'), '--sarif');
  assert.is(complete('twinline', 'lint', 'me'), '', 'files are for bash itself');
  assert.match(complete('twinline', 'start', '--po'), /^--port$/);
});

test('zsh and fish get every verb and flag; another shell is refused', async () => {
  for (const shell of ['zsh', 'fish']) {
    const { code, out } = await run(['completion', shell]);
    assert.is(code, 0);
    for (const [name, verb] of Object.entries(await loadVerbs())) {
      assert.match(out, new RegExp(`\\b${name}\\b`));
      for (const flag of listFlags(verb))
        assert.ok(out.includes(shell === 'fish' ? `-l ${flag.slice(2)}` : flag), flag);
    }
  }
  const other = await run(['completion', 'fsh']);
  assert.is(other.code, 2);
  assert.match(other.err, /Did you mean "fish"\?|Did you mean "zsh"\?/);
});

test.run();
