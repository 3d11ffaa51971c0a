// `twinline doctor`: what it finds, the words for it, its exit codes, and that it shows no secret and changes nothing.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseKeyring } from '../../../lib/keyring.ts';
import { sqliteDocuments } from '../../../lib/store/sqlite/index.ts';
import { twinline } from '../../../server/cli/main.ts';
import { CHECKS, type CheckResult } from '../../../server/doctor/examine.ts';
import { filesFinding, isWide, limitFinding, nodeFinding, skewFinding } from '../../../server/doctor/machine.ts';
import { spaceFinding } from '../../../server/doctor/stores.ts';
import { prepareStores } from '../../../server/stores/stores.ts';
import { builtFile } from '../../support/build.ts';
import { onPath } from '../../support/on-path.ts';
import { withFolder } from '../../support/process.ts';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { skipped } from '../../support/skip.ts';
import { withServer } from '../support/serve.ts';

const test = suite('doctor');

const KEYS = {
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
};
const OTHER_KEY = '0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe';

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

interface Seen {
  readonly code: number | undefined;
  readonly out: string;
  /** The finding of a check that finds one thing. */
  of(check: string): CheckResult | undefined;
}

/** Runs the command with --json, as an operator would. */
async function doctor(env: NodeJS.ProcessEnv, args: readonly string[] = ['--json']): Promise<Seen> {
  const { log, error } = console;
  const lines: string[] = [];
  console.log = (text) => lines.push(String(text));
  console.error = (text) => lines.push(String(text));
  try {
    const code = await twinline(['doctor', ...args], { PORT: '0', DATA_DIR: ':memory:', ...env });
    const out = stripVTControlCharacters(lines.join('\n'));
    const results = args.includes('--json') ? (JSON.parse(out) as CheckResult[]) : [];
    return { code, out, of: (check) => results.find((one) => one.check === check) };
  } finally {
    console.log = log;
    console.error = error;
  }
}

const level = (seen: Seen, check: string) => seen.of(check)?.level;

test('a sound machine: every line ✓ or !, with a count, and exit code 0', () =>
  withFolder(async (folder) => {
    const DATA_DIR = join(folder, 'data');
    const { code, out } = await doctor({ ...KEYS, DATA_DIR }, []);
    assert.is(code, 0, out);
    const lines = out.split('\n');
    for (const line of lines.slice(0, -1)) assert.match(line, /^[✓!] /);
    assert.match(lines.at(-1)!, /^\d+ fine, \d+ to consider, 0 broken$/);
    assert.not.ok(existsSync(DATA_DIR), 'looking made nothing');
  }));

test('wrong settings are told first, each with its fix, and exit code 1; an unknown option is usage', async () => {
  const { code, out } = await doctor({ PORT: 'x', LOG_LEVEL: 'loud' }, []);
  assert.is(code, 1);
  assert.match(out, /^✗ PORT="x": must be .*\n✗ LOG_LEVEL="loud"/);
  const { code: usage } = await doctor({}, ['--nonsense']);
  assert.is(usage, 2);
});

test('a Redis that keeps and evicts nothing is fine, clock and version included; its password is nowhere', async () => {
  const seen = await doctor({ ...KEYS, REDIS_URL: good.url.replace('//', '//:canary@') });
  assert.is(seen.code, 0, seen.out);
  for (const check of ['Redis answers', 'Redis version', 'Redis keeps sessions', 'Redis evicts nothing', 'clock'])
    assert.is(level(seen, check), 'fine', check);
  assert.match(seen.of('Redis version')!.words, /^Redis \d+\.\d+/);
  assert.match(seen.of('Redis keeps sessions')!.words, /everysec/);
  assert.is(level(seen, 'instances'), 'advice', 'documents are not shared');
  for (const secret of ['canary', KEYS.PIN_ENCRYPTION_KEY, KEYS.ORACLE_KEY]) assert.not.ok(seen.out.includes(secret));
});

