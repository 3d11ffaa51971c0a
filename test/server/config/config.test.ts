// The environment: defaults, every kind of bad value, all problems at once, nothing secret in any of them, keys.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseKeyring } from '../../../lib/keyring.ts';
import { startServer } from '../../../server/boot/start.ts';
import { type Config, readConfig, readNamed } from '../../../server/config/config.ts';
import { maskSetting } from '../../../server/config/secrets.ts';
import { SETTINGS, type SettingName } from '../../../server/config/settings.ts';
import { findNamedProblems } from '../../../server/doctor/named.ts';
import { builtFile } from '../../support/build.ts';
import { withFolder } from '../../support/process.ts';

const test = suite('config');
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
const ORACLE = 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=';
const PUBLIC_URL = 'https://twins.example.com';
const PRODUCTION = { NODE_ENV: 'production', ORACLE_KEY: ORACLE, PUBLIC_URL, USSD_GATEWAYS: '*' };
const GOOD = { PIN_ENCRYPTION_KEY: KEY, DATA_DIR: ':memory:', MODEL_NAME: 'small' };

const problemsOf = (env: NodeJS.ProcessEnv) => readConfig(env).problems;

test('a variable that differs from a setting by a letter or two is told with the setting that it means; those of others are not', () => {
  const { config } = readConfig({
    ...{ ...GOOD, REDIS_URI: 'x', OPERATOR_TOKN: 'x', MONGO_URL: 'x', HOME: '/', PATH: '/', NODE_OPTIONS: '' },
    ...{ SERVICE_API_KEY: 'x', TERM: 'x' },
  });
  assert.equal(config!.misspelt, [
    { name: 'REDIS_URI', meant: 'REDIS_URL' },
    { name: 'OPERATOR_TOKN', meant: 'OPERATOR_TOKEN' },
    { name: 'MONGO_URL', meant: 'MONGODB_URL' },
  ]);
});

const sealingKey = (config: Pick<Config, 'keyring'> | undefined) =>
  config!.keyring.subkey('record-seal/v1')!.toString('hex');

test('secrets stand in files that a setting with _FILE names; such a file that cannot be used is told, and never shown', () =>
  withFolder(async (folder) => {
    const file = join(folder, 'pin-key');
    writeFileSync(file, `${KEY}\n`);
    const env = { DATA_DIR: ':memory:', PIN_ENCRYPTION_KEY_FILE: file };
    const { config } = readConfig(env);
    assert.is(sealingKey(config), sealingKey(readConfig(GOOD).config));
    assert.equal(config!.misspelt, []);
    const empty = join(folder, 'empty');
    writeFileSync(empty, '\n');
    const WRONG = {
      'set as well. Keep one': { ...env, PIN_ENCRYPTION_KEY: KEY },
      'is empty': { ...env, PIN_ENCRYPTION_KEY_FILE: empty },
      'cannot be read (ENOENT)': { ...env, PIN_ENCRYPTION_KEY_FILE: join(folder, 'missing') },
      'cannot be read (EISDIR)': { ...env, OPERATOR_TOKEN_FILE: folder },
      'must be': { ...env, ORACLE_KEY_FILE: file },
    };
    for (const [why, wrong] of Object.entries(WRONG)) {
      const problems = problemsOf(wrong);
      assert.ok(
        problems.some((problem) => problem.includes(why)),
        `${why}: ${problems}`,
      );
      assert.not.ok(problems.join().includes(KEY), why);
    }
  }));

