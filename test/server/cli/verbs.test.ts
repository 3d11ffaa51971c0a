// The command line: verbs, help, exit codes.

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseKeyring } from '../../../lib/keyring.ts';
import { VERBS as TABLE } from '../../../server/cli/verbs.ts';
import { readConfig } from '../../../server/config/config.ts';
import { SETTINGS } from '../../../server/config/settings.ts';
import { builtFile } from '../../support/build.ts';
import { withFolder } from '../../support/process.ts';
import { run, withFiles } from '../support/command.ts';

const test = suite('command line');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const VERBS = Object.keys(TABLE);

const FLOW = {
  flow: 'small',
  version: 1,
  start: 'first',
  keys: { exit: '*' },
  screens: { first: { type: 'menu', text: 'Here', options: [{ id: 'on', text: 'Again', to: 'first' }] } },
};
const TESTS = { flow: 'small', tests: [{ name: 'it dials', steps: [{ in: '', has: 'Here' }] }] };

test('--help and help name every verb; no verb or an unknown one is usage, 2', async () => {
  for (const args of [['--help'], ['-h'], ['help']]) {
    const { code, out } = await run(args);
    assert.is(code, 0);
    for (const verb of VERBS) assert.match(out, new RegExp(`^ {2}${verb} `, 'm'));
  }
  assert.is((await run([])).code, 2);
  const unknown = await run(['lnt']);
  assert.equal([unknown.code, unknown.out], [2, '']);
  assert.match(unknown.err, /there is no "lnt"\. Did you mean "lint"\?/);
  const helped = await run(['help', 'lnt']);
  assert.equal([helped.code, helped.out], [2, '']);
  for (const name of ['constructor', '__proto__', 'toString']) assert.is((await run([name])).code, 2);
});

for (const verb of VERBS)
  test(`${verb} --help tells its options, and an unknown option is usage`, async () => {
    for (const args of [
      [verb, '--help'],
      [verb, '-h'],
      ['help', verb],
    ]) {
      const { code, out } = await run(args);
      assert.is(code, 0);
      assert.match(out, new RegExp(`^Usage: twinline ${verb}`));
    }
    const bad = await run([verb, '--nonsense']);
    assert.is(bad.code, 2);
    assert.match(bad.err, /--nonsense/);
    assert.match(bad.err, new RegExp(`^Usage: twinline ${verb}`, 'm'));
  });

test('--version is that of package.json', async () => {
  const { version } = JSON.parse(
    await import('node:fs').then(({ readFileSync }) => readFileSync(`${ROOT}package.json`, 'utf8')),
  );
  assert.equal(await run(['--version']), { code: 0, out: version, err: '' });
});

test('lint: 0 for sound menus, 1 for errors with file and line, 2 for a folder that is not there', async () => {
  const shipped = await run(['lint', join(ROOT, 'menus')]);
  assert.is(shipped.code, 0, shipped.out);
  await withFiles({ 'small.flow.json': { ...FLOW, start: 'nowhere' } }, async (folder) => {
    const { code, out } = await run(['lint', folder]);
    assert.is(code, 1);
    assert.match(out, /small\.flow\.json:1:\d+ error /);
    assert.match(out, /1 flow, \d+ errors?, \d+ warnings?$/);
    assert.is((await run(['lint'], { MENUS_DIR: folder })).code, 1, 'MENUS_DIR is the default');
    const json = await run(['lint', '--json', folder]);
    assert.is(json.code, 1);
    assert.is((JSON.parse(json.out) as { severity: string }[])[0]?.severity, 'error');
  });
  const gone = await run(['lint', '/nowhere/at/all']);
  assert.equal([gone.code, gone.out], [2, '']);
  assert.is((await run(['lint', 'a', 'b'])).code, 2);
});

test('lint of one file tells of that file only, with the others in reach', () =>
  withFiles({ 'small.flow.json': FLOW, 'bad.flow.json': { ...FLOW, flow: 'bad', start: 'x' } }, async (folder) => {
    const good = await run(['lint', join(folder, 'small.flow.json')]);
    assert.is(good.code, 0, good.out);
    assert.is((await run(['lint', join(folder, 'bad.flow.json')])).code, 1);
  }));

