// The way out of a lock: by the command beside a running server, and by the operators' route; with a line in the log.

import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accounts } from '../../../lib/account/account.ts';
import { pinVault } from '../../../lib/account/pin.ts';
import { ACCOUNT_KINDS } from '../../../lib/account/records.ts';
import { systemClock } from '../../../lib/clock.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { sqliteDocuments } from '../../../lib/store/sqlite/index.ts';
import { withFolder } from '../../support/process.ts';
import { run } from '../support/command.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('accounts of callers');

const KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
const OTHER_KEY = '0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe';
const PHONE = DIAL.phoneNumber;
const STRANGER = '+260971239999';
const PIN = '83519';
const WRONG = '47026';
const TOKEN = 'token-of-the-operators-01';

/** Types answers in one session after the other; what the last one said. */
async function type(server: Pick<Served, 'ussd'>, answers: readonly string[], sessionId: string): Promise<string> {
  let text = '';
  let said = await server.ussd({ ...DIAL, sessionId, text });
  for (const answer of answers) {
    text = text === '' ? answer : `${text}*${answer}`;
    said = await server.ussd({ ...DIAL, sessionId, text });
  }
  return said;
}

const register = (server: Pick<Served, 'ussd'>) => type(server, ['2', '2', 'Tariro Moyo', PIN, PIN], 'register');
const login = (server: Pick<Served, 'ussd'>, pin: string, sessionId: string) =>
  type(server, ['2', '1', pin], sessionId);

/** Failures that hold the account until somebody unlocks it. */
async function hold(folder: string, phone: string): Promise<void> {
  const documents = sqliteDocuments({ path: join(folder, 'twinline.db') });
  await documents.declare(ACCOUNT_KINDS);
  const start = Date.now();
  let now = start - 6 * 3_600_000;
  const clock = { ...systemClock, now: () => now };
  const own = accounts({ documents, vault: pinVault({ keyring: parseKeyring(KEY) }), clock });
  for (let tries = 0; tries < 10; tries++) {
    await own.verifyPin({ phone, pin: WRONG });
    if (tries % 3 === 2) now += 90 * 60_000;
  }
  await documents.close();
}

test('the command unlocks a held account beside a running server; its entry in the audit log says who, what and when, and never the number', () =>
  withFolder(async (folder) => {
    const env = { DATA_DIR: folder, PIN_ENCRYPTION_KEY: KEY, USSD_GATEWAYS: '*' };
    const command = (...args: string[]) => run(['account', ...args], env);
    const nothing = await command('show', PHONE);
    assert.equal([nothing.code, /No accounts can be read in DATA_DIR/.test(nothing.err)], [78, true], nothing.err);
    await withServer({ env }, async (server) => {
      await register(server);
      await hold(folder, PHONE);
      assert.match(await login(server, PIN, 'held'), /lock/i, 'the right PIN is refused');
      const shown = await command('show', PHONE);
      assert.is(shown.code, 0);
      assert.match(shown.out, /^Account C\w+\nstate: held: .*\nfailed tries: .*10 within a day/);
      const report = JSON.parse((await command('show', PHONE.slice(1), '--json')).out);
      assert.equal([report.registered, report.state, report.lockedUntil], [true, 'held', null]);
      const [{ caller }] = report.callers;
      assert.ok(shown.out.includes(`in the log: "caller":"${caller}"`));
      assert.ok(
        server.logged.some((line) => line.turn && line.caller === caller),
        'the log calls the number so',
      );
      const rotated = {
        ...env,
        PIN_ENCRYPTION_KEY: `next:${'91c4b1e0f3a2d59687786950a1b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5'},${KEY}`,
      };
      const later = JSON.parse((await run(['account', 'show', PHONE, '--json'], rotated)).out);
      assert.is(later.callers[1].caller, caller, 'an older key finds older lines');
      const unlocked = await command('unlock', PHONE);
      assert.equal([unlocked.code, /is unlocked: it was held\.$/.test(unlocked.out)], [0, true], unlocked.out);
      const audit = (await run(['audit', 'show', '--json'], env)).out;
      const { action, by, at, details } = JSON.parse(audit);
      assert.equal([action, by, details.registered, details.before.state], ['account.unlock', 'cli', true, 'held']);
      assert.match(details.phone, /^[\w-]{16}$/);
      assert.ok(Date.parse(at) > 0);
      assert.not.match(audit, /97123/);
      assert.match(await login(server, PIN, 'freed'), /^CON Tariro Moyo/);
      assert.is((await command('unlock', PHONE)).code, 0, 'it may be done twice');
      assert.is(JSON.parse((await command('show', PHONE, '--json')).out).lastUnlock.by, 'cli');
      await hold(folder, STRANGER);
      const stranger = await command('unlock', STRANGER);
      assert.equal([stranger.code, /^No account has this number/.test(stranger.out)], [1, true]);
      const open = await command('show', STRANGER);
      assert.equal([open.code, /state: open/.test(open.out)], [1, true], 'its tries are forgotten as well');
    });
    for (const args of [[], ['unlok', PHONE], ['show'], ['show', PHONE, PHONE], ['show', PHONE, '--urk', 'x']])
      assert.is((await command(...args)).code, 2, args.join(' '));
    const other = await run(['account', 'show', PHONE], { ...env, PIN_ENCRYPTION_KEY: OTHER_KEY });
    assert.equal([other.code, /need the key/.test(other.err)], [78, true]);
    assert.is((await run(['account', 'show', PHONE], { ...env, PORT: 'x' })).code, 78);
    const wrong = await command('show', '0971');
    assert.equal([wrong.code, /international/.test(wrong.err)], [1, true]);
    assert.not.match(wrong.err, /0971/);
  }));

