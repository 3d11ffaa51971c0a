// Projects of `twinline new` with the package as npm packs and installs it: from where they install it, what an editor
// says of their code, and their images.

import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dependencyOn, TEMPLATES } from '../../server/cli/verbs/new.ts';
import { ask, DIAL, json } from '../server/support/serve.ts';
import { TSC } from '../support/build.ts';
import { killed, withFolder } from '../support/process.ts';
import { isWhole } from '../support/size.ts';
import { baseImages, copies, environmentOf, healthCommand, stages, startCommand } from './dockerfile.ts';
import { KEYS } from './keys.ts';
import { addressIn } from './listening.ts';
import { ROOT } from './manifest.ts';
import { buildPackage, linkDependencies, packTarball } from './packed.ts';

const test = suite('projects of twinline new');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinline-projects-')));
/** A project that has installed the tarball. */
const host = join(folder, 'host');
let tarball: string;

interface PackageFile {
  readonly exports: string;
  readonly files: readonly string[];
}

test.before(async () => {
  await buildPackage(join(folder, 'source'));
  tarball = packTarball(join(folder, 'source'), folder);
  mkdirSync(host);
  writeFileSync(join(host, 'package.json'), '{}');
  npm(host, 'install', `../${basename(tarball)}`);
  linkDependencies(join(host, 'node_modules'));
  // What templates name beside the package.
  symlinkSync(join(ROOT, 'node_modules/fast-check'), join(host, 'node_modules/fast-check'));
});
test.after(() => rmSync(folder, { recursive: true }));

/** npm without a registry. */
function npm(cwd: string, ...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: '' },
  });
  assert.is(status, 0, stdout + stderr);
}

/** Runs `twinline new` of what is installed in `modules`; the folder of the project. */
function begin(template: string, name: string, modules = join(host, 'node_modules')): string {
  const project = join(folder, name);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(modules, 'twinline/dist/server/cli/main.js'), 'new', template, project],
    { encoding: 'utf8' },
  );
  assert.is(status, 0, stdout + stderr);
  return project;
}

const dependency = (project: string) =>
  (JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { dependencies: { twinline: string } })
    .dependencies.twinline;

test('begun from a tarball, a project installs that tarball, and its tests pass', () => {
  const project = begin('ussd', 'from-tarball');
  assert.is(dependency(project), `file:../${basename(tarball)}`);
  npm(project, 'install');
  linkDependencies(join(project, 'node_modules'));
  const { status, stdout, stderr } = spawnSync('npm', ['test'], { cwd: project, encoding: 'utf8' });
  assert.is(status, 0, stdout + stderr);
});

test('begun from a linked checkout, a project installs that checkout', () => {
  const modules = join(folder, 'linked/node_modules');
  mkdirSync(modules, { recursive: true });
  const checkout = join(folder, 'checkout');
  cpSync(join(host, 'node_modules/twinline'), checkout, { recursive: true });
  symlinkSync(checkout, join(modules, 'twinline'));
  symlinkSync(join(host, 'node_modules'), join(folder, 'node_modules'));
  try {
    const project = begin('gateway', 'from-checkout', modules);
    assert.is(dependency(project), 'file:../checkout');
    npm(project, 'install');
    assert.is(realpathSync(join(project, 'node_modules/twinline')), checkout);
  } finally {
    rmSync(join(folder, 'node_modules'));
  }
});

test('what came from a registry is a version, what came from a repository its URL, and a tarball that is gone a version', () =>
  withFolder(async (place) => {
    const modules = join(place, 'node_modules');
    const installed = { folder: join(modules, 'twinline'), version: '1.2.3' };
    mkdirSync(installed.folder, { recursive: true });
    const named = (resolved: string) => {
      writeFileSync(
        join(modules, '.package-lock.json'),
        JSON.stringify({ packages: { 'node_modules/twinline': { resolved } } }),
      );
      return dependencyOn(installed, join(place, 'project'));
    };
    assert.is(dependencyOn(installed, place), '1.2.3', 'nobody has written down where from');
    assert.is(named('https://packages.example.com/npm/twinline/-/twinline-1.2.3.tgz'), '1.2.3');
    const repository = 'git+ssh://git@example.com/twinline.git#0123456789abcdef0123456789abcdef01234567';
    assert.is(named(repository), repository);
    assert.is(named('file:../gone.tgz'), '1.2.3');
    writeFileSync(join(place, 'kept.tgz'), '');
    assert.is(named('file:kept.tgz'), 'file:../kept.tgz');
  }));

/** What the compiler says of a project's JavaScript, by the project's own settings. */
function checked(project: string): string {
  const { stdout } = spawnSync(process.execPath, [TSC, '-p', 'jsconfig.json', '--types', 'node'], {
    cwd: project,
    encoding: 'utf8',
  });
  return stdout;
}

/** The project with what editors find beside it: the package, and the types of Node. */
function withTypes(project: string): string {
  symlinkSync(join(host, 'node_modules'), join(project, 'node_modules'));
  return project;
}

const listTemplates = (kind: 'server' | 'package') =>
  Object.entries(TEMPLATES).flatMap(([name, template]) => (template.kind === kind ? [name] : []));

