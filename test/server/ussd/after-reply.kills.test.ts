// Work after the reply and calls that wait for a callback, on real servers that are killed with -9: the provider has each deed once, and
// a callback finds its caller at whichever server is left.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Caller, caller, hangUpAll } from '../../support/phone.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

const test = suite('after the reply and callbacks under kill -9');

const PIN_ENCRYPTION_KEY = '5b1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
const PUBLIC_URL = 'https://ussd.example.com';

const shop = (provider: string) => ({
  flow: 'shop',
  version: 1,
  start: 'amount',
  keys: { exit: '*' },
  vars: { amount: { type: 'string', max: 8 }, paid: { type: 'object' } },
  screens: {
    amount: { type: 'input', text: 'Amount?', save: 'amount', to: 'pay' },
    pay: {
      type: 'call',
      service: 'http.post',
      answer: 'callback',
      timeout: '10m',
      with: { url: `${provider}/pay`, body: { tell: '=callbackUrl' } },
      save: 'paid',
      done: 'thanks',
      fail: 'unpaid',
    },
    thanks: {
      type: 'end',
      text: 'Paid: {{paid.body.receipt}}',
      after: [
        {
          service: 'http.post',
          timeout: '1s',
          with: { url: `${provider}/deed`, body: { paid: '=paid.body.receipt' } },
        },
      ],
    },
    unpaid: { type: 'end', text: 'Not paid.' },
  },
});

/** Keeps a ledger of deeds by key. While it is stuck it takes requests and answers none. */
async function openProvider() {
  const callbacks: string[] = [];
  const asked: string[] = [];
  const ledger = new Map<string, unknown>();
  const state = { isStuck: false };
  const server: Server = createServer(async (req, res) => {
    let text = '';
    try {
      for await (const chunk of req.setEncoding('utf8')) text += chunk;
    } catch {
      return;
    }
    const body = JSON.parse(text);
    const key = String(req.headers['idempotency-key']);
    if (req.url === '/pay') callbacks.push(new URL(body.tell).pathname);
    else {
      asked.push(key);
      if (state.isStuck) return;
      ledger.set(key, body);
    }
    res.setHeader('content-type', 'application/json').end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { host, callbacks, asked, ledger, state, close };
}

interface Ground {
  readonly provider: Awaited<ReturnType<typeof openProvider>>;
  readonly line: Caller;
  readonly servers: readonly RunningServer[];
  start(): Promise<RunningServer>;
}

async function withShop(store: 'LMDB' | 'Redis', work: (ground: Ground) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const redis = store === 'Redis' ? await startRedis() : undefined;
    const provider = await openProvider();
    writeFileSync(join(folder, 'shop.flow.json'), JSON.stringify(shop(`http://${provider.host}`)));
    const env = {
      ...{ MENUS_DIR: folder, USSD_FLOW: 'shop', DATA_DIR: join(folder, 'data'), PUBLIC_URL, PIN_ENCRYPTION_KEY },
      SERVICE_HTTP_HOSTS: provider.host,
      ...(redis && { REDIS_URL: redis.url }),
    };
    const servers: RunningServer[] = [];
    const start = async () => {
      servers.push(await startProcess(env));
      return servers.at(-1)!;
    };
    try {
      await work({ provider, line: caller('s1', '+260971234567'), servers, start });
    } finally {
      hangUpAll();
      await Promise.all(servers.map((server) => server.kill()));
      provider.close();
      await redis?.stop();
    }
  });
}

/** Dials and asks to pay; the path that answers the call. */
async function order({ line, provider }: Ground, url: string): Promise<string> {
  assert.is(await line.send(url), 'CON Amount?');
  assert.match(await line.send(url, '50'), /^CON Please wait/);
  return until('the address of the callback', () => provider.callbacks[0]);
}

const confirm = (url: string, path: string, receipt: string) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ status: 200, body: { receipt } }),
  }).then(({ status }) => status);

async function readLedger({ provider: { ledger, asked } }: Ground): Promise<readonly unknown[]> {
  await until('the deed in the ledger', () => ledger.size > 0);
  assert.is(new Set(asked).size, 1, 'one key for all tries');
  return [...ledger.values()];
}

for (const store of ['LMDB', 'Redis'] as const) {
  test(`on ${store}: a server that dies after END and before the provider answers leaves the deed to the next one`, () =>
    withShop(store, async (ground) => {
      const { provider, line, start } = ground;
      const first = await start();
      const path = await order(ground, first.url);
      provider.state.isStuck = true;
      assert.is(await confirm(first.url, path, 'R1'), 200);
      assert.is(await line.send(first.url, '1'), 'END Paid: R1');
      await until('the deed is asked for', () => provider.asked.length > 0);
      await first.kill();
      provider.state.isStuck = false;
      await start();
      assert.equal(await readLedger(ground), [{ paid: 'R1' }]);
      assert.ok(provider.asked.length > 1);
    }));

  test(`on ${store}: a callback that waited while its server died is taken by the one that is left`, () =>
    withShop(store, async (ground) => {
      const first = await startFirst(ground, store === 'Redis');
      const path = await order(ground, first.url);
      await first.kill();
      const left = ground.servers[1] ?? (await ground.start());
      assert.is(await confirm(left.url, path, 'R2'), 200);
      assert.is(await ground.line.send(left.url, '1'), 'END Paid: R2');
      assert.is(await confirm(left.url, path, 'R3'), 409);
      assert.equal(await readLedger(ground), [{ paid: 'R2' }]);
      assert.is(ground.provider.callbacks.length, 1, 'the payment is asked for once');
    }));
}

async function startFirst({ start }: Ground, both: boolean): Promise<RunningServer> {
  const first = await start();
  if (both) await start();
  return first;
}

test('on Redis: of one callback at two instances at once one is taken, and the machine moves once', () =>
  withShop('Redis', async (ground) => {
    const [one, two] = [await ground.start(), await ground.start()];
    const path = await order(ground, one.url);
    const answers = await Promise.all([confirm(one.url, path, 'R1'), confirm(two.url, path, 'R2')]);
    assert.equal(answers.toSorted(), [200, 409]);
    const won = answers[0] === 200 ? 'R1' : 'R2';
    assert.is(await ground.line.send(two.url, '1'), `END Paid: ${won}`);
    assert.is(await ground.line.repeat(one.url), `END Paid: ${won}`);
    assert.equal(await readLedger(ground), [{ paid: won }]);
  }));

test.run();
