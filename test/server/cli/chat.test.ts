// A phone in the terminal: whole conversations over a pipe and at a terminal, embedded and against a server.

import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, openHost } from '../../../server/boot/host.ts';
import { lineInside, lineTo, type PhoneLine } from '../../../server/cli/phone/line.ts';
import { formatFrame, talk } from '../../../server/cli/phone/talk.ts';
import { readConfig } from '../../../server/config/config.ts';
import { createLog } from '../../../server/health/log.ts';
import { withServer } from '../support/serve.ts';

const test = suite('chat');
const PHONE = { phoneNumber: '+260971230001', serviceCode: '*2233#' };

async function inside<T>(work: (host: Host) => Promise<T>): Promise<T> {
  const { config } = readConfig({ DATA_DIR: ':memory:' }, { makeKeys: true });
  const host = await openHost(config!, { log: createLog({ logLevel: 'silent' }) });
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}

/** Talks over a pipe; everything that was printed. */
async function piped(line: PhoneLine, typed: readonly string[]): Promise<string> {
  const input = new PassThrough();
  const output = new PassThrough();
  let printed = '';
  output.on('data', (chunk) => {
    printed += chunk;
  });
  input.end(typed.map((one) => `${one}\n`).join(''));
  assert.is(await talk({ line, input, output }), 0);
  return stripVTControlCharacters(printed);
}

test('a screen is drawn in a frame with the room that it takes', () => {
  assert.is(
    formatFrame('Welcome\n1. Know more', 'continue'),
    [
      '┌────────────────────────────────────┐',
      '│ Welcome                            │',
      '│ 1. Know more                       │',
      '└─────────────────── 20/182 septets ─┘',
    ].join('\n'),
  );
  assert.match(formatFrame('Karibu 🎉', 'end'), / 9\/80 UCS-2 characters · end ─┘$/);
  const wrapped = formatFrame(`${'word '.repeat(20)}`, 'continue').split('\n');
  assert.is(new Set(wrapped.map((line) => line.length)).size, 1, 'every line is as wide');
  assert.not.ok(formatFrame('a\x1b[2Jb', 'continue').includes('\x1b'));
});

test('on the embedded engine: dial, answer, end, Enter dials again, the end of input leaves', () =>
  inside(async (host) => {
    const printed = await piped(lineInside(host, { ...PHONE, flow: 'main' }), ['1', '*', '', '2']);
    const screens = [...printed.matchAll(/┌.*?┘/gs)].map(([screen]) => screen);
    assert.is(screens.length, 5);
    assert.match(screens[0]!, /Welcome to Twinline/);
    assert.match(screens[1]!, /Know more/);
    assert.match(screens[2]!, /Goodbye.* end /s);
    assert.match(screens[3]!, /Welcome to Twinline/);
    assert.match(screens[4]!, /Account/);
    assert.match(printed, /\n> 1\n/);
    assert.match(printed, /Enter dials again, Ctrl-D leaves\./);
  }));

test('an account can be made; PINs leave no trace in what is printed', () =>
  inside(async (host) => {
    const line = lineInside(host, { ...PHONE, flow: 'main' });
    const printed = await piped(line, ['2', '2', 'Ada Moyo', '83719', '83719', '1', '83719']);
    assert.match(printed, /Ada Moyo\s+│\n│ Customer id: /);
    assert.not.match(printed, /83719/);
    assert.is(printed.match(/> \*{4}\n/g)?.length, 3);
  }));

test('a conversation may be longer than what a telecom could carry', () =>
  inside(async (host) => {
    const printed = await piped(
      lineInside(host, { ...PHONE, flow: 'main' }),
      Array.from({ length: 120 }, (_, at) => (at % 2 ? '0' : '1')),
    );
    assert.not.match(printed, /Invalid input/);
    assert.is(printed.match(/┌/g)?.length, 121);
  }));

test('against a server: the same conversation', () =>
  withServer({}, async (server) => {
    const printed = await piped(lineTo(server.url, PHONE), ['2', '2', 'Ada Moyo', '83719', '83719']);
    assert.match(printed, /Your account is ready, Ada Moyo/);
    assert.not.match(printed, /83719/, 'what looks like a secret is treated like one');
  }));

test('a server that is not there, or is no USSD server, is told in words', async () => {
  const words = (line: PhoneLine) =>
    line()
      .type('')
      .then(
        () => '',
        (error: Error) => error.message,
      );
  assert.match(await words(lineTo('http://127.0.0.1:1', PHONE)), /^Cannot reach http:\/\/127\.0\.0\.1:1\/api\/ussd/);
  assert.match(await words(lineTo('http://127.0.0.1:1/menus', PHONE)), '127.0.0.1:1/menus/api/ussd', 'with its path');
  await withServer({}, async (server) => {
    const { createServer } = await import('node:http');
    const other = createServer((_req, res) => res.end('hello')).listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    assert.match(await words(lineTo(`http://127.0.0.1:${port}`, PHONE)), /answered 200, and neither CON nor END/);
    other.close();
    assert.ok(server.url);
  });
});

test('at a terminal, what is typed is echoed, and a secret is not', () =>
  inside(async (host) => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = new PassThrough();
    let printed = '';
    output.on('data', (chunk) => {
      printed += chunk;
    });
    const over = talk({ line: lineInside(host, { ...PHONE, flow: 'main' }), input, output });
    for (const typed of ['2', '2', 'Ada Moyo', '83719', '83719']) {
      const before = printed.match(/┘/g)?.length ?? 0;
      while ((printed.match(/┘/g)?.length ?? 0) === before && before === 0) await pause(5);
      await pause(20);
      input.write(`${typed}\r`);
      for (let tries = 0; (printed.match(/┘/g)?.length ?? 0) === before && tries < 400; tries++) await pause(5);
    }
    await pause(20);
    input.end();
    assert.is(await over, 0);
    assert.match(printed, /Ada Moyo/);
    assert.match(stripVTControlCharacters(printed), /Your account is ready/);
    assert.not.match(printed, /83719/);
  }));

for (const [how, last] of [
  ['Ctrl-D', '\x04'],
  ['Ctrl-C', '\x03'],
] as const)
  test(`at a terminal, what was typed ahead of ${how} is answered, and then nothing is asked any more`, () =>
    inside(async (host) => {
      const input = Object.assign(new PassThrough(), { isTTY: true });
      const output = new PassThrough();
      let printed = '';
      output.on('data', (chunk) => {
        printed += chunk;
      });
      const over = talk({ line: lineInside(host, { ...PHONE, flow: 'main' }), input, output });
      // Before the first screen is there.
      input.write(`1\r${last}`);
      assert.is(await over, 0);
      const plain = stripVTControlCharacters(printed);
      assert.match(plain, /Know more/);
      assert.not.match(plain, /> \s*$/, 'no prompt behind the last screen');
    }));

test.run();
