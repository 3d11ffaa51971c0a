// The server as a process: what it prints, its exit codes, its signals, and its end after an error nobody caught.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../../support/build.ts';
import { freePort } from '../../support/ports.ts';
import { startProcess, withFolder } from '../../support/process.ts';
import { isShort, sample } from '../../support/size.ts';
import { until } from '../../support/until.ts';
import { PRODUCTION } from '../support/production.ts';
import { ask, DIAL, findSample, json } from '../support/serve.ts';

const test = suite('process');
/** What boot/start and boot/drain prove in this process: by a process of its own only at length. */
const longTest: typeof test | (() => void) = isShort ? () => {} : test;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const MEMORY = { DATA_DIR: ':memory:' };
const SERVED = { ...MEMORY, ...PRODUCTION };

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs to its end; for processes that do not start. */
async function runToEnd(env: Readonly<Record<string, string>>, options: readonly string[] = []): Promise<Ran> {
  const child = spawn(process.execPath, [...options, await builtFile('server/main.ts')], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

test('a bad environment: exit code 78, every problem on a line of its own, and nothing else', async () => {
  const { code, out, err } = await runToEnd({ ...MEMORY, PORT: 'x', LOG_LEVEL: 'loud', REDIS_URL: 'redis://h:x' });
  assert.is(code, 78);
  assert.is(out, '');
  assert.equal(
    err
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]),
    ['PORT', 'REDIS_URL', 'LOG_LEVEL'],
  );
});

longTest('menus, services or a port that cannot be used: exit code 78, and the reason', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), '{"flow":"main",');
    const taken = await startProcess(MEMORY);
    const [broken, unknown, services, port] = await Promise.all([
      runToEnd({ ...MEMORY, MENUS_DIR: folder }),
      runToEnd({ ...MEMORY, USSD_FLOW: 'mian' }),
      runToEnd({ ...MEMORY, SERVICES: './nowhere.js' }),
      runToEnd({ ...MEMORY, PORT: new URL(taken.url).port }),
    ]);
    await taken.kill();
    for (const { code, out } of [broken, unknown, services, port]) assert.equal([code, out], [78, '']);
    assert.match(broken.err, /main\.flow\.json:1:\d+ error syntax/);
    assert.match(unknown.err, /"mian" \(USSD_FLOW\) is not in .*Flows there: .*main/);
    assert.match(services.err, /^SERVICES: "\.\/nowhere\.js" is not there\./);
    assert.match(port.err, /another program uses it/);
  }),
);

longTest('a store that does not answer: exit code 1, its address without password, and what to do', async () => {
  const { code, out, err } = await runToEnd({
    ...MEMORY,
    REDIS_URL: 'redis://:canary@127.0.0.1:1',
    STORE_WAIT_SECONDS: '0',
  });
  assert.is(code, 1);
  assert.match(err, /^REDIS_URL cannot be used\. Redis redis:\/\/:\*{4}@127\.0\.0\.1:1: .*ECONNREFUSED.*\n$/);
  assert.not.match(out, /listen/);
  assert.not.match(out + err, /canary/);
});

test('what it prints leads to what is there; SIGHUP changes nothing; SIGTERM ends it with 0', async () => {
  const server = await startProcess(MEMORY);
  const urls = server.printed().match(/http:\/\/[\w.:/]+/g)!;
  assert.ok(urls.length >= 5);
  // It looks for edited menus, and lives.
  process.kill(server.pid, 'SIGHUP');
  for (const url of new Set(urls)) {
    const { status } = await ask(url);
    const expected = url.endsWith('/api/ussd') ? 405 : url.includes('/v1/') ? 401 : 200;
    assert.is(status, expected, url);
  }
  assert.is(await server.signal('SIGTERM'), 0);
});

longTest('a start in development says which tests of the menus fail; they are served all the same', () =>
  withFolder(async (folder) => {
    const flow = { flow: 'main', version: 1, start: 'end', screens: { end: { type: 'end', text: 'Hello' } } };
    const tests = { flow: 'main', tests: [{ name: 'it greets', steps: [{ in: '', text: 'Good morning' }] }] };
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flow));
    writeFileSync(join(folder, 'main.test.json'), JSON.stringify(tests));
    const server = await startProcess({ ...MEMORY, MENUS_DIR: folder });
    await until('the failing test is told', () => server.printed().includes('it greets'));
    assert.match(server.printed(), /flow \\"main\\" is served, but its test \\"it greets\\" fails/);
    await server.signal('SIGTERM');
  }),
);

test('in production it prints log lines only, and no debugger opens: not by SIGUSR1, and not with node --inspect', async () => {
  const server = await startProcess({ ...SERVED, DRAIN_DELAY_MS: '0' });
  process.kill(server.pid, 'SIGUSR1');
  assert.is((await ask(`${server.url}/livez`)).status, 200);
  assert.is(await server.signal('SIGTERM'), 0);
  for (const line of server.printed().trim().split('\n')) assert.type(JSON.parse(line), 'object');
  const { code, err } = await runToEnd({ ...SERVED, USSD_GATEWAYS: '*' }, ['--inspect=127.0.0.1:0']);
  assert.is(code, 78);
  assert.match(err, /^--inspect=127\.0\.0\.1:0: a debugger can read every key/m);
});

longTest('signals that come at once count once: it drains to its end and exits with 0', async () => {
  const server = await startProcess({ ...MEMORY, DRAIN_DELAY_MS: '300' });
  const ended = server.signal('SIGINT');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(server.pid, signal);
  assert.is(await ended, 0);
});

