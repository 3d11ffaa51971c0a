// Starting: what is broken and needed stops it, what is broken and not needed is left out, and keys belong to their data.

import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { warnAtStart } from '../../../server/boot/notices.ts';
import { startServer } from '../../../server/boot/start.ts';
import { readConfig } from '../../../server/config/config.ts';
import { makeOracleKey } from '../../../server/config/data-dir.ts';
import type { Log } from '../../../server/telemetry/log.ts';
import { withFolder } from '../../support/process.ts';
import { PRODUCTION } from '../support/production.ts';
import { DIAL, withServer } from '../support/serve.ts';

const test = suite('start');

const FLOW = {
  flow: 'main',
  version: 1,
  start: 'first',
  keys: { exit: '*' },
  screens: { first: { type: 'menu', text: 'Here', options: [{ id: 'on', text: 'Again', to: 'first' }] } },
};
const KEYS = [
  '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  '0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe',
];

const write = (folder: string, name: string, content: unknown) =>
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));

async function start(env: NodeJS.ProcessEnv) {
  const { config } = readConfig({ PORT: '0', DATA_DIR: ':memory:', LOG_LEVEL: 'silent', ...env }, { makeKeys: true });
  return startServer(config!, { overload: { loopDelayMs: 60_000 } });
}

const refusal = (env: NodeJS.ProcessEnv) =>
  start(env).then(
    async (server) => {
      await server.close();
      return undefined;
    },
    (error: Error & { code?: string }) => error,
  );

test('a broken flow that nobody needs is left out and told about', () =>
  withFolder(async (folder) => {
    write(folder, 'main.flow.json', FLOW);
    write(folder, 'other.flow.json', { ...FLOW, flow: 'other', start: 'nowhere' });
    await withServer({ env: { MENUS_DIR: folder } }, async (server) => {
      assert.match(await server.ussd(DIAL), /^CON Here/);
      assert.ok(server.logged.some(({ msg }) => String(msg).includes('other.flow.json:')));
    });
  }));

test('the flow of USSD_FLOW must be there and sound', () =>
  withFolder(async (folder) => {
    write(folder, 'main.flow.json', { ...FLOW, start: 'nowhere' });
    write(folder, 'good.flow.json', { ...FLOW, flow: 'good' });
    const broken = await refusal({ MENUS_DIR: folder });
    assert.is(broken?.code, 'ERR_FLOW_INVALID');
    assert.match(broken!.message, /"main" \(USSD_FLOW\) has errors\.\n.*main\.flow\.json:1:\d+ error /);
    const unknown = await refusal({ MENUS_DIR: folder, USSD_FLOW: 'gone' });
    assert.is(unknown?.code, 'ERR_FLOW_UNKNOWN');
    assert.match(unknown!.message, /Flows there: good\./);
    assert.is(await refusal({ MENUS_DIR: folder, USSD_FLOW: 'good' }), undefined);
    const code = await refusal({ MENUS_DIR: folder, USSD_FLOW: '*7#:gone,good' });
    assert.match(code!.message, /the flow "gone" \(USSD_FLOW\) is not in /);
    write(folder, 'bus.flow.json', {
      ...FLOW,
      flow: 'bus',
      screens: { ...FLOW.screens, hi: { type: 'end', text: 'Bus' } },
      start: 'hi',
    });
    await withServer({ env: { MENUS_DIR: folder, USSD_FLOW: '*7*4#:bus,good' } }, async (server) => {
      assert.match(await server.ussd({ ...DIAL, serviceCode: '*7*4#' }), /^END Bus/);
      assert.match(await server.ussd({ ...DIAL, sessionId: 'other', serviceCode: '*7#' }), /^CON Here/);
    });
  }));

test('a flow that would keep a PIN in clear is not served', () =>
  withFolder(async (folder) => {
    const screens = {
      ask: { type: 'input', text: 'Code?', save: 'code', to: 'copy' },
      copy: { type: 'branch', branch: [{ set: { copied: '=code' }, to: 'check' }] },
      check: { type: 'call', service: 'account.verifyPin', with: { pin: '=copied' }, done: 'bye', fail: 'bye' },
      bye: { type: 'end', text: 'Bye' },
    };
    const text = { type: 'string', max: 6 };
    const flow = { flow: 'main', version: 1, start: 'ask', screens };
    write(folder, 'main.flow.json', { ...flow, vars: { code: text, copied: text } });
    const kept = await refusal({ MENUS_DIR: folder });
    assert.match(kept!.message, /open-pin: Screen "ask" keeps what is typed in "code" in clear/);
    const secret = { ...text, secret: true };
    write(folder, 'main.flow.json', { ...flow, vars: { code: secret, copied: secret } });
    assert.is(await refusal({ MENUS_DIR: folder }), undefined);
  }));

