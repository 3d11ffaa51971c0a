// Instances on one Redis whose clocks are minutes apart: callers go on through all of them, and who runs them is told.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KEYS } from '../../package/keys.ts';
import { type MongoServer, startMongo } from '../../support/mongo-server.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { ask, DIAL, findSample, json } from '../support/serve.ts';

const test = suite('clocks of instances');

const PRELOAD = pathToFileURL(join(import.meta.dirname, '../../support/jump-clock.mjs')).href;
const MINUTES = 60_000;

let redis: RedisServer;
let mongo: MongoServer;

test.before(async () => {
  redis = await startRedis();
  mongo = await startMongo();
});
test.after(async () => {
  await redis?.stop();
  await mongo?.stop();
});

/** Servers whose time of day is away from that of the machine by so many milliseconds each. */
function withInstances(offsets: readonly number[], work: (instances: readonly RunningServer[]) => Promise<void>) {
  return withFolder(async (folder) => {
    const starts = offsets.map((offset, at) => {
      const CLOCK_OFFSET = join(folder, `offset-${at}`);
      writeFileSync(CLOCK_OFFSET, String(offset));
      return startProcess({
        ...{ PIN_ENCRYPTION_KEY: KEYS.PIN_ENCRYPTION_KEY, DATA_DIR: ':memory:', DRAIN_DELAY_MS: '0', CLOCK_OFFSET },
        ...{ REDIS_URL: redis.url, MONGODB_URL: mongo.url, NODE_OPTIONS: `--import ${PRELOAD}` },
      });
    });
    const instances = await Promise.all(starts);
    try {
      await work(instances);
    } finally {
      for (const instance of instances) await instance.signal('SIGTERM');
    }
  });
}

const dial = async ({ url }: RunningServer, sessionId: string, text: string) =>
  (await ask(`${url}/api/ussd`, json({ ...DIAL, sessionId, text }))).text;

test('a session goes on at every instance, whoever began it, and one that is right says nothing', () =>
  withInstances([0, 5 * MINUTES, -5 * MINUTES], async (instances) => {
    for (const [at, first] of instances.entries())
      for (const [next, second] of instances.entries()) {
        const id = `from ${at} to ${next}`;
        assert.match(await dial(first, id, ''), /^CON Welcome/, id);
        assert.match(await dial(second, id, '1'), /^CON Know more/, id);
      }
    const [right, ahead, behind] = instances as [RunningServer, RunningServer, RunningServer];
    const offset = async ({ url }: RunningServer, store: string) =>
      findSample((await ask(`${url}/metrics`)).text, `twinline_clock_offset_seconds{${store}}`);
    for (const store of ['store="sessions",kind="redis"', 'store="documents",kind="mongo"'])
      assert.equal(
        [await offset(right, store), await offset(ahead, store), await offset(behind, store)].map((seconds) =>
          Math.round(seconds / 60),
        ),
        [0, -5, 5],
        store,
      );
    const page = await ask(ahead.url, { headers: { accept: 'text/html' } });
    assert.match(page.text, /The clock of Redis is 300 s behind that of this machine: one of them is wrong/);
    assert.match(ahead.printed(), /"keeps":"sessions".*"offsetSeconds":-(300|299\.9).*run NTP/);
    assert.not.match(right.printed(), /NTP/);
  }));

test('a clock that is set while a server runs is told, and that it is right again; its sessions go on', () =>
  withFolder(async (folder) => {
    const CLOCK_OFFSET = join(folder, 'offset');
    writeFileSync(CLOCK_OFFSET, '0');
    const server = await startProcess({
      ...{ PIN_ENCRYPTION_KEY: KEYS.PIN_ENCRYPTION_KEY, DATA_DIR: ':memory:', DRAIN_DELAY_MS: '0', CLOCK_OFFSET },
      ...{ REDIS_URL: redis.url, NODE_OPTIONS: `--import ${PRELOAD}` },
    });
    const set = (ms: number) => {
      writeFileSync(CLOCK_OFFSET, String(ms));
      process.kill(server.pid, 'SIGUSR2');
    };
    assert.match(await dial(server, 'jumps', ''), /^CON Welcome/);
    set(60 * MINUTES);
    await until('it is told', () => server.printed().includes('run NTP'));
    assert.match(await dial(server, 'jumps', '1'), /^CON Know more/);
    set(0);
    await until('it is told to be right', () => server.printed().includes('agree again'));
    assert.is(await server.signal('SIGTERM'), 0);
  }));

test.run();
