// Whole servers whose time of day is set on by ten years or back by two hours while they serve: what the guide of operators says
// comes of it, and nothing else.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Caller, caller, hangUpAll } from '../../support/phone.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { sample } from '../../support/size.ts';
import { until } from '../../support/until.ts';
import { domainClient, headersOf, writeKeys } from '../support/domain-client.ts';
import { readEvents } from '../support/event-reader.ts';

const test = suite('a clock that jumps under a server');

const HOURS = -2 * 3_600_000;
const YEARS = 10 * 365 * 24 * 3_600_000;
const PRELOAD = pathToFileURL(join(import.meta.dirname, '../../support/jump-clock.mjs')).href;
const PHONE = '+260971230001';
const [PIN, WRONG] = ['83519', '47026'];
/** A service that answers once the file of this name is there. */
const services = (file: string) => `import { existsSync } from 'node:fs';
  const answer = (done) => (existsSync(${JSON.stringify(file)}) ? done({ fine: true }) : setTimeout(answer, 20, done));
  export default { slow: () => new Promise(answer) };`;
const WAITING = {
  flow: 'main',
  version: 1,
  start: 'ask',
  vars: { said: { type: 'string' }, got: { type: 'object' } },
  screens: {
    ask: { type: 'input', text: 'Ask?', save: 'said', to: 'call' },
    call: { type: 'call', service: 'slow', save: 'got', timeout: '60s', done: 'done', fail: 'failed' },
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
      await until('the server has the time', () => readFileSync(`${offset}.read`, 'utf8') === String(ms));
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

const status = async (server: RunningServer, path: string) => (await fetch(server.url + path)).status;

const JUMPS = [
  ['set back by two hours', HOURS],
  ['set on by ten years', YEARS],
] as const;

for (const [words, ms] of sample(JUMPS, 2))
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
    const jumped = join(folder, 'jumped');
    writeFileSync(join(folder, 'slow.mjs'), services(jumped));
    const env = { MENUS_DIR: folder, SERVICES: join(folder, 'slow.mjs'), USSD_TURN_DEADLINE_MS: '60000' };
    await withClock(env, async ({ server, jump }) => {
      for (const [at, ms] of sample([HOURS, YEARS], 2).entries()) {
        const line = caller(`waits-${at}`, PHONE);
        await line.send(server.url);
        const answer = line.send(server.url, 'x');
        await jump(ms);
        writeFileSync(jumped, '');
        assert.match(await answer, ms < 0 ? /^CON Done/ : /^CON Done|^END/);
        rmSync(jumped);
        await jump(0);
      }
    });
  }));

test.run();
