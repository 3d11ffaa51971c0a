// The build that processes of tests run from: a package as it is published, and never one of an older source.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest, ROOT } from '../package/manifest.ts';
import { builtFile, builtPackage, keyOfModules, SETTINGS } from '../support/build.ts';
import { withFolder } from '../support/process.ts';

const test = suite('build for tests');

test('it has every subpath and command of package.json, what is published beside them, and programs of tests', async () => {
  const folder = await builtPackage();
  const paths = [
    ...Object.values(manifest.exports),
    ...Object.values(manifest.bin ?? {}),
    'menus',
    'server/docs/guides',
  ];
  assert.equal(
    paths.filter((path) => !existsSync(join(folder, path))),
    [],
  );
  assert.ok(existsSync(await builtFile('test/store/snapshot-child.ts')));
  const version = execFileSync(await builtFile('server/cli/main.ts'), ['--version'], { encoding: 'utf8' });
  assert.is(version, `${manifest.version}\n`);
});

test('every change of what is built asks for another build, and one of a test file for none', () =>
  withFolder(async (root) => {
    for (const folder of ['lib/engine', 'machines', 'menus', 'server', 'test'])
      mkdirSync(join(root, folder), { recursive: true });
    for (const file of SETTINGS) cpSync(join(ROOT, file), join(root, file));
    const file = (path: string) => join(root, path);
    writeFileSync(file('lib/engine/a.ts'), '1');
    const changes: Readonly<Record<string, () => void>> = {
      'an edit': () => writeFileSync(file('lib/engine/a.ts'), '2'),
      'a new file': () => writeFileSync(file('test/child.ts'), ''),
      'another name': () => renameSync(file('test/child.ts'), file('test/other.ts')),
      'another setting': () => writeFileSync(file('tsconfig.json'), '{}'),
    };
    const seen = new Set([keyOfModules(root)]);
    for (const [what, change] of Object.entries(changes)) {
      change();
      const key = keyOfModules(root);
      assert.not.ok(seen.has(key), what);
      seen.add(key);
    }
    writeFileSync(file('test/a.test.ts'), '');
    assert.ok(seen.has(keyOfModules(root)));
  }));

test.run();