test('operators unlock over HTTP: the number stands in the body, the log says which token, others are refused', () =>
  withServer({ env: { OPERATOR_TOKEN: TOKEN, PIN_ENCRYPTION_KEY: KEY } }, async (server) => {
    await register(server);
    for (let guess = 0; guess < 3; guess++) await login(server, WRONG, `guess${guess}`);
    const bearer = { authorization: `Bearer ${TOKEN}` };
    const ask = (action: string, body: unknown, headers: Record<string, string> = bearer) =>
      server.ask(`/api/ussd/accounts/${action}`, json(body, headers));
    assert.is((await ask('unlock', { phoneNumber: PHONE }, {})).status, 401);
    assert.is((await ask('show', { phoneNumber: PHONE }, { authorization: 'Bearer x' })).status, 401);
    const shown = (await ask('show', { phoneNumber: PHONE })).json() as Record<string, unknown>;
    assert.equal([shown.registered, shown.state, shown.locks], [true, 'locked', 1]);
    assert.match(String(shown.lockedUntil), /^20\d\d-/);
    assert.match(await login(server, PIN, 'locked'), /lock/i);
    const { unlocked, before } = (await ask('unlock', { phoneNumber: PHONE })).json() as never;
    assert.equal([unlocked, (before as { state: string }).state], [true, 'locked']);
    assert.match(await login(server, PIN, 'freed'), /^CON Tariro Moyo/);
    const again = (await ask('unlock', { phoneNumber: PHONE })).json() as { registered: boolean };
    assert.ok(again.registered);
    const stranger = (await ask('unlock', { phoneNumber: STRANGER })).json() as { registered: boolean };
    assert.not(stranger.registered);
    for (const body of [{}, { phone: PHONE }, { phoneNumber: '0971' }, { phoneNumber: 7 }, [], undefined])
      assert.is((await ask('unlock', body)).status, 400, JSON.stringify(body));
    const audits = server.logged.filter(({ audit }) => audit === 'account.unlock');
    assert.is(audits.length, 3);
    assert.match(String(audits[0]!.by), /^token [\w-]{8}$/);
    assert.not.match(JSON.stringify(server.logged), new RegExp(`${PHONE.slice(1)}|${TOKEN}`));
    const remote = await run(['account', 'show', PHONE, '--url', server.url], { OPERATOR_TOKEN: TOKEN });
    assert.equal([remote.code, /^Account C/.test(remote.out)], [0, true], remote.err);
    const nobody = await run(['account', 'show', PHONE, '--url', server.url], {});
    assert.equal([nobody.code, /Unauthorized/.test(nobody.err)], [1, true], nobody.err);
  }));

test.run();
