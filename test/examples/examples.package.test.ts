// The programs of this folder, run by people who have installed the package: packed and installed once, each prints what its last
// comment says, on each version of Node that is here. And they are right by the types.

import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest, ROOT } from '../package/manifest.ts';
import { buildPackage, linkDependencies, packTarball } from '../package/packed.ts';
import { TSC } from '../support/build.ts';
import { startMongo } from '../support/mongo-server.ts';
import { skipWithout } from '../support/on-path.ts';
import { startRedis } from '../support/redis-server.ts';

const test = suite('examples');
const EXAMPLES = join(ROOT, 'test/examples');
const FILES = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
  .map(({ name }) => name);
/** What is used by others and prints nothing. */
const PARTS = ['phones.mjs'];
const PROGRAMS = FILES.filter((name) => name.endsWith('.mjs') && !PARTS.includes(name));
const SECONDS = 60_000;

interface Given {
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** What a program needs beside Node; skips where it is not here. */
const NEEDS: { readonly [program: string]: (version: string) => Promise<Given> } = {
  'lifecycle.mjs': async (version) => {
    const { url, stop } = await startMongo();
    const own = new URL(url);
    own.pathname = `twinline-example-${version.replaceAll('.', '-')}-${process.pid}`;
    return { env: { MONGODB_URL: own.href }, stop };
  },
  'two-servers.mjs': async () => {
    skipWithout(['nginx']);
    const { url, stop } = await startRedis();
    return { env: { REDIS_URL: url }, stop };
  },
};

const folder = mkdtempSync(join(tmpdir(), 'twinline-examples-'));
const modules = join(folder, 'node_modules');

test.before(async () => {
  await buildPackage(join(folder, 'source'));
  const tarball = packTarball(join(folder, 'source'), folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
  const install = ['install', `./${basename(tarball)}`, '--offline', '--no-audit', '--no-fund'];
  const { status, stdout, stderr } = spawnSync('npm', install, { cwd: folder, encoding: 'utf8' });
  assert.is(status, 0, stdout + stderr);
  linkDependencies(modules);
  link('fastify', 'express', 'hono', '@types/node');
  for (const name of FILES) copyFileSync(join(EXAMPLES, name), join(folder, name));
});
test.after(() => rmSync(folder, { recursive: true }));

/** What the reader of an example has installed beside. */
function link(...names: readonly string[]): void {
  for (const name of names.filter((name) => !existsSync(join(modules, name)))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
}

/** The lines below `// Prints:`. */
function promisedBy(source: string): string {
  const [, said] = source.split('\n// Prints:\n');
  assert.ok(said, 'it says what it prints');
  return said.replace(/^\/\/ {0,3}/gm, '');
}

/** Programs `node` of several versions: this one's, and those that `.ci/run` names. */
const NODES = [process.execPath, ...(process.env.TWINLINE_TEST_NODES?.split(delimiter).filter(Boolean) ?? [])];

for (const node of NODES) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const run = async (args: readonly string[], given?: Readonly<Record<string, string>>) => {
    const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, HOME: folder, ...given };
    const { stdout, stderr } = await promisify(execFile)(node, args, { cwd: folder, env, timeout: SECONDS });
    assert.is(stderr, '');
    return stdout;
  };

  for (const program of PROGRAMS)
    test(`${program} prints what it says on Node ${version}`, async () => {
      const given = await NEEDS[program]?.(version);
      try {
        const said = await run([program], given?.env);
        assert.is(said, promisedBy(readFileSync(join(folder, program), 'utf8')));
      } finally {
        await given?.stop();
      }
    });

  test(`every subpath is imported on Node ${version}`, async () => {
    const lines = Object.keys(manifest.exports).map((path) => `await import('twinline${path.slice(1)}');`);
    assert.is(await run(['--input-type=module', '--eval', `${lines.join('\n')}\nprocess.exit();`]), '');
  });
}

test('the programs are right by the types', () => {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    // Arguments need no types in an example that is JavaScript; all else must be right.
    noImplicitAny: false,
    allowJs: true,
    checkJs: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  };
  const files = FILES.filter((name) => name.endsWith('.mjs'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const { stdout } = spawnSync(process.execPath, [TSC, '-p', '.'], { cwd: folder, encoding: 'utf8' });
  assert.is(stdout, '');
});

test.run();
