// What each subpath of the package reaches, by `import` and by `import()`: its own modules and these packages.

import { isBuiltin } from 'node:module';
import { relative } from 'node:path';
import { build } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtPackage } from '../support/build.ts';
import { manifest } from './manifest.ts';

const test = suite('loads');

/** Subpath → what importing it loads, and what a call loads that needs it. */
const LOADED: { readonly [subpath: string]: string } = {
  '.': 're2js xstate later:@humanwhocodes/momoa',
  './flow': '@humanwhocodes/momoa re2js xstate',
  './ussd': 'lru-cache xstate',
  './domain': 'ajv-formats lru-cache xstate later:ajv later:ipaddr.js later:re2js',
  './agent': '@opentelemetry/api @ucanto/core ipaddr.js lru-cache re2js xstate later:@modelcontextprotocol/sdk',
  './gateway': '@bufbuild/protobuf @humanwhocodes/momoa lru-cache',
  './client': '',
  './delegation': '@opentelemetry/api @ucanto/core @ucanto/principal ipaddr.js lru-cache xstate',
  './store/memory': '',
  './store/lmdb': 'later:libsql later:lmdb later:lru-cache',
  './store/sqlite': 'later:libsql',
  './store/redis': 'ioredis',
  './store/mongo': 'lru-cache mongodb',
  './machines': 'xstate',
  './testing': '@humanwhocodes/momoa re2js xstate later:fast-check',
  './server':
    '@humanwhocodes/momoa @koa/cors @koa/router @opentelemetry/api @ucanto/core @ucanto/principal ajv ajv-formats chokidar engine.io helmet ipaddr.js koa koa-bodyparser koa-helmet koa-ratelimit lru-cache marked picocolors pino re2js socket.io socket.io-adapter ws xstate later:@bufbuild/protobuf later:@digitalbazaar/data-integrity later:@digitalbazaar/eddsa-rdfc-2022-cryptosuite later:@digitalbazaar/vc later:@grpc/grpc-js later:@modelcontextprotocol/sdk later:accepts later:fresh later:ioredis later:libsql later:lmdb later:minisearch later:mongodb',
};

const { dependencies, optionalDependencies, peerDependencies } = manifest;
const PACKAGES = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).sort();

interface Reach {
  /** Paths from the folder of the package, also of those that a call loads. */
  readonly modules: readonly string[];
  readonly packages: string;
  /** Built-in modules of Node, sorted. */
  readonly builtins: readonly string[];
}

async function reachOf(file: string): Promise<Reach> {
  const { metafile } = await build({
    entryPoints: [file],
    absWorkingDir: await builtPackage(),
    outdir: 'unwritten',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
  });
  const modules = Object.keys(metafile.inputs);
  const packagesOf = (paths: Iterable<string>, kinds: readonly string[]) => {
    const imports = [...paths].flatMap((path) => metafile.inputs[path]!.imports);
    const named = imports.filter(({ external, kind }) => external && kinds.includes(kind));
    const names = new Set(named.map(({ path }) => /^(@[^/]+\/)?[^/]+/.exec(path)![0]));
    return PACKAGES.filter((name) => names.has(name));
  };
  const first = new Set([relative('.', file)]);
  for (const path of first)
    for (const { path: imported, kind, external } of metafile.inputs[path]!.imports)
      if (!external && kind === 'import-statement') first.add(imported);
  const now = packagesOf(first, ['import-statement']);
  const later = packagesOf(modules, ['import-statement', 'dynamic-import']).filter((name) => !now.includes(name));
  const imported = modules.flatMap((path) => metafile.inputs[path]!.imports.map(({ path }) => path));
  const builtins = [...new Set(imported.filter(isBuiltin))].sort();
  return { modules, packages: [...now, ...later.map((name) => `later:${name}`)].join(' '), builtins };
}

for (const [subpath, file] of Object.entries(manifest.exports))
  test(`${subpath} reaches these packages and no others`, async () => {
    const { modules, packages } = await reachOf(file);
    if (subpath !== './server')
      assert.equal(
        modules.filter((path) => path.startsWith('dist/server/')),
        [],
      );
    assert.is(packages, LOADED[subpath]);
  });

test('only the client and the machines run where there is no Node, such as in a browser', async () => {
  const free: string[] = [];
  for (const [subpath, file] of Object.entries(manifest.exports))
    if (!(await reachOf(file)).builtins.length) free.push(subpath);
  assert.equal(free, ['./client', './machines']);
});

test('lint of a flow loads neither the compiler of schemas nor what serves', async () => {
  const { packages } = await reachOf('dist/server/cli/menus/lint.js');
  assert.is(packages, '@humanwhocodes/momoa picocolors re2js xstate later:cli-progress');
});

test.run();
