// The command line: its verbs, their flags and help, exit codes, and where settings come from.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseKeyring } from '../../../lib/keyring.ts';
import { findRestartPlaces } from '../../../server/cli/edits.ts';
import { listFlags } from '../../../server/cli/verb.ts';
import { readSettings } from '../../../server/cli/verbs/start.ts';
import { loadVerbs, VERBS } from '../../../server/cli/verbs.ts';
import { readConfig } from '../../../server/config/config.ts';
import type { Setting } from '../../../server/config/kinds.ts';
import { SETTINGS } from '../../../server/config/settings.ts';
import { ROOT } from '../../package/manifest.ts';
import { withFolder } from '../../support/process.ts';
import { run, withFiles } from '../support/command.ts';

const test = suite('command line');

test('help names every verb, and of a verb its flags; no verb or an unknown one is usage, 2', async () => {
  for (const args of [['--help'], ['-h'], ['help']]) {
    const { code, out } = await run(args);
    assert.is(code, 0);
    for (const verb of Object.keys(VERBS)) assert.match(out, new RegExp(`^ {2}${verb} `, 'm'));
  }
  for (const [name, verb] of Object.entries(await loadVerbs()))
    for (const args of [
      [name, '--help'],
      [name, '-h'],
      ['help', name],
    ]) {
      const { code, out } = await run(args);
      assert.is(code, 0);
      assert.match(out, new RegExp(`^Usage: twinline ${name}`));
      for (const flag of listFlags(verb)) assert.ok(out.includes(flag), `${name} ${flag}`);
    }
  for (const args of [[], ['help', 'lnt'], ['constructor'], ['__proto__'], ['toString']]) {
    const { code, out } = await run(args);
    assert.equal([code, out], [2, ''], args.join(' '));
  }
  const unknown = await run(['lnt']);
  assert.equal([unknown.code, unknown.out], [2, '']);
  assert.match(unknown.err, /there is no "lnt"\. Did you mean "lint"\?/);
});

test('every verb takes the flags that its help names, and refuses one letter more with a suggestion', async () => {
  for (const [name, verb] of Object.entries(await loadVerbs()))
    for (const flag of listFlags(verb)) {
      if (flag.includes('<')) continue;
      const { code, err } = await run([name, `${flag}x`]);
      assert.is(code, 2, `${name} ${flag}x`);
      assert.match(err, new RegExp(`^There is no ${flag}x here\\. Did you mean "--`), `${name} ${flag}`);
      assert.match(err, new RegExp(`^Usage: twinline ${name}`, 'm'));
    }
});

test('zsh and fish complete every verb and flag; another shell is refused', async () => {
  for (const shell of ['zsh', 'fish']) {
    const { code, out } = await run(['completion', shell]);
    assert.is(code, 0);
    for (const [name, verb] of Object.entries(await loadVerbs())) {
      assert.match(out, new RegExp(`\\b${name}\\b`));
      for (const flag of listFlags(verb))
        assert.ok(out.includes(shell === 'fish' ? `-l ${flag.slice(2)}` : flag), flag);
    }
  }
  const other = await run(['completion', 'fsh']);
  assert.is(other.code, 2);
  assert.match(other.err, /Did you mean "fish"\?|Did you mean "zsh"\?/);
});

test('--version is that of package.json', async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.equal(await run(['--version']), { code: 0, out: version, err: '' });
});

test('start has a flag for every setting but secrets, which other users of a machine would see', async () => {
  const { out } = await run(['start', '--help']);
  for (const [name, { secret }] of Object.entries(SETTINGS) as [string, Setting][]) {
    const flag = `--${name.toLowerCase().replaceAll('_', '-')} `;
    assert.is(out.includes(flag), secret === undefined, flag);
  }
  const refused = await run(['start', '--operator-token', 'canary']);
  assert.is(refused.code, 2);
  assert.not.match(refused.err, /canary/);
});

test('a flag sets its variable, over the environment; wrong ones are told together, and 78', async () => {
  assert.equal(readSettings({ port: '1', 'data-dir': 'x', watch: true }), { PORT: '1', DATA_DIR: 'x' });
  const bad = await run(['start', '--port', 'x', '--log-level', 'y'], { PORT: '0' });
  assert.is(process.exitCode, 78);
  process.exitCode = 0;
  assert.match(bad.err, /^PORT="x"/m);
  assert.match(bad.err, /^LOG_LEVEL="y"/m);
});

test('--env-file gives every verb what the environment does not say', () =>
  withFiles({ one: 'PORT=81\nLOG_LEVEL="debug"\n', other: 'PORT=82\nHOST=127.0.0.2\n' }, async (folder) => {
    const [one, other] = [join(folder, 'one'), join(folder, 'other')];
    const { code, out } = await run(['config', '--env-file', one, `--env-file=${other}`], { LOG_LEVEL: 'warn' });
    assert.is(code, 0);
    assert.match(out, /^PORT="81"/m, 'the first file wins');
    assert.match(out, /^HOST="127\.0\.0\.2"/m);
    assert.match(out, /^LOG_LEVEL="warn"/m, 'the environment wins over both');
    const none = await run(['config', '--env-file', join(folder, 'none')]);
    assert.is(none.code, 2);
    assert.match(none.err, /Cannot read the environment file ".*none" \(ENOENT\)/);
  }));

test('--watch looks at the folders of modules, and at files that are read once; not at packages and what is missing', () =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, 'services'));
    const service = join(folder, 'services/a.js');
    const files = ['.env', 'keys.json', 'mcp.json'].map((name) => join(folder, name));
    const [file, keys, mcp] = files as [string, string, string];
    for (const path of [service, ...files]) writeFileSync(path, '');
    const env = {
      SERVICES: `${service},@some/package`,
      API_KEYS_FILE: keys,
      MCP_SERVERS: mcp,
      GOVERNANCE_FILE: join(folder, 'none'),
    };
    assert.equal(findRestartPlaces(env, [file]).sort(), [...files, join(folder, 'services')].sort());
  }));

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
    const keyFile = join(DATA_DIR, 'pin-encryption.key');
    writeFileSync(keyFile, '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13\n');
    const listed = JSON.parse((await run(['config', '--json'], { DATA_DIR })).out) as Record<string, string>[];
    const key = listed.find(({ name }) => name === 'PIN_ENCRYPTION_KEY')!;
    assert.equal([key.value, key.source], ['(64 characters, hidden)', keyFile]);
    const bad = await run(['config'], { PORT: 'x', LOG_LEVEL: 'y', DATA_DIR: ':memory:' });
    assert.equal([bad.code, bad.err.split('\n').length], [78, 2]);
  }));

test('config --new-keys makes keys that production takes, new ones each time', async () => {
  const [one, other] = [await run(['config', '--new-keys']), await run(['config', '--new-keys'])];
  assert.is.not(one.out, other.out);
  const env: NodeJS.ProcessEnv = Object.fromEntries(one.out.split('\n').map((line) => line.split(/=(.*)/s)));
  assert.is(parseKeyring(env.PIN_ENCRYPTION_KEY!).ids.length, 1);
  const rest = { NODE_ENV: 'production', DATA_DIR: ':memory:', USSD_GATEWAYS: '*', PUBLIC_URL: 'https://x.example' };
  assert.equal(readConfig({ ...env, ...rest }).problems, []);
});

test.run();
