// What goes wrong on purpose in `twinline chat`, and dialogues that begin in the middle.

import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Host, openHost } from '../../../server/boot/host.ts';
import { type InsideLine, lineInside, lineTo, type PhoneLine } from '../../../server/cli/phone/line.ts';
import { talk } from '../../../server/cli/phone/talk.ts';
import { readConfig } from '../../../server/config/config.ts';
import { createLog } from '../../../server/health/log.ts';
import { run, withFiles } from '../support/command.ts';
import { withServer } from '../support/serve.ts';

const test = suite('chat faults');
const PHONE = { phoneNumber: '+260971230001', serviceCode: '*2233#' };

async function inside<T>(work: (host: Host) => Promise<T>, env: NodeJS.ProcessEnv = {}): Promise<T> {
  const { config } = readConfig({ DATA_DIR: ':memory:', ...env }, { makeKeys: true });
  const host = await openHost(config!, { log: createLog({ logLevel: 'silent' }) });
  try {
    return await work(host);
  } finally {
    await host.engine.idle();
    await host.close();
  }
}

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

/** First lines of the screens, in order. */
const screens = (printed: string) => [...printed.matchAll(/┐\n│ (.*?) +│/g)].map(([, first]) => first);

const WELCOME = 'Welcome to Twinline';

const LINES: readonly (readonly [name: string, with_: (work: (line: PhoneLine) => Promise<void>) => Promise<void>])[] =
  [
    ['the engine in this process', (work) => inside((host) => work(lineInside(host, { ...PHONE, flow: 'main' })))],
    ['a server', (work) => withServer({}, ({ url }) => work(lineTo(url, PHONE)))],
  ];

for (const [name, on] of LINES) {
  test(`on ${name}: a retry, a duplicate and a lost screen each count once`, () =>
    on(async (line) => {
      const printed = await piped(line, ['/retry', '/duplicate', '1', '/drop', '3', '/retry', '1', '/quit', '2']);
      assert.equal(screens(printed), [
        ...[WELCOME, WELCOME, 'Know more'],
        ...['Forgot your PIN? Ask the place', 'Forgot your PIN? Ask the place', 'Know more'],
      ]);
      assert.match(printed, /Both copies got this screen:/);
      assert.match(printed, /The screen was lost; the telecom asks again\./);
    }));

  test(`on ${name}: a timeout and /new dial again, /quit leaves`, () =>
    on(async (line) => {
      const printed = await piped(line, ['1', '/timeout', '1', '/new', '/quit', '1']);
      assert.equal(screens(printed), [WELCOME, 'Know more', WELCOME, 'Know more', WELCOME]);
    }));
}

test('after a timeout nothing of the session is left', () =>
  inside(async (host) => {
    await piped(lineInside(host, { ...PHONE, flow: 'main' }), ['1', '/timeout', '/quit']);
    assert.is((await host.ussd.sessions()).length, 1, 'the one that was dialled after it');
  }));

test('a delay holds answers back, and is told when it is none', () =>
  inside(async (host) => {
    const begun = performance.now();
    const printed = await piped(lineInside(host, { ...PHONE, flow: 'main' }), ['/delay 150', '1', '0', '/delay soon']);
    assert.ok(performance.now() - begun >= 300);
    assert.match(printed, /Answers take 150 ms\./);
    assert.match(printed, /Write milliseconds, at most \d+/);
  }));

test('/help lists what there is, an unknown command suggests, and // types a slash', () =>
  inside(async (host) => {
    const printed = await piped(lineInside(host, { ...PHONE, flow: 'main' }), ['/help', '/duplicte', '//new', '/quit']);
    for (const name of ['retry', 'duplicate', 'drop', 'delay', 'timeout', 'new', 'quit', 'help'])
      assert.match(printed, new RegExp(`^ {2}/${name} `, 'm'));
    assert.match(printed, /There is no \/duplicte\. Did you mean "duplicate"\?/);
    assert.equal(screens(printed), [WELCOME, 'Please choose from the list.']);
  }));

const from = (flow: string, screen: string, context: Record<string, unknown> = {}) =>
  ({ ...PHONE, flow, from: { screen, context } }) as InsideLine;

test('a dialogue begins at a screen, with what is known there, and goes on from it', () =>
  inside(async (host) => {
    const line = lineInside(host, from('main', 'accountHome', { name: 'Tariro', customerId: 'C1' }));
    const printed = await piped(line, ['/retry', '1', '/new', '2']);
    assert.equal(screens(printed), ['Tariro', 'Tariro', WELCOME, 'Tariro', 'You are logged out.']);
    assert.match(printed, /Customer id: C1/);
  }));

test('it may begin at a call, which is made', () =>
  inside(async (host) => {
    const printed = await piped(lineInside(host, from('main', 'createAccount', { name: 'Ada Moyo' })), []);
    assert.match(printed, /│ \w/);
    assert.not.match(printed, /temporarily unavailable/);
  }));

test('inside a called flow, which begins with what its caller gives it', () => {
  const inner = {
    flow: 'inner',
    version: 1,
    start: 'who',
    keys: { exit: '*' },
    vars: { name: { type: 'string', max: 20 } },
    screens: {
      who: { type: 'menu', text: 'For {{name}}', options: [{ id: 'ok', text: 'Fine', to: 'done' }] },
      done: { type: 'end', text: '' },
    },
  };
  const outer = {
    flow: 'main',
    version: 1,
    start: 'first',
    keys: { exit: '*' },
    vars: { caller: { type: 'string', max: 20, default: 'nobody' } },
    screens: {
      first: { type: 'menu', text: 'First', options: [{ id: 'on', text: 'On', to: 'login' }] },
      login: { type: 'flow', flow: 'inner', with: { name: '=caller' }, done: 'end' },
      end: { type: 'end', text: 'Bye {{caller}}' },
    },
  };
  return withFiles({ 'main.flow.json': outer, 'inner.flow.json': inner }, (folder) =>
    inside(
      async (host) => {
        const printed = await piped(lineInside(host, from('main', 'login.who', { caller: 'Ada' })), ['1']);
        assert.equal(screens(printed), ['For Ada', 'Bye Ada']);
      },
      { MENUS_DIR: folder },
    ),
  );
});

test('a secret that is given is not kept, here as anywhere', () =>
  inside(async (host) => {
    await piped(lineInside(host, from('main', 'accountHome', { name: 'Ada', pin: '48291' })), []);
    const { keys } = await host.engine.store.list({});
    assert.is(keys.length, 1);
    const stored = JSON.stringify(await host.engine.store.load(keys[0]!));
    assert.match(stored, /Ada/);
    assert.not.match(stored, /48291/);
  }));

test('a screen or a variable that is not there is usage, with what may have been meant', async () => {
  const screen = await run(['chat', '--from', 'acountHome']);
  assert.is(screen.code, 2);
  assert.match(screen.err, /no screen "acountHome"\. Did you mean "accountHome"\?/);
  const variable = await run(['chat', '--from', 'accountHome', '--context', '{"nam":"x"}']);
  assert.is(variable.code, 2);
  assert.match(variable.err, /no variable "nam"\. Did you mean "name"\?/);
  for (const context of ['[]', 'nowhere.json', '{'])
    assert.is((await run(['chat', '--from', 'accountHome', '--context', context])).code, 2, context);
});

test.run();