test('test: 0 when all pass, 1 when one fails, is broken, or there is none', async () => {
  const files = { 'small.flow.json': FLOW, 'small.test.json': TESTS };
  await withFiles(files, async (folder) => {
    const { code, out } = await run(['test', folder]);
    assert.is(code, 0, out);
    assert.match(out, /✓ it dials/);
    assert.match(out, /^1 passed, 0 failed$/m);
  });
  const wrong = { ...TESTS, tests: [{ name: 'it dials', steps: [{ in: '', has: 'There' }] }] };
  await withFiles({ ...files, 'small.test.json': wrong }, async (folder) => {
    const { code, out } = await run(['test', folder]);
    assert.is(code, 1);
    assert.match(out, /✘ it dials\n.*does not have "There"/);
  });
  await withFiles({ ...files, 'small.test.json': '{' }, async (folder) =>
    assert.is((await run(['test', folder])).code, 1),
  );
  await withFiles({ 'small.flow.json': FLOW }, async (folder) => assert.is((await run(['test', folder])).code, 1));
});

test('config lists every setting with value and source, hides secrets, and makes nothing', () =>
  withFolder(async (folder) => {
    const DATA_DIR = join(folder, 'data');
    const { code, out } = await run(['config'], { DATA_DIR, PORT: '8080', OPERATOR_TOKEN: 'canary-token-of-mine' });
    assert.is(code, 0);
    for (const name of Object.keys(SETTINGS)) assert.match(out, new RegExp(`^${name}=`, 'm'));
    assert.match(out, /^PORT="8080" \(environment\)/m);
    assert.match(out, /^RATE_LIMIT_MAX="100" \(default\)/m);
    assert.match(out, /^OPERATOR_TOKEN=\(20 characters, hidden\) \(environment\)/m);
    assert.match(out, /^PIN_ENCRYPTION_KEY= \(made at the first start\)/m);
    assert.not.match(out, /canary/);
    assert.equal(readdirSync(folder), []);
    mkdirSync(DATA_DIR);
    writeFileSync(
      join(DATA_DIR, 'pin-encryption.key'),
      '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13\n',
    );
    const json = JSON.parse((await run(['config', '--json'], { DATA_DIR })).out) as {
      name: string;
      value: string;
      source: string;
    }[];
    const key = json.find(({ name }) => name === 'PIN_ENCRYPTION_KEY')!;
    assert.equal([key.value, key.source], ['(64 characters, hidden)', join(DATA_DIR, 'pin-encryption.key')]);
  }));

test('config with a bad environment: the problems, and 78', async () => {
  const { code, err } = await run(['config'], { PORT: 'x', LOG_LEVEL: 'y', DATA_DIR: ':memory:' });
  assert.is(code, 78);
  assert.is(err.split('\n').length, 2);
});

test('config --new-keys makes keys that production takes, new ones each time', async () => {
  const [one, other] = [await run(['config', '--new-keys']), await run(['config', '--new-keys'])];
  assert.is.not(one.out, other.out);
  const env = Object.fromEntries(one.out.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2))) as Record<
    string,
    string
  >;
  assert.is(parseKeyring(env.PIN_ENCRYPTION_KEY!).ids.length, 1);
  assert.equal(readConfig({ ...env, NODE_ENV: 'production', DATA_DIR: ':memory:', USSD_GATEWAYS: '*' }).problems, []);
});

test('chat refuses what it cannot dial with, before it dials', async () => {
  for (const args of [
    ['--phone', '0771234567'],
    ['--code', '2233'],
    ['--url', 'nonsense'],
    ['--url', 'ftp://127.0.0.1'],
    ['main', 'wallet'],
    ['main', '--url', 'http://127.0.0.1:1'],
  ]) {
    const { code, err } = await run(['chat', ...args]);
    assert.is(code, 2, args.join(' '));
    assert.match(err, /^Usage: twinline chat/m);
  }
  // Nothing is kept, so no store is asked for.
  const unknown = await run(['chat', 'nowhere', '--menus-dir', join(ROOT, 'menus')], {
    REDIS_URL: 'redis://127.0.0.1:1',
  });
  assert.is(unknown.code, 78);
  assert.match(unknown.err, /"nowhere".*Flows there:/);
});

test('as a command it ends with the same codes', async () => {
  const main = await builtFile('server/cli/main.ts');
  const command = (...args: string[]) =>
    new Promise<[number, string]>((resolve) => {
      const env = { PATH: process.env.PATH, HOME: process.env.HOME };
      execFile(process.execPath, [main, ...args], { cwd: ROOT, env }, (error, out) =>
        resolve([(error?.code as number | undefined) ?? 0, out]),
      );
    });
  const [version, usage, start] = await Promise.all([
    command('--version'),
    command('lint', '/nowhere'),
    command('start', '--port', 'x'),
  ]);
  assert.match(version[1], /^\d+\.\d+\.\d+\n$/);
  assert.equal([version[0], usage[0], start[0]], [0, 2, 78]);
});

test.run();