for (const template of listTemplates('server'))
  test(`editors find nothing wrong in the code of "${template}"`, () => {
    assert.is(checked(withTypes(begin(template, `edited-${template}`))), '');
  });

test('editors tell a service that is none, and what a service is given', () => {
  const project = withTypes(begin('ussd', 'mistakes'));
  const file = join(project, 'services/bills.js');
  const source = readFileSync(file, 'utf8');
  const written = (service: string) => {
    writeFileSync(file, source.replace('const services = {', `const services = {\n  ${service}`));
    return checked(project);
  };
  assert.is(written("'bills.pay': async (_input, { signal }) => ({ stopped: signal.aborted }),"), '');
  assert.match(
    written("'bills.pay': async (_input, { signal }) => ({ stopped: signal.abort }),"),
    /'abort' does not exist/,
  );
  assert.match(written("'bills.pay': 1,"), /services\/bills\.js\(\d+,\d+\): error TS2322/);
});

for (const template of listTemplates('package'))
  test(`the package of "${template}" passes its checks, and editors find nothing wrong`, async () => {
    const project = withTypes(begin(template, `package-${template}`));
    assert.is(checked(project), '');
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
    const options = { cwd: project, env: { PATH, HOME: folder } };
    // Rejects when a test fails.
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap'], options);
    assert.match(stdout, /^# pass [1-9]/m);
    assert.match(stdout, /^# skipped 0$/m);
    const { exports, files } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as PackageFile;
    assert.ok(files.includes(exports.slice('./'.length)));
    assert.equal(
      readdirSync(project).filter((name) => /^(\.env.*|Dockerfile|menus)$/.test(name)),
      [],
    );
  });

// All of them have the same image, as the last test says.
for (const template of isWhole ? listTemplates('server') : ['ussd'])
  test(`the image of "${template}" is laid out as its Dockerfile says, starts, is healthy, and stops in order`, async () => {
    const project = begin(template, `image-${template}`);
    writeFileSync(join(project, '.env'), 'OPERATOR_TOKEN=only-for-this-machine-0001\n');
    npm(project, 'install', '--package-lock-only');
    const [stage, ...more] = stages(readFileSync(join(project, 'Dockerfile'), 'utf8'));
    assert.equal([baseImages(readFileSync(join(project, 'Dockerfile'), 'utf8')), more], [['node:24-slim'], []]);
    const app = join(folder, `app-${template}`);
    layOut(stage!, project, app);
    for (const name of ['.env', '.git', 'test', 'data', 'node_modules'])
      assert.not.ok(existsSync(join(app, name)), name);
    npm(app, ...commandIn(stage!, /npm (ci .+)/).split(' '));
    linkDependencies(join(app, 'node_modules'));
    cpSync(join(app, '.env.example'), join(app, '.env'));
    assert.match(stage!, /^RUN cp \.env\.example \.env && /m);
    assert.ok(stage!.indexOf('USER node') > stage!.lastIndexOf('\nRUN '), 'nothing runs after it as root');

    const [program, ...args] = startCommand(stage!);
    const env = { ...environmentOf(stage!, app), ...KEYS, HOST: '127.0.0.1', PORT: '0', DATA_DIR: join(app, 'data') };
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
    const child = spawn(join(app, program!), args, {
      cwd: app,
      env: { ...env, USSD_GATEWAYS: '*', DRAIN_DELAY_MS: '0', PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    try {
      const url = await addressIn(child);
      assert.is((await ask(`${url}/docs/guides/operators`)).status, 200);
      if (template === 'ussd') await dialsOwnMenu(url);
      assert.is(healthOf(stage!, new URL(url).port), 0);
      const over = once(child, 'exit');
      child.kill('SIGTERM');
      assert.equal(await over, [0, null]);
      assert.is(healthOf(stage!, new URL(url).port), 1, 'a server that is gone is not healthy');
    } finally {
      await killed(child);
    }
  });

/** The menu and the service of the project, not those that come with the package. */
async function dialsOwnMenu(url: string): Promise<void> {
  const dial = async (text: string) => (await ask(`${url}/api/ussd`, json({ ...DIAL, text }))).text;
  assert.match(await dial(''), /^CON Green Valley Water/);
  await dial('1');
  assert.match(await dial('1*100200'), /^CON Wanjiku Otieno/);
}

const commandIn = (stage: string, command: RegExp) => command.exec(stage)![1]!;

function healthOf(stage: string, port: string): number | null {
  const [program, ...args] = healthCommand(stage);
  assert.is(program, 'node');
  return spawnSync(process.execPath, args, { env: { PORT: port } }).status;
}

/** What COPY lines take of a project. A name of .dockerignore is left out wherever `.` is copied. */
function layOut(stage: string, from: string, to: string): void {
  const ignored = readFileSync(join(from, '.dockerignore'), 'utf8').split('\n');
  const names = readdirSync(from).filter((name) => !ignored.includes(name));
  mkdirSync(to);
  for (const { from: source } of copies(stage)) {
    const pattern = new RegExp(`^${source.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    const taken = source === '.' ? names : names.filter((name) => pattern.test(name));
    assert.ok(taken.length > 0 || source.includes('*'), `${source} is there`);
    for (const name of taken) cpSync(join(from, name), join(to, name), { recursive: true });
  }
}

test.run();