test('an empty environment gives defaults for this machine alone, with the limits that are documented', () => {
  const { config } = readConfig({ DATA_DIR: ':memory:' }, { makeKeys: true });
  const { keyring, oracleKey, menusDir, menusAreShipped, redact, settings, rateLimit, ussd, agent, ...rest } = config!;
  assert.ok(menusAreShipped);
  assert.match(menusDir, /\/menus$/);
  assert.is(redact.text(oracleKey), '****');
  assert.is(keyring.ids.length, 1);
  assert.ok(settings.length > 50);
  const { production, host, port, operatorTokens, isBehindProxy, trustedProxies, corsOrigins, redisAcceptLoss } = rest;
  assert.equal([production, host, port, operatorTokens, corsOrigins], [false, '127.0.0.1', 3000, [], '*']);
  assert.equal([isBehindProxy, trustedProxies, redisAcceptLoss], [false, [], false]);
  assert.equal(rateLimit, { max: 100, windowMs: 60_000, exempt: [], streams: 256, countsLoopback: false });
  assert.equal([ussd.gateways, ussd.flow, ussd.ttlSeconds, ussd.deadlineMs], ['*', 'main', 180, 8_000]);
  assert.equal([agent.maxTtlSeconds, agent.delegationAuth, agent.didWebHosts], [900, true, []]);
  assert.equal([rest.serviceHosts, rest.model, rest.drainDelayMs], [[], undefined, 0]);
});

test('settings are shown with what they come to, from where, and nothing of the secret ones', () => {
  const { config } = readConfig({
    ...GOOD,
    ORACLE_KEY: ORACLE,
    REDIS_URL: 'redis://:hunter2@127.0.0.1:1',
    PORT: '4000',
  });
  const shown = (wanted: string) => {
    const { name: _name, meaning: _meaning, ...found } = config!.settings.find(({ name }) => name === wanted)!;
    return found;
  };
  assert.equal(shown('PORT'), { source: 'environment', value: '"4000"', usual: '3000' });
  assert.equal(shown('HOST'), { source: 'default', value: '"127.0.0.1"', usual: '127.0.0.1' });
  assert.equal(shown('PUBLIC_URL'), { source: 'default', value: undefined, usual: undefined });
  const all = JSON.stringify(config!.settings);
  for (const secret of [KEY, ORACLE, 'hunter2']) assert.not.match(all, secret);
});

test('what the log may not hold: settings that are secret, variables whose names say so, passwords in URLs', () => {
  const env = {
    DATA_DIR: ':memory:',
    REDIS_URL: 'redis://:pass%2Fword@127.0.0.1:1',
    OPERATOR_TOKEN: 'first-token,other-token',
    USSD_GATEWAYS: '10.1.2.3,hubtel:sixteen-characters',
    BILLS_API_KEY: 'key-of-the-bills',
    BILLS_URL: 'https://bills:open-sesame@bills.example',
    BILLS_SECRET: 'short',
    MONKEY: 'monkey-business',
  };
  const { config } = readConfig(env, { makeKeys: true });
  const text = 'pass/word pass%2Fword first-token other-token sixteen-characters key-of-the-bills open-sesame';
  assert.is(config!.redact.text(text), '**** **** **** **** **** **** ****');
  const words = '10.1.2.3 hubtel short monkey-business bills.example 127.0.0.1:1';
  assert.is(config!.redact.text(words), words);
});

test('production listens on all addresses, drains for five seconds and makes no keys', () => {
  const { config } = readConfig({ ...GOOD, ...PRODUCTION, USSD_GATEWAYS: '10.1.2.3' });
  assert.is(config?.host, '0.0.0.0');
  assert.is(config?.drainDelayMs, 5_000);
  const missing = problemsOf({ NODE_ENV: 'production', DATA_DIR: ':memory:' });
  assert.equal(
    missing.map((line) => line.split(':')[0]),
    ['PIN_ENCRYPTION_KEY', 'ORACLE_KEY', 'PUBLIC_URL', 'USSD_GATEWAYS'],
  );
  assert.match(missing[2]!, /^PUBLIC_URL: is not set: .+ PUBLIC_URL=https:\/\/twins\.example\.com/);
});

