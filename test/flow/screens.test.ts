// Screens: what is numbered is what can be chosen, navigation keys, refusals, attempts, lists to pick from.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Flow, Option, Screen } from '../../lib/flow/format/flow.ts';
import { flowOf, lines, menuTo, phone } from './phone.ts';

const test = suite('screens');

const KEYS = { back: '0', home: '00', more: '98', exit: '*' } as const;

const input = (to: string, more: Partial<Screen & { type: 'input' }> = {}): Screen =>
  ({ type: 'input', text: 'Say', save: 'said', to, ...more }) as Screen;

const TEXTS: Flow['vars'] = { said: { type: 'string' } };

// What is shown leads where it says: a line `3. To b2` typed as 3 leads to b2, and nothing else is in reach.
test('an option is chosen by the number beside it, whatever is hidden; hidden options are out of reach', async () => {
  const shape = fc.array(
    fc.record({ shown: fc.boolean(), key: fc.constantFrom(undefined, undefined, undefined, 'own') }),
    {
      minLength: 1,
      maxLength: 7,
    },
  );
  await fc.assert(
    fc.asyncProperty(shape, async (options) => {
      const targets: { [id: string]: Screen } = {};
      const made = options.map(({ key }, at): Option => {
        targets[`b${at}`] = { type: 'end', text: `at b${at}` };
        return { id: `o${at}`, text: `To b${at}`, to: `b${at}`, when: `shown[${at}]`, ...(key && { key: `k${at}` }) };
      });
      const flow = flowOf(
        { start: { type: 'menu', text: 'Choose', options: made }, ...targets },
        { vars: { shown: { type: 'array', default: options.map(({ shown }) => shown) } }, keys: { exit: '*' } },
      );
      const shown = lines(await phone(flow).dial()).slice(1, -1);
      assert.is(shown.length, options.filter((option) => option.shown).length);
      const reached = new Map(shown.map((line) => [line.slice(0, line.indexOf('.')), line.replace(/^.*To /, 'at ')]));
      const numbers = shown.map((line) => line.slice(0, line.indexOf('.'))).filter((key) => !key.startsWith('k'));
      assert.equal(
        numbers,
        numbers.map((_, at) => String(at + 1)),
      );
      for (const typed of [
        '0',
        '00',
        '98',
        '01',
        '1.',
        'o1',
        'To b1',
        ...options.flatMap((_, at) => [`${at + 1}`, `k${at}`]),
      ]) {
        const caller = phone(flow);
        await caller.dial();
        const text = await caller.say(typed);
        const expected = reached.get(typed);
        if (expected === undefined) assert.match(text, /^Invalid choice\.\nChoose/);
        else assert.is(text, expected);
      }
    }),
    { numRuns: 25 },
  );
});

test('a hidden option has no line, takes no number, and its key leads on', async () => {
  const options: Option[] = [
    { id: 'all', text: 'Everything', to: 'b0', key: '*', hidden: true },
    { id: 'one', text: 'One', to: 'b1' },
  ];
  const ends = { b0: { type: 'end', text: 'at b0' }, b1: { type: 'end', text: 'at b1' } } as const;
  const flow = flowOf({ start: { type: 'menu', text: 'Choose', options }, ...ends });
  for (const [typed, reached] of [
    ['*', 'at b0'],
    ['1', 'at b1'],
  ] as const) {
    const caller = phone(flow);
    assert.is(await caller.dial(), 'Choose\n1. One');
    assert.is(await caller.say(typed), reached);
  }
});

test('lines come in order: options, more, back, home, exit', async () => {
  const flow = flowOf(
    { a: menuTo('b'), b: menuTo('c'), c: menuTo('a') },
    { keys: KEYS, labels: { back: 'Zurueck', exit: 'Ende' } },
  );
  const caller = phone(flow);
  assert.is(await caller.dial(), 'Choose\n1. To b\n*. Ende');
  assert.is(await caller.say('1'), 'Choose\n1. To c\n0. Zurueck\n*. Ende');
  assert.is(await caller.say('1'), 'Choose\n1. To a\n0. Zurueck\n00. Home\n*. Ende');
});

