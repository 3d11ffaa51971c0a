// Whole servers whose time of day is set on by ten years or back by two hours while they serve: what the guide of operators says
// comes of it, and nothing else.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Caller, caller, hangUpAll } from '../../support/phone.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { domainClient, headersOf, writeKeys } from '../support/domain-client.ts';
import { readEvents } from '../support/event-reader.ts';
import { atOnce } from '../support/serve.ts';

const test = suite('a clock that jumps under a server');

const HOURS = -2 * 3_600_000;
const YEARS = 10 * 365 * 24 * 3_600_000;
const PRELOAD = pathToFileURL(join(import.meta.dirname, '../../support/jump-clock.mjs')).href;
const PHONE = '+260971230001';
const [PIN, WRONG] = ['83519', '47026'];
/** Of a service that answers when the clock has jumped meanwhile. */
const SERVICE_MS = 1_500;

const SERVICES = `export default { slow: () => new Promise((done) => setTimeout(done, ${SERVICE_MS}, { fine: true })) };`;
const WAITING = {
  flow: 'main',
  version: 1,
  start: 'ask',
  vars: { said: { type: 'string' }, got: { type: 'object' } },
  screens: {
    ask: { type: 'input', text: 'Ask?', save: 'said', to: 'call' },
    call: { type: 'call', service: 'slow', save: 'got', timeout: '4s', done: 'done', fail: 'failed' },
    done: { type: 'menu', text: 'Done', options: [{ id: 'on', text: 'On', to: 'done' }] },
    failed: { type: 'end', text: 'Failed' },
  },
};

interface Jumping {
  readonly server: RunningServer;
  /** Sets the time of day of the server; resolves when it has it. */
  jump(ms: number): Promise<void>;
}

async function withClock(env: Readonly<Record<string, string>>, work: (place: Jumping) => Promise<void>) {
  await withFolder(async (folder) => {
    const offset = join(folder, 'offset');
    writeFileSync(offset, '0');
    const server = await startProcess({
      ...{ DATA_DIR: join(folder, 'data'), API_KEYS_FILE: writeKeys(folder), CLOCK_OFFSET: offset, LOG_LEVEL: 'warn' },
      ...{ NODE_OPTIONS: `--import ${PRELOAD}`, DRAIN_DELAY_MS: '0', ...env },
    });
    const jump = async (ms: number) => {
      writeFileSync(offset, String(ms));
      process.kill(server.pid, 'SIGUSR2');
      while (readFileSync(`${offset}.read`, 'utf8') !== String(ms)) await pause(5);
    };
    try {
      await work({ server, jump });
    } finally {
      hangUpAll();
      assert.is(await server.signal('SIGTERM'), 0, 'it ends in order');
    }
    assert.not.match(server.printed(), /"level":(50|60)|leave|NaN|Invalid Date/);
  });
}

async function type(line: Caller, { url }: RunningServer, answers: readonly string[]): Promise<string> {
  let said = await line.send(url);
  for (const answer of answers) said = await line.send(url, answer);
  return said;
}

const status = (server: RunningServer, path: string) => atOnce(async () => (await fetch(server.url + path)).status);

for (const [words, ms] of [
  ['set back by two hours', HOURS],
  ['set on by ten years', YEARS],
] as const)
  test(`${words}: health, streams and events go on; sessions and locks are as the guide says; it ends in order`, () =>
    withClock({}, async ({ server, jump }) => {
      const client = domainClient(() => server.url);
      await client.protocol('controller');
      const stream = await readEvents(`${server.url}/v1/events`, headersOf('controller'));
      assert.match(await type(caller('new', PHONE), server, ['2', '2', 'Tariro Moyo', PIN, PIN]), /^CON /);
      const line = caller('under-way', '+260971230002');
      await type(line, server, ['2']);
      for (let tries = 0; tries < 3; tries++) await type(caller(`w${tries}`, PHONE), server, ['2', '1', WRONG]);
      const locked = (id: string) => type(caller(id, PHONE), server, ['2', '1', PIN]);
      assert.match(await locked('before'), /lock/i);

      await jump(ms);
      assert.equal(
        await Promise.all(['/livez', '/readyz', '/health'].map((path) => status(server, path))),
        [200, 200, 200],
      );
      const did = await client.project('controller');
      await stream.until(() => stream.events().some((event) => event.did === did));
      assert.match(await type(caller('after', '+260971239999'), server, []), /^CON /);
      if (ms < 0) assert.match(await locked('still'), /lock/i, 'a lock lasts two hours longer');
      else assert.match(await locked('open'), /^CON Tariro Moyo/, 'a lock is over');
      const said = await line.send(server.url, '1');
      if (ms < 0) assert.match(said, /^CON /, 'a session goes on');
      else assert.match(said, /^END Your session has ended/, 'a session is over, as after any silence');

      await jump(0);
      assert.is(await status(server, '/readyz'), 200);
      const again = await client.project('controller');
      await stream.until(() => stream.events().some((event) => event.did === again));
      await stream.close();
    }));

test('a turn that waits for a service when the clock jumps is answered by it, in its time', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(WAITING));
    writeFileSync(join(folder, 'slow.mjs'), SERVICES);
    const env = { MENUS_DIR: folder, SERVICES: join(folder, 'slow.mjs'), USSD_TURN_DEADLINE_MS: '8000' };
    await withClock(env, async ({ server, jump }) => {
      for (const [at, ms] of [HOURS, YEARS].entries()) {
        const line = caller(`waits-${at}`, PHONE);
        await line.send(server.url);
        const answer = line.send(server.url, 'x');
        await jump(ms);
        assert.match(await answer, ms < 0 ? /^CON Done/ : /^CON Done|^END/);
        await jump(0);
      }
    });
  }));

test('who asks too often waits no longer than the window, whatever the clock does', () =>
  withClock({ RATE_LIMIT_MAX: '5', RATE_LIMIT_WINDOW_MS: '2000' }, async ({ server, jump }) => {
    const ask = async () => fetch(`${server.url}/v1/limits`, { headers: headersOf('controller') });
    let refused = await ask();
    while (refused.status !== 429) refused = await ask();
    await jump(HOURS);
    const answer = await ask();
    const seconds = Number(answer.headers.get('retry-after') ?? 0);
    assert.ok(seconds <= 2, `${seconds} s`);
    let later = answer;
    while (later.status === 429) {
      await pause(100);
      later = await ask();
    }
    assert.is(later.status, 200);
  }));

test.run();
