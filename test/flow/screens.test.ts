// Screens beyond the flows of model.test.ts: calls made again, the end of memory, lists in pages, answers that repeat a secret.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Flow, Screen } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { flowOf, menuTo, phone } from './phone.ts';

const test = suite('screens');

const input = (to: string, more: Partial<Screen & { type: 'input' }> = {}): Screen =>
  ({ type: 'input', text: 'Say', save: 'said', to, ...more }) as Screen;

test('what is no text at all is an empty answer', async () => {
  const caller = phone(flowOf({ a: menuTo('a') }));
  const first = await caller.dial();
  for (const nothing of [null, 1, true, {}, ['1'], { type: 'opt.a' }])
    assert.equal(await caller.take(nothing), {
      kind: 'replied',
      reply: { kind: 'continue', text: first },
      repeated: false,
      move: { flow: 'test', version: 1, from: 'a', to: 'a', language: 'en', stayMs: 0 },
    });
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

const REFUSING: Flow = flowOf(
  {
    home: { type: 'menu', text: 'Home', options: [{ id: 'send', text: 'Send', to: 'to' }] },
    to: {
      type: 'input',
      text: 'To?',
      accept: { digits: 3 },
      error: 'Three digits.',
      attempts: 3,
      else: 'sorry',
      save: 'to',
      to: 'amount',
    },
    amount: {
      type: 'input',
      text: 'How much?',
      accept: { number: true },
      error: 'A number.',
      save: 'amount',
      to: 'check',
    },
    check: {
      type: 'call',
      service: 'own.find',
      with: { to: '=to' },
      save: 'found',
      done: [
        { when: 'not found.ok', to: 'to', error: { en: '{{to}} is not registered.', sw: '{{to}} hayupo.' } },
        { when: 'amount > found.balance', to: 'amount', error: 'You have {{found.balance}}.' },
        { to: 'done' },
      ],
      fail: [{ to: 'to', error: 'Try again.', track: 'away' }],
    },
    done: { type: 'menu', text: 'Sent', options: [{ id: 'more', text: 'Another', to: 'to' }] },
    sorry: { type: 'end', text: 'Sorry' },
  },
  {
    langs: ['en', 'sw'],
    vars: { to: { type: 'string' }, amount: { type: 'number' }, found: { type: 'object' }, lang: { type: 'string' } },
  },
);
const find = async ({ to }: JsonObject) => {
  if (to === '999') throw new Error('away');
  return { ok: to === '123', balance: 5 };
};
const dialRefusing = async () => {
  const caller = phone(REFUSING, { services: { 'own.find': find } });
  await caller.dial();
  await caller.say('1');
  return caller;
};

test('an answer that a service refuses is asked again, with the words of the way, and counts', async () => {
  const caller = await dialRefusing();
  assert.is(await caller.say('222', '1'), '222 is not registered.\nTo?\n0. Back');
  assert.is(await caller.say('22'), 'Three digits.\nTo?\n0. Back', 'its own words for a rule');
  assert.is(await caller.say('333', '1'), 'Sorry', 'the third refusal');
  const other = await dialRefusing();
  assert.is((await other.say('999', '1')).split('\n')[0], 'Try again.');
  assert.equal(other.tracked, ['away']);
  assert.is(await other.say('0'), 'Home\n1. Send', 'Back leads past the question');
  assert.is((await other.say('1', '222', '1')).split('\n')[0], '222 is not registered.', 'counted anew');
  assert.is((await other.say('123', '9')).split('\n')[0], 'You have 5.');
  assert.is((await other.say('much')).split('\n')[0], 'A number.');
  assert.is(await other.say('4'), 'Sent\n1. Another\n0. Back\n00. Home');
  assert.is((await other.say('1', '222', '1')).split('\n')[0], '222 is not registered.');
  assert.is(
    (await other.say('222', '1')).split('\n')[0],
    '222 is not registered.',
    'two of three, after one that was right',
  );
  assert.is(await other.say('222', '1'), 'Sorry');
});

test('a refusal after a called flow, and of a branch, in the language of the caller', async () => {
  const pin = flowOf(
    { pin: input('end'), end: { type: 'end', text: '', output: { ok: false } } },
    { vars: { said: { type: 'string' } } },
  );
  const asking = flowOf(
    {
      ask: { ...input('lang'), attempts: 2, else: 'no' } as Screen,
      lang: {
        type: 'branch',
        branch: [
          { when: "said == 'x'", set: { lang: 'sw' }, to: 'ask', error: { en: 'Not x', sw: 'Si x' } },
          { to: 'pin' },
        ],
      },
      pin: {
        type: 'flow',
        flow: 'pin',
        save: 'pin',
        done: [{ when: 'not pin.ok', to: 'ask', error: 'Wrong PIN' }, { to: 'no' }],
      },
      no: { type: 'end', text: 'No' },
    },
    { langs: ['en', 'sw'], vars: { said: { type: 'string' }, lang: { type: 'string' }, pin: { type: 'object' } } },
  );
  const compiled = compileFlow(asking, { flows: new Map([['pin', { ...pin, flow: 'pin' }]]) });
  const caller = phone(compiled);
  await caller.dial();
  assert.is((await caller.say('x')).split('\n')[0], 'Si x');
  assert.is(await caller.say('y', '1'), 'No');
  const other = phone(compiled);
  await other.dial();
  assert.is((await other.say('y', '1')).split('\n')[0], 'Wrong PIN');
  assert.is(await other.say('x'), 'No');
});

test('a value may be a text, with filters and in the language of the caller, also for a called flow', async () => {
  const pin = flowOf(
    {
      pin: { ...input('end'), text: "{{why|after:'\n'}}PIN?" } as Screen,
      end: { type: 'end', text: '', output: { note: { '=text': 'PIN {{said|mask}}' } } },
    },
    { vars: { said: { type: 'string' }, why: { type: 'string' } } },
  );
  const flow = flowOf(
    {
      lang: {
        type: 'menu',
        text: 'Lang',
        options: [
          {
            id: 'sw',
            text: 'sw',
            set: { lang: 'sw', note: { '=text': { en: 'a {{n|money}}', sw: 'b {{n|money:UGX}}' } } },
            to: 'pin',
          },
        ],
      },
      pin: {
        type: 'flow',
        flow: 'pin',
        with: { why: { '=text': { en: '{{to.name}} gets {{n|money}}.', sw: '{{to.name}} apewa {{n|money}}.' } } },
        save: 'pin',
        done: 'send',
      },
      send: {
        type: 'call',
        service: 'own.send',
        with: {
          parts: [{ '=text': '{{pin.note}}; {{note}}' }],
          body: { text: '=note', blocks: { '=text': {} } },
          slack: { text: 'x {{n}}' },
        },
        save: 'sent',
        done: 'end',
        fail: 'end',
      },
      end: { type: 'end', text: '{{sent}}' },
    },
    {
      langs: ['en', 'sw'],
      vars: {
        lang: { type: 'string' },
        note: { type: 'string' },
        n: { type: 'number', default: 1250.5 },
        to: { type: 'object', default: { name: 'Ann' } },
        pin: { type: 'object' },
        sent: { type: 'string' },
      },
    },
  );
  const inputs: unknown[] = [];
  const services = { 'own.send': async (value: unknown) => String(inputs.push(value)) };
  const caller = phone(compileFlow(flow, { flows: new Map([['pin', { ...pin, flow: 'pin' }]]) }), { services });
  await caller.dial();
  assert.is((await caller.say('1')).split('\n0.')[0], 'Ann apewa 1,250.50.\nPIN?');
  assert.is(await caller.say('204117386'), '1');
  // The values of one `set` see the language before it.
  assert.equal(inputs, [
    {
      parts: ['PIN ****7386; a 1,250.50'],
      body: { text: 'a 1,250.50', blocks: '' },
      slack: { text: 'x {{n}}' },
    },
  ]);
});

test('bounds are computed when an answer comes, and texts print them', async () => {
  const ask = (accept: JsonObject, vars: Flow['vars']) =>
    phone(
      flowOf(
        {
          ask: {
            type: 'input',
            text: 'Up to {{max|number:2}}?',
            accept,
            error: 'From {{min}} to {{max}}.',
            save: 'given',
            to: 'done',
          },
          done: { type: 'end', text: '{{given}}' },
        },
        { vars: { given: { type: 'number' }, ...vars } },
      ),
    );
  const amounts = { min: { type: 'number', default: 0.5 }, me: { type: 'object', default: { balance: 1.1 } } } as const;
  const pay = ask({ number: { min: '=min + 0.5', max: '=me.balance * 3' } }, { me: amounts.me, min: amounts.min });
  assert.is(await pay.dial(), 'Up to 3.30?');
  assert.is(await pay.say('3.31'), 'From 0.5 to 3.3.\nUp to 3.30?', 'a variable named min is printed');
  assert.is((await pay.say('0.99')).split('\n')[0], 'From 0.5 to 3.3.');
  assert.is(await pay.say('3.3'), '3.3');
  const fixed = ask({ number: { min: 2, max: 4 } }, {});
  await fixed.dial();
  assert.is((await fixed.say('5')).split('\n')[0], 'From 2 to 4.');
  for (const balance of [null, 'much', []]) {
    const unknown = ask({ number: { max: '=me' } }, { me: { type: 'string', default: balance as string } });
    await unknown.dial();
    assert.is((await unknown.say('1')).split('\n')[0], `From  to ${balance === 'much' ? 'much' : ''}.`);
  }
  const due = { due: { type: 'string', default: '2026-03-01' } } as const;
  const visit = ask({ date: { min: '=addDays(due, -1)', max: '=due' } }, { ...due, given: { type: 'string' } });
  await visit.dial();
  assert.is((await visit.say('27022026')).split('\n')[0], 'From 2026-02-28 to 2026-03-01.');
  assert.is((await visit.say('02032026')).split('\n')[0], 'From 2026-02-28 to 2026-03-01.');
  assert.is(await visit.say('28022026'), '2026-02-28');
  const never = ask({ date: { min: '=due' } }, { due: { type: 'string', default: 'soon' }, given: { type: 'string' } });
  await never.dial();
  assert.match(await never.say('28022026'), 'From soon');
});

test('Back restores what the way changed, and keeps what services told; what is stored of it is bounded', async () => {
  const screens = {
    ask: {
      type: 'menu',
      text: 'Cough? {{score}}',
      options: [
        { id: 'yes', text: 'Yes', set: { score: '=score + 2', big: '=big + big' }, to: 'check' },
        { id: 'no', text: 'No', to: 'check' },
      ],
    },
    check: { type: 'call', service: 'check', save: 'told', done: 'next', fail: 'next' },
    next: menuTo('ask', 'end'),
    end: { type: 'end', text: 'Risk {{score}} {{told}}' },
  } satisfies { readonly [id: string]: Screen };
  const vars = (big: string): NonNullable<Flow['vars']> => ({
    score: { type: 'number', default: 0 },
    told: { type: 'number' },
    big: { type: 'string', default: big },
  });
  let count = 0;
  const services = { check: async () => ++count };
  const caller = phone(flowOf(screens, { vars: vars('') }), { services });
  await caller.dial();
  for (let time = 1; time <= 3; time++) {
    await caller.say('1');
    assert.equal([caller.context.score, caller.context.told], [2, time]);
    assert.match(await caller.say('0'), /^Cough\? 0\n/);
    assert.equal([caller.context.score, caller.context.told], [0, time]);
  }
  assert.is(await caller.say('2', '2'), 'Risk 0 4');
  // A value of 4,000 characters is restored, one of 16,000 is not.
  const heavy = phone(flowOf(screens, { vars: vars('x'.repeat(4_000)) }), { services });
  await heavy.dial();
  for (let time = 0; time < 4; time++) {
    await heavy.say('1');
    assert.ok(JSON.stringify(heavy.context.$undo).length <= 8_192 + 60, String(time));
    if (time < 3) await heavy.say('1');
  }
  assert.is(String(heavy.context.big).length, 64_000);
  await heavy.say('0');
  assert.equal([heavy.screen, String(heavy.context.big).length], ['ask', 64_000]);
});

test.run();
