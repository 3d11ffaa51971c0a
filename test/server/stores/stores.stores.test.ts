// Which stores a configuration opens, what the start says about them, and what it does when they do not answer.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RunningServer, startServer } from '../../../server/boot/start.ts';
import { readConfig } from '../../../server/config/config.ts';
import { KEYS } from '../../package/keys.ts';
import { faultProxy } from '../../support/fault-proxy.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { ask, DIAL, json } from '../support/serve.ts';

const test = suite('stores');

const PRODUCTION = { ...KEYS, NODE_ENV: 'production', HOST: '127.0.0.1', DRAIN_DELAY_MS: '0' };
const [INFO, WARN] = [30, 40];

let careless: RedisServer;
let careful: RedisServer;

test.before(async () => {
  careless = await startRedis();
  careful = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always', '--requirepass', 'canary'] });
});

test.after(async () => {
  await careless?.stop();
  await careful?.stop();
});

const carefulUrl = () => careful.url.replace('//', '//:canary@');

type Line = Readonly<Record<string, unknown>>;

interface Started {
  readonly server: RunningServer | undefined;
  readonly error: (Error & { code?: string }) | undefined;
  readonly logged: readonly Line[];
}

/** A start with all that it said; what was started is closed at the end of `work`. `onLine` hears each line of the log at once. */
async function starting(
  env: NodeJS.ProcessEnv,
  work: (started: Started) => Promise<void> | void,
  onLine: (line: Line) => void = () => {},
): Promise<void> {
  const logged: Line[] = [];
  const write = (text: string) => {
    const line = JSON.parse(text) as Line;
    logged.push(line);
    onLine(line);
  };
  const given = { PORT: '0', DATA_DIR: ':memory:', STORE_WAIT_SECONDS: '0', ...env, USSD_GATEWAYS: '*' };
  const { config, problems } = readConfig(given, { makeKeys: true });
  if (!config) throw new Error(problems.join('\n'));
  let server: RunningServer | undefined;
  let error: Started['error'];
  try {
    server = await startServer(config, { log: { write }, overload: { loopDelayMs: 60_000 } });
  } catch (thrown) {
    error = thrown as Started['error'];
  }
  try {
    await work({ server, error, logged });
  } finally {
    await server?.close({ drainDelayMs: 0 });
    assert.not.match(JSON.stringify(logged) + String(error), /canary/, 'no password anywhere');
  }
}

test('with REDIS_URL sessions are there, and the log says where, which version, and what they survive', () =>
  starting({ ...PRODUCTION, REDIS_URL: carefulUrl() }, async (started) => {
    assert.ok(started.server, started.error?.message);
    const told = started.logged.find(({ keeps }) => keeps === 'sessions')!;
    assert.is(told.level, INFO);
    assert.match(String(told.program), /^Redis \d+\.\d+\.\d+$/);
    assert.is(told.place, careful.url.replace('//', '//:****@'));
    assert.is(told.durability, 'power-loss');
    assert.match(String(told.survives), /power cut/);
    assert.match((await ask(`${started.server!.url}/api/ussd`, json(DIAL))).text, /^CON /);
  }));

test('production refuses a Redis that keeps nothing, unless told to accept it; development warns', async () => {
  const env = { REDIS_URL: careless.url };
  await starting({ ...PRODUCTION, ...env }, ({ error }) => {
    assert.is(error?.code, 'ERR_CONFIG');
    assert.match(error!.message, /forgets all sessions .*appendonly.*REDIS_ACCEPT_LOSS=true/);
  });
  for (const accepting of [
    { ...PRODUCTION, ...env, REDIS_ACCEPT_LOSS: 'true' },
    { ...KEYS, ...env },
  ])
    await starting(accepting, ({ error, logged }) => {
      assert.is(error, undefined);
      assert.ok(logged.some(({ level, msg }) => level === WARN && /forgets all sessions/.test(String(msg))));
    });
});

const isWaiting = ({ msg }: Line) => msg === 'waiting for a store to answer';

test('a wrong password is told at once and not tried again; it is a matter of configuration', () => {
  const env = { REDIS_URL: careful.url.replace('//', '//:wrong-canary@'), STORE_WAIT_SECONDS: '30' };
  return starting(env, ({ error, logged }) => {
    assert.is(error?.code, 'ERR_CONFIG');
    assert.match(error!.message, /^REDIS_URL does not work\. Redis redis:\/\/:\*\*\*\*@127\.0\.0\.1:\d+: .*WRONGPASS/);
    assert.not(logged.some(isWaiting));
  });
});

test('a store that comes late is waited for, with a word in the log', async () => {
  const proxy = await faultProxy(careless);
  try {
    await proxy.set({ kind: 'refuse' });
    // Its end is the return of the store.
    const env = { ...KEYS, REDIS_URL: `redis://127.0.0.1:${proxy.port}`, STORE_WAIT_SECONDS: '300' };
    const started = ({ server, error, logged }: Started) => {
      assert.ok(server, error?.message);
      assert.equal(
        logged.filter(isWaiting).map(({ setting }) => setting),
        ['REDIS_URL'],
      );
    };
    await starting(env, started, (line) => void (isWaiting(line) && proxy.set({ kind: 'pass' })));
  } finally {
    await proxy.close();
  }
});

test('a store that does not answer ends the start: address without password, reason, what to do', async () => {
  careless.freeze();
  const away: readonly (readonly [string, string, RegExp])[] = [
    ['REDIS_URL', 'redis://:canary@127.0.0.1:1', /ECONNREFUSED/],
    ['MONGODB_URL', 'mongodb://user:canary@127.0.0.1:1/x', /ECONNREFUSED/],
    ['REDIS_URL', careless.url, /not connected|timed out|does not answer/],
  ];
  try {
    await Promise.all(
      away.map(([setting, url, reason]) =>
        starting({ ...KEYS, [setting]: url, STORE_WAIT_SECONDS: '1' }, ({ error }) => {
          assert.is(error?.code, 'ERR_STORE', 'exit code 1: the orchestrator may try again');
          const form = new RegExp(`^${setting} cannot be used\\. .*127\\.0\\.0\\.1:\\d+.*STORE_WAIT_SECONDS`);
          assert.match(error!.message, form);
          assert.match(error!.message, reason);
        }),
      ),
    );
  } finally {
    careless.thaw();
  }
});

test.run();