test('keys can be renamed and removed; a key that is none is an answer', async () => {
  const flow = flowOf(
    { a: menuTo('b'), b: menuTo('c'), c: input('a') },
    { keys: { back: '#', home: false }, vars: TEXTS },
  );
  const caller = phone(flow);
  await caller.dial();
  assert.is(await caller.say('1', '1'), 'Say\n#. Back');
  await caller.say('00');
  assert.equal([caller.screen, caller.context.said], ['a', '00']);
  assert.is(await caller.say('1', '#'), 'Choose\n1. To b\n#. Back');
  assert.match(await caller.say('0'), /^Invalid choice/);
});

test('words such as Exit and Back are answers, and so is a navigation key that leads nowhere', async () => {
  const flow = flowOf({ ask: input('again'), again: input('ask') }, { vars: TEXTS, keys: { home: '00' } });
  for (const typed of ['Exit', 'back', 'HOME', '0', '00', '98', '*', '1']) {
    const caller = phone(flow);
    await caller.dial();
    await caller.say(typed);
    assert.equal([caller.screen, caller.context.said], ['again', typed]);
  }
});

test('exit ends the session from every screen and keeps nothing', async () => {
  const screens: { [id: string]: Screen } = {
    a: menuTo('b'),
    b: input('c'),
    c: { type: 'list', text: 'List', items: 'rows', row: '{{row}}', pick: { to: 'a' } },
  };
  const vars: Flow['vars'] = { ...TEXTS, rows: { type: 'array', default: ['x', 'y'] } };
  const path = ['1', 'something', '1'];
  const ends: [Flow, string, string][] = [
    [flowOf({ ...screens, goodbye: { type: 'end', text: 'Go well' } }, { keys: KEYS, vars }), 'goodbye', 'Go well'],
    [flowOf({ ...screens, exit: { type: 'end', text: 'Left {{said}}.' } }, { keys: KEYS, vars }), 'exit', 'Left .'],
    [flowOf(screens, { keys: KEYS, vars, labels: { goodbye: 'Bye then' } }), '$goodbye', 'Bye then'],
    [flowOf({ ...screens, bye: menuTo('a') }, { keys: KEYS, vars }), '$goodbye', 'Goodbye.'],
  ];
  for (const [flow, screen, text] of ends)
    for (let steps = 0; steps < path.length; steps++) {
      const caller = phone(flow);
      await caller.dial();
      await caller.say(...path.slice(0, steps));
      const shown = (await caller.say('*')).replace('something', '');
      assert.equal([shown, caller.screen, caller.ended], [text, screen, true], `${steps} steps`);
      assert.is((await caller.take('1')).kind, 'refused');
    }
});

test('an empty answer shows the same again and counts as no attempt', async () => {
  const flow = flowOf(
    {
      ask: input('yes', { accept: { digits: 4 }, error: 'Four digits.', attempts: 2, else: 'no' }),
      yes: menuTo('ask'),
      no: menuTo('ask'),
    },
    { vars: TEXTS },
  );
  const caller = phone(flow);
  const first = await caller.dial();
  for (const nothing of ['', ' ', '\n', '\t \u0000']) assert.is(await caller.say(nothing), first);
  assert.is(await caller.say('x'), 'Four digits.\nSay');
  for (const nothing of ['', '  ']) assert.is(await caller.say(nothing), 'Four digits.\nSay');
  assert.is(caller.context.$bad, 1);
  await caller.say('y');
  assert.is(caller.screen, 'no');
});

test('what is no text at all is an empty answer', async () => {
  const caller = phone(flowOf({ a: menuTo('a') }));
  const first = await caller.dial();
  for (const nothing of [null, 1, true, {}, ['1'], { type: 'opt.a' }])
    assert.equal(await caller.take(nothing), {
      kind: 'replied',
      reply: { kind: 'continue', text: first },
      repeated: false,
      move: { flow: 'test', version: 1, from: 'a', to: 'a' },
    });
});