test('a service that no module offers is told about before anybody calls it', () =>
  withFolder(async (folder) => {
    const call = { type: 'call', service: 'bills.pay', done: 'end', fail: 'end' };
    write(folder, 'main.flow.json', { ...FLOW, start: 'call', screens: { call, end: { type: 'end', text: 'x' } } });
    await withServer({ env: { MENUS_DIR: folder } }, async (server) =>
      assert.ok(server.logged.some(({ msg }) => String(msg).includes('"bills.pay"'))),
    );
  }));

test('in a folder without menus the shipped ones are served, but a MENUS_DIR that is set must exist', () =>
  withFolder(async (folder) => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      assert.match(readConfig({ DATA_DIR: ':memory:' }, { makeKeys: true }).config!.menusDir, /\/menus\/?$/);
      assert.not.ok(readConfig({ DATA_DIR: ':memory:' }, { makeKeys: true }).config!.menusDir.startsWith(folder));
      const set = readConfig({ DATA_DIR: ':memory:', MENUS_DIR: 'menus' }, { makeKeys: true }).config!.menusDir;
      assert.ok(set.startsWith(process.cwd()));
    } finally {
      process.chdir(before);
    }
    assert.is((await refusal({ MENUS_DIR: join(folder, 'gone') }))?.code, 'ERR_CONFIG');
  }));

test('production says which menus it serves, that they are only examples, and which settings are probably misspelt', () =>
  withFolder(async (folder) => {
    const keys = { PIN_ENCRYPTION_KEY: KEYS[0]!, ORACLE_KEY: makeOracleKey() };
    const PUBLIC_URL = 'https://twins.example.com';
    const env = { ...keys, NODE_ENV: 'production', PUBLIC_URL, OPERATOR_TOKN: 'x', LOG_LEVEL: 'info' };
    const wordsOf = async (more: object) =>
      withServer({ env: { ...env, ...more } }, async ({ logged }) =>
        logged.map((line) => JSON.stringify(line)).join('\n'),
      );
    const shipped = await wordsOf({});
    assert.match(shipped, /MENUS_DIR is not set: callers get the menus that Twinline ships as examples/);
    assert.match(shipped, /OPERATOR_TOKN is set, and is no setting. Write OPERATOR_TOKEN/);
    assert.match(shipped, /"flow":"main","version":1,"msg":"a menu is served"/);
    cpSync('menus', folder, { recursive: true });
    assert.not.match(await wordsOf({ MENUS_DIR: folder }), /ships as examples/);
  }));

test('data that was made with another key is refused; a rotation that keeps the old key is not', () =>
  withFolder(async (folder) => {
    const env = (PIN_ENCRYPTION_KEY: string) => ({ DATA_DIR: join(folder, 'data'), PIN_ENCRYPTION_KEY });
    await (await start(env(KEYS[0]!))).close();
    const wrong = await refusal(env(KEYS[1]!));
    assert.is(wrong?.code, 'ERR_CONFIG');
    assert.not.match(wrong!.message, new RegExp(`${KEYS[0]}|${KEYS[1]}`));
    assert.is(await refusal(env(`${KEYS[1]},${KEYS[0]}`)), undefined, 'rotated');
    assert.is(await refusal(env(KEYS[1]!)), undefined, 'and the old key is needed no more');
  }));

test('a data folder that cannot be used is told in words, and nothing is left open', () =>
  withFolder(async (folder) => {
    write(folder, 'file', '');
    const DATA_DIR = join(folder, 'file');
    const { problems } = readConfig({ DATA_DIR }, { makeKeys: true });
    assert.match(problems[0]!, /^PIN_ENCRYPTION_KEY: no key can be kept/);
    const error = await refusal({
      DATA_DIR,
      PIN_ENCRYPTION_KEY: KEYS[0]!,
      ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
    });
    assert.match(error!.message, /file/);
  }));

test('production that shares sessions or documents between machines, and not both, is warned of', () => {
  const warnings = (env: NodeJS.ProcessEnv) => {
    const lines: string[] = [];
    const { config, problems } = readConfig({ ...PRODUCTION, USSD_GATEWAYS: '10.0.0.1', ...env });
    assert.ok(config, problems.join());
    warnAtStart(config, { warn: (line: string) => void lines.push(line) } as unknown as Log);
    return lines.filter((line) => line.includes('are shared by all machines'));
  };
  const [REDIS_URL, MONGODB_URL] = ['redis://127.0.0.1:1', 'mongodb://127.0.0.1:1/x'];
  assert.match(warnings({ REDIS_URL })[0]!, /documents are not\. Set MONGODB_URL too/);
  assert.match(warnings({ MONGODB_URL })[0]!, /sessions are not\. Set REDIS_URL too/);
  assert.equal(warnings({ REDIS_URL, MONGODB_URL }), []);
  assert.equal(warnings({}), []);
});

test.run();
