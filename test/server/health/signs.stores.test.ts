// Trouble that operators must hear of: for each kind, the page, the metric and the line of the log say what the operators' guide
// says that they say, and nothing of it before. That the alerts fire on these values is tested in test/package/alerts.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { shippedAlerts } from '../../guides/metrics.ts';
import { KEYS } from '../../package/keys.ts';
import { faultProxy, PASS } from '../../support/fault-proxy.ts';
import { startMongo } from '../../support/mongo-server.ts';
import { onPath } from '../../support/on-path.ts';
import { startProcess, withFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';
import { skipped } from '../../support/skip.ts';
import { until } from '../../support/until.ts';
import { browser } from '../support/browser.ts';
import { run } from '../support/command.ts';
import { ask, DIAL, json, type Served, withServer } from '../support/serve.ts';
import { SIGNS, type Signs } from './signs.ts';

const test = suite('signs of trouble');
const PIN = '58213';
const open = browser(test);

/** A server as its operator meets it. */
interface Watched {
  readonly url: string;
  readonly log: () => string;
  /** The settings of the server, for commands beside it. */
  readonly env: NodeJS.ProcessEnv;
  /** Its inspector. */
  readonly inspector?: Page;
}

const HTML = { headers: { accept: 'text/html' } };

/** Runs `npx twinline …` with the settings of the server, or asks the server as `curl` does. */
async function print(command: string, { url, env }: Watched): Promise<string> {
  const [, path] = /^curl -s http:\/\/127\.0\.0\.1:3000(\S+)$/.exec(command) ?? [];
  if (path !== undefined) return (await ask(url + path)).text;
  const settings = { USSD_GATEWAYS: '*', ...env, PORT: new URL(url).port };
  const { out, err } = await run(command.replace('npx twinline ', '').split(' '), settings);
  return `${out}\n${err}`;
}

async function readSigns(watched: Watched, signs: Signs): Promise<Record<string, boolean>> {
  const { url, log, inspector } = watched;
  const { page, metric, command } = signs;
  const shown = page?.path === '/' ? (await ask(url, HTML)).text : await inspector?.textContent('body');
  const seen = {
    ...(metric !== undefined && { metric: hasSample((await ask(`${url}/metrics`)).text, metric) }),
    ...(page !== undefined && { page: shown!.includes(page.says) }),
    log: log().slice(logStarts.get(url)).includes(signs.log),
  };
  // Commands take longest, and see what is: once the rest is seen, or none of it.
  const isEven = new Set(Object.values(seen)).size === 1;
  return isEven ? { ...seen, command: (await print(command.run, watched)).includes(command.says) } : seen;
}

/** Whether the metrics have this series with this number, rounded. */
function hasSample(metrics: string, sample: string): boolean {
  const [, series, value] = /^(.+) (\S+)$/.exec(sample)!;
  return metrics.split('\n').some((line) => line.startsWith(`${series} `) && round(line) === Number(value));
}

const round = (line: string) => Math.round(Number(line.slice(line.lastIndexOf(' '))));

/** By URL: where in a log the time before its trouble begins. @default at its start */
const logStarts = new Map<string, number>();

const namesOf = (seen: Record<string, boolean>, are: boolean) => Object.keys(seen).filter((name) => seen[name] === are);

const expectSigns = (watched: Watched, signs: Signs) =>
  until(`signs: ${signs.trouble}`, async () => namesOf(await readSigns(watched, signs), false).length === 0);

// A store that answers its first question late, on a slow machine, is away for a moment: that goes by.
async function expectNone(watched: Watched, signs: Signs): Promise<void> {
  logStarts.delete(watched.url);
  await until(`no signs: ${signs.trouble}`, async () => {
    if (namesOf(await readSigns(watched, signs), true).length === 0) return true;
    logStarts.set(watched.url, watched.log().length);
    return false;
  });
}

const watch = (server: Served, env: NodeJS.ProcessEnv): Watched => ({
  ...{ url: server.url, env },
  log: () => server.logged.map((line) => JSON.stringify(line)).join('\n'),
});

async function watchPage(server: Served, env: NodeJS.ProcessEnv): Promise<Watched> {
  const { page } = await open(`${server.url}/inspector`);
  await page.waitForSelector('#state .dot.live');
  return { ...watch(server, env), inspector: page };
}
const dial = (url: string, sessionId: string) => ask(`${url}/api/ussd`, json({ ...DIAL, sessionId }));

test('the alerts are shipped, and ask for the metrics that show the trouble', () => {
  const alerts = new Map(shippedAlerts().map(({ alert, expr }) => [alert, expr]));
  for (const signs of Object.values<Signs>(SIGNS)) {
    if (signs.alert === undefined) continue;
    const expr = alerts.get(signs.alert);
    assert.ok(expr, signs.alert);
    if (signs.metric !== undefined) assert.match(expr!, /^\w+/.exec(signs.metric)![0], signs.trouble);
  }
});

test(SIGNS.disk.trouble, () =>
  withFolder(async (folder) => {
    if (onPath('prlimit') === undefined) skipped('no prlimit here: install util-linux');
    const server = await startProcess({ DATA_DIR: folder });
    try {
      const watched = { url: server.url, log: server.printed, env: { DATA_DIR: folder } };
      await dial(server.url, 'disk');
      await expectNone(watched, SIGNS.disk);
      execFileSync('prlimit', ['--pid', String(server.pid), '--fsize=4096:unlimited']);
      for (let turn = 0; (await dial(server.url, `disk-${turn}`)).text.startsWith('CON'); turn++) {}
      await expectSigns(watched, SIGNS.disk);
    } finally {
      await server.kill();
    }
  }),
);

/** A server whose store is behind a proxy that fails. */
async function throughProxy(
  signs: Signs,
  { port, env, fault }: { port: number; env: (port: number) => NodeJS.ProcessEnv; fault: 'freeze' | 'refuse' },
): Promise<void> {
  const proxy = await faultProxy({ port });
  const settings = { ...env(proxy.port), PIN_ENCRYPTION_KEY: KEYS.PIN_ENCRYPTION_KEY, DATA_DIR: ':memory:' };
  try {
    await withServer({ env: settings }, async (server) => {
      await expectNone(watch(server, settings), signs);
      await proxy.set({ kind: fault });
      await expectSigns(watch(server, settings), signs);
      await proxy.set(PASS);
    });
  } finally {
    await proxy.close();
  }
}

test(SIGNS.redis.trouble, async () => {
  const redis = await startRedis({ args: ['--appendonly', 'yes'] });
  const env = (port: number) => ({ REDIS_URL: `redis://127.0.0.1:${port}` });
  await throughProxy(SIGNS.redis, { port: redis.port, env, fault: 'freeze' }).finally(redis.stop);
});

test(SIGNS.mongo.trouble, async () => {
  const mongo = await startMongo();
  const port = Number(new URL(mongo.url).port);
  const env = (at: number) => ({ MONGODB_URL: `mongodb://127.0.0.1:${at}/signs?directConnection=true` });
  await throughProxy(SIGNS.mongo, { port, env, fault: 'refuse' }).finally(mongo.stop);
});

test(SIGNS.clock.trouble, () =>
  withFolder(async (folder) => {
    const redis = await startRedis({ args: ['--appendonly', 'yes'] });
    const CLOCK_OFFSET = join(folder, 'offset');
    writeFileSync(CLOCK_OFFSET, '0');
    const preload = pathToFileURL(join(import.meta.dirname, '../../support/jump-clock.mjs')).href;
    const env = { REDIS_URL: redis.url, PIN_ENCRYPTION_KEY: KEYS.PIN_ENCRYPTION_KEY, DATA_DIR: ':memory:' };
    const server = await startProcess({ ...env, CLOCK_OFFSET, NODE_OPTIONS: `--import ${preload}` });
    // The doctor runs on the machine whose clock is wrong.
    const { now } = Date;
    try {
      const watched = { url: server.url, log: server.printed, env };
      await expectNone(watched, SIGNS.clock);
      writeFileSync(CLOCK_OFFSET, '300000');
      process.kill(server.pid, 'SIGUSR2');
      Date.now = () => now() + 300_000;
      await expectSigns(watched, SIGNS.clock);
    } finally {
      Date.now = now;
      await server.signal('SIGTERM');
      await redis.stop();
    }
  }),
);

test(SIGNS.key.trouble, () =>
  withFolder(async (folder) => {
    const one = KEYS.PIN_ENCRYPTION_KEY;
    const other = [...one].reverse().join('');
    const start = (PIN_ENCRYPTION_KEY: string) => startProcess({ DATA_DIR: folder, PIN_ENCRYPTION_KEY });
    await (await start(one)).signal('SIGTERM');
    const refused = await start(other).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    assert.match(refused, SIGNS.key.log);
    assert.match(refused, /78/);
    const told = await run(['doctor'], { DATA_DIR: folder, PIN_ENCRYPTION_KEY: other });
    assert.ok(told.out.includes(SIGNS.key.command.says), told.out);
  }),
);

test(SIGNS.dropped.trouble, () =>
  withFolder(async (folder) => {
    const [old, recent] = [`old:${KEYS.PIN_ENCRYPTION_KEY}`, `new:${[...KEYS.PIN_ENCRYPTION_KEY].reverse().join('')}`];
    const type = async (server: Served, sessionId: string, typed: readonly string[]) => {
      for (let count = 0; count <= typed.length; count++)
        await server.ussd({ ...DIAL, sessionId, text: typed.slice(0, count).join('*') });
    };
    const env = (keys: string) => ({ DATA_DIR: folder, PIN_ENCRYPTION_KEY: keys });
    await withServer({ env: env(old) }, (server) => type(server, 'register', ['2', '2', 'Tariro Moyo', PIN, PIN]));
    await withServer({ env: env(`${recent},${old}`) }, (server) => server.ussd(DIAL));
    const settings = env(recent);
    await withServer({ env: settings }, async (server) => {
      const watched = await watchPage(server, settings);
      await type(server, 'login', ['2', '1', PIN]);
      await expectSigns(watched, SIGNS.dropped);
    });
  }),
);

test(SIGNS.edit.trouble, () =>
  withFolder(async (folder) => {
    const file = join(folder, 'main.flow.json');
    const flow = { flow: 'main', version: 1, start: 'bye', screens: { bye: { type: 'end', text: 'Bye' } } };
    writeFileSync(file, JSON.stringify(flow));
    const env = { MENUS_DIR: folder };
    await withServer({ env }, async (server) => {
      await expectNone(watch(server, env), SIGNS.edit);
      writeFileSync(file, JSON.stringify({ ...flow, start: 'by' }));
      await expectSigns(watch(server, env), SIGNS.edit);
    });
  }),
);

test(SIGNS.attack.trouble, () => {
  const env = { USSD_GATEWAYS: '203.0.113.0/24', DATA_DIR: ':memory:' };
  return withServer({ env }, async (server) => {
    await expectNone(watch(server, env), SIGNS.attack);
    assert.is((await dial(server.url, 'stranger')).status, 403);
    await expectSigns(watch(server, env), SIGNS.attack);
  });
});

test(`${SIGNS.caller.trouble}; ${SIGNS.service.trouble}`, () =>
  withFolder(async (folder) => {
    const buy = { type: 'call', service: 'shop.buy', done: 'bye', fail: 'sorry', retry: 0, timeout: '2s' };
    const end = (text: string) => ({ type: 'end', text });
    const screens = { go: { type: 'menu', text: 'Buy?', options: [{ id: 'yes', text: 'Yes', to: 'buy' }] }, buy };
    const flow = {
      flow: 'main',
      version: 1,
      start: 'go',
      screens: { ...screens, bye: end('Bye'), sorry: end('Sorry') },
    };
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flow));
    const services = join(folder, 'shop.mjs');
    writeFileSync(services, "export default { 'shop.buy': async () => { throw new Error('sold out'); } };");
    const env = { MENUS_DIR: folder, SERVICES: services, DATA_DIR: ':memory:', LOG_LEVEL: 'info' };
    await withServer({ env }, async (server) => {
      const watched = await watchPage(server, env);
      for (const signs of [SIGNS.caller, SIGNS.service]) await expectNone(watched, signs);
      await server.ussd(DIAL);
      assert.match(await server.ussd({ ...DIAL, text: '1' }), 'Sorry');
      for (const signs of [SIGNS.caller, SIGNS.service]) await expectSigns(watched, signs);
      await watched.inspector!.locator('#sessions .where', { hasText: 'a call failed' }).waitFor();
    });
  }));

test.run();
