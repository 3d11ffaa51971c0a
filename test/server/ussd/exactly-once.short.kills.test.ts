// Nothing lost, doubled or mixed: crashes between turns, and every turn delivered several times at once.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caller, hangUpAll } from '../../support/phone.ts';
import { startProcess, withFolder } from '../../support/process.ts';
import { numbersFrom } from '../../support/random.ts';
import { chooseSize, isShort } from '../../support/size.ts';
import { until } from '../../support/until.ts';

const test = suite('exactly once');

const SESSIONS = chooseSize({ short: 100, day: 400, whole: 1_000 });
const TURNS = 6;

// Shows who called and how often: a lost, doubled or mixed turn cannot hide.
const COUNTER = {
  flow: 'counter',
  version: 1,
  start: 'count',
  keys: { exit: '*' },
  vars: { phoneNumber: { type: 'string', max: 16 }, n: { type: 'number', default: 0 } },
  screens: {
    count: {
      type: 'menu',
      text: '{{phoneNumber}} has {{n}}',
      options: [{ id: 'add', text: 'Add', set: { n: '=n + 1' }, to: 'count' }],
    },
    bye: { type: 'end', text: '{{phoneNumber}} ends with {{n}}' },
  },
};

const phoneOf = (at: number) => `+26097${String(1_000_000 + at)}`;

// On a busy machine a server may have no time for a request. The gateway repeats the turn then, as it does when a server dies.
const askAgain = (line: ReturnType<typeof caller>, url: string) =>
  until('a server with time for the turn', async () => {
    const answer = await line.repeat(url);
    return answer !== UNAVAILABLE && answer;
  });

const UNAVAILABLE = 'END Service temporarily unavailable. Please try again later.';

async function crowd(urls: readonly string[]): Promise<void> {
  const next = numbersFrom(Number(process.env.TEST_SEED ?? 1));
  const random = (below: number) => Math.floor(next() * below);
  const callers = Array.from({ length: SESSIONS }, (_, at) => ({
    phone: phoneOf(at),
    line: caller(`crowd-${at}`, phoneOf(at)),
  }));
  for (let turn = 0; turn <= TURNS; turn++)
    await Promise.all(
      callers.map(async ({ phone, line }) => {
        const isLast = turn === TURNS;
        const typed = turn === 0 ? undefined : isLast ? '*' : '1';
        const copies = 1 + random(3);
        const answers = await line.sendTo(
          Array.from({ length: copies }, () => urls[random(urls.length)]!),
          typed,
        );
        const expected = isLast ? `END ${phone} ends with ${turn - 1}` : `CON ${phone} has ${turn}\n1. Add\n*. Exit`;
        for (const answer of answers)
          assert.is(answer === UNAVAILABLE ? await askAgain(line, urls[0]!) : answer, expected);
      }),
    );
}

test('a dialogue of eight turns goes on exactly where it was, killed with -9 and started again between turns', () =>
  withFolder(async (folder) => {
    const env = { DATA_DIR: join(folder, 'data') };
    const dialogue: [string | undefined, RegExp][] = [
      [undefined, /^CON Welcome to Twinline\n/],
      ['1', /^CON Know more\n/],
      ['2', /^CON Your PIN is encrypted/],
      ['1', /^CON Know more\n/],
      ['00', /^CON Welcome to Twinline\n/],
      ['2', /^CON Account\n/],
      ['2', /^CON Enter your full name:/],
      ['*', /^END /],
    ];
    const line = caller('killed', '+260971234567');
    let server = await startProcess(env);
    for (const [at, [typed, expected]] of dialogue.entries()) {
      const first = await line.send(server.url, typed);
      assert.match(first, expected);
      if (isShort && at % 3 !== 1) continue;
      await server.kill();
      server = await startProcess(env);
      assert.is(await line.repeat(server.url), first, 'the telecom asks again after the crash');
    }
    await server.kill();
    hangUpAll();
  }));

test(`${SESSIONS} interleaved sessions, each turn delivered 1 to 3 times at once, to two processes on the same LMDB`, () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'counter.flow.json'), JSON.stringify(COUNTER));
    const env = { DATA_DIR: join(folder, 'data'), MENUS_DIR: folder, USSD_FLOW: 'counter' };
    const servers = await Promise.all([startProcess(env), startProcess(env)]);
    try {
      await crowd(servers.map((server) => server.url));
    } finally {
      hangUpAll();
      await Promise.all(servers.map((server) => server.kill()));
    }
  }));

test.run();