test('the address that credentials name has no user, query or fragment, and is written one way', () => {
  const read = (PUBLIC_URL: string) => readConfig({ ...GOOD, ...PRODUCTION, PUBLIC_URL });
  for (const [text, url] of [
    ['https://x.example', 'https://x.example'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['https://x.example/twins//', 'https://x.example/twins'],
    ['HTTPS://X.Example:443/a/../b', 'https://x.example/b'],
    ['https://[::1]:3000', 'https://[::1]:3000'],
    ['https://x.example/@me', 'https://x.example/@me'],
  ] as const)
    assert.is(read(text).config?.publicUrl, url, text);
  const refused = ['https://user:pass-word@x.example', 'https://user@x.example', 'https://x.example/?x=1'];
  refused.push('https://x.example?', 'https://x.example#f', 'https://x.example/#', 'ftp://x.example', 'x.example');
  refused.push('https:x.example', 'https://', 'https://x.ex ample', 'https://x.exa\nmple', 'https:\\\\x.example');
  for (const text of refused) {
    const { problems } = read(text);
    assert.match(
      problems[0] ?? '',
      /^PUBLIC_URL=".*": must be an http:\/\/ or https:\/\/ URL without a user, a query/s,
      text,
    );
    assert.not.match(problems[0]!, /pass-word/);
  }
});

test('what is set and empty counts as not set, and spaces around values do not count', () => {
  const { config } = readConfig({ ...GOOD, PORT: '', HOST: ' ', RATE_LIMIT_MAX: ' 7 ', ORACLE_KEY: ORACLE });
  assert.is(config?.port, 3000);
  assert.is(config?.host, '127.0.0.1');
  assert.is(config?.rateLimit.max, 7);
});

test('an endpoint without the name of its model is refused; the model that answers is not named again among others', () => {
  const env = { ...GOOD, ORACLE_KEY: ORACLE, MODEL_BASE_URL: 'http://127.0.0.1:1/v1' };
  assert.match(problemsOf({ ...env, MODEL_NAME: '' })[0]!, /^MODEL_NAME: is not set, and MODEL_BASE_URL is/);
  const { config } = readConfig({ ...env, MODEL_LIST: 'large, small' });
  assert.equal([config?.model?.name, config?.model?.others], ['small', ['large']]);
  assert.is(readConfig({ ...GOOD, ORACLE_KEY: ORACLE }).config?.model, undefined);
});

const { taken, refused } = JSON.parse(
  readFileSync(new URL('../../fixtures/server/settings.json', import.meta.url), 'utf8'),
) as { readonly [how in 'taken' | 'refused']: readonly (readonly [SettingName, ...string[]])[] };

for (const [name, ...texts] of taken)
  test(`${name} takes ${texts.map((text) => maskSetting(name, text)).join(', ')}`, () => {
    for (const text of texts) assert.equal(problemsOf({ ...GOOD, ORACLE_KEY: ORACLE, [name]: text }), [], text);
  });

for (const [name, ...texts] of refused)
  test(`${name} refuses ${texts.map((text) => JSON.stringify(text.slice(0, 20))).join(', ')}`, () => {
    for (const text of texts) {
      const problems = problemsOf({ ...GOOD, ORACLE_KEY: ORACLE, [name]: text });
      assert.is(problems.length, 1, `${text}: ${problems.join('\n')}`);
      assert.ok(problems[0]!.startsWith(`${name}=`), problems[0]);
      assert.ok(problems[0]!.includes(SETTINGS[name].fix), 'it says what to do');
      assert.not.match(problems[0]!, /\n/);
    }
  });

test('every problem is reported at once, one line each', () => {
  const wrong = { PORT: 'x', LOG_LEVEL: 'loud', RATE_LIMIT_MAX: '0', CORS_ORIGIN: 'a', NODE_ENV: 'prod' };
  const named = problemsOf({ ...GOOD, ...wrong }).map((line) => line.split('=')[0]!);
  assert.equal(named.sort(), Object.keys(wrong).sort());
  assert.match(problemsOf({ ...GOOD, LOG_LEVEL: 'wran' })[0]!, /Did you mean "warn"\?/);
});

test('problems and listings show no secret and no password', () => {
  const secrets = {
    PIN_ENCRYPTION_KEY: 'canary-pin-key',
    OPERATOR_TOKEN: 'canary token',
    ORACLE_KEY: 'canary-oracle',
    MODEL_API_KEY: 'canary model',
    REDIS_URL: 'redis://:canary@host:99999',
    MONGODB_URL: 'mongo://user:canary@one,two/db',
    MODEL_BASE_URL: 'https://user:canary@host/v1?api_key=canary-in-query',
    SERVICE_HTTP_HEADERS: '{"https://api.example.com":{"x-key":"canary\\n"}}',
  };
  const { problems, entries } = readConfig({ DATA_DIR: ':memory:', ...secrets });
  assert.ok(problems.length >= 6);
  const listing = entries.map(({ name, text }) => (text === undefined ? '' : maskSetting(name, text)));
  assert.not.match([...problems, ...listing].join('\n'), /canary/);
});

test('headers of HTTP services are masked in what leaves the process, with and without their scheme', () => {
  const token = 'q7Zk0aTw93bLmC5u';
  const headers = { 'https://api.example.com': { authorization: `Bearer ${token}`, 'x-key': 'Jd82mNqLx0Pv' } };
  const { config } = readConfig({ ...GOOD, SERVICE_HTTP_HEADERS: JSON.stringify(headers) });
  assert.equal(config?.serviceHeaders, headers);
  assert.is(config?.redact.text(`sent ${token} and Jd82mNqLx0Pv`), 'sent **** and ****');
});

test('production refuses every way to open a debugger', () => {
  const production = { ...GOOD, ...PRODUCTION };
  const options = (text: string) => problemsOf({ ...production, NODE_OPTIONS: text });
  const open = ['--inspect=0.0.0.0', '--inspect-brk=10.0.0.1:1', '--inspect=[::]:9229', '--inspect', '--inspect=9229'];
  const local = ['--inspect=127.0.0.1:9229', '--inspect-wait', '--inspect_brk', '--inspect-port=0', '--debug-port=1'];
  for (const text of [...open, ...local]) {
    const [problem = ''] = options(`--max-old-space-size=64 ${text}`);
    assert.ok(problem.startsWith(`${text}: a debugger can read every key`), problem);
  }
  for (const text of ['', '--max-old-space-size=64', '--disable-sigusr1']) assert.equal(options(text), [], text);
  assert.equal(problemsOf({ ...GOOD, NODE_OPTIONS: '--inspect=0.0.0.0' }), [], 'in development it is yours');
});

test('production refuses a token of operators that can be guessed', () => {
  const production = { ...GOOD, ...PRODUCTION };
  const long = 'x'.repeat(24);
  for (const OPERATOR_TOKEN of ['x', 'x'.repeat(23), `${long},short`]) {
    const [problem = ''] = problemsOf({ ...production, OPERATOR_TOKEN });
    assert.match(problem, /^OPERATOR_TOKEN=\(\d+ characters, hidden\): must have 24 characters or more\. Generate/);
  }
  for (const OPERATOR_TOKEN of [long, `${long}, ${long}y`])
    assert.equal(problemsOf({ ...production, OPERATOR_TOKEN }), []);
  assert.equal(problemsOf({ ...GOOD, OPERATOR_TOKEN: 'x' }), [], 'in development it is yours');
});

test('a reply may not cost more than is held for it', () => {
  const held = { ...GOOD, CREDITS_PER_RUN: '20' };
  assert.match(problemsOf(held)[0]!, /^CREDITS_HELD_PER_RUN="10": is less than CREDITS_PER_RUN=20/);
  assert.equal(problemsOf({ ...held, CREDITS_HELD_PER_RUN: '20' }), []);
});

test('METRICS_PORT must differ from PORT, unless both may be any', () => {
  assert.match(problemsOf({ ...GOOD, PORT: '8080', METRICS_PORT: '8080' })[0]!, /^METRICS_PORT="8080": is the same/);
  assert.equal(problemsOf({ ...GOOD, PORT: '0', METRICS_PORT: '0' }), []);
});

test('proxies count only where they are trusted', () => {
  const proxies = (env: NodeJS.ProcessEnv) => readConfig({ ...GOOD, ...env }).config?.trustedProxies;
  const TRUST_PROXY_CIDRS = '10.0.0.0/8';
  assert.equal(proxies({ TRUST_PROXY_CIDRS }), []);
  assert.equal(proxies({ TRUST_PROXY_CIDRS, TRUST_PROXY_ENABLED: 'true' }), ['10.0.0.0/8']);
  assert.ok(proxies({ TRUST_PROXY_ENABLED: 'true' })!.includes('127.0.0.0/8'));
  const production = { ...PRODUCTION, TRUST_PROXY_ENABLED: 'true' };
  assert.equal(proxies(production), [], 'in production, proxies are named');
  assert.equal(proxies({ ...production, TRUST_PROXY_CIDRS }), ['10.0.0.0/8']);
});

test('development keys are made once, readable by their owner only, and found again', () =>
  withFolder(async (folder) => {
    const env = { DATA_DIR: join(folder, 'deep', 'data') };
    const first = readConfig(env, { makeKeys: true });
    assert.equal(first.problems, []);
    const path = join(env.DATA_DIR, 'pin-encryption.key');
    const text = readFileSync(path, 'utf8').trim();
    assert.is(sealingKey({ keyring: parseKeyring(text) }), sealingKey(first.config));
    assert.is(first.config!.redact.text(text), '****');
    assert.is(statSync(path).mode & 0o777, 0o600);
    assert.is(statSync(env.DATA_DIR).mode & 0o077, 0);
    const second = readConfig(env, { makeKeys: true });
    assert.is(sealingKey(second.config), sealingKey(first.config));
    assert.is(second.entries.find(({ name }) => name === 'PIN_ENCRYPTION_KEY')?.source, path);
    const { config } = readConfig({ ...env, PIN_ENCRYPTION_KEY: KEY });
    assert.is(sealingKey(config), sealingKey({ keyring: parseKeyring(KEY) }), 'the environment comes first');
  }));

test('looking at the configuration makes nothing', () =>
  withFolder(async (folder) => {
    const DATA_DIR = join(folder, 'data');
    readConfig({ DATA_DIR });
    assert.throws(() => statSync(DATA_DIR), /ENOENT/);
  }));

test('a damaged key file is a problem and not replaced', () =>
  withFolder(async (folder) => {
    const path = join(folder, 'pin-encryption.key');
    writeFileSync(path, 'half a k');
    const { problems } = readConfig({ DATA_DIR: folder }, { makeKeys: true });
    assert.match(problems.join('\n'), /^PIN_ENCRYPTION_KEY=\(8 characters, hidden\)/);
    assert.is(readFileSync(path, 'utf8'), 'half a k');
  }));

test('a folder that can hold no keys is one problem for each of them', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'file'), '');
    for (const DATA_DIR of [join(folder, 'file', 'data'), '/proc/none/data']) {
      const { problems } = readConfig({ DATA_DIR }, { makeKeys: true });
      assert.is(problems.length, 2);
      assert.match(
        problems[0]!,
        /^PIN_ENCRYPTION_KEY: no key can be kept in the folder DATA_DIR=.* Make it writable for this user/,
      );
      assert.not.match(problems[0]!, 'openssl', 'a new key mends no folder');
    }
  }));

