// The image, laid out as its Dockerfile says: what is copied is enough to build it, to start it, and to serve every guide.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GUIDES } from '../../server/docs/guides.ts';
import { ask } from '../server/support/serve.ts';
import { killed, withFolder } from '../support/process.ts';
import { KEYS } from './keys.ts';
import { addressIn } from './listening.ts';
import { manifest, ROOT } from './manifest.ts';

const test = suite('image', { timeoutMs: 180_000 });

const [built = '', served = ''] = readFileSync(join(ROOT, 'server/deploy/Dockerfile'), 'utf8')
  .split(/^FROM .*$/m)
  .slice(1);

interface Copy {
  readonly from: string;
  readonly to: string;
}

/** The COPY lines of a stage, one source each; paths are those in the working folder /app. */
function copies(stage: string): Copy[] {
  return [...stage.matchAll(/^COPY (?:--from=\S+ )?(.+) (\S+)$/gm)].flatMap(([, sources, to]) =>
    sources!.split(' ').map((path) => {
      const from = path.replace(/^\/app\//, '');
      return { from, to: to!.endsWith('/') ? join(to!, basename(from)) : to! };
    }),
  );
}

function layOut(stage: string, from: string, to: string): void {
  for (const copy of copies(stage)) {
    const target = join(to, copy.to);
    mkdirSync(dirname(target), { recursive: true });
    if (copy.to === 'node_modules') symlinkSync(join(from, copy.from), target);
    else cpSync(join(from, copy.from), target, { recursive: true });
  }
}

test('the image that its Dockerfile lays out builds, starts and serves every guide', () =>
  withFolder(async (folder) => {
    const [building, running] = [join(folder, 'build'), join(folder, 'app')];
    for (const path of [building, running]) mkdirSync(path);
    layOut(built, ROOT, building);
    // In the place of npm ci.
    symlinkSync(join(ROOT, 'node_modules'), join(building, 'node_modules'));
    const [build] = /npm run build/.exec(built)![0].split(' && ');
    const made = spawnSync(build!, { cwd: building, shell: true, encoding: 'utf8' });
    assert.is(made.status, 0, made.stdout + made.stderr);
    layOut(served, building, running);
    const imported = Object.values(manifest.imports).map((path) => path.replace('/*', ''));
    for (const path of imported)
      assert.ok(
        copies(served).some(({ to }) => join(to) === join(path)),
        path,
      );

    const [, program, script] = /^CMD \["(\w+)", "(.+)"\]$/m.exec(served)!;
    assert.is(program, 'node');
    const given = { ...imageEnv(running), ...KEYS, HOST: '127.0.0.1', PORT: '0', DATA_DIR: ':memory:' };
    const child = spawn(process.execPath, [script!], { cwd: running, env: given, stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      const url = await addressIn(child);
      for (const path of ['', ...Object.keys(GUIDES).map((name) => `/${name}`)])
        assert.is((await ask(`${url}/docs/guides${path}`)).status, 200, path);
      for (const path of ['/docs', '/docs/swagger-ui.css', '/openapi.json', '/livez'])
        assert.is((await ask(url + path)).status, 200, path);
    } finally {
      await killed(child);
    }
  }));

/** What ENV lines set, with the folder in the place of /app. */
function imageEnv(folder: string): Record<string, string> {
  const pairs = [...served.matchAll(/^ENV (.+)$/gm)].flatMap((match) => match[1]!.split(' '));
  return Object.fromEntries(pairs.map((pair) => pair.replace('/app', folder).split('=')));
}

test.run();