longTest('a further signal after more than two seconds ends it at once with 1', async () => {
  const server = await startProcess({ ...MEMORY, DRAIN_DELAY_MS: '600000' });
  let code: number | null | undefined;
  void server.signal('SIGTERM').then((given) => {
    code = given;
  });
  await until('it ends long before it is drained', () => {
    if (code === undefined) process.kill(server.pid, 'SIGTERM');
    return code !== undefined;
  });
  assert.is(code, 1);
});

/** Standard output of a server: what it is, and what happens to it once the server listens. */
const BAD_LOGS: Readonly<Record<string, (folder: string) => { readonly fd: number | 'pipe'; readonly hangUp?: true }>> =
  {
    'whose disk is full': () => ({ fd: openSync('/dev/full', 'w') }),
    'whose reader has gone': () => ({ fd: 'pipe', hangUp: true }),
    // Node makes no pipes with a name.
    ...(!isShort && {
      'whose reader stands still': (folder: string) => {
        execFileSync('mkfifo', [join(folder, 'log')]);
        return { fd: openSync(join(folder, 'log'), constants.O_RDWR) };
      },
    }),
  };

for (const [words, open] of Object.entries(BAD_LOGS))
  test(`a log ${words} loses lines, which are counted, and callers are served`, () =>
    withFolder(async (folder) => {
      const { fd, hangUp } = open(folder);
      const [port, metricsPort] = [await freePort(), await freePort()];
      const child = spawn(process.execPath, [await builtFile('server/main.ts')], {
        cwd: ROOT,
        env: {
          ...{ PATH: process.env.PATH, HOME: process.env.HOME, ...PRODUCTION, USSD_GATEWAYS: '*', DRAIN_DELAY_MS: '0' },
          ...{ PORT: String(port), METRICS_PORT: String(metricsPort), RATE_LIMIT_MAX: '1000000', LOG_LEVEL: 'info' },
          // Not the data that a developer's server has left in the folder of the project.
          DATA_DIR: join(folder, 'data'),
        },
        stdio: ['ignore', fd, 'ignore'],
      });
      let code: number | null | undefined;
      const ended = once(child, 'exit').then(([given]) => {
        code = given as number | null;
      });
      const isUp = () =>
        ask(`http://127.0.0.1:${port}/livez`).then(
          ({ status }) => status === 200,
          () => false,
        );
      await until('it listens', async () => code !== undefined || (await isUp()));
      if (hangUp) child.stdout!.destroy();
      const dial = (turn: number) =>
        ask(
          `http://127.0.0.1:${port}/api/ussd`,
          json({ ...DIAL, sessionId: `s${turn}`, phoneNumber: `+26097${turn + 1e6}` }),
        );
      const lost = async () =>
        findSample((await ask(`http://127.0.0.1:${metricsPort}/metrics`)).text, 'twinline_log_lines_lost_total');
      for (let turn = 0; (await lost()) === 0; turn++) assert.match((await dial(turn)).text, /^CON /);
      assert.match((await dial(1e5)).text, /^CON /);
      child.kill('SIGTERM');
      await ended;
      assert.is(code, 0, 'it ends in order');
      if (typeof fd === 'number') closeSync(fd);
    }));

test('a plugin that fails long after the start is named, with its words in development alone', () =>
  withFolder(async (folder) => {
    const late = "process.on('SIGUSR2', () => Promise.reject(new Error('canary')))";
    writeFileSync(join(folder, 'late.mjs'), `export default { name: 'late', version: '1', start() { ${late}; } };`);
    const told = async (env: Readonly<Record<string, string>>) => {
      const server = await startProcess({ ...env, PLUGINS: join(folder, 'late.mjs') });
      assert.is(await server.signal('SIGUSR2'), 1);
      return server
        .printed()
        .split('\n')
        .find((line) => line.includes('a rejection was not handled'))!;
    };
    assert.match(await told(MEMORY), /"plugin":"late".*"message":"canary"/);
    if (isShort) return;
    const inProduction = await told({ ...PRODUCTION, USSD_GATEWAYS: '*' });
    assert.match(inProduction, /"plugin":"late"/);
    assert.not.match(inProduction, /canary/);
  }));

longTest('files of menu tests that cannot be read are told, and the server serves', () =>
  withFolder(async (folder) => {
    const flow = { flow: 'main', version: 1, start: 'end', screens: { end: { type: 'end', text: 'Hello' } } };
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flow));
    mkdirSync(join(folder, 'main.test.json'));
    const server = await startProcess({ ...MEMORY, MENUS_DIR: folder });
    await until('it is told', () => /main\.test\.json[^\n]*cannot be read \(EISDIR\)/.test(server.printed()));
    assert.is((await ask(`${server.url}/livez`)).status, 200);
    assert.is(await server.signal('SIGTERM'), 0);
  }),
);

test('after an error that nobody caught it says so and exits with 1', () =>
  withFolder(async (folder) => {
    const onSignal = (what: string) =>
      `process.on('SIGUSR2', () => { ${what} }); export default { 'bomb.tick': async () => null };`;
    const explode = async (what: string, at: number) => {
      const bomb = join(folder, `bomb-${at}.js`);
      writeFileSync(bomb, onSignal(what));
      const server = await startProcess({ ...MEMORY, SERVICES: bomb });
      assert.is(await server.signal('SIGUSR2'), 1);
      assert.match(server.printed(), /"msg":"(an error was not caught|a rejection was not handled)"/);
      assert.not.match(server.printed(), /canary/);
    };
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    await Promise.all(sample(['throw new Error("canary")', 'Promise.reject(new Error("canary"))'], 2).map(explode));
  }));

test.run();
