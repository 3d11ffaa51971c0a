// The image, laid out as its Dockerfile says: what is copied is enough to build it, to start it, and to serve every guide.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeProject } from '../../server/cli/verbs/new.ts';
import { GUIDES } from '../../server/docs/guides.ts';
import { keyOfDist } from '../../server/packaging/dist.ts';
import { ask, DIAL, json } from '../server/support/serve.ts';
import { builtPackage } from '../support/build.ts';
import { killed, withFolder } from '../support/process.ts';
import { copies, environmentOf, stages, startCommand } from './dockerfile.ts';
import { KEYS } from './keys.ts';
import { addressIn } from './listening.ts';
import { manifest, ROOT } from './manifest.ts';

const test = suite('image');

const [built = '', served = ''] = stages(readFileSync(join(ROOT, 'server/deploy/Dockerfile'), 'utf8'));

function layOut(stage: string, from: string, to: string): void {
  for (const copy of copies(stage)) {
    const target = join(to, copy.to);
    mkdirSync(dirname(target), { recursive: true });
    if (copy.to === 'node_modules') symlinkSync(join(from, copy.from), target);
    else cpSync(join(from, copy.from), target, { recursive: true });
  }
}

test('the image that its Dockerfile lays out builds, starts, serves every guide, and takes menus and services of one’s own', () =>
  withFolder(async (folder) => {
    const [building, running] = [join(folder, 'build'), join(folder, 'app')];
    for (const path of [building, running]) mkdirSync(path);
    layOut(built, ROOT, building);
    // In the place of npm ci, and of npm run build: the same source gives the same package.
    symlinkSync(join(ROOT, 'node_modules'), join(building, 'node_modules'));
    assert.match(built, /^RUN npm ci$[\s\S]+^RUN npm run build /m);
    assert.is(keyOfDist(building), keyOfDist(ROOT));
    cpSync(join(await builtPackage(), 'dist'), join(building, 'dist'), { recursive: true });
    layOut(served, building, running);
    const imported = Object.values(manifest.imports).flatMap((path) =>
      typeof path === 'string' ? path.replace('/*', '') : [],
    );
    for (const path of imported)
      assert.ok(
        copies(served).some(({ to }) => `${join(path)}/`.startsWith(`${join(to)}/`)),
        path,
      );

    const [program, script] = startCommand(served);
    assert.is(program, 'node');
    // One's own, as volumes put them beside it.
    const project = join(folder, 'project');
    makeProject({ template: 'ussd', folder: project, name: 'own', twinline: manifest.version });
    const given = {
      ...environmentOf(served, running),
      ...KEYS,
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: ':memory:',
      USSD_GATEWAYS: '*',
      MENUS_DIR: join(project, 'menus'),
      SERVICES: join(project, 'services/bills.js'),
    };
    const child = spawn(process.execPath, [script!], { cwd: running, env: given, stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      const url = await addressIn(child);
      for (const path of ['', ...Object.keys(GUIDES).map((name) => `/${name}`)])
        assert.is((await ask(`${url}/docs/guides${path}`)).status, 200, path);
      for (const path of ['/docs', '/docs/swagger-ui.css', '/openapi.json', '/livez'])
        assert.is((await ask(url + path)).status, 200, path);
      const dial = async (text: string) => (await ask(`${url}/api/ussd`, json({ ...DIAL, text }))).text;
      assert.match(await dial(''), /^CON Green Valley Water/);
      await dial('1');
      assert.match(await dial('1*100200'), /^CON Wanjiku Otieno/);
    } finally {
      await killed(child);
    }
  }));

test.run();
