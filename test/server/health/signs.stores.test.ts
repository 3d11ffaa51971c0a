// Trouble that operators must hear of: for each kind, the page, the metric and the line of the log say what the operators' guide
// says that they say, and nothing of it before. That the alerts fire on these values is tested in test/package/alerts.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { ask, DIAL, json, type Served, withServer } from '../support/serve.ts';
import { SIGNS, type Signs } from './signs.ts';

const test = suite('signs of trouble');
const open = browser(test);

/** A server as its operator meets it. */
interface Watched {
  readonly url: string;
  readonly log: () => string;
}

const HTML = { headers: { accept: 'text/html' } };

async function readSigns({ url, log }: Watched, signs: Signs): Promise<Record<string, boolean>> {
  const metrics = (await ask(`${url}/metrics`)).text;
  const page = signs.page?.path === '/' ? (await ask(url, HTML)).text : undefined;
  return {
    ...(signs.metric !== undefined && { metric: metrics.split('\n').includes(signs.metric) }),
    ...(page !== undefined && { page: page.includes(signs.page!.says) }),
    log: log().slice(logStarts.get(url)).includes(signs.log),
  };
}

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

const watch = (server: Served): Watched => ({ url: server.url, log: () => JSON.stringify(server.logged) });
const dial = (url: string, sessionId: string) => ask(`${url}/api/ussd`, json({ ...DIAL, sessionId }));

test('the alerts are shipped, and ask for the metrics that show the trouble', () => {
  const alerts = new Map(shippedAlerts().map(({ alert, expr }) => [alert, expr]));
  for (const signs of Object.values<Signs>(SIGNS)) {
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
      const watched = { url: server.url, log: server.printed };
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

test(SIGNS.redis.trouble, async () => {
  const redis = await startRedis({ args: ['--appendonly', 'yes'] });
  const proxy = await faultProxy(redis);
  const { PIN_ENCRYPTION_KEY } = KEYS;
  try {
    await withServer({ env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, PIN_ENCRYPTION_KEY } }, async (server) => {
      await expectNone(watch(server), SIGNS.redis);
      await proxy.set({ kind: 'freeze' });
      await expectSigns(watch(server), SIGNS.redis);
      await proxy.set(PASS);
    });
  } finally {
    await proxy.close();
    await redis.stop();
  }
});

test(SIGNS.mongo.trouble, async () => {
  const mongo = await startMongo();
  const proxy = await faultProxy({ port: Number(new URL(mongo.url).port) });
  try {
    const MONGODB_URL = `mongodb://127.0.0.1:${proxy.port}/signs?directConnection=true`;
    const { PIN_ENCRYPTION_KEY } = KEYS;
    await withServer({ env: { MONGODB_URL, PIN_ENCRYPTION_KEY } }, async (server) => {
      await expectNone(watch(server), SIGNS.mongo);
      await proxy.set({ kind: 'refuse' });
      await expectSigns(watch(server), SIGNS.mongo);
      await proxy.set(PASS);
    });
  } finally {
    await proxy.close();
    await mongo.stop();
  }
});

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
  }),
);

test(SIGNS.edit.trouble, () =>
  withFolder(async (folder) => {
    const file = join(folder, 'main.flow.json');
    const flow = { flow: 'main', version: 1, start: 'bye', screens: { bye: { type: 'end', text: 'Bye' } } };
    writeFileSync(file, JSON.stringify(flow));
    await withServer({ env: { MENUS_DIR: folder } }, async (server) => {
      await expectNone(watch(server), SIGNS.edit);
      writeFileSync(file, JSON.stringify({ ...flow, start: 'by' }));
      await expectSigns(watch(server), SIGNS.edit);
    });
  }),
);

test(SIGNS.service.trouble, () =>
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
    await withServer({ env: { MENUS_DIR: folder, SERVICES: services } }, async (server) => {
      await expectNone(watch(server), SIGNS.service);
      const { page } = await open(`${server.url}/inspector`);
      await page.waitForSelector('#state .dot.live');
      await server.ussd(DIAL);
      assert.is(await page.locator('#sessions', { hasText: SIGNS.service.page.says }).count(), 0);
      assert.match(await server.ussd({ ...DIAL, text: '1' }), 'Sorry');
      await page.locator('#sessions .where', { hasText: SIGNS.service.page.says }).waitFor();
      await page.locator('#trouble summary', { hasText: 'service shop.buy ERR_SERVICE' }).waitFor();
      await expectSigns(watch(server), SIGNS.service);
    });
  }),
);

test.run();
