// Exports of RapidPro as flows: what they become, that they can be dialled to their ends in both languages, and what is told.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reportLine } from '../../../lib/flow/convert/report.ts';
import type { Json } from '../../../lib/store/store.ts';
import { convert, listErrors, phoneFor, readFixture } from './support.ts';

const test = suite('convert from RapidPro');

const { flows, report } = await convert(readFixture('mkulima.rapidpro.json'), 'rapidpro');
const MENU = '1. Market price\n2. Register\n3. Kiswahili\n4. Talk to us';
const MENYU = '1. Bei ya soko\n2. Jisajili\n3. English\n4. Ongea nasi';

function dial(answer: (input: Json) => Json = () => ({ status: 200, body: { price: 45 } })) {
  const asked: Json[] = [];
  const get = async (input: Json) => {
    asked.push(input);
    return answer(input);
  };
  return { caller: phoneFor(flows, 'mkulima_line', { 'http.get': get }), asked };
}

test('every flow of an export is one, and lint finds no error in it', async () => {
  assert.equal(
    flows.map(({ flow, langs }) => [flow, langs]),
    [
      ['mkulima_line', ['eng', 'swa']],
      ['short_survey', ['eng', 'swa']],
    ],
  );
  assert.equal(listErrors(flows), []);
});

test('messages without a wait stand above the menu that they list, and a wrong key says what the flow said', async () => {
  const { caller } = dial();
  assert.is(await caller.dial({ phoneNumber: '+254712345678' }), `Mkulima line\n${MENU}`);
  assert.is(await caller.say('9'), `Please choose a number.\nMkulima line\n${MENU}`);
});

test('a webhook is called with its address, query and headers, and its answer is said; a sub-flow comes back', async () => {
  const { caller, asked } = dial();
  await caller.dial({ phoneNumber: '+254712345678' });
  assert.is(await caller.say('1'), 'Which crop? Type maize or beans.');
  assert.is(
    await caller.say('White MAIZE please'),
    'MAIZE is 45 shillings; ten bags are 450. Write to info@example.org.\n1. OK',
  );
  assert.equal(asked, [
    {
      url: 'https://prices.example.org/today',
      query: { crop: 'Maize', phone: '+254712345678', v: '2' },
      headers: { 'X-Line': 'mkulima' },
    },
  ]);
  assert.is(await caller.say('1'), 'Was this useful?\n1. Yes\n2. No');
  assert.is(await caller.say('1'), 'Thank you, you said Yes.');
  assert.ok(caller.ended);
});

test('the same in the other language, with its own words as answers', async () => {
  const { caller } = dial();
  await caller.dial({ phoneNumber: '+254712345678' });
  assert.is(await caller.say('3'), `Laini ya Mkulima\n${MENYU}`);
  assert.is(await caller.say('1'), 'Zao gani? Andika mahindi au maharage.');
  assert.is(
    await caller.say('mahindi'),
    'MAIZE ni shilingi 45; magunia kumi ni 450. Andika kwa info@example.org.\n1. OK',
  );
  assert.is(await caller.say('1'), 'Hii ilikusaidia?\n1. Ndiyo\n2. Hapana');
  assert.is(await caller.say('2'), 'Asante, ulisema No.');
  assert.ok(caller.ended);
});

test('a webhook that fails leads where its failure did, and no word of the flow where any other answer did', async () => {
  const broken = dial(() => {
    throw new Error('away');
  });
  await broken.caller.dial();
  assert.is(await broken.caller.say('1', 'beans'), 'Prices are not to be had now.');
  const other = dial();
  await other.caller.dial();
  assert.is(await other.caller.say('1', 'cassava'), 'We have no price of cassava yet.');
  assert.equal(other.asked, []);
});

test('a number is asked for until it fits, and a field decides', async () => {
  for (const [age, words] of [
    ['22', 'Welcome, young farmer of 22!'],
    ['44', 'Welcome, farmer!'],
  ] as const) {
    const { caller } = dial();
    await caller.dial();
    assert.is(await caller.say('2', '7'), 'Give a number from 18 to 99.\nHow old are you?');
    assert.is(await caller.say(age), words);
  }
});

test('the report names every thing without a counterpart, with its node and the reason, and nothing else', async () => {
  const short = report.map((entry) => reportLine({ ...entry, node: entry.node.slice(0, 4) }));
  assert.equal(short, [
    'mkulima_line b1d7: wait.timeout. A phone menu ends when nobody answers; this way is left out.',
    'mkulima_line 4df7: set_contact_field age. Flows know no contacts: the value is kept for one conversation. Call a service to keep it.',
    'mkulima_line 4df7: add_contact_groups. Flows know no contacts; it is left out.',
    'mkulima_line 4df7: has_number_lt. The text has to be a number and nothing else; the test finds one inside a sentence, too.',
    'mkulima_line b1d7: words price, talk. A menu takes the keys that it lists; these words are no answer any more.',
    'mkulima_line d77b: has_any_word. Words are told apart by spaces only, so that "blue!" is not the word "blue".',
    'mkulima_line 07b5: has_number_between. The answer has to be a number and nothing else; the test finds one inside a sentence, too.',
    'short_survey e0b3: send_email. A phone menu speaks to its caller only; call a service that sends it. It is left out.',
  ]);
});

// As the editor of RapidPro writes it: the message in one node, the wait in the next one.
const TAPPED = readFixture('tapped.rapidpro.json');

test('what can be tapped after a message of another node is the menu of the wait; where any answer leads on, it stands below the question', async () => {
  const listed = await convert(TAPPED, 'rapidpro');
  const menu = phoneFor(listed.flows, 'seeds');
  assert.is(await menu.dial(), 'Which seed?\n1. Early maize\n2. Beans');
  assert.is(await menu.say('1'), 'Maize it is.');
  assert.equal(listed.report, []);
  const open = await convert(TAPPED.replace('"destination_uuid": "ask"', '"destination_uuid": "none"'), 'rapidpro');
  for (const [answer, said] of [
    ['beans', 'Beans it is.'],
    ['Rice', 'We have no Rice.'],
  ] as const) {
    const typed = phoneFor(open.flows, 'seeds');
    assert.is(await typed.dial(), 'Which seed?\nEarly maize\nBeans');
    assert.is(await typed.say(answer), said);
  }
  assert.match(open.report.map(reportLine).join('\n'), /seeds wait: quick_replies\. They stand below the question/);
  assert.equal(listErrors([...listed.flows, ...open.flows]), []);
});

test.run();
