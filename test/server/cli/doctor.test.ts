// `twinline doctor`: what it finds, the words for it, its exit codes, and that it shows no secret and changes nothing.

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseKeyring } from '../../../lib/keyring.ts';
import { memorySnapshots } from '../../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../../lib/store/sqlite/index.ts';
import { readConfig } from '../../../server/config/config.ts';
import { CHECKS, type CheckResult } from '../../../server/doctor/examine.ts';
import { filesFinding, isWide, limitFinding, nodeFinding, skewFinding } from '../../../server/doctor/machine.ts';
import { spaceFinding } from '../../../server/doctor/stores.ts';
import { prepareStores } from '../../../server/stores/stores.ts';
import { listenLow } from '../../support/ports.ts';
import { withFolder } from '../../support/process.ts';
import { run } from '../support/command.ts';
import { withServer } from '../support/serve.ts';

const test = suite('doctor');

const KEYS = {
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
};
const OTHER_KEY = '0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe';

/** Runs the command as an operator would. */
const doctor = (env: NodeJS.ProcessEnv, args: readonly string[] = []) =>
  run(['doctor', ...args], { PORT: '0', DATA_DIR: ':memory:', ...env });

/** What the check of this name alone finds. */
async function find(name: string, env: NodeJS.ProcessEnv): Promise<Omit<CheckResult, 'check'>> {
  const { config, entries, problems } = readConfig({ ...KEYS, PORT: '0', DATA_DIR: ':memory:', ...env });
  assert.ok(config, problems.join());
  const check = CHECKS.find((one) => one.name === name)!;
  const context = { config, entries, env, now: Date.now(), redis: undefined, mongo: undefined };
  return [await check.run(context)].flat()[0]!;
}

const levelOf = async (name: string, env: NodeJS.ProcessEnv) => (await find(name, env)).level;

test('a sound machine: every line ✓ or !, with a count, and exit code 0', () =>
  withFolder(async (folder) => {
    const DATA_DIR = join(folder, 'data');
    const { code, out } = await doctor({ ...KEYS, DATA_DIR });
    assert.is(code, 0, out);
    const lines = out.split('\n');
    for (const line of lines.slice(0, -1)) assert.match(line, /^[✓!] /);
    assert.match(lines.at(-1)!, /^\d+ fine, \d+ to consider, 0 broken$/);
    assert.not.ok(existsSync(DATA_DIR), 'looking made nothing');
  }));

test('wrong settings are told first, each with its fix, and exit code 1', async () => {
  const { code, out } = await doctor({ PORT: 'x', LOG_LEVEL: 'loud' });
  assert.is(code, 1);
  assert.match(out, /^✗ PORT="x": must be .*\n✗ LOG_LEVEL="loud"/);
});

test('keys that belong to the stored PINs are fine, others are broken and shown nowhere, and nothing is written', () =>
  withFolder(async (folder) => {
    const documents = sqliteDocuments({ path: join(folder, 'twinline.db') });
    await prepareStores(
      { snapshots: memorySnapshots(), documents, redis: undefined },
      parseKeyring(KEYS.PIN_ENCRYPTION_KEY),
    );
    await documents.close();
    const env = { DATA_DIR: folder };
    assert.is(await levelOf('PIN key and data', env), 'fine');
    const other = await doctor({ ...KEYS, ...env, PIN_ENCRYPTION_KEY: OTHER_KEY }, ['--json']);
    assert.is(other.code, 1);
    const broken = (JSON.parse(other.out) as CheckResult[]).filter(({ level }) => level === 'broken');
    assert.ok(broken.some(({ check }) => check === 'PIN key and data'));
    for (const secret of [OTHER_KEY, KEYS.ORACLE_KEY]) assert.not.ok(other.out.includes(secret));
    const rotated = { ...env, PIN_ENCRYPTION_KEY: `new:${OTHER_KEY},${KEYS.PIN_ENCRYPTION_KEY}` };
    const { level, words } = await find('PIN key and data', rotated);
    assert.is(level, 'fine');
    assert.match(words, /older/);
    assert.equal(
      readdirSync(folder).filter((name) => !name.startsWith('twinline.db')),
      [],
    );
  }));

test('a folder that cannot be written, menus that do not load, and an unknown dialect are broken', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'file'), '');
    assert.is(await levelOf('data folder', { DATA_DIR: join(folder, 'file', 'data') }), 'broken');
    writeFileSync(join(folder, 'main.flow.json'), '{"flow":');
    const menus = await doctor({ ...KEYS, MENUS_DIR: folder, USSD_GATEWAYS: 'hubtell:0123456789abcdef' });
    assert.is(menus.code, 1);
    assert.match(menus.out, /^✗ .*the flow "main".* has errors/m);
    assert.match(menus.out, /^✗ .*there is no dialect "hubtell"/m);
  }));

test('a port is free, held by Twinline itself, or held by another program', async () => {
  await withServer({}, async ({ url }) => {
    const { words } = await find('port', { PORT: new URL(url).port });
    assert.match(words, /Twinline answers at .* already/);
  });
  const stranger = createServer((_req, res) => res.end('hello'));
  const PORT = String(await listenLow(stranger));
  assert.is(await levelOf('port', { PORT }), 'broken');
  await new Promise((resolve) => stranger.close(resolve));
  assert.is(await levelOf('port', { PORT }), 'fine');
});

const PRODUCTION = { NODE_ENV: 'production', USSD_GATEWAYS: '*', PUBLIC_URL: 'https://x.example' };
const PROXIED = { TRUST_PROXY_ENABLED: 'true' };

for (const [check, level, env] of [
  ['trusted proxies', 'broken', { ...PROXIED, TRUST_PROXY_CIDRS: '0.0.0.0/0' }],
  ['trusted proxies', 'broken', { ...PROXIED, TRUST_PROXY_CIDRS: '10.0.0.0/8,::/0' }],
  ['trusted proxies', 'fine', { ...PROXIED, TRUST_PROXY_CIDRS: '10.1.2.3' }],
  ['trusted proxies', 'advice', PRODUCTION],
  ['trusted proxies', 'broken', { ...PRODUCTION, ...PROXIED }],
  ['rate limit', 'advice', PRODUCTION],
  ['USSD gateways', 'advice', PRODUCTION],
  ['USSD gateways', 'broken', { USSD_GATEWAYS: '0.0.0.0/0' }],
  ['USSD gateways', 'fine', { USSD_GATEWAYS: '203.0.113.7,hubtel:0123456789abcdef' }],
  ['data folder', 'broken', PRODUCTION],
] as const)
  test(`${check}: ${level} with ${JSON.stringify(env)}`, async () => assert.is(await levelOf(check, env), level));

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

test.run();