test('processes that start at once agree on one key', () =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, 'data'));
    const module = JSON.stringify(await builtFile('server/config/data-dir.ts'));
    const script = `import { ensureKey } from ${module};
      process.stdout.write('ready ');
      process.stdin.once('end', () => console.log(ensureKey('pin-key', ${JSON.stringify(join(folder, 'data'))}).text)).resume();`;
    const started = [1, 2, 3].map(() => spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT }));
    await Promise.all(started.map(({ stdout }) => once(stdout, 'readable')));
    for (const { stdin } of started) stdin.end();
    const printed = await Promise.all(started.map(({ stdout }) => text(stdout)));
    const keys = new Set(printed.map((words) => words.replace('ready', '').trim()));
    assert.is(keys.size, 1);
    assert.match([...keys][0]!, /^[0-9a-f]{64}$/);
  }));

test('wrong values, files, modules and menus are told together, each with the path that was looked at; nothing is shown of a file', () =>
  withFolder(async (folder) => {
    const secret = join(folder, 'secret.txt');
    writeFileSync(secret, 'words-of-others: {}');
    // Each with what is told of it; of a module only where it was looked for.
    const named = {
      API_KEYS_FILE: ['keys.json', /API_KEYS_FILE \/\S+\/keys\.json cannot be read \(ENOENT\)/],
      GOVERNANCE_FILE: [secret, /GOVERNANCE_FILE \S+secret\.txt cannot be used:\n.*it is not JSON\./],
      GATEWAY_FILE: [secret, /GATEWAY_FILE \S+secret\.txt cannot be used:\n.*it is not JSON/],
      MCP_SERVERS: ['mcp.json', /MCP_SERVERS \/\S+\/mcp\.json cannot be read \(ENOENT\)/],
      SERVICES: ['./s.js', /SERVICES: ".\/s.js" is not there. \/\S+\/s\.js was looked for/],
      PLUGINS: ['nope', /PLUGINS: "nope" is not there. \/\S+\/nope was looked for/],
      ADAPTERS: ['./a.js', /ADAPTERS: ".\/a.js" is not there. \/\S+\/a\.js was looked for/],
      MACHINES: ['./m.js', /MACHINES: ".\/m.js" is not there. \/\S+\/m\.js was looked for/],
      LINT_RULES: ['./l.js', /LINT_RULES: ".\/l.js" is not there. \/\S+\/l\.js was looked for/],
      MODEL: ['./model.js', /MODEL: ".\/model.js" is not there. \/\S+\/model\.js was looked for/],
      MENUS_DIR: [join(folder, 'menus'), /from the folder \S+\/menus: it does not exist/],
    } as const;
    const env = Object.fromEntries(Object.entries(named).map(([name, [value]]) => [name, value]));
    const tell = async (settings: NodeJS.ProcessEnv) => {
      const all = { ...GOOD, ...env, ...settings };
      const words = (await findNamedProblems(readNamed(all), { alsoMenus: true })).join('\n');
      for (const [name, [, told]] of Object.entries(named)) assert.match(words, told, name);
      assert.not.ok(words.includes('words-of-others'), words);
      return problemsOf(all);
    };
    assert.equal(await tell({}), []);
    const missing = join(folder, 'none');
    const problems = await tell({ PORT: 'high', PIN_ENCRYPTION_KEY: undefined, PIN_ENCRYPTION_KEY_FILE: missing });
    assert.is(problems.length, 2);
    assert.ok(problems[0]!.includes(`${missing} cannot be read (ENOENT)`), problems[0]);
    // A start tells the same, before it opens anything.
    const data = join(folder, 'data');
    const { config } = readConfig({ ...GOOD, ...env, DATA_DIR: data }, { makeKeys: true });
    const refused = await startServer(config!).then(
      () => '',
      ({ message }: Error) => message,
    );
    for (const [name, [, told]] of Object.entries(named)) assert.match(refused, told, name);
    assert.not.ok(existsSync(join(data, 'sessions')));
  }));

test.run();
