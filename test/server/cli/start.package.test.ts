// `twinline start` with flags, files of variables, and a restart after edits.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findRestartPlaces } from '../../../server/cli/edits.ts';
import { readSettings } from '../../../server/cli/verbs/start.ts';
import { ROOT } from '../../package/manifest.ts';
import { builtFile } from '../../support/build.ts';
import { withFolder } from '../../support/process.ts';
import { run, withFiles } from '../support/command.ts';

const test = suite('start');

test('a flag sets its variable, over the environment; a secret has no flag', async () => {
  assert.equal(readSettings({ port: '1', 'data-dir': 'x', watch: true }), { PORT: '1', DATA_DIR: 'x' });
  const bad = await run(['start', '--port', 'x', '--log-level', 'y'], { PORT: '0' });
  assert.is(process.exitCode, 78);
  process.exitCode = 0;
  assert.match(bad.err, /^PORT="x"/m);
  assert.match(bad.err, /^LOG_LEVEL="y"/m);
  const secret = await run(['start', '--operator-token', 'canary']);
  assert.is(secret.code, 2);
  assert.not.match(secret.err, /canary/);
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

test('.env of the folder is read when no file is named, and start says what it took from there', () =>
  withFiles({ '.env': 'PORT=81\nAGENT_FLOW=helper\nLOG_LEVEL=silent\n', named: 'PORT=82\n' }, async (folder) => {
    const bin = await builtFile('server/cli/main.ts');
    const ask = (args: readonly string[]) => {
      const env = { PATH: process.env.PATH, LOG_LEVEL: 'warn' };
      const { status, stdout, stderr } = spawnSync(bin, [...args], { cwd: folder, env, encoding: 'utf8' });
      return { status, stdout, stderr };
    };
    const found = ask(['config']).stdout;
    assert.match(found, /^PORT="81"/m);
    assert.match(found, /^LOG_LEVEL="warn"/m, 'the environment wins');
    const named = ask(['config', '--env-file', 'named']).stdout;
    assert.match(named, /^PORT="82"/m);
    assert.not.match(named, 'helper');
    assert.not.match(ask(['config', '--env-file=']).stdout, 'helper');
    // What it took is said before anything else, also when it cannot start.
    const started = ask(['start', '--port', 'none']);
    assert.match(started.stderr, 'Settings from .env: AGENT_FLOW, PORT\n');
    assert.is(started.status, 78);
  }));

test('watched are the folders of modules, and files that are read once; packages and what is missing are not', () =>
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

test('--watch starts the server again after an edit, outlives one that breaks it, and ends by a signal', () =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, 'services'));
    const service = join(folder, 'services/a.mjs');
    const write = (name: string) => writeFileSync(service, `export default { '${name}': async () => null };\n`);
    write('a.b');
    writeFileSync(join(folder, '.env'), `PORT=0\nDATA_DIR=:memory:\nSERVICES=${service}\n`);
    const args = [await builtFile('server/cli/main.ts'), 'start', '--watch', '--env-file', join(folder, '.env')];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    const until = async (pattern: RegExp, edit: () => void) => {
      const from = printed.length;
      for (let tries = 0; !pattern.test(printed.slice(from)); tries++) {
        assert.ok(tries < 900, printed);
        // An event of the file system may be taken for one of before.
        if (tries % 300 === 0) edit();
        await pause(100);
      }
    };
    try {
      await until(/chat --url http/, () => {});
      await until(/The server has ended with 78; the next edit starts it again/, () => write('not a name'));
      await until(/chat --url http/, () => write('c.d'));
      assert.match(printed, /Something was edited: the server starts again\./);
      child.kill('SIGTERM');
      assert.is(await exited, 0);
    } finally {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // All of its processes have ended.
      }
    }
  }));

test.run();
