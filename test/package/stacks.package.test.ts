// The packed package in the stacks of others: the programs of the guide "In your stack", run by each runtime, bundler and test runner.

import { execFile, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { guideText } from '../../server/docs/guides.ts';
import { blocksOf } from '../guides/blocks.ts';
import { withFolder } from '../support/process.ts';
import { isWhole } from '../support/size.ts';
import { skipped } from '../support/skip.ts';
import { until } from '../support/until.ts';
import { ROOT } from './manifest.ts';
import { buildPackage, copyPacked, linkDependencies } from './packed.ts';

const test = suite('stacks');

const TOOLS = [
  '@hono/node-server@1.19.19',
  '@nestjs/common@11.2.10',
  '@nestjs/core@11.2.10',
  '@nestjs/platform-express@11.2.10',
  '@rollup/plugin-commonjs@29.0.3',
  '@rollup/plugin-node-resolve@16.0.3',
  'bun@1.4.5',
  'deno@2.9.6',
  'jest@30.5.2',
  'reflect-metadata@0.2.2',
  'rollup@4.68.8',
  'rxjs@7.8.0',
  'vite@8.3.8',
  'vitest@3.2.4',
  'webpack@5.113.0',
  // Its packages have 300 MB, and it builds for a minute.
  ...(isWhole ? ['next@15.5.29', 'react@19.0.9', 'react-dom@19.0.9'] : []),
];
/** No package that is younger is installed: another day gives the same tree. */
const BEFORE = '2026-11-25';
const SAID = '1 cups. Thank you.';

const folder = join(ROOT, 'build/stacks');
const tool = (name: string) => join(folder, 'node_modules', name);
const run = promisify(execFile);

test.before(async () => {
  installTools();
  rmSync(tool('twinline'), { recursive: true, force: true });
  rmSync(join(folder, 'source'), { recursive: true, force: true });
  await buildPackage(join(folder, 'source'));
  copyPacked(join(folder, 'source'), tool('twinline'));
  // Inside of it: the tools bring other versions of some.
  linkDependencies(join(tool('twinline'), 'node_modules'));
  for (const name of ['esbuild', 'express', 'fastify', 'hono', 'tsx', 'xstate']) link(name);
  for (const block of blocksOf(await guideText('stacks')))
    if (block.kind === 'write') {
      mkdirSync(dirname(join(folder, block.file)), { recursive: true });
      writeFileSync(join(folder, block.file), block.text);
    }
});

function installTools(): void {
  const mark = join(folder, 'installed.json');
  const installed: readonly string[] = existsSync(mark) ? JSON.parse(readFileSync(mark, 'utf8')) : [];
  if (TOOLS.every((name) => installed.includes(name))) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', `--before=${BEFORE}`];
  const { status, stderr } = spawnSync('npm', ['install', ...quiet, ...TOOLS], { cwd: folder, encoding: 'utf8' });
  if (/ENOTFOUND|ECONNREFUSED|EAI_AGAIN/.test(stderr)) skipped('no registry answers, which has the tools of others');
  assert.is(status, 0, stderr);
  writeFileSync(mark, JSON.stringify(TOOLS));
}

function link(name: string): void {
  if (existsSync(tool(name))) return;
  mkdirSync(dirname(tool(name)), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules', name), tool(name));
}

/** Runs a program in the project, which must end well. */
async function printed(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout, stderr } = await run(program, args, { cwd: folder, env: { ...process.env, ...env } }).catch(
    (error) => {
      throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`);
    },
  );
  return stdout + stderr;
}

const node = (...args: readonly string[]) => printed(process.execPath, args);

/** Where each puts the program, for one that runs in a folder without any package. */
const BUNDLERS: { readonly [name: string]: (out: string) => Promise<string> } = {
  'esbuild, ESM': async (out) => {
    await printed(tool('.bin/esbuild'), [...ESBUILD, '--format=esm', `--outfile=${out}/esbuild.mjs`]);
    return 'esbuild.mjs';
  },
  'esbuild, CommonJS': async (out) => {
    await printed(tool('.bin/esbuild'), [...ESBUILD, '--format=cjs', `--outfile=${out}/esbuild.cjs`]);
    return 'esbuild.cjs';
  },
  rollup: async () => {
    await node(tool('rollup/dist/bin/rollup'), '--config', 'rollup.config.mjs', '--silent');
    return 'rollup.mjs';
  },
  webpack: async () => {
    await node('--input-type=module', '--eval', WEBPACK);
    return 'webpack.cjs';
  },
  'Vite, for servers': async (out) => {
    await printed(tool('.bin/vite'), ['build', '--ssr', 'app.mjs', '--outDir', out, '--logLevel', 'error']);
    return readdirSync(out).find((name) => name.startsWith('app.'))!;
  },
};
const ESBUILD = ['app.mjs', '--bundle', '--platform=node', '--log-level=warning'];
const WEBPACK = `import webpack from 'webpack';
import config from './webpack.config.mjs';
webpack(config, (error, stats) => {
  const problems = stats?.toString({ all: false, errors: true, warnings: true });
  if (error || problems) throw new Error(error?.message ?? problems);
});`;

test('Node runs it, as modules and by require', async () => {
  assert.match(await node('app.mjs'), SAID);
  const byRequire = `const { XSTATE_RANGE } = require('twinline'); console.log(XSTATE_RANGE);`;
  assert.match(await node('--input-type=commonjs', '--eval', byRequire), /^>=5/m);
});

test('Bun runs it', async () => assert.match(await printed(tool('@oven/bun-linux-x64/bin/bun'), ['app.mjs']), SAID));

test('Deno runs it', async () => {
  const deno = tool('@deno/linux-x64-glibc/deno');
  assert.match(await printed(deno, ['run', '--allow-all', 'app.mjs'], { DENO_NO_UPDATE_CHECK: '1' }), SAID);
});

for (const [name, bundle] of Object.entries(BUNDLERS))
  test(`${name}: one bundle runs in a folder without packages`, () =>
    withFolder(async (empty) => {
      const out = join(folder, 'out');
      rmSync(out, { recursive: true, force: true });
      const file = await bundle(out);
      // A bundle of Vite is a module by its package.json.
      const name = file.replace(/\.js$/, '.mjs');
      copyFileSync(join(out, file), join(empty, name));
      const { stdout } = await run(process.execPath, [name], { cwd: empty });
      assert.match(stdout, SAID);
    }));

test('Jest runs its tests', async () => {
  const args = ['--testMatch', '**/tea.test.mjs', '--transform', '{}', '--modulePathIgnorePatterns', 'source'];
  const said = await printed(tool('.bin/jest'), args, { NODE_OPTIONS: '--experimental-vm-modules' });
  assert.match(said, /Tests: +1 passed, 1 total/);
});

test('Vitest runs its tests, also with fake timers', async () => {
  const said = await printed(tool('.bin/vitest'), ['run', 'tea.test.mjs', 'timers.test.mjs', '--globals'], {
    NO_COLOR: '1',
  });
  assert.match(said, /Tests +2 passed \(2\)/);
});

test('a function answers, and a process that is told to end ends by itself', async () => {
  const call = `import { handler } from './lambda.mjs'; console.log(await handler({ body: '1*2' }));`;
  assert.match(await node('--input-type=module', '--eval', call), SAID);
  assert.is(await node('shutdown.mjs'), 'closed\n');
});

/** Starts a server, which says where it listens, and asks it once; gives its answer. */
async function answered(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...env } };
  const server = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (part) => (said += part));
  try {
    const url = await until('the server to say where it listens', () => {
      if (server.exitCode !== null) throw new Error(said);
      return /http:\S+/.exec(said)?.[0];
    });
    const headers = { 'content-type': 'text/plain' };
    return await (await fetch(`${url}/dial`, { method: 'POST', headers, body: '1*2' })).text();
  } finally {
    server.kill();
  }
}

const HOSTS: Readonly<Record<string, readonly string[]>> = {
  Express: ['express.mjs'],
  Fastify: ['fastify.mjs'],
  Hono: ['hono.mjs'],
  Nest: ['--import', 'tsx', 'nest.ts'],
};

for (const [name, args] of Object.entries(HOSTS))
  test(`${name} serves it`, async () => {
    assert.is(await answered(args, { TSX_TSCONFIG_PATH: 'nest.tsconfig.json' }), SAID);
  });

for (const program of ['threads.mjs', 'cluster.mjs'])
  test(`${program}: three press a key of one caller, and each press counts once`, async () => {
    rmSync(join(folder, 'sessions'), { recursive: true, force: true });
    assert.is(await node(program), '15 cups. Thank you.\n');
  });

if (isWhole)
  test('Next.js builds its route, and what it puts together runs alone', () =>
    withFolder(async (alone) => {
      await printed(tool('.bin/next'), ['build'], { NEXT_TELEMETRY_DISABLED: '1' });
      cpSync(join(folder, '.next/standalone'), alone, { recursive: true });
      assert.is(await answered([join(alone, 'server.js')], { PORT: '0', HOSTNAME: '127.0.0.1' }), SAID);
    }));

test.run();
