// The command line as a process of its own: exit codes, `.env` of its folder, restarts after edits, completion by bash, a full disk.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../../support/build.ts';
import { skipWithout } from '../../support/on-path.ts';
import { killed, withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { run, withFiles } from '../support/command.ts';

const test = suite('command line as a process');
const { PATH, HOME } = process.env;
const BIN = await builtFile('server/cli/main.ts');

/** Runs the command to its end. */
function command(args: readonly string[], { cwd, env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  return spawnSync(process.execPath, [BIN, ...args], { cwd, env: { PATH, HOME, ...env }, encoding: 'utf8' });
}

interface Watching {
  readonly child: ChildProcess;
  /** Resolves when something like this is printed from now on; until then `edit` is done, now and then again. */
  prints(pattern: RegExp, edit?: () => void): Promise<unknown>;
}

/** Starts a command that goes on until it is ended. */
function watching(args: readonly string[]): Watching {
  const child = spawn(process.execPath, [BIN, ...args], { env: { PATH, HOME }, detached: true });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  const prints = (pattern: RegExp, edit = () => {}) => {
    const from = printed.length;
    let looks = 0;
    return until(`${pattern} from ${args.join(' ')}`, () => {
      // An event of the file system may be taken for one of before.
      if (looks++ % 60 === 0) edit();
      return pattern.test(printed.slice(from));
    });
  };
  return { child, prints };
}

test('it ends with the codes of its verbs', () => {
  const version = command(['--version']);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
  const codes = [version, command(['lint', '/nowhere']), command(['start', '--port', 'x'])].map(({ status }) => status);
  assert.equal(codes, [0, 2, 78]);
});

test('.env of the folder is read when no file is named, and start says what it took from there', () =>
  withFiles({ '.env': 'PORT=81\nAGENT_FLOW=helper\nLOG_LEVEL=silent\n', named: 'PORT=82\n' }, async (cwd) => {
    const ask = (...args: string[]) => command(args, { cwd, env: { LOG_LEVEL: 'warn' } });
    const found = ask('config').stdout;
    assert.match(found, /^PORT="81"/m);
    assert.match(found, /^LOG_LEVEL="warn"/m, 'the environment wins');
    const named = ask('config', '--env-file', 'named').stdout;
    assert.match(named, /^PORT="82"/m);
    assert.not.match(named, 'helper');
    assert.not.match(ask('config', '--env-file=').stdout, 'helper');
    // What it took is said before anything else, also when it cannot start.
    const started = ask('start', '--port', 'none');
    assert.match(started.stderr, 'Settings from .env: AGENT_FLOW, PORT\n');
    assert.is(started.status, 78);
  }));

test('start --watch starts the server again after an edit, outlives one that breaks it, and ends by a signal', () =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, 'services'));
    const service = join(folder, 'services/a.mjs');
    const write = (name: string) => writeFileSync(service, `export default { '${name}': async () => null };\n`);
    write('a.b');
    writeFileSync(join(folder, '.env'), `PORT=0\nDATA_DIR=:memory:\nSERVICES=${service}\n`);
    const { child, prints } = watching(['start', '--watch', '--env-file', join(folder, '.env')]);
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    try {
      await prints(/chat --url http/);
      await prints(/The server has ended with 78; the next edit starts it again/, () => write('not a name'));
      await prints(/Something was edited: the server starts again\.[\s\S]*chat --url http/, () => write('c.d'));
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

test('test --watch runs the tests again after an edit', () => {
  const flow = (text: string) => ({
    ...{ flow: 'shop', version: 1, start: 'door' },
    screens: { door: { type: 'end', text } },
  });
  const tests = { flow: 'shop', tests: [{ name: 'one comes', steps: [{ in: '', text: 'Shop', end: true }] }] };
  return withFiles({ 'shop.flow.json': flow('Shop'), 'shop.test.json': tests }, async (folder) => {
    const { child, prints } = watching(['test', folder, '--watch']);
    try {
      await prints(/1 passed, 0 failed/);
      let edits = 0;
      await prints(/0 passed, 1 failed/, () =>
        writeFileSync(join(folder, 'shop.flow.json'), JSON.stringify(flow(`Store ${edits++}`))),
      );
    } finally {
      await killed(child);
    }
  });
});

test('bash completes verbs, and the flags of the verb', async () => {
  skipWithout(['bash']);
  const { out } = await run(['completion', 'bash']);
  const complete = (...words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const script = `${out}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _twinline; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim();
  };
  assert.is(complete('twinline', 'li'), 'lint');
  assert.is(complete('twinline', 'lint', '--s'), '--sarif');
  assert.is(complete('twinline', 'lint', 'me'), '', 'files are for bash itself');
  assert.is(complete('twinline', 'start', '--po'), '--port');
});

test('the doctor tries to write: a folder that takes nothing is broken, whatever its rights and its free space', () =>
  withFolder(async (folder) => {
    skipWithout(['prlimit']);
    const env = { PATH, HOME, DATA_DIR: folder, PORT: '0', NO_COLOR: '1' };
    const said = (limit: string) => {
      const args = [`--fsize=${limit}`, process.execPath, BIN, 'doctor'];
      return spawnSync('prlimit', args, { env, encoding: 'utf8', cwd: folder }).stdout;
    };
    assert.match(said('unlimited'), /can be written/);
    assert.match(said('1024'), /takes no writes \(EFBIG\)/);
    assert.equal(readdirSync(folder), [], 'nothing is left behind');
  }));

test.run();