test('exactly so many refused answers lead to else; success, leaving and coming back begin anew', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 6 }), async (attempts, wrong) => {
      const flow = flowOf(
        {
          start: menuTo('ask'),
          ask: input('yes', { accept: { digits: 1 }, attempts, else: 'no' }),
          yes: menuTo('ask'),
          no: menuTo('ask'),
        },
        { vars: TEXTS },
      );
      const before = Math.min(wrong, attempts - 1);
      const caller = phone(flow);
      await caller.dial();
      await caller.say('1');
      for (const leave of [
        ['7', '1'],
        ['0', '1'],
        ['00', '1'],
      ]) {
        for (let at = 0; at < before; at++) await caller.say('wrong');
        assert.is(caller.screen, 'ask');
        await caller.say(...leave);
        assert.equal([caller.screen, caller.context.$bad], ['ask', 0]);
      }
      for (let at = 1; at <= attempts; at++) {
        await caller.say('wrong');
        assert.is(caller.screen, at === attempts ? 'no' : 'ask');
      }
      assert.is(caller.context.$bad, 0);
    }),
    { numRuns: 30 },
  );
});

test('the error line is there after a refusal, and gone with the next screen, page or way back', async () => {
  const rows = Array.from({ length: 30 }, (_, at) => `row number ${at}`);
  const flow = flowOf(
    {
      a: { ...menuTo('b'), error: 'Not on the menu.' },
      b: { type: 'list', text: 'Rows', items: 'rows', row: '{{row}}', error: { en: 'Not a key.' } },
    },
    { vars: { rows: { type: 'array', default: rows } }, labels: { invalid: 'Never seen' } },
  );
  const caller = phone(flow);
  await caller.dial();
  assert.is(lines(await caller.say('5'))[0], 'Not on the menu.');
  assert.is(lines(await caller.say('1'))[0], 'Rows');
  assert.is(lines(await caller.say('zzz'))[0], 'Not a key.');
  assert.is(lines(await caller.say('98'))[0], 'Rows');
  await caller.say('zzz');
  assert.is(lines(await caller.say('0'))[0], 'Choose');
});

test('an answer is kept as its rule reads it, cut to the size of its variable, and set can use it', async () => {
  const flow = flowOf(
    {
      ask: input('more', { accept: { number: true }, save: 'amount', set: { twice: '=amount * 2' } }),
      more: input('end', { save: 'said' }),
      end: menuTo('ask'),
    },
    { vars: { amount: { type: 'number' }, twice: { type: 'number' }, said: { type: 'string', max: 5 } } },
  );
  const caller = phone(flow);
  await caller.dial();
  await caller.say(' 2.50 ', 'abcdefgh');
  assert.equal([caller.context.amount, caller.context.twice, caller.context.said], [2.5, 5, 'abcde']);
});

test('a call that leads to itself is made again, each time as a call of its own', async () => {
  const keys: string[] = [];
  const services = {
    ask: async (_input: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
      keys.push(idempotencyKey);
      if (keys.length % 2) throw new Error('away');
      return keys.length;
    },
  };
  const flow = flowOf(
    {
      a: menuTo('call'),
      call: {
        type: 'call',
        service: 'ask',
        save: 'n',
        done: [{ when: 'n >= 6', to: 'b' }, { to: 'call' }],
        fail: 'call',
      },
      b: menuTo('a'),
    },
    { vars: { n: { type: 'number' } } },
  );
  const caller = phone(flow, { services });
  await caller.dial();
  await caller.say('1');
  assert.equal([caller.screen, caller.context.n, new Set(keys).size], ['b', 6, 6]);
});

