// Rolling restarts behind real balancers: nginx with the file of server/deploy, which asks no instance how it is, and HAProxy, which asks
// /readyz. Whatever is restarted, a phone hears CON or END.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, DIAL, json } from '../server/support/serve.ts';
import { skipWithout } from '../support/on-path.ts';
import { freePort } from '../support/ports.ts';
import { killed, type RunningServer, startProcess } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { chooseSize } from '../support/size.ts';
import { until } from '../support/until.ts';
import { startNginx } from './nginx.ts';

const test = suite('rolling restarts');
const RESTARTS = chooseSize({ short: 2, day: 2, whole: 10 });
const CALLERS = 8;
/** Of each restart, so that it happens under load. */
const TURNS = 200;

let folder: string;
let redis: RedisServer;

test.before(async () => {
  skipWithout(['nginx', 'haproxy']);
  folder = mkdtempSync(join(tmpdir(), 'twinline-rolling-'));
  redis = await startRedis();
});
test.after(async () => {
  await redis?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

interface Balancer {
  readonly url: string;
  stop(): Promise<void>;
}

interface Ground {
  readonly env: Readonly<Record<string, string>>;
  readonly start: (urls: readonly string[]) => Promise<Balancer>;
}

test('nginx, as shipped', () =>
  restartUnderLoad({
    env: { DRAIN_DELAY_MS: '0' },
    start: (urls) => startNginx(mkdtempSync(join(folder, 'nginx-')), urls),
  }));

test('HAProxy that asks /readyz', () => restartUnderLoad({ env: { DRAIN_DELAY_MS: '1000' }, start: startHaproxy }));

/** Restarts one of two instances again and again while phones dial. */
async function restartUnderLoad({ env, start }: Ground): Promise<void> {
  const own = { ...env, REDIS_URL: redis.url, DATA_DIR: join(folder, 'data'), RATE_LIMIT_MAX: '1000000' };
  const servers = await Promise.all([startProcess(own), startProcess(own)]);
  const balancer = await start(servers.map(({ url }) => url));
  const foreign: string[] = [];
  let turns = 0;
  let isOver = false;
  const call = async (caller: number) => {
    for (let at = 0; !isOver; at++) {
      const dial = {
        ...DIAL,
        sessionId: `${caller}-${at}`,
        phoneNumber: `+26097${1_000_000 + caller * 10_000 + (at % 10_000)}`,
      };
      const { status, text } = await ask(`${balancer.url}/api/ussd`, json(dial));
      turns++;
      if (status !== 200 || !/^(CON|END) /.test(text) || text.includes('unavailable'))
        foreign.push(`${status} ${text.slice(0, 60)}`);
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  try {
    for (let restart = 0; restart < RESTARTS; restart++) {
      const before = turns;
      const which = restart % servers.length;
      const { port } = new URL(servers[which]!.url);
      assert.is(await servers[which]!.signal('SIGTERM'), 0);
      servers[which] = await startProcess({ ...own, PORT: port });
      await until('turns after the restart', () => turns > before + TURNS);
      // The next one may go only once the balancer sends callers to this one again.
      const { url } = servers[which]!;
      await until('turns of the one that was restarted', async () =>
        /^twinline_ussd_turns_total\{.*\} [1-9]/m.test((await ask(`${url}/metrics`)).text),
      );
    }
  } finally {
    isOver = true;
    await callers;
    await balancer.stop();
    await Promise.all(servers.map((server: RunningServer) => server.kill()));
  }
  assert.equal(foreign, []);
}

async function startHaproxy(urls: readonly string[]): Promise<Balancer> {
  const port = await freePort();
  const file = join(mkdtempSync(join(folder, 'haproxy-')), 'haproxy.cfg');
  const servers = urls.map((url, at) => `  server s${at} ${new URL(url).host} check inter 100ms fall 2 rise 1`);
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 1s
  timeout check 5s
  timeout client 60s
  timeout server 60s
  option redispatch
frontend phones
  bind 127.0.0.1:${port}
  default_backend twinline
backend twinline
  option httpchk GET /readyz
${servers.join('\n')}
`,
  );
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await until(
    'HAProxy to pass a request',
    async () => (await ask(`${url}/livez`).catch(() => undefined))?.status === 200,
  );
  return { url, stop: () => killed(child) };
}

test.run();
