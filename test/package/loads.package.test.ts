// Which packages each subpath loads when it is imported: what its exports are made of. Whatever else they need is loaded by the call
// that needs it, so that an importer of the engine waits for no parser, validator or driver.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as xstate from 'xstate';
import { builtFile, builtPackage } from '../support/build.ts';
import { withFolder } from '../support/process.ts';
import { manifest } from './manifest.ts';

const test = suite('loads');

/** Of the dependencies; which packages those need themselves differs between systems. */
const LOADED: { readonly [subpath: string]: string } = {
  '.': 'xstate',
  './flow': 'xstate',
  './ussd': 'lru-cache xstate',
  './domain': 'ipaddr.js lru-cache xstate',
  './agent': '@opentelemetry/api @ucanto/core ipaddr.js lru-cache xstate',
  './gateway': '@bufbuild/protobuf lru-cache',
  './delegation': '@opentelemetry/api @ucanto/core @ucanto/principal ipaddr.js lru-cache xstate',
  './store/memory': '',
  './store/lmdb': 'libsql lmdb lru-cache',
  './store/sqlite': 'libsql',
  './store/redis': 'ioredis',
  './store/mongo': 'lru-cache mongodb',
  './machines': 'xstate',
  './testing': 'xstate',
  './server':
    '@koa/cors @koa/router @opentelemetry/api @ucanto/core @ucanto/principal accepts ajv ajv-formats chokidar engine.io fresh helmet ipaddr.js koa koa-bodyparser koa-helmet koa-ratelimit libsql lmdb lru-cache marked picocolors pino socket.io socket.io-adapter ws xstate',
};

const DEPENDENCIES = Object.keys({
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.peerDependencies,
});

/** Tells of every file that `import` finds as it is found, and of those of `require` in the end. */
const TELL = `
import { createRequire, register } from 'node:module';
const hook = \`import { writeSync } from 'node:fs';
export async function resolve(name, context, next) {
  const found = await next(name, context);
  writeSync(2, found.url + '\\\\n');
  return found;
}\`;
register('data:text/javascript,' + encodeURIComponent(hook));
process.on('exit', () => console.error(Object.keys(createRequire('/').cache).join('\\n')));`;

for (const [subpath, file] of Object.entries(manifest.exports))
  test(`${subpath} loads these packages and no others`, async () => {
    assert.equal(await packagesOf(join(await builtPackage(), file)), LOADED[subpath]?.split(' ').filter(Boolean));
  });

test('a build requires XState, which costs less than to import it, and who imports it beside has the same one', async () => {
  const files = await filesOf(join(join(await builtPackage(), 'dist'), 'lib/index.js'));
  assert.ok(files.some((path) => path.endsWith('/xstate.cjs.js')));
  assert.not.ok(files.some((path) => path.endsWith('/xstate.cjs.mjs')));
  const required: Readonly<Record<string, unknown>> = createRequire(import.meta.url)('xstate');
  for (const [name, value] of Object.entries(required)) assert.is(Object(xstate)[name], value, name);
});

test('a file of flows is read with what was not loaded before', () =>
  withFolder(async (folder) => {
    const program = join(folder, 'program.mjs');
    const index = pathToFileURL(join(await builtPackage(), manifest.exports['.']!)).href;
    writeFileSync(program, `import { loadFlow } from '${index}'; await loadFlow('none').catch(() => {});`);
    assert.equal(await packagesOf(program), ['@humanwhocodes/momoa', 'xstate']);
  }));

test('lint of a flow loads neither the compiler of schemas nor what serves', () =>
  withFolder(async (folder) => {
    const flow = { flow: 'main', version: 1, start: 'bye', screens: { bye: { type: 'end', text: 'Bye' } } };
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flow));
    const files = await filesOf(await builtFile('server/cli/main.ts'), ['lint', folder]);
    assert.equal(packagesIn(files), ['@humanwhocodes/momoa', 'ajv', 'picocolors', 'xstate']);
    // What the compiled check needs of its package, and no more.
    assert.equal(
      files.filter((path) => path.includes('/node_modules/ajv/')).map((path) => path.replace(/.*\/ajv\//, '')),
      ['dist/runtime/ucs2length.js'],
    );
  }));

test.run();

async function packagesOf(file: string): Promise<string[]> {
  return packagesIn(await filesOf(file));
}

function packagesIn(files: readonly string[]): string[] {
  const found = new Set(files.map((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]));
  return DEPENDENCIES.filter((name) => found.has(name)).sort();
}

async function filesOf(file: string, args: readonly string[] = []): Promise<string[]> {
  const before = `data:text/javascript,${encodeURIComponent(TELL)}`;
  const all = ['--import', before, file, ...args];
  const { stderr } = await promisify(execFile)(process.execPath, all, { maxBuffer: 2 ** 24 });
  return stderr.split('\n').sort();
}