test('calls that never come to an end are stopped', async () => {
  const flow = flowOf({ a: menuTo('call'), call: { type: 'call', service: 'ask', done: 'call', fail: 'call' } });
  const caller = phone(flow, { services: { ask: async () => 1 } });
  await caller.dial();
  const { reply } = (await caller.take('1')) as { reply: unknown };
  assert.equal(reply, { kind: 'end', text: 'Service temporarily unavailable. Please try again later.' });
});

test('a menu that leads to itself lies behind itself only once', async () => {
  const caller = phone(flowOf({ a: menuTo('b'), b: menuTo('b') }));
  await caller.dial();
  await caller.say('1', '1', '1', '1');
  assert.equal(caller.context.$stack, ['a']);
});

test('twenty screens are remembered, and home forgets them', async () => {
  const caller = phone(flowOf({ a: menuTo('b'), b: menuTo('c'), c: menuTo('b') }));
  await caller.dial();
  for (let at = 0; at < 50; at++) await caller.say('1');
  assert.is((caller.context.$stack as string[]).length, 20);
  const text = await caller.say('00');
  assert.equal([caller.screen, caller.context.$stack], ['a', []]);
  assert.is(text, 'Choose\n1. To b');
  assert.match(await caller.say('00'), /^Invalid choice/);
});

test('back: false is a wall: nothing before it is remembered, what comes after is', async () => {
  const flow = flowOf({ a: menuTo('b'), b: menuTo('wall'), wall: { ...menuTo('c'), back: false }, c: menuTo('a') });
  const caller = phone(flow);
  await caller.dial();
  assert.is(await caller.say('1', '1'), 'Choose\n1. To c');
  assert.match(await caller.say('0'), /^Invalid choice/);
  assert.is(await caller.say('1'), 'Choose\n1. To a\n0. Back');
  await caller.say('0');
  assert.is(caller.screen, 'wall');
  await caller.say('00');
  assert.is(caller.screen, 'a');
});

test('back: "id" leads there, from wherever the caller came', async () => {
  const flow = flowOf({ a: menuTo('b', 'c'), b: menuTo('c'), c: menuTo('d'), d: { ...menuTo('a'), back: 'b' } });
  const caller = phone(flow);
  await caller.dial();
  await caller.say('1', '1', '1', '0');
  assert.equal([caller.screen, caller.context.$stack], ['b', ['a']]);
  await caller.say('00', '2', '1', '0');
  assert.equal([caller.screen, caller.context.$stack], ['b', []]);
});

test('a row of a list is picked by its number on every page', async () => {
  const rows = Array.from({ length: 40 }, (_, at) => ({ id: `id${at}`, label: `a long label of row ${at}` }));
  const flow = flowOf(
    {
      list: {
        type: 'list',
        text: 'Pick',
        items: 'rows',
        row: '{{row.label}}',
        pick: { save: 'row', to: 'picked', set: { id: '=row.id' }, track: 'picked' },
      },
      picked: menuTo('list'),
    },
    { vars: { rows: { type: 'array', default: rows }, row: { type: 'object' }, id: { type: 'string' } } },
  );
  const caller = phone(flow);
  let text = await caller.dial();
  assert.match(text, /^Pick\n1\. a long label of row 0\n/);
  await caller.say('98');
  text = await caller.say('98');
  const number = /^(\d+)\. a long label of row (\d+)$/m.exec(text)!;
  assert.is(Number(number[1]), Number(number[2]) + 1);
  for (const typed of [number[1]!, '40', '1']) {
    await caller.say(typed);
    assert.equal([caller.screen, caller.context.id], ['picked', `id${Number(typed) - 1}`]);
    assert.equal(caller.context.row, rows[Number(typed) - 1]);
    await caller.say('0');
    assert.is(caller.screen, 'list');
  }
  assert.equal(caller.tracked, ['picked', 'picked', 'picked']);
  for (const typed of ['41', '01', '-1', '1.0', '1e1', '99999'])
    assert.match(await caller.say(typed), /^Invalid choice/);
});

