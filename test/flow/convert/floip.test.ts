// Containers of FLOIP as flows: what they become, that they can be dialled to their ends in both languages, and what is told.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reportLine } from '../../../lib/flow/convert/report.ts';
import type { Json } from '../../../lib/store/store.ts';
import { convert, listErrors, phoneFor, readFixture } from './support.ts';

const test = suite('convert from FLOIP');

const { flows, report } = await convert(readFixture('clinic.floip.json'), 'floip');
const MENU = 'Village clinic\nWhat do you need?\n1. Vaccines\n2. A visit\n3. Francais';
const CHOIX = 'Clinique du village\nQue vous faut-il?\n1. Vaccins\n2. Une visite\n3. English';

function dial(answer: () => Json = () => ({ status: 200, body: { day: 'Monday' } })) {
  const asked: Json[] = [];
  const post = async (input: Json) => {
    asked.push(input);
    return answer();
  };
  return { caller: phoneFor(flows, 'village_clinic', { 'http.post': post }), asked };
}

test('every flow of a container is one, and lint finds no error in it', async () => {
  assert.equal(
    flows.map(({ flow, langs }) => [flow, langs]),
    [
      ['village_clinic', ['eng', 'fra']],
      ['rating', ['eng', 'fra']],
    ],
  );
  assert.equal(listErrors(flows), []);
});

test('a choice has the key of its test for phones, and the default exit that comes back says why', async () => {
  const { caller } = dial();
  assert.is(await caller.dial(), MENU);
  assert.is(await caller.say('6'), `Please choose a number.\n${MENU}`);
});

test('numbers are checked, cases decide, properties and computed values are said, and another flow comes back', async () => {
  const { caller } = dial();
  await caller.dial();
  assert.is(await caller.say('1', '61'), 'Write the months, 0 to 60.\nHow many months old is the child?');
  assert.is(await caller.say('4'), 'At 4 months: come at six weeks. Ask at clinic@example.org.\n1. OK');
  assert.is(await caller.say('1'), 'Was this useful?\n1. Yes\n2. No');
  assert.equal(caller.tracked, ['note_it']);
  assert.is(await caller.say('2'), 'Thank you. Stay well. ');
  assert.ok(caller.ended);
});

test('the same in the other language', async () => {
  const { caller } = dial();
  await caller.dial();
  assert.is(await caller.say('3'), CHOIX);
  assert.is(await caller.say('1', '20'), 'Dans un an, 32 mois.\n1. OK');
  assert.is(await caller.say('1'), 'Utile?\n1. Oui\n2. Non');
  assert.is(await caller.say('1'), 'Merci. Portez-vous bien. ');
  assert.ok(caller.ended);
});

test('a webhook gets its address, headers and body, and its failure leads through the default exit', async () => {
  const { caller, asked } = dial();
  await caller.dial({ phoneNumber: '+233501112222' });
  assert.is(await caller.say('2', 'Ama'), 'Ama, come on Monday.\n1. OK');
  assert.equal(asked, [
    {
      url: 'https://clinic.example.org/visits',
      query: { line: '+233501112222' },
      headers: { 'X-Line': 'clinic' },
      body: { name: 'Ama', topic: 'VISIT' },
    },
  ]);
  const broken = dial(() => {
    throw new Error('away');
  });
  await broken.caller.dial();
  assert.is(await broken.caller.say('2', 'Ama'), 'We cannot book now.');
});

test('the report names every thing without a counterpart, with its block and the reason, and nothing else', async () => {
  const short = report.map((entry) => reportLine({ ...entry, node: entry.node.slice(0, 4) }));
  assert.equal(short, [
    'village_clinic 5696: Core.Log. Flows keep no log: the fact "note_it" is published instead of the message.',
    'village_clinic 0730: MobilePrimitives.SelectManyResponses. A menu takes one answer; it is passed by.',
    'village_clinic 4cb2: Core.SetGroupMembership. Flows know no contacts and groups; it is passed by.',
    'village_clinic c615: @(REPT(contact.name, 2)). It has no counterpart: flows have no function like rept. It is left out.',
    'village_clinic 336c: MobilePrimitives.Message. No exit leads to this block; it is left out.',
  ]);
});

test('older forms are read, too: choices by name, exits by tag, texts by language, types with a backslash', async () => {
  const { flows: made, report: told } = await convert(readFixture('old.floip.json'), 'floip');
  assert.equal(told.map(reportLine), ['old_one: an end. Nothing is said there; the caller reads "Goodbye.".']);
  assert.equal(listErrors(made), []);
  const caller = phoneFor(made, 'old_one');
  assert.is(await caller.dial(), 'Ready?\n1. Yes\n2. No');
  assert.is(await caller.dial({ lang: 'fra' }), 'Alors?\n1. Yes\n2. No');
  assert.is(await caller.say('1'), 'Good.');
  assert.is(made[0]!.start, 'Ready');
});

/** A flow as 1.0.0-rc1 was written: no container, keys in camelCase, languages by number, names of blocks that begin with digits. */
const CAMEL = JSON.parse(readFixture('camel.floip.json'));

test('the camelCase of 1.0.0-rc1 is read: a flow alone, languages by number, paths that begin with a digit, choices by key', async () => {
  const { flows: made, report: told, form } = await convert(CAMEL, 'floip');
  assert.is(form, 'FLOIP 1.0.0-rc1; the file states no version');
  assert.equal(told.map(reportLine), [
    'seed_line q: exit default. Any other answer left the block there; a menu asks again.',
  ]);
  assert.equal(listErrors(made), []);
  const caller = phoneFor(made, 'seed_line');
  assert.is(await caller.dial(), 'Which seed?\n1. Maize\n2. Red beans');
  assert.is(await caller.say('1'), 'Sow maize in June.');
  await caller.dial({ sessionId: 'second' });
  assert.is(await caller.say('2'), 'Sow beans in July.');
});

test('the version that a file states is told, with what is odd about it', async () => {
  const forms: readonly (readonly [object, string])[] = [
    [{ specification_version: '1.0.0-rc3', flows: [CAMEL] }, 'FLOIP 1.0.0-rc3, with keys of 1.0.0-rc1'],
    [{ specification_version: '1.0.0-rc1', flows: [CAMEL] }, 'FLOIP 1.0.0-rc1'],
    [
      { specification_version: '1.0.0-rc9', flows: [CAMEL] },
      'FLOIP 1.0.0-rc9, which was never tried, as 1.0.0-rc4, with keys of 1.0.0-rc1',
    ],
    [{ id: 'run', mode: 'offline', interactions: [], flows: [CAMEL] }, 'FLOIP 1.0.0-rc1; the file states no version'],
  ];
  for (const [given, words] of forms) assert.is((await convert(given, 'floip')).form, words);
});

test.run();
