// `npm run build`, several at once, as two `npm start` of a fresh checkout do: one of them builds, none meets half a dist, and nobody builds
// twice.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isBuilt, keyOfDist, runnableKey } from '../../server/packaging/dist.ts';
import { killed, withFolder } from '../support/process.ts';
import { manifest, ROOT } from './manifest.ts';

const test = suite('build');

const BUILD = manifest.scripts.build!.replace('server/packaging/build.ts', join(ROOT, 'server/packaging/build.ts'));
/** Sources of which each is built to a file of its own, where it is there. */
const PARTS = Array.from({ length: 40 }, (_, at) => `part-${at}`);
const SUBPATHS = ['index', 'gone', 'more', ...PARTS];
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json'];

interface Ended {
  readonly code: number;
  readonly said: string;
}

/** A project that the compiler is done with at once, with the settings of this one. */
async function withProject(work: (root: string) => Promise<void>): Promise<void> {
  await withFolder(async (root) => {
    const sources = {
      'lib/index.ts': 'export const from = "a";\n',
      'lib/gone.ts': 'export const gone = 1;\n',
      'machines/index.ts': 'export const none = 0;\n',
      'server/cli/main.ts': "export { from } from '../../lib/index.ts';\n",
      'server/web/browser/page.ts': 'document.title = "";\n',
    };
    for (const [path, text] of Object.entries(sources)) write(root, path, text);
    const browser = 'server/web/browser/tsconfig.json';
    for (const path of [...SETTINGS, browser]) write(root, path, readFileSync(join(ROOT, path), 'utf8'));
    const exports = Object.fromEntries(SUBPATHS.map((name) => [`./${name}`, `./dist/lib/${name}.js`]));
    write(root, 'package.json', JSON.stringify({ ...manifest, exports }));
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    await work(root);
  });
}

function write(root: string, path: string, text: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}

async function ended(child: ChildProcess): Promise<Ended> {
  let said = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      said += chunk;
    });
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

