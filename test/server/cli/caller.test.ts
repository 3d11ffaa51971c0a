// One caller's story: from a phone number to the turns, what failed in them, and the living session, under today's and older keys,
// without anything private.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withFolder } from '../../support/process.ts';
import { run } from '../support/command.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('one caller');

const [NEW, OLD] = [
  'new:8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  'old:0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe',
] as const;
const PHONE = '+260971230077';
const OTHER = { ...DIAL, sessionId: 'other', phoneNumber: '+260971230088' };
const NRC = '884213/11/1';
const SHOP = `export default { 'shop.buy': async () => { throw new Error('sold out'); } };`;

const MAIN = {
  flow: 'main',
  version: 1,
  start: 'nrc',
  vars: { nrc: { type: 'string', max: 20, private: true } },
  screens: {
    nrc: { type: 'input', text: 'NRC?', save: 'nrc', to: 'sure' },
    sure: { type: 'menu', text: 'Is it {{nrc}}?', options: [{ id: 'yes', text: 'Buy', to: 'buy' }] },
    buy: { type: 'call', service: 'shop.buy', done: 'bye', fail: 'sorry', retry: 0, timeout: '2s' },
    bye: { type: 'end', text: 'Bye' },
    sorry: { type: 'end', text: 'Not possible now' },
  },
};

/** Callers of a shop that fails: one who is at its second screen, one who met the failure; and the log of it. */
async function withShop(work: (server: Served, log: string) => Promise<void>, keys: string): Promise<void> {
  await withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(MAIN));
    writeFileSync(join(folder, 'shop.mjs'), SHOP);
    const env = { MENUS_DIR: folder, SERVICES: join(folder, 'shop.mjs'), PIN_ENCRYPTION_KEY: keys, LOG_LEVEL: 'info' };
    await withServer({ env }, async (server) => {
      for (const text of ['', NRC]) await server.ussd({ ...DIAL, sessionId: 'lives', phoneNumber: PHONE, text });
      for (const text of ['', NRC, `${NRC}*1`])
        assert.match(await server.ussd({ ...DIAL, sessionId: 'failed', phoneNumber: PHONE, text }), /^(CON|END)/);
      await server.ussd({ ...DIAL, sessionId: 'failed', phoneNumber: PHONE, text: `${NRC}*1*9` });
      await server.ussd(OTHER);
      const log = join(folder, 'log.jsonl');
      const lines = server.logged.map((line) => JSON.stringify(line));
      writeFileSync(log, ['npm start', '{"torn":', ...lines].join('\n'));
      await work(server, log);
    });
  });
}

test('the log tells the turns of a number by session, with screens, outcome, reason and request, and nobody else’s', () =>
  withShop(async (server, log) => {
    // After a rotation, what was written before it is found too.
    const rotated = { PIN_ENCRYPTION_KEY: `${NEW},${OLD}`, USSD_GATEWAYS: '*' };
    const told = await run(['caller', PHONE, '--log', log], rotated);
    assert.is(told.code, 0, told.err);
    const sessions = told.out.split(/^session /m).slice(1);
    assert.is(sessions.length, 2, told.out);
    const [lives, failed] = sessions as [string, string];
    assert.match(lives, /\(africastalking\)\n.*main@1 dial → nrc {2}\S+\n.*main@1 nrc → sure {2}\S+\n$/);
    assert.match(failed, /main@1 dial → nrc/);
    assert.match(failed, /! a service failed {2}shop\.buy/);
    assert.match(failed, /main@1 sure → sorry, end/);
    assert.match(failed, /a turn was not taken {2}unknown {2}\S+/);
    const { code, out } = await run(['caller', PHONE, '--log', log, '--json'], rotated);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).line as Record<string, unknown>);
    assert.is(code, 0);
    assert.equal(new Set(lines.map(({ caller }) => caller)).size, 1);
    const requests = lines.filter(({ outcome }) => outcome !== undefined).map(({ requestId }) => requestId);
    assert.is(new Set(requests).size, 6);
    const unrotated = await run(['caller', PHONE, '--log', log], { PIN_ENCRYPTION_KEY: NEW, USSD_GATEWAYS: '*' });
    assert.equal([unrotated.code, unrotated.out], [1, '']);
    const later = await run(['caller', PHONE, '--log', log, '--since', '2999-01-01'], rotated);
    assert.equal([later.code, later.out], [1, '']);
    for (const hidden of [NRC, PHONE.slice(1)]) assert.not.ok(JSON.stringify(server.logged).includes(hidden), hidden);
  }, OLD));

test('a server tells of the living session, that nobody watched, with its last reply masked, and of the session that failed', () =>
  withShop(async (server) => {
    const told = await run(['caller', PHONE, '--url', server.url], {});
    assert.is(told.code, 0, told.err);
    assert.match(told.out, /, failed at \S+ \S+: service shop\.buy ERR_SERVICE\n/);
    assert.match(told.out, /main@1 sure → sorry, end/);
    assert.match(told.out, /lives, at main@1 sure/);
    assert.ok(told.out.includes(`  | Is it ${'*'.repeat(NRC.length)}?\n  | 1. Buy`), told.out);
    const inspected = (await server.ask('/inspector/callers', json({ number: PHONE }))).json() as {
      readonly callers: readonly { readonly key: string; readonly caller: string }[];
      readonly sessions: readonly { readonly twinline: { readonly actor: string } }[];
    };
    assert.equal(
      inspected.callers.map(({ key }) => key),
      ['new', 'old'],
    );
    // One name for a session, in the inspector and in the log.
    const inLog = server.logged.filter(({ session }) => session === inspected.sessions[0]!.twinline.actor);
    assert.is(inLog.length, 2);
    assert.is(inLog[0]!.caller, inspected.callers[0]!.caller);
    for (const hidden of [NRC, PHONE.slice(1)])
      assert.not.ok((told.out + JSON.stringify(inspected)).includes(hidden), hidden);
    const ending = (await server.ask('/inspector/callers', json({ number: PHONE.slice(-4) }))).json();
    assert.equal((ending as typeof inspected).callers, []);
  }, `${NEW},${OLD}`));

test('what is asked wrongly is told: no number, no time, no file, no server', async () => {
  const env = { PIN_ENCRYPTION_KEY: NEW, USSD_GATEWAYS: '*' };
  const ask = async (...args: string[]) => {
    const { code, err } = await run(['caller', ...args], env);
    return `${code} ${err.split('\n')[0]}`;
  };
  assert.is(await ask('12'), '2 Give one phone number such as +260971230001.');
  assert.is(
    await ask(PHONE, '--since', 'monday'),
    '2 --since "monday" is no time. Say 30m, 2h, 7d, or 2026-11-28T09:00Z.',
  );
  assert.match(await ask(PHONE, '--log', '/nowhere/log'), /^1 The log \/nowhere\/log cannot be read \(ENOENT\)\./);
  assert.match(await ask(PHONE, '--url', 'http://127.0.0.1:1'), /^1 Cannot reach http:\/\/127\.0\.0\.1:1/);
});

test.run();
