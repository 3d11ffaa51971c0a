// A phone in the terminal: whole conversations over a pipe and at a terminal, embedded and against a server, what goes wrong in them on
// purpose, and dialogues that begin in the middle.

import { createServer } from 'node:http';
import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type InsideLine, lineInside, lineTo } from '../../../server/cli/phone/line.ts';
import { talk } from '../../../server/cli/phone/talk.ts';
import { listenLow } from '../../support/ports.ts';
import { until } from '../../support/until.ts';
import { run, withFiles } from '../support/command.ts';
import { sharedServer } from '../support/serve.ts';
import { inside, PHONE, piped, SECRET, terminal } from './dialogue.ts';

const test = suite('chat');
const server = sharedServer(test, {});

/** First lines of the screens, in order. */
const screens = (printed: string) => [...printed.matchAll(/┐\n│ (.*?) +│/g)].map(([, first]) => first);
const WELCOME = 'Welcome to Twinline';
const REGISTER = ['2', '2', 'Ada Moyo', SECRET, SECRET];

const onMain = (typed: readonly string[]) =>
  inside((host) => piped(lineInside(host, { ...PHONE, flow: 'main' }), typed));
const from = (flow: string, screen: string, context: Record<string, unknown> = {}) =>
  ({ ...PHONE, flow, from: { screen, context } }) as InsideLine;

test('dial, answer, end, Enter dials again, the end of input leaves', async () => {
  const printed = await onMain(['1', '*', '', '2']);
  assert.equal(screens(printed), [WELCOME, 'Know more', 'Thank you for using Twinline.', WELCOME, 'Account']);
  assert.match(printed, /Goodbye\.[^┘]* end /);
  assert.match(printed, /\n> 1\n/);
  assert.match(printed, /Enter dials again, Ctrl-D leaves\./);
});

test('an account can be made; PINs leave no trace in what is printed', async () => {
  const printed = await onMain([...REGISTER, '1', SECRET]);
  assert.match(printed, /Ada Moyo\s+│\n│ Customer id: /);
  assert.not.match(printed, SECRET);
  assert.is(printed.match(/> \*{4}\n/g)?.length, 3);
  const there = await piped(lineTo(server().url, PHONE), REGISTER);
  assert.match(there, /Your account is ready, Ada Moyo/);
  assert.not.match(there, SECRET, 'also on a server, where what looks like a secret is treated like one');
});

test('a conversation may be longer than what a telecom could carry', async () => {
  const printed = await onMain(Array.from({ length: 120 }, (_, at) => (at % 2 ? '0' : '1')));
  assert.not.match(printed, /Invalid input/);
  assert.is(screens(printed).length, 121);
});

test('a server that is not there, or is no USSD server, is told in words', async () => {
  const words = (url: string) =>
    lineTo(url, PHONE)()
      .type('')
      .then(JSON.stringify, (error: Error) => error.message);
  assert.match(await words('http://127.0.0.1:1'), /^Cannot reach http:\/\/127\.0\.0\.1:1\/api\/ussd/);
  assert.match(await words('http://127.0.0.1:1/menus'), '127.0.0.1:1/menus/api/ussd', 'with its path');
  const other = createServer((_req, res) => res.end('hello'));
  assert.match(await words(`http://127.0.0.1:${await listenLow(other)}`), /answered 200, and neither CON nor END/);
  other.close();
});

test('at a terminal, what is typed is echoed, and a secret is not', () =>
  inside(async (host) => {
    const { input, output, printed } = terminal({ isTTY: true });
    const over = talk({ line: lineInside(host, { ...PHONE, flow: 'main' }), input, output });
    const shown = (count: number) =>
      until(`screen ${count}`, () => (printed().match(/┘/g)?.length ?? 0) === count || undefined);
    for (const [at, typed] of REGISTER.entries()) {
      await shown(at + 1);
      input.write(`${typed}\r`);
    }
    await shown(REGISTER.length + 1);
    input.end();
    assert.is(await over, 0);
    assert.match(printed(), /Ada Moyo/);
    assert.match(stripVTControlCharacters(printed()), /Your account is ready/);
    assert.not.match(printed(), SECRET);
  }));

for (const [how, last] of [
  ['Ctrl-D', '\x04'],
  ['Ctrl-C', '\x03'],
] as const)
  test(`at a terminal, what was typed ahead of ${how} is answered, and then nothing is asked any more`, () =>
    inside(async (host) => {
      const { input, output, printed } = terminal({ isTTY: true });
      const over = talk({ line: lineInside(host, { ...PHONE, flow: 'main' }), input, output });
      // Before the first screen is there.
      input.write(`1\r${last}`);
      assert.is(await over, 0);
      const plain = stripVTControlCharacters(printed());
      assert.match(plain, /Know more/);
      assert.not.match(plain, /> \s*$/, 'no prompt behind the last screen');
    }));

