// What package.json promises to importers: every subpath and command exists, and importing one does nothing else.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest, ROOT } from './manifest.ts';
import type { SideEffects } from './probe.ts';

const run = promisify(execFile);
const NONE = { printed: [], handles: [], globals: [], listeners: [] };

const test = suite('exports');

test('every subpath and every command is built from a source that exists', () => {
  const targets = [...Object.values(manifest.exports), ...Object.values(manifest.bin ?? {})];
  assert.ok(targets.length > 0);
  assert.equal(
    targets.map(source).filter((path) => !existsSync(`${ROOT}${path}`)),
    [],
  );
});

test('the #menus import names a folder that is published, so that source and dist find the same flows', () => {
  assert.equal(manifest.imports, { '#menus/*': './menus/*' });
  assert.ok(manifest.files.includes('menus'));
});

test('importing a subpath prints nothing, holds nothing open and touches no global', async () => {
  const seen = await probe(Object.values(manifest.exports).map(source));
  assert.equal(
    seen,
    Object.values(manifest.exports).map((target) => ({ module: source(target), ...NONE })),
  );
});

test('the probe sees what an import does', async () => {
  const module = 'test/fixtures/package/noisy.ts';
  const [seen] = await probe([module]);
  assert.equal(seen, {
    module,
    printed: ['hello\n', 'oh\n'],
    handles: ['Timeout'],
    globals: ['noisy'],
    listeners: ['SIGUSR2 × 1'],
  });
});

test.run();

/** `./dist/lib/index.js` → `lib/index.ts` */
function source(target: string): string {
  return target.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts');
}

// Rejects when the process does not end by itself: then something was left open.
async function probe(modules: readonly string[]): Promise<SideEffects[]> {
  const args = ['--import', 'tsx', 'test/package/probe.ts', ...modules];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: ROOT, timeout: 20_000 });
  assert.is(stderr, '');
  return JSON.parse(stdout) as SideEffects[];
}