test('a Redis that forgets or evicts is told with what to do: in production as broken, unless loss is accepted', async () => {
  const env = { ...KEYS, REDIS_URL: bad.url };
  const development = await doctor(env);
  assert.is(level(development, 'Redis keeps sessions'), 'advice');
  assert.match(development.of('Redis keeps sessions')!.fix!, /appendonly yes/);
  assert.is(level(development, 'Redis evicts nothing'), 'broken');
  assert.match(development.of('Redis evicts nothing')!.fix!, /noeviction/);
  assert.is(development.code, 1);
  const production = { ...env, NODE_ENV: 'production', USSD_GATEWAYS: '*' };
  assert.is(level(await doctor(production), 'Redis keeps sessions'), 'broken');
  assert.is(level(await doctor({ ...production, REDIS_ACCEPT_LOSS: 'true' }), 'Redis keeps sessions'), 'advice');
});

test('stores that do not answer are told once each, without their passwords', async () => {
  const env = { REDIS_URL: 'redis://:canary@127.0.0.1:1', MONGODB_URL: 'mongodb://user:canary@127.0.0.1:1/x' };
  const seen = await doctor({ ...KEYS, ...env });
  assert.is(seen.code, 1);
  const results = (JSON.parse(seen.out) as CheckResult[])
    .filter((one) => one.level === 'broken')
    .map(({ check }) => check);
  assert.equal(results, ['Redis answers', 'MongoDB answers', 'PIN key and data']);
  assert.not.match(seen.out, /canary/);
});

test('keys that belong to the stored PINs are fine, others are broken, and nothing is written', () =>
  withFolder(async (folder) => {
    const documents = sqliteDocuments({ path: join(folder, 'twinline.db') });
    await prepareStores({ documents, redis: undefined }, parseKeyring(KEYS.PIN_ENCRYPTION_KEY));
    await documents.close();
    const env = { ...KEYS, DATA_DIR: folder };
    assert.is(level(await doctor(env), 'PIN key and data'), 'fine');
    const other = await doctor({ ...env, PIN_ENCRYPTION_KEY: OTHER_KEY });
    assert.is(level(other, 'PIN key and data'), 'broken');
    assert.not.ok(other.out.includes(OTHER_KEY));
    const rotated = await doctor({ ...env, PIN_ENCRYPTION_KEY: `new:${OTHER_KEY},${KEYS.PIN_ENCRYPTION_KEY}` });
    assert.is(level(rotated, 'PIN key and data'), 'fine');
    assert.match(rotated.of('PIN key and data')!.words, /older/);
    assert.equal(
      readdirSync(folder).filter((name) => !name.startsWith('twinline.db')),
      [],
    );
  }));

test('shared stores with keys of this machine only are worth a word', async () => {
  const seen = await doctor({ REDIS_URL: bad.url });
  assert.match(seen.of('PIN key')!.fix!, /same PIN_ENCRYPTION_KEY for all instances/);
  assert.match(seen.of('oracle key')!.fix!, /same ORACLE_KEY/);
});

test('a folder that cannot be written, and menus that do not load, are broken', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'file'), '');
    const folders = await doctor({ ...KEYS, DATA_DIR: join(folder, 'file', 'data') });
    assert.is(level(folders, 'data folder'), 'broken', folders.out);
    writeFileSync(join(folder, 'main.flow.json'), '{"flow":');
    const menus = await doctor({ ...KEYS, MENUS_DIR: folder });
    assert.is(level(menus, 'menus'), 'broken');
    assert.is(menus.code, 1);
  }));

