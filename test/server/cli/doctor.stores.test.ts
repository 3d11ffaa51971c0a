// What `twinline doctor` says of Redis and MongoDB: whether they answer, keep and evict, and what many instances on them need.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CheckResult } from '../../../server/doctor/examine.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { run } from '../support/command.ts';

const test = suite('doctor of stores');
const KEYS = {
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
  PUBLIC_URL: 'https://twins.example.com',
};

let good: RedisServer;
let bad: RedisServer;
test.before(async () => {
  good = await startRedis({ args: ['--appendonly', 'yes', '--requirepass', 'canary'] });
  bad = await startRedis({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'allkeys-lru'] });
});
test.after(async () => {
  await good?.stop();
  await bad?.stop();
});

/** Runs the command; what it shows holds no secret. */
async function doctor(env: NodeJS.ProcessEnv) {
  const { code, out } = await run(['doctor', '--json'], { PORT: '0', DATA_DIR: ':memory:', ...env });
  for (const secret of ['canary', ...Object.values(KEYS)]) assert.not.ok(out.includes(secret));
  const results = JSON.parse(out) as CheckResult[];
  return { code, results, of: (check: string) => results.find((one) => one.check === check) };
}

test('a Redis that keeps and evicts nothing is fine, clock and version included', async () => {
  const { code, of } = await doctor({ ...KEYS, REDIS_URL: good.url.replace('//', '//:canary@') });
  assert.is(code, 0);
  for (const check of ['Redis answers', 'Redis version', 'Redis keeps sessions', 'Redis evicts nothing', 'clock'])
    assert.is(of(check)?.level, 'fine', check);
  assert.match(of('Redis version')!.words, /^Redis \d+\.\d+/);
  assert.match(of('Redis keeps sessions')!.words, /everysec/);
  assert.is(of('instances')?.level, 'advice', 'documents are not shared');
});

test('a Redis that forgets or evicts is told with what to do: in production as broken, unless loss is accepted', async () => {
  const env = { REDIS_URL: bad.url };
  const { code, of } = await doctor(env);
  assert.is(of('Redis keeps sessions')?.level, 'advice');
  assert.match(of('Redis keeps sessions')!.fix!, /appendonly yes/);
  assert.is(of('Redis evicts nothing')?.level, 'broken');
  assert.match(of('Redis evicts nothing')!.fix!, /noeviction/);
  assert.is(code, 1);
  assert.match(of('PIN key')!.fix!, /same PIN_ENCRYPTION_KEY for all instances/);
  assert.match(of('oracle key')!.fix!, /same ORACLE_KEY/);
  const production = { ...KEYS, ...env, NODE_ENV: 'production', USSD_GATEWAYS: '*' };
  assert.is((await doctor(production)).of('Redis keeps sessions')?.level, 'broken');
  assert.is((await doctor({ ...production, REDIS_ACCEPT_LOSS: 'true' })).of('Redis keeps sessions')?.level, 'advice');
});

test('stores that do not answer are told once each, without their passwords', async () => {
  const env = { REDIS_URL: 'redis://:canary@127.0.0.1:1', MONGODB_URL: 'mongodb://user:canary@127.0.0.1:1/x' };
  const { code, results } = await doctor({ ...KEYS, ...env });
  assert.is(code, 1);
  const broken = results.filter(({ level }) => level === 'broken').map(({ check }) => check);
  assert.equal(broken, ['Redis answers', 'MongoDB answers']);
});

test.run();
