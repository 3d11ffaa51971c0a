// What package.json promises to importers: every subpath and command exists, and importing one does nothing else.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest, ROOT, sourceOf } from './manifest.ts';

const run = promisify(execFile);

const test = suite('exports');

test('every subpath and every command is built from a source that exists', () => {
  const targets = [...Object.values(manifest.exports), ...Object.values(manifest.bin ?? {})];
  assert.ok(targets.length > 0);
  assert.equal(
    targets.map(sourceOf).filter((path) => !existsSync(`${ROOT}${path}`)),
    [],
  );
});

test('imports with # name folders that are published, so that source and dist find the same files', () => {
  const folders = { '#menus/*': 'menus', '#guides/*': 'server/docs/guides', '#templates/*': 'server/templates' };
  const { '#protobuf': _, '#guides/api.md': built, ...imports } = manifest.imports;
  const named = Object.entries(folders).map(([name, at]) => [name, `./${at}/*`]);
  assert.equal(imports, Object.fromEntries(named));
  for (const folder of Object.values(folders)) assert.ok(manifest.files.includes(folder));
  assert.ok(manifest.files.includes(String(built).replace('./', '')));
});

test('importing a subpath prints nothing, holds nothing open and touches no global', async () => {
  assert.equal(await probe(Object.values(manifest.exports).map(sourceOf)), []);
});

test('the probe sees what an import does', async () => {
  const module = 'test/fixtures/package/noisy.ts';
  assert.equal(await probe([module]), [
    `${module} prints hello`,
    `${module} prints oh`,
    `${module} holds open Timeout`,
    `${module} sets the global noisy`,
    `${module} listens to SIGUSR2 × 1`,
  ]);
});

test.run();

// Rejects when the process does not end by itself: then something was left open.
async function probe(modules: readonly string[]): Promise<string[]> {
  const args = ['--import', 'tsx', 'test/package/probe.ts', ...modules];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: ROOT, timeout: 20_000 });
  assert.is(stderr, '');
  return JSON.parse(stdout) as string[];
}