test('a port is free, held by Twinline itself, or held by another program', async () => {
  await withServer({}, async (server) => {
    const seen = await doctor({ ...KEYS, PORT: new URL(server.url).port });
    assert.match(seen.of('port')!.words, /Twinline answers at .* already/);
  });
  const stranger = createServer((_req, res) => res.end('hello'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const { port } = stranger.address() as { port: number };
  const seen = await doctor({ ...KEYS, PORT: String(port) });
  await new Promise((resolve) => stranger.close(resolve));
  assert.equal([level(seen, 'port'), seen.code], ['broken', 1]);
  assert.is(level(await doctor({ ...KEYS, PORT: String(port) }), 'port'), 'fine');
});

test('proxies: everybody trusted is broken, nobody trusted is worth a word in production', async () => {
  const TRUST_PROXY_ENABLED = 'true';
  for (const cidr of ['0.0.0.0/0', '10.0.0.0/8,::/0'])
    assert.is(
      level(await doctor({ ...KEYS, TRUST_PROXY_ENABLED, TRUST_PROXY_CIDRS: cidr }), 'trusted proxies'),
      'broken',
    );
  const named = await doctor({ ...KEYS, TRUST_PROXY_ENABLED, TRUST_PROXY_CIDRS: '10.1.2.3' });
  assert.is(level(named, 'trusted proxies'), 'fine');
  const production = await doctor({ ...KEYS, NODE_ENV: 'production', USSD_GATEWAYS: '*' });
  assert.is(level(production, 'trusted proxies'), 'advice');
  const unlisted = { ...KEYS, NODE_ENV: 'production', USSD_GATEWAYS: '*', TRUST_PROXY_ENABLED };
  assert.is(level(await doctor(unlisted), 'trusted proxies'), 'broken');
  assert.is(level(production, 'rate limit'), 'advice');
  assert.is(level(production, 'USSD gateways'), 'advice', 'everybody may speak for any phone');
  const gateways = async (USSD_GATEWAYS: string) => level(await doctor({ ...KEYS, USSD_GATEWAYS }), 'USSD gateways');
  assert.is(await gateways('0.0.0.0/0'), 'broken');
  assert.is(await gateways('hubtell:0123456789abcdef'), 'broken', 'there is no such dialect');
  assert.is(await gateways('203.0.113.7,hubtel:0123456789abcdef'), 'fine');
  assert.is(level(production, 'data folder'), 'broken', 'production in memory');
});

test('judgements of numbers: networks, limits, clocks, files, Node', () => {
  assert.equal(['0.0.0.0/0', '128.0.0.0/1', '::/0', '2000::/3'].map(isWide), [true, true, true, true]);
  assert.equal(['10.0.0.0/8', '1.2.3.4', 'fc00::/32', '::1'].map(isWide), [false, false, false, false]);
  const limit = (max: number, exempt: readonly string[] = []) =>
    limitFinding({ production: true, rateLimit: { max, windowMs: 60_000, exempt } }).level;
  assert.equal(
    [limit(100), limit(10_000), limit(100, ['203.0.113.7']), limit(100, ['0.0.0.0/0'])],
    ['advice', 'fine', 'fine', 'broken'],
  );
  assert.equal(
    [1_000, -1_000, 1_001, -5_000].map((ms) => skewFinding('Redis', ms).level),
    ['fine', 'fine', 'broken', 'broken'],
  );
  assert.equal(
    [undefined, 65_536, 4_096, 256].map((max) => filesFinding(max).level),
    ['fine', 'fine', 'advice', 'broken'],
  );
  const room = (mib: number) => spaceFinding('data', mib * 1_048_576);
  assert.equal(
    [76_358, 1_024, 1_023, 64, 63, 2].map((mib) => room(mib).level),
    ['fine', 'fine', 'advice', 'advice', 'broken', 'broken'],
  );
  const node = (version: string, day: string) => nodeFinding(version, Date.parse(day)).level;
  assert.is(node('20.18.0', '2026-01-01'), 'broken');
  assert.is(node('20.19.0', '2026-01-01'), 'fine');
  assert.is(node('20.19.0', '2026-05-01'), 'advice');
  assert.is(node('23.1.0', '2026-01-01'), 'advice');
  assert.is(node('24.1.0', '2026-12-01'), 'fine');
});

test('every check has a name of its own', () => {
  const names = CHECKS.map(({ name }) => name);
  assert.is(new Set(names).size, names.length);
});

test('the doctor tries to write: a folder that takes nothing is broken, whatever its rights and its free space', async () => {
  if (onPath('prlimit') === undefined) skipped('no prlimit here: install util-linux');
  await withFolder(async (folder) => {
    const doctor = [process.execPath, await builtFile('server/cli/main.ts'), 'doctor'];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: folder, PORT: '0', NO_COLOR: '1' };
    const said = (limit: string) =>
      spawnSync('prlimit', [`--fsize=${limit}`, ...doctor], { env, encoding: 'utf8', cwd: folder }).stdout;
    assert.match(said('unlimited'), /can be written/);
    assert.match(said('1024'), /takes no writes \(EFBIG\)/);
    assert.equal(readdirSync(folder), [], 'nothing is left behind');
  });
});

test.run();