const shell = (root: string, script: string, env: NodeJS.ProcessEnv = {}) =>
  spawn('sh', ['-c', `exec ${script}`], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const build = (root: string) => ended(shell(root, BUILD));
const builds = (all: readonly Ended[]) => all.filter(({ said }) => said.includes('Built dist')).length;

test('of several at once one builds; another one builds nothing until something has changed', () =>
  withProject(async (root) => {
    const first = await Promise.all(Array.from({ length: 4 }, () => build(root)));
    for (const { code, said } of first) assert.is(code, 0, said);
    assert.is(builds(first), 1);
    assert.is(builds([await build(root)]), 0);
    const isCurrent = () => isBuilt(root, keyOfDist(root));
    const without = (path: string) => () => {
      const text = readFileSync(join(root, path), 'utf8');
      rmSync(join(root, path));
      return () => write(root, path, text);
    };
    const changed = (path: string, text: string) => () => {
      const back = existsSync(join(root, path)) ? without(path)() : () => rmSync(join(root, path));
      write(root, path, text);
      return back;
    };
    /** Each makes a change and returns what takes it back. */
    const changes: { readonly [what: string]: () => () => void } = {
      'an edit': changed('lib/index.ts', 'export const from = "b";\n'),
      'a new source': changed('lib/more.ts', 'export {};\n'),
      'a source that is gone': without('lib/gone.ts'),
      'another compiler': changed('package-lock.json', '{}'),
      'a file of dist that is gone': without('dist/lib/index.js'),
      'a file of dist that was cut off': changed('dist/lib/index.js', ''),
    };
    for (const [what, change] of Object.entries(changes)) {
      assert.ok(isCurrent(), `before ${what}`);
      const back = change();
      assert.not.ok(isCurrent(), what);
      back();
    }
    const newest = new Date(Date.now() + 60_000);
    utimesSync(join(root, 'lib/index.ts'), newest, newest);
    assert.ok(isCurrent(), 'times say nothing: git writes them anew');
    const oldest = new Date(0);
    write(root, 'lib/index.ts', 'export const from = "b";\n');
    utimesSync(join(root, 'lib/index.ts'), oldest, oldest);
    for (const change of Object.values(changes)) change();
    assert.is(builds([await build(root)]), 1);
    assert.is(builds([await build(root)]), 0);
    assert.equal(
      readdirSync(join(root, 'dist/lib'))
        .filter((name) => name.endsWith('.js'))
        .sort(),
      ['index.js', 'more.js'],
    );
    assert.match(readFileSync(join(root, 'dist/lib/index.js'), 'utf8'), /"b"/);
    assert.equal(readdirSync(join(root, 'build')), ['dist.lock'], 'nothing is left beside it');
  }));

test('at any moment of a build, every file of dist is there and whole; what others put there stays', () =>
  withProject(async (root) => {
    const sizes = PARTS.map((name) => `lib/${name}.ts`);
    const texts = (letter: string) => `export const text = '${letter.repeat(20_000)}';\n`;
    for (const path of sizes) write(root, path, texts('a'));
    assert.is((await build(root)).code, 0);
    write(root, 'dist/screenshots/one.png', 'mine');
    for (const path of sizes) write(root, path, texts('b'));
    let over = false;
    const building = build(root).finally(() => {
      over = true;
    });
    const outputs = sizes.map((path) => join(root, 'dist', path.replace('.ts', '.js')));
    let looks = 0;
    for (; !over; looks++) {
      for (const path of outputs) {
        const text = readFileSync(path, 'utf8');
        assert.match(text, /'(a{20000}|b{20000})';/, `${path} at look ${looks}: ${text.length} characters`);
      }
      await pause(1);
    }
    assert.is((await building).code, 0);
    assert.ok(looks > 20, `${looks}`);
    for (const path of outputs) assert.match(readFileSync(path, 'utf8'), /'b/);
    assert.is(readFileSync(join(root, 'dist/screenshots/one.png'), 'utf8'), 'mine');
  }));

test('a mistake ends with the words of the compiler, and dist stays as it was', () =>
  withProject(async (root) => {
    await build(root);
    const before = readFileSync(join(root, 'dist/lib/index.js'), 'utf8');
    write(root, 'lib/index.ts', 'export const from: number = "text";\n');
    const { code, said } = await build(root);
    assert.is.not(code, 0);
    assert.match(said, /lib\/index\.ts.*TS2322/);
    assert.is(readFileSync(join(root, 'dist/lib/index.js'), 'utf8'), before);
    assert.is.not((await build(root)).code, 0, 'and is told again');
  }));

test('npm start checks no types and writes no declarations; what npm run build made is enough for it, not the other way round', () =>
  withProject(async (root) => {
    const buildForStart = () => ended(shell(root, `${BUILD} --start`));
    write(root, 'lib/index.ts', 'export const from: number = "text";\n');
    assert.is(builds([await buildForStart()]), 1);
    assert.is(builds([await buildForStart()]), 0);
    assert.ok(isBuilt(root, runnableKey(keyOfDist(root))));
    assert.match(readFileSync(join(root, 'dist/lib/index.js'), 'utf8'), /"text"/);
    assert.not.ok(existsSync(join(root, 'dist/lib/index.d.ts')));
    assert.is.not((await build(root)).code, 0, 'the whole build finds the mistake');
    write(root, 'lib/index.ts', 'export const from = "a";\n');
    assert.is(builds([await build(root)]), 1);
    assert.ok(existsSync(join(root, 'dist/lib/index.d.ts')));
    assert.is(builds([await buildForStart()]), 0);
  }));

test('a build that was killed leaves the dist of before as it was, and holds nobody up', () =>
  withProject(async (root) => {
    assert.is((await build(root)).code, 0);
    write(root, 'lib/index.ts', 'export const from = "b";\n');
    const child = shell(root, BUILD);
    while (!readdirSync(join(root, 'build')).some((name) => name.startsWith('dist-'))) await pause(2);
    const waiting = build(root);
    await killed(child);
    assert.match(readFileSync(join(root, 'dist/lib/index.js'), 'utf8'), /"a"/);
    const { code, said } = await waiting;
    assert.is(code, 0, said);
    assert.match(readFileSync(join(root, 'dist/lib/index.js'), 'utf8'), /"b"/);
  }));

test.run();
