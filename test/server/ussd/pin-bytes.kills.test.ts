// A PIN that was typed is found in no file, no log and no answer: the bytes are searched.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { builtFile } from '../../support/build.ts';
import { findCanaries, findCanariesIn } from '../../support/canaries.ts';
import { caller, hangUpAll } from '../../support/phone.ts';
import { startProcess, withFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { quotingFlow, quotingPeer } from '../secrecy/counterparts.ts';

const test = suite('PIN bytes');

const PIN = '83519';
const WRONG = '47026';
const PRODUCTION = {
  HOST: '127.0.0.1',
  PUBLIC_URL: 'https://twins.example.com',
  PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
  DRAIN_DELAY_MS: '0',
};

const PINS = new Map(Object.entries({ PIN, 'wrong PIN': WRONG }));

test('PINs of a whole dialogue are in no file, log, screen, debug answer or metric, in no encoding', () =>
  withFolder(async (folder) => {
    const server = await startProcess({ DATA_DIR: folder, LOG_LEVEL: 'trace' });
    const seen: string[] = [];
    const look = async (path: string) => {
      const answer = await fetch(server.url + path);
      assert.is(answer.status, 200, path);
      seen.push(await answer.text());
    };
    try {
      const line = caller('pin-search', '+260971230001');
      for (const typed of [undefined, '2', '2', 'Tariro Moyo', PIN, WRONG, PIN, '1', WRONG, '1', PIN]) {
        seen.push(await line.send(server.url, typed));
        await look('/api/ussd/debug/pin-search');
      }
      assert.match(seen.at(-2)!, /^CON Tariro Moyo\n/, 'the dialogue was about PINs and succeeded');
      await look('/api/ussd/sessions');
      await look('/metrics');
      await look('/health');
      // What breaks a rule while it carries a PIN must not be quoted either.
      const broken = { sessionId: 'pin-search', serviceCode: '2233', phoneNumber: '+260971230001', text: line.text };
      await fetch(`${server.url}/api/ussd`, { method: 'POST', body: JSON.stringify(broken) });
      await fetch(`${server.url}/api/ussd`, { method: 'POST', body: `{"text":"${line.text}"` });
      await fetch(`${server.url}/api/ussd?text=${line.text}`, { method: 'GET' });
    } finally {
      hangUpAll();
      await server.signal('SIGTERM');
    }
    assert.ok(readdirSync(folder, { recursive: true }).length >= 3, 'keys, sessions and documents are there');
    assert.equal(findCanaries([...seen, server.printed()].join('\n'), PINS), []);
    assert.equal(findCanariesIn(folder, PINS), []);
  }));

// Each says in another way what it must not say.
const SERVICES = `
export default {
  'bad.throws': async ({ pin }) => { throw new Error('wrong PIN ' + pin); },
  'bad.causes': async ({ pin }) => { throw new Error('outer', { cause: new Error('inner ' + pin, { cause: pin }) }); },
  'bad.carries': async ({ pin }) => { throw Object.assign(new TypeError('x'), { pin, code: pin, name: pin, errno: pin }); },
  'bad.forges': async ({ pin }) => { throw Object.assign(new Error('x'), { stack: 'Error: x\\n    at ' + pin + ' (/' + pin + '.js:1:1)' }); },
  'bad.rejects': ({ pin }) => Promise.reject('no ' + pin),
  'bad.pretends': async ({ pin }) => { throw Object.assign(new Error("open '/pins/" + pin + "'"), { code: 'ENOENT', syscall: 'open' }); },
  'bad.ours': async ({ pin }) => { throw new TwinlineError('ERR_SERVICE', 'PIN ' + pin); },
  'bad.late': ({ pin }, { signal }) => new Promise((_, fail) => {
    console.log('late begins');
    signal.addEventListener('abort', () => setImmediate(() => (fail(new Error('late ' + pin)), console.log('late ends'))));
  }),
  'bad.never': ({ pin }, { signal }) => new Promise((_, fail) => signal.addEventListener('abort', () => fail(new Error(pin)))),
  'bad.echoes': async ({ pin }) => ({ said: pin, number: Number(pin), body: { said: 'you typed ' + pin + '.' }, list: [{ pin }], [pin]: 1 }),
  'bad.encodes': async ({ pin }) => ({ body: { base64: Buffer.from('a' + pin).toString('base64') }, said: Buffer.from(pin).toString('hex') }),
};
`;
const NAMES = [...SERVICES.matchAll(/'(bad\.\w+)'/g)].map(([, name]) => name!);

// What a process that is killed has not cleaned up is searched as well.
const ENDS = { development: 'SIGKILL', production: 'SIGTERM' } as const;

for (const [mode, end] of Object.entries(ENDS))
  test(`what services and peers say about a PIN gets nowhere, in ${mode}, ended by ${end}`, () =>
    withFolder(async (folder) => {
      const peer = await quotingPeer();
      const http = (path: string) => ({
        service: 'http.get',
        with: { url: `http://${peer.host}/${path}`, headers: { 'x-pin': '=pin' } },
      });
      const calls = [
        ...NAMES.map((service) => ({ service, with: { pin: '=pin' } })),
        http('refused'),
        http('refused/{{pin}}?p={{pin}}'),
        http('fine'),
      ];
      const menus = join(folder, 'menus');
      mkdirSync(menus);
      writeFileSync(join(menus, 'main.flow.json'), JSON.stringify(quotingFlow('main', calls)));
      const errors = JSON.stringify(await builtFile('lib/index.ts'));
      writeFileSync(join(folder, 'bad.mjs'), `import { TwinlineError } from ${errors};\n${SERVICES}`);
      const token = 'token-of-the-operators-01';
      const server = await startProcess({
        ...PRODUCTION,
        NODE_ENV: mode,
        DATA_DIR: join(folder, 'data'),
        MENUS_DIR: menus,
        SERVICES: join(folder, 'bad.mjs'),
        SERVICE_HTTP_HOSTS: peer.host,
        OPERATOR_TOKEN: token,
        LOG_LEVEL: 'trace',
      });
      const headers = { authorization: `Bearer ${token}` };
      const seen: string[] = [];
      const reader = new AbortController();
      const watching = fetch(`${server.url}/inspector/stream`, { headers, signal: reader.signal }).then(
        async (answer) => {
          for await (const part of answer.body!) seen.push(Buffer.from(part).toString());
        },
      );
      const failures: string[] = [];
      try {
        for (const [at] of calls.entries()) {
          const id = `sim-${at}`;
          const line = caller(id, '+260971230001');
          await line.send(server.url);
          await line.send(server.url, String(at));
          const said = await line.send(server.url, PIN);
          if (!/^CON (Answered|Failed|Please wait)/.test(said)) failures.push(`${calls[at]!.service}: ${said}`);
          seen.push(said);
          for (const path of [`/api/ussd/debug/${id}`, '/metrics', `/simulator/sessions/${id}`])
            seen.push(await (await fetch(server.url + path, { headers })).text());
          const saved = await fetch(`${server.url}/simulator/flow-test`, {
            method: 'POST',
            headers: { ...headers, origin: server.url, 'content-type': 'application/json' },
            body: JSON.stringify({ sessionId: id, phoneNumber: '+260971230001', inputs: ['', String(at)] }),
          });
          seen.push(await saved.text());
        }
        const count = (words: string) => server.printed().split(words).length - 1;
        await until(
          'late failures have come',
          () => count('late ends') > 0 && count('late ends') === count('late begins'),
        );
        await fetch(`${server.url}/livez`);
      } finally {
        hangUpAll();
        reader.abort();
        await watching.catch(() => undefined);
        await server.signal(end);
        await peer.close();
      }
      assert.equal(failures, []);
      assert.match(server.printed(), /a service failed/);
      assert.match(seen.join('\n'), /Answered.*\*{4}/, 'the masked answer was shown');
      assert.ok(
        seen.some((text) => text.includes('@xstate.')),
        'the inspector looked on',
      );
      assert.equal(findCanaries([...seen, server.printed()].join('\n'), PINS), []);
      assert.equal(findCanariesIn(join(folder, 'data'), PINS), []);
    }));

test.run();