const LINES: readonly (readonly [name: string, talk: (typed: readonly string[]) => Promise<string>])[] = [
  ['the engine in this process', onMain],
  ['a server', (typed) => piped(lineTo(server().url, PHONE), typed)],
];
for (const [name, talked] of LINES)
  test(`on ${name} a retry, a duplicate and a lost screen count once; a timeout and /new dial again, /quit leaves`, async () => {
    const printed = await talked(['/retry', '/duplicate', '1', '/drop', '3', '/retry', '1', '/quit', '2']);
    const forgot = 'Forgot your PIN? Ask the place';
    assert.equal(screens(printed), [WELCOME, WELCOME, 'Know more', forgot, forgot, 'Know more']);
    assert.match(printed, /Both copies got this screen:/);
    assert.match(printed, /The screen was lost; the telecom asks again\./);
    const again = await talked(['1', '/timeout', '1', '/new', '/quit', '1']);
    assert.equal(screens(again), [WELCOME, 'Know more', WELCOME, 'Know more', WELCOME]);
  });

test('after a timeout nothing of the session is left', () =>
  inside(async (host) => {
    await piped(lineInside(host, { ...PHONE, flow: 'main' }), ['1', '/timeout', '/quit']);
    assert.is((await host.ussd.sessions()).length, 1, 'the one that was dialled after it');
  }));

test('a delay holds answers back, and is told when it is none', async () => {
  // A timer fires before those that begin later and are due later: two delays are longer than this.
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
  }, 190);
  const printed = await onMain(['/delay 100', '1', '0', '/delay soon']);
  assert.ok(isOver);
  clearTimeout(timer);
  assert.match(printed, /Answers take 100 ms\./);
  assert.match(printed, /Write milliseconds, at most \d+/);
});

test('a dialogue begins at a screen, with what is known there but a secret, and goes on from it; or at a call, which is made', () =>
  inside(async (host) => {
    const known = { name: 'Tariro', customerId: 'C1', pin: SECRET };
    const printed = await piped(lineInside(host, from('main', 'accountHome', known)), ['/retry', '1', '/new', '2']);
    assert.equal(screens(printed), ['Tariro', 'Tariro', WELCOME, 'Tariro', 'You are logged out.']);
    assert.match(printed, /Customer id: C1/);
    const { keys } = await host.engine.store.list({});
    const stored = JSON.stringify(await Promise.all(keys.map((key) => host.engine.store.load(key))));
    assert.match(stored, /Tariro/);
    assert.not.match(stored, SECRET);
    const called = await piped(lineInside(host, from('main', 'createAccount', { name: 'Ada Moyo' })), []);
    assert.match(called, /│ \w/);
    assert.not.match(called, /temporarily unavailable/);
  }));

test('inside a called flow, which begins with what its caller gives it', () => {
  const flow = (name: string, start: string, variable: object, screens: object) => ({
    ...{ flow: name, version: 1, start, keys: { exit: '*' }, vars: variable, screens },
  });
  const text = { type: 'string', max: 20 };
  const inner = flow(
    'inner',
    'who',
    { name: text },
    {
      who: { type: 'menu', text: 'For {{name}}', options: [{ id: 'ok', text: 'Fine', to: 'done' }] },
      done: { type: 'end', text: '' },
    },
  );
  const outer = flow(
    'main',
    'first',
    { caller: { ...text, default: 'nobody' } },
    {
      first: { type: 'menu', text: 'First', options: [{ id: 'on', text: 'On', to: 'login' }] },
      login: { type: 'flow', flow: 'inner', with: { name: '=caller' }, done: 'end' },
      end: { type: 'end', text: 'Bye {{caller}}' },
    },
  );
  return withFiles({ 'main.flow.json': outer, 'inner.flow.json': inner }, (folder) =>
    inside(
      async (host) => {
        const printed = await piped(lineInside(host, from('main', 'inner.who', { caller: 'Ada' })), ['1']);
        assert.equal(screens(printed), ['For Ada', 'Bye Ada']);
      },
      { env: { MENUS_DIR: folder } },
    ),
  );
});

test('what cannot be dialled with is usage, before anything is dialled, with what may have been meant', async () => {
  const at = ['--from', 'accountHome'];
  for (const [args, words] of [
    [['--phone', '0771234567'], /^Usage: twinline chat/m],
    [['--code', '2233'], /^Usage: twinline chat/m],
    [['--url', 'nonsense'], /^Usage: twinline chat/m],
    [['--url', 'ftp://127.0.0.1'], /^Usage: twinline chat/m],
    [['main', 'wallet'], /^Usage: twinline chat/m],
    [['main', '--url', 'http://127.0.0.1:1'], /^Usage: twinline chat/m],
    [['--context', '{}'], /^Usage: twinline chat/m],
    [['--record', 'x.jsonl', '--from', 'preMenu'], /^Usage: twinline chat/m],
    [['--record', 'x.jsonl', '--url', 'http://127.0.0.1:1'], /^Usage: twinline chat/m],
    [['--from', 'acountHome'], /no screen "acountHome"\. Did you mean "accountHome"\?/],
    [[...at, '--context', '{"nam":"x"}'], /no variable "nam"\. Did you mean "name"\?/],
    ...['[]', 'nowhere.json', '{'].map((context) => [[...at, '--context', context], /./] as const),
  ] as const) {
    const { code, err } = await run(['chat', ...args]);
    assert.is(code, 2, args.join(' '));
    assert.match(err, words);
  }
  // Nothing is kept, so no store is asked for.
  const unknown = await run(['chat', 'nowhere'], { REDIS_URL: 'redis://127.0.0.1:1' });
  assert.is(unknown.code, 78);
  assert.match(unknown.err, /"nowhere".*Flows there:/);
});

test.run();
