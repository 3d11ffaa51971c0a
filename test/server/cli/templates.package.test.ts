// Templates of `twinline new`: each is published, and begins a project whose own tests pass with the built package.

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { TEMPLATES } from '../../../server/cli/verbs/new.ts';
import { ROOT } from '../../package/manifest.ts';
import { builtPackage } from '../../support/build.ts';
import { withFolder } from '../../support/process.ts';
import { run } from '../support/command.ts';

const test = suite('templates');
const command = promisify(execFile);
const BIN = './node_modules/.bin/twinline';

/** Puts the built package where `npm install` would. */
async function install(folder: string): Promise<void> {
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(await builtPackage(), join(folder, 'node_modules/twinline'));
  symlinkSync('../twinline/dist/server/cli/main.js', join(folder, 'node_modules/.bin/twinline'));
}

// Those that are packages are tested with the tarball, in test/package/projects.test.ts.
const SERVERS = Object.entries(TEMPLATES).filter(([, { kind }]) => kind === 'server');

for (const [template] of SERVERS)
  test(`the project of "${template}" passes its own tests`, () =>
    withFolder(async (parent) => {
      const folder = join(parent, 'my-project');
      const { code, out } = await run(['new', template, folder]);
      assert.is(code, 0, out);
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name: string;
        scripts: { test: string };
      };
      assert.is(manifest.name, 'my-project');
      assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), /^# my-project\n/);
      await install(folder);
      const env = { PATH: `${join(folder, 'node_modules/.bin')}:${process.env.PATH}`, HOME: parent };
      // As npm runs a script, without the time that npm takes.
      const { stdout } = await command('sh', ['-c', manifest.scripts.test], { cwd: folder, env });
      // Node 20 writes TAP where nobody looks on, later versions the lines that people see.
      assert.match(stdout, /^[#ℹ] pass [1-9]/m, stdout);
      assert.match(stdout, /^[#ℹ] fail 0$/m, stdout);
      const files = readdirSync(folder);
      for (const file of ['.env', '.env.example', '.gitignore', 'README.md', 'test'])
        assert.ok(files.includes(file), file);
      assert.not.ok(files.includes('gitignore'));
      if (!files.includes('menus')) return;
      // Where an editor finds what completes a flow.
      const flow = readdirSync(join(folder, 'menus')).find((name) => name.endsWith('.flow.json'))!;
      const { $schema } = JSON.parse(readFileSync(join(folder, 'menus', flow), 'utf8')) as { $schema: string };
      assert.ok(readFileSync(join(folder, 'menus', $schema), 'utf8').includes('"screens"'));
      const lint = await command(BIN, ['lint', '--env-file', '.env'], { cwd: folder, env });
      assert.match(lint.stdout, /, 0 errors, 0 warnings\n$/);
    }));

test('the workflow of a project of menus lints, tests, and writes the drawing and the coverage for the comment', () =>
  withFolder(async (parent) => {
    const folder = join(parent, 'menus-in-ci');
    await run(['new', 'ussd', folder]);
    await install(folder);
    const workflow = parse(readFileSync(join(folder, '.github/workflows/menus.yml'), 'utf8'));
    const steps: readonly { name?: string; run?: string }[] = workflow.jobs.menus.steps;
    const summary = join(parent, 'summary.md');
    const bin = join(folder, 'node_modules/.bin');
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: parent, GITHUB_STEP_SUMMARY: summary };
    for (const name of ['Lint', 'Test', 'Draw']) {
      const { run: script } = steps.find((step) => step.name === name)!;
      // Without the time that npx takes.
      await command('bash', ['-e', '-c', script!.replaceAll('npx twinline', 'twinline')], { cwd: folder, env });
    }
    const comment = readFileSync(join(folder, 'comment.md'), 'utf8');
    assert.match(comment, /^### main\n\n```mermaid\n[^`]*stateDiagram-v2[^`]*```\n/);
    assert.match(comment, /### What the tests go through\n\n```text\n[^`]*100 %[^`]*```\n$/);
    assert.is(readFileSync(summary, 'utf8'), comment);
    assert.match(steps.find(({ name }) => name === 'Comment')!.run!, /--body-file comment\.md$/);
  }));

test('a test of a new project can fail: an edited menu does not pass', () =>
  withFolder(async (parent) => {
    const folder = join(parent, 'menus-of-mine');
    await run(['new', 'ussd', folder]);
    await install(folder);
    const flow = join(folder, 'menus/main.flow.json');
    writeFileSync(flow, readFileSync(flow, 'utf8').replace('Green Valley Water', 'Blue Valley Water'));
    const env = { PATH: process.env.PATH, HOME: parent };
    const failure = await command(BIN, ['test', 'menus'], { cwd: folder, env }).catch(
      (error: { stdout: string }) => error,
    );
    assert.match(failure.stdout, /- Green Valley Water\n\s+\+ Blue Valley Water/);
  }));

test('a folder with something in it, an unknown template and a bad name are refused, and nothing is written', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    const full = await run(['new', 'ussd', folder]);
    assert.is(full.code, 1);
    assert.match(full.err, /there is something in it/);
    assert.equal(readdirSync(folder), ['mine.txt']);
    const unknown = await run(['new', 'usd', join(folder, 'a')]);
    assert.is(unknown.code, 2);
    assert.match(unknown.err, /Did you mean "ussd"\?/);
    assert.is((await run(['new', 'ussd', join(folder, 'a'), '--name', '../x'])).code, 2);
    assert.is((await run(['new'])).code, 2);
    assert.equal(readdirSync(folder), ['mine.txt']);
  }));

test('templates are published, under names that npm does not take away', async () => {
  const { stdout } = await command('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT });
  const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }];
  const published = files.map(({ path }) => path).filter((path) => path.startsWith('server/templates/'));
  const own = readdirSync(join(ROOT, 'server/templates'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
  assert.equal(published.sort(), own.sort());
});

test.run();