test('a list without pick takes no choice; one without rows says so', async () => {
  const list = (items: string): Screen => ({
    type: 'list',
    text: 'Rows',
    items,
    row: '{{row}}',
    empty: 'There are none.',
  });
  const vars: Flow['vars'] = { rows: { type: 'array', default: ['x'] }, odd: { type: 'object', default: { 0: 'x' } } };
  const caller = phone(flowOf({ a: list('rows') }, { vars }));
  assert.is(await caller.dial(), 'Rows\nx');
  assert.match(await caller.say('1'), /^Invalid choice/);
  for (const items of ['odd', 'nothing', "'text'", 'odd.x'])
    assert.is(await phone(flowOf({ a: list(items) }, { vars })).dial(), 'Rows\nThere are none.');
});

test('a repeat is compared with a secret of an earlier turn, of which only a proof is kept', async () => {
  const records: string[] = [];
  const vars: Flow['vars'] = { pin: { type: 'string', secret: true }, again: { type: 'string', secret: true } };
  const flow = flowOf(
    {
      pin: input('again', { save: 'pin', accept: { digits: 5 } }),
      again: input('done', {
        save: 'again',
        accept: { sameAs: 'pin' },
        error: 'Not the same.',
        attempts: 3,
        else: 'pin',
      }),
      done: { ...menuTo('pin'), back: false },
    },
    { vars },
  );
  const caller = phone(flow, { onRecord: (record) => records.push(record) });
  await caller.dial();
  await caller.say('84913');
  assert.match(await caller.say('84914'), /^Not the same/);
  assert.match(await caller.say('8491'), /^Not the same/);
  await caller.say('84913');
  assert.is(caller.screen, 'done');
  await caller.say('1', '77123', '84913');
  assert.is(caller.screen, 'again', 'the proof of the first PIN is gone');
  await caller.say('77123');
  assert.is(caller.screen, 'done');
  for (const record of records) assert.not.match(record, /84913|84914|77123/);
  assert.not(Object.hasOwn(caller.context, 'pin'));
});

test('a secret that is put away leaves no proof behind', async () => {
  const vars: Flow['vars'] = { pin: { type: 'string', secret: true } };
  const flow = flowOf(
    {
      pin: input('again', { save: 'pin' }),
      again: input('pin', { save: 'pin', accept: { sameAs: 'pin' }, set: { pin: null } }),
    },
    { vars },
  );
  const caller = phone(flow);
  await caller.dial();
  await caller.say('1234');
  assert.ok(caller.context.$proofs);
  await caller.say('1234');
  assert.is(caller.screen, 'pin');
  assert.not(caller.context.$proofs);
});

test('a repeat is the same when its rule reads it the same', async () => {
  const kinds: [Flow['vars'], { [rule: string]: string | boolean | number }, string, string, string][] = [
    [{ x: { type: 'string' } }, { date: true }, '05/03/2024', '5-3-2024', '6-3-2024'],
    [{ x: { type: 'number' } }, { number: true }, '2.50', '2.5', '2.51'],
    [{ x: { type: 'string' } }, { msisdn: true }, '+263 771 234 567', '263771234567', '263771234568'],
    [{ x: { type: 'string', secret: true } }, { date: true }, '05/03/2024', '5.3.2024', '6.3.2024'],
  ];
  for (const [vars, rule, first, same, other] of kinds) {
    const flow = flowOf(
      {
        x: input('y', { save: 'x', accept: rule }),
        y: input('z', { save: 'y', accept: { ...rule, sameAs: 'x' } }),
        z: menuTo('x'),
      },
      { vars: { ...vars, y: { type: 'string' } } },
    );
    const caller = phone(flow);
    await caller.dial();
    await caller.say(first, other);
    assert.is(caller.screen, 'y', JSON.stringify(rule));
    await caller.say(same);
    assert.is(caller.screen, 'z', JSON.stringify(rule));
  }
});

test.run();
